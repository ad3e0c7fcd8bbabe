import AppStore
import Cryptography
import Events
import HTTPServer
import JSON

/// The text that an app posted as proof, told apart and in its one encoding.
struct PostedProof: Sendable, Equatable {
  let kind: ProofKind
  /// A JWS, decimal digits, or a receipt in standard base64.
  let content: String
  /// SHA-256 of the content, by which the same text is the same proof.
  let hash: String

  /// The member of a body that holds a proof.
  enum Field: String, Sendable, CaseIterable {
    case signedTransaction, transactionId, receipt, transactionReceipt

    var kind: ProofKind {
      switch self {
      case .signedTransaction: .signedTransaction
      case .transactionId: .transactionId
      case .receipt: .receipt
      case .transactionReceipt: .transactionReceipt
      }
    }

    /// What belongs there, in words.
    var wanted: String {
      switch self {
      case .signedTransaction: "StoreKit 2's Transaction.jwsRepresentation"
      case .transactionId: "Apple's id of the transaction, decimal digits"
      case .receipt: "the app receipt (Bundle.main.appStoreReceiptURL) in base64"
      case .transactionReceipt: "SKPaymentTransaction.transactionReceipt in base64"
      }
    }
  }

  /// Reads a text.
  ///
  /// - Throws: `Problem` `malformed-proof` naming what the text is instead, and where it belongs.
  init(_ text: String, in field: Field) throws(Problem) {
    let (found, content) = ProofText.normalized(text)
    guard let recognized = Field(found) else {
      throw Self.malformed(field, "is \(found.name); post \(field.wanted).")
    }
    guard recognized == field else {
      throw Self.malformed(
        field, "is \(found.name); post it as \(recognized.rawValue), or post \(field.wanted).",
        belongs: recognized)
    }
    if field == .signedTransaction {
      let bytes = content.utf8.count
      guard bytes <= Proof.maximumSignedBytes else {
        throw Self.malformed(field, "is longer than \(Proof.maximumSignedBytes) bytes.")
      }
      let parts = content.utf8.split(
        separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard parts.allSatisfy({ Base64URL.decode(Array($0))?.isEmpty == false }) else {
        throw Self.malformed(
          field, "is not three parts of base64url; post \(field.wanted) as it is.")
      }
    }
    kind = field.kind
    self.content = content
    hash = SHA256.hex(content)
  }

  private static func malformed(_ field: Field, _ what: String, belongs: Field? = nil) -> Problem {
    var members: [String: JSONValue] = ["field": .string(field.rawValue)]
    if let belongs { members["belongsIn"] = .string(belongs.rawValue) }
    return Problem(
      status: 422, type: "malformed-proof", title: "Not such a proof",
      detail: "\(field.rawValue) \(what)", members: members)
  }
}

extension PostedProof.Field {
  /// Where a recognized text belongs; nil for what is no proof.
  init?(_ kind: ProofText.Kind) {
    switch kind {
    case .signedTransaction: self = .signedTransaction
    case .transactionId: self = .transactionId
    case .appReceipt: self = .receipt
    case .legacyTransactionReceipt: self = .transactionReceipt
    default: return nil
    }
  }
}

/// What an app posts as proof: one of four members.
struct ProofBody: Sendable {
  let field: PostedProof.Field
  let text: String

  /// Reads the body.
  ///
  /// - Throws: `Problem` when it is no object with exactly one of the members.
  init(_ request: Request) throws(Problem) {
    let given = try request.fields { (body) throws(JSONFieldFault) in
      var given: [(PostedProof.Field, String)] = []
      for field in PostedProof.Field.allCases {
        if let text = try Self.text(field, in: body) { given.append((field, text)) }
      }
      return given
    }
    guard given.count == 1 else {
      let names = PostedProof.Field.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(
        status: 400, type: "invalid-field", title: "Invalid field",
        detail: "$: Give one of \(names), and only one.", members: ["path": "$"])
    }
    (field, text) = given[0]
  }

  private static func text(_ field: PostedProof.Field, in body: JSONFields)
    throws(JSONFieldFault) -> String?
  {
    switch field {
    case .signedTransaction: return try body.optionalText("signedTransaction")
    case .receipt: return try body.optionalText("receipt")
    case .transactionReceipt: return try body.optionalText("transactionReceipt")
    case .transactionId:
      // An id that a client took for a number.
      if let number = try? body.optionalNumber("transactionId"), number >= 0 {
        return String(number)
      }
      do {
        return try body.optionalText("transactionId")
      } catch {
        throw error.wanting("\(field.wanted), best as a string")
      }
    }
  }
}
