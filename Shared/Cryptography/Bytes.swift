internal import COpenSSL

/// Compares without telling by its time where two values differ; unequal lengths are unequal.
public func constantTimeEquals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  guard a.count == b.count else { return false }
  var difference: UInt8 = 0
  for index in a.indices { difference |= a[index] ^ b[index] }
  return difference == 0
}

/// Bytes from OpenSSL's generator, fit for keys and tokens.
public func randomBytes(_ count: Int) -> [UInt8] {
  unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
    guard count > 0 else { return }
    let filled = unsafe RAND_bytes(output.baseAddress, Int32(clamping: output.count))
    // Without entropy no token may be handed out; there is no way to go on.
    precondition(filled == 1, "OpenSSL has no random bytes: \(ErrorQueue.takeReason())")
    initialized = count
  }
}

/// Hexadecimal text.
public enum Hex {
  /// Two lower-case characters per byte.
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      var place = 0
      for byte in bytes {
        unsafe text[place] = digit(byte >> 4)
        unsafe text[place + 1] = digit(byte & 15)
        place += 2
      }
      return place
    }
  }

  /// The bytes, or nil for an odd length or another character; both cases are read.
  public static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 2)
    for index in stride(from: 0, to: characters.count, by: 2) {
      guard let high = value(characters[index]), let low = value(characters[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
