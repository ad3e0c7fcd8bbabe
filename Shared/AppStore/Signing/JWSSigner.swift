public import Cryptography

/// Signs as the App Store does, with a chain of our own: for the simulator and for tests.
public struct JWSSigner: Sendable {
  /// Leaf, intermediate, root, as they go into `x5c`.
  public let certificates: [Certificate]
  private let leafKey: PrivateKey
  private let header: String

  /// A signer; the key must be on P-256 and belong to the first certificate for readers to agree.
  public init(leafKey: PrivateKey, certificates: [Certificate]) {
    self.leafKey = leafKey
    self.certificates = certificates
    let entries = certificates.map { "\"\(Base64.encode($0.der))\"" }.joined(separator: ",")
    header = Base64URL.encode(Array("{\"alg\":\"ES256\",\"x5c\":[\(entries)]}".utf8))
  }

  /// The compact JWS of a payload's JSON.
  public func sign(_ payload: [UInt8]) throws(CryptographyError) -> String {
    let message = header + "." + Base64URL.encode(payload)
    return message + "." + Base64URL.encode(try leafKey.signES256(Array(message.utf8)))
  }
}
