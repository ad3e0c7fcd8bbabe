import FoundationEssentials

/// Where the In-App Purchase key of an app stands, and whose it is.
///
/// One key of App Store Connect serves Production and Sandbox. The key itself is read by the service
/// that uses it.
public struct APIAccess: Sendable, Equatable {
  /// Where the text of the `.p8` file comes from.
  public enum Source: Sendable, Equatable, CustomStringConvertible {
    /// A file; a path as from the working folder.
    case file(String)
    /// An environment variable: the text, or base64 of it.
    case variable(String)

    /// The place in words.
    public var description: String {
      switch self {
      case .file(let path): "the file '\(path)'"
      case .variable(let name): "the variable \(name)"
      }
    }

    /// The key's text, or nil where there is none that can be read.
    ///
    /// - Parameter variable: Gives the value of an environment variable.
    public func text(variable: (String) -> String?) -> String? {
      switch self {
      case .file(let path):
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
      case .variable(let name): variable(name)
      }
    }
  }

  /// The key's id, ten characters.
  public let keyId: String
  /// The issuer's id, a UUID.
  public let issuerId: String
  /// Where the private half comes from.
  public let source: Source

  /// Describes a key.
  public init(keyId: String, issuerId: String, source: Source) {
    self.keyId = keyId
    self.issuerId = issuerId
    self.source = source
  }

  init?(_ reader: ObjectReader, path: (String) -> String) {
    reader.reportRepeated()
    reader.reportUnknown(except: ["keyId", "issuerId", "keyFile", "keyVariable"])
    reader.require("keyId", remedy: "write the key's id, the ten characters after SubscriptionKey_")
    reader.require("issuerId", remedy: "write the issuer's id, shown above the keys")
    let file = reader.text("keyFile")
    let variable = reader.text("keyVariable")
    if (file == nil) == (variable == nil) {
      reader.faults.add(
        reader.place(of: "keyFile"), file == nil ? "is missing" : "stands beside keyVariable",
        remedy: "name either the .p8 file or the environment variable that holds its text")
    }
    guard let keyId = reader.text("keyId"), let issuerId = reader.text("issuerId"),
      let source = file.map({ Source.file(path($0)) }) ?? variable.map({ Source.variable($0) })
    else { return nil }
    self.init(keyId: keyId, issuerId: issuerId, source: source)
  }
}
