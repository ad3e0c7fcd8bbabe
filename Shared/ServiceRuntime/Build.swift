/// Which build this is.
public enum Build {
  /// The version, as the newest heading of CHANGELOG.md says it.
  public static let version = "unreleased"

  /// How the compiler was told to build: `debug` builds are several times slower.
  public static var configuration: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }
}
