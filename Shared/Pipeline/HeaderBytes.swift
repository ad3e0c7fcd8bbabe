package import Kafka

/// Kafka headers as bytes in a row: per header two length-prefixed byte strings (32 bits, big-endian).
package enum HeaderBytes {
  package static func encode(_ headers: [Header]) -> [UInt8] {
    var bytes: [UInt8] = []
    for header in headers {
      append(Array(header.name.utf8), to: &bytes)
      append(header.value, to: &bytes)
    }
    return bytes
  }

  /// Nil when the bytes were not written by `encode`.
  package static func decode(_ bytes: [UInt8]) -> [Header]? {
    var headers: [Header] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let name = take(from: &rest), let value = take(from: &rest) else { return nil }
      headers.append(Header(name: String(decoding: name, as: UTF8.self), value: value))
    }
    return headers
  }

  private static func append(_ value: [UInt8], to bytes: inout [UInt8]) {
    let count = UInt32(clamping: value.count)
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
    bytes += value
  }

  private static func take(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.count >= 4 else { return nil }
    let count = Int(rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    rest = rest.dropFirst(4)
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
