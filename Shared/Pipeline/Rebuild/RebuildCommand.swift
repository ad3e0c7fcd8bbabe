public import ServiceRuntime

extension Program.Command {
  /// `rebuild`, which every service with a store has.
  public static func rebuild(
    _ run: @escaping @Sendable (Settings, [String: String], Log) throws -> Void
  ) -> Self {
    Self(
      name: "rebuild",
      help: """
        rebuild [--backup FILE]   makes a lost store anew from the topics, and ends; --backup names
          an old copy, from which what no topic carries is taken over
        """,
      options: ["--backup"], run: run)
  }
}
