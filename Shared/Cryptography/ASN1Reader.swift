internal import COpenSSL

/// One element of ASN.1 in its definite form: what it is and where it lies.
public struct ASN1Element: Sendable, Equatable {
  /// The universal kinds that are read here, by their tag numbers.
  public enum Kind: Int, Sendable {
    /// `INTEGER`.
    case integer = 2
    /// `BIT STRING`.
    case bits = 3
    /// `OCTET STRING`.
    case octets = 4
    /// `UTF8String`.
    case utf8Text = 12
    /// `SEQUENCE`.
    case sequence = 16
    /// `SET`.
    case set = 17
    /// `PrintableString`.
    case printableText = 19
    /// `IA5String`.
    case asciiText = 22
  }

  /// The kind; nil for any other.
  public let kind: Kind?
  /// Where the content lies in the bytes that are read.
  public let content: Range<Int>
  /// Where the whole element lies, with tag and length.
  public let whole: Range<Int>
}

/// Bytes that are no ASN.1 of the expected form.
public struct ASN1Fault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was expected.
  public let detail: String
  /// Byte at which reading stopped.
  public let offset: Int
  /// Both.
  public var description: String { "\(detail) at byte \(offset)" }

  /// A fault.
  public init(detail: String, offset: Int) {
    self.detail = detail
    self.offset = offset
  }
}

/// Walks over the elements of one level; OpenSSL's `ASN1_get_object` reads each tag and length.
public struct ASN1Reader: Sendable {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  /// Reads the elements of all bytes.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  private init(_ bytes: [UInt8], within place: Range<Int>) {
    self.bytes = bytes
    position = place.lowerBound
    end = place.upperBound
  }

  /// Whether nothing is left on this level.
  public var isAtEnd: Bool { position >= end }

  /// A reader of what the element contains.
  public func inside(_ element: ASN1Element) -> ASN1Reader {
    ASN1Reader(bytes, within: element.content)
  }

  /// The element's content.
  public func content(of element: ASN1Element) -> [UInt8] { Array(bytes[element.content]) }

  /// The next element; throws at the end, for a length beyond it, and for an indefinite length.
  public mutating func next() throws(ASN1Fault) -> ASN1Element {
    guard !isAtEnd else { throw ASN1Fault(detail: "expected an element", offset: position) }
    let start = position
    var length = 0
    var tag: Int32 = 0
    var tagClass: Int32 = 0
    var headerLength = 0
    let form = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
      guard let base = buffer.baseAddress else { return 0x80 }
      let first = unsafe base + start
      var cursor: UnsafePointer<UInt8>? = unsafe first
      let form = unsafe ASN1_get_object(&cursor, &length, &tag, &tagClass, end - start)
      headerLength = unsafe cursor.map { unsafe $0 - first } ?? 0
      return form
    }
    // 0x80 is an error, 1 an indefinite length.
    guard form & 0x81 == 0, length >= 0, headerLength > 0, length <= end - start - headerLength
    else {
      ErrorQueue.clear()
      throw ASN1Fault(detail: "expected an element with its length", offset: start)
    }
    let content = (start + headerLength)..<(start + headerLength + length)
    position = content.upperBound
    return ASN1Element(
      kind: kind(tag: Int(tag), tagClass: tagClass, isConstructed: form & 0x20 != 0),
      content: content, whole: start..<content.upperBound)
  }

  /// The next element, which must be of this kind.
  public mutating func next(_ kind: ASN1Element.Kind) throws(ASN1Fault) -> ASN1Element {
    let element = try next()
    guard element.kind == kind else {
      throw ASN1Fault(detail: "expected \(kind)", offset: element.whole.lowerBound)
    }
    return element
  }

  /// The number of an `INTEGER`; nil for another kind and for one beyond 64 bits.
  public func integer(_ element: ASN1Element) -> Int64? {
    guard element.kind == .integer else { return nil }
    let parsed = unsafe bytes.withUnsafeBufferPointer {
      buffer -> UnsafeMutablePointer<ASN1_INTEGER>? in
      guard let base = buffer.baseAddress else { return nil }
      var cursor: UnsafePointer<UInt8>? = unsafe base + element.whole.lowerBound
      return unsafe d2i_ASN1_INTEGER(nil, &cursor, element.whole.count)
    }
    guard let parsed = unsafe parsed else {
      ErrorQueue.clear()
      return nil
    }
    defer { unsafe ASN1_INTEGER_free(parsed) }
    var number: Int64 = 0
    guard unsafe ASN1_INTEGER_get_int64(&number, parsed) == 1 else {
      ErrorQueue.clear()
      return nil
    }
    return number
  }

  /// The text of one of the three kinds of text; nil for another kind and for invalid UTF-8.
  public func text(_ element: ASN1Element) -> String? {
    switch element.kind {
    case .utf8Text, .asciiText, .printableText:
      String(validating: bytes[element.content], as: UTF8.self)
    default: nil
    }
  }

  /// A universal tag with the form that belongs to it; strings cut in pieces are not read.
  private func kind(tag: Int, tagClass: Int32, isConstructed: Bool) -> ASN1Element.Kind? {
    guard tagClass == V_ASN1_UNIVERSAL, let kind = ASN1Element.Kind(rawValue: tag),
      isConstructed == (kind == .sequence || kind == .set)
    else { return nil }
    return kind
  }
}
