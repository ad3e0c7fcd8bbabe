/// ECDSA signatures over P-256 in their two forms: r‖s of 64 bytes (JWS) and DER (OpenSSL).
enum SignatureForm {
  /// DER of r‖s, both of 32 bytes, as minimal integers.
  static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard raw.count == 64 else { return nil }
    var der: [UInt8] = []
    der.reserveCapacity(72)
    der.append(0x30)
    der.append(0)
    for half in [0..<32, 32..<64] {
      var start = half.lowerBound
      while start < half.upperBound - 1, raw[start] == 0 { start += 1 }
      let needsSign = raw[start] & 0x80 != 0
      der.append(0x02)
      der.append(UInt8(half.upperBound - start) + (needsSign ? 1 : 0))
      if needsSign { der.append(0) }
      der.append(contentsOf: raw[start..<half.upperBound])
    }
    der[1] = UInt8(der.count - 2)
    return der
  }

  /// r‖s of a DER signature whose integers fit in 32 bytes each.
  static func raw(fromDER der: [UInt8]) -> [UInt8]? {
    guard der.count >= 8, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
    var raw: [UInt8] = []
    var index = 2
    for _ in 0..<2 {
      guard index + 2 <= der.count, der[index] == 0x02 else { return nil }
      let length = Int(der[index + 1])
      guard length > 0, index + 2 + length <= der.count else { return nil }
      let digits = der[(index + 2)..<(index + 2 + length)].drop { $0 == 0 }
      guard digits.count <= 32 else { return nil }
      raw.append(contentsOf: repeatElement(0, count: 32 - digits.count))
      raw.append(contentsOf: digits)
      index += 2 + length
    }
    return index == der.count ? raw : nil
  }
}
