import Cryptography

/// A receipt of one transaction as iOS 6 gave it: a property list in text form around another.
///
/// Its signature is not checked here; only Apple's `verifyReceipt` can prove it.
enum LegacyTransactionReceipt {
  /// Whether the bytes are such a property list.
  static func isOne(_ bytes: [UInt8]) -> Bool { value(of: "purchase-info", in: bytes) != nil }

  /// The digits after `transaction-id` in the inner list.
  static func transactionId(in bytes: [UInt8]) throws(ReceiptRejection) -> String {
    guard let encoded = value(of: "purchase-info", in: bytes) else {
      throw ReceiptRejection(.malformedReceipt, "no property list with purchase-info")
    }
    guard let info = Base64.decode(String(decoding: encoded, as: UTF8.self)) else {
      throw ReceiptRejection(.malformedReceipt, "purchase-info is not base64")
    }
    guard let digits = value(of: "transaction-id", in: info), ProofText.isTransactionId(digits)
    else { throw ReceiptRejection(.malformedReceipt, "purchase-info has no transaction-id") }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The text between quotes after `"name" = `; one or more characters of space stand on both
  /// sides of the equals sign, and a semicolon follows.
  private static func value(of name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let key = Array("\"\(name)\"".utf8)
    let quote = UInt8(ascii: "\"")
    var start = 0
    while let found = bytes[start...].firstIndex(of: quote) {
      start = found + 1
      guard bytes[found...].starts(with: key) else { continue }
      var rest = bytes[(found + key.count)...]
      guard takeSpace(&rest), rest.popFirst() == UInt8(ascii: "="), takeSpace(&rest),
        rest.popFirst() == quote, let end = rest.firstIndex(of: quote), end > rest.startIndex,
        end + 1 < bytes.count, bytes[end + 1] == UInt8(ascii: ";")
      else { continue }
      return rest[..<end]
    }
    return nil
  }

  private static func takeSpace(_ rest: inout ArraySlice<UInt8>) -> Bool {
    let count = rest.prefix { $0 == 0x20 || (0x09...0x0D).contains($0) }.count
    rest = rest.dropFirst(count)
    return count > 0
  }
}
