internal import COpenSSL

/// Writes elements of ASN.1 in DER; OpenSSL's `ASN1_put_object` writes each tag and length.
public enum ASN1Writer {
  /// An element of this kind around its content.
  public static func element(_ kind: ASN1Element.Kind, _ content: [UInt8]) -> [UInt8] {
    let isConstructed: Int32 = kind == .sequence || kind == .set ? 1 : 0
    // Longest header: one byte of tag, one and up to eight of length.
    var header = [UInt8](repeating: 0, count: 10)
    let length = unsafe header.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      unsafe ASN1_put_object(
        &cursor, isConstructed, Int32(clamping: content.count), Int32(kind.rawValue),
        V_ASN1_UNIVERSAL)
      guard let start = buffer.baseAddress, let end = unsafe cursor else { return 0 }
      return unsafe end - start
    }
    return header.prefix(length) + content
  }

  /// An `INTEGER`.
  public static func integer(_ number: Int64) -> [UInt8] {
    var content = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    // The shortest form: no byte that only repeats the sign of the next one.
    while content.count > 1,
      content[0] == 0 && content[1] < 0x80 || content[0] == 0xFF && content[1] >= 0x80
    {
      content.removeFirst()
    }
    return element(.integer, content)
  }

  /// Text of a kind of text.
  public static func text(_ text: String, as kind: ASN1Element.Kind = .utf8Text) -> [UInt8] {
    element(kind, Array(text.utf8))
  }
}
