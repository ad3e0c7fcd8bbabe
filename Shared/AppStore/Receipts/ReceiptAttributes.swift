import Cryptography

/// One attribute of a receipt as it stands: the value is not interpreted.
public struct ReceiptAttribute: Sendable, Equatable {
  /// Apple's number of the attribute.
  public let type: Int64
  /// Apple's version of its form.
  public let version: Int64
  /// The value's bytes; for most types the DER of something.
  public let value: [UInt8]

  /// An attribute.
  public init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }
}

/// The attributes of a receipt, or of one in-app purchase in it, in their order.
///
/// `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
struct ReceiptAttributes: Sendable {
  let all: [ReceiptAttribute]

  init(_ content: [UInt8]) throws(ASN1Fault) {
    var outer = ASN1Reader(content)
    var entries = outer.inside(try outer.next(.set))
    guard outer.isAtEnd else { throw ASN1Fault(detail: "expected the end", offset: content.count) }
    var all: [ReceiptAttribute] = []
    while !entries.isAtEnd {
      var entry = entries.inside(try entries.next(.sequence))
      let type = try entry.next(.integer)
      let version = try entry.next(.integer)
      let value = try entry.next(.octets)
      guard let typeNumber = entry.integer(type), let versionNumber = entry.integer(version) else {
        throw ASN1Fault(detail: "expected a number of 64 bits", offset: type.whole.lowerBound)
      }
      all.append(
        ReceiptAttribute(
          type: typeNumber, version: versionNumber, value: entry.content(of: value)))
    }
    self.all = all
  }

  func first(_ type: Int64) -> [UInt8]? { all.first { $0.type == type }?.value }

  /// Text; nil if absent, empty or of another type than text.
  func text(_ type: Int64) -> String? {
    guard let (reader, element) = element(type) else { return nil }
    return reader.text(element).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A whole number; nil if absent, of another type than a number or too large.
  func number(_ type: Int64) -> Int64? {
    guard let (reader, element) = element(type) else { return nil }
    return reader.integer(element)
  }

  /// 0 or another number; nil as for numbers.
  func flag(_ type: Int64) -> Bool? { number(type).map { $0 != 0 } }

  /// UNIX milliseconds; nil if absent or empty.
  ///
  /// A date that cannot be read is a fault: taken for absent, a cancellation would be lost.
  func date(_ type: Int64) throws(ReceiptRejection) -> Int64? {
    guard let value = first(type), !value.isEmpty else { return nil }
    if let (reader, element) = element(type), let text = reader.text(element) {
      if text.isEmpty { return nil }
      if let date = ReceiptDate.milliseconds(text) { return date }
    }
    throw ReceiptRejection(.malformedContent, "attribute \(type) is not a date")
  }

  private func element(_ type: Int64) -> (ASN1Reader, ASN1Element)? {
    guard let value = first(type) else { return nil }
    var reader = ASN1Reader(value)
    guard let element = try? reader.next(), reader.isAtEnd else { return nil }
    return (reader, element)
  }
}
