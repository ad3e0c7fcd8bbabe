import Cryptography

/// From what a client sent to the signed message in it.
enum ReceiptText {
  /// The first reading of the text that is PKCS#7; the faults name what else the text is.
  static func signedMessage(
    _ text: String, sizeLimit: Int
  ) throws(ReceiptRejection) -> SignedMessage {
    try read(text, sizeLimit: sizeLimit) { (bytes) throws(ReceiptRejection) in
      try signedMessage(bytes)
    }
  }

  /// The message of a receipt's bytes.
  static func signedMessage(_ bytes: [UInt8]) throws(ReceiptRejection) -> SignedMessage {
    do {
      return try SignedMessage(bytes)
    } catch {
      throw rejection(error)
    }
  }

  /// The content of a receipt's bytes, whoever signed it.
  static func unprovedContent(_ bytes: [UInt8]) throws(ReceiptRejection) -> [UInt8] {
    do {
      return try SignedMessage.unprovedContent(of: bytes)
    } catch {
      throw rejection(error)
    }
  }

  /// Tries each reading of the text; the first fault counts if none succeeds.
  static func read<Value>(
    _ text: String, sizeLimit: Int, as expected: ProofText.Kind = .appReceipt,
    _ body: ([UInt8]) throws(ReceiptRejection) -> Value
  ) throws(ReceiptRejection) -> Value {
    guard text.utf8.count <= sizeLimit else { throw tooLarge(sizeLimit) }
    var fault = ReceiptRejection(.notBase64, "expected the receipt in base64")
    for (index, bytes) in ProofEncoding.candidates(text).enumerated() {
      do {
        return try body(bytes)
      } catch {
        if index == 0 { fault = error }
      }
    }
    guard !fault.isRetryable else { throw fault }
    // Only now, since nearly every text is what it should be.
    switch ProofText.recognize(text, sizeLimit: sizeLimit) {
    case expected, .unknown: throw fault
    case let other:
      throw ReceiptRejection(.wrongKind, "expected \(expected.name), this is \(other.name)")
    }
  }

  static func tooLarge(_ limit: Int) -> ReceiptRejection {
    ReceiptRejection(.tooLarge, "a receipt may have \(limit) bytes")
  }

  private static func rejection(_ error: CryptographyError) -> ReceiptRejection {
    ReceiptRejection(
      error.kind == .operationFailed ? .unavailable : .malformedReceipt, error.detail)
  }
}
