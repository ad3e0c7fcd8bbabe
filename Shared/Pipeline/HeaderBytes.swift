package import Kafka

/// Kafka headers as bytes in a row: per header two length-prefixed byte strings (32 bits, big-endian).
package enum HeaderBytes {
  package static func encode(_ headers: [Header]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      headers.reduce(0) { $0 + 8 + $1.name.utf8.count + $1.value.count })
    for header in headers {
      append(header.name.utf8, to: &bytes)
      append(header.value, to: &bytes)
    }
    return bytes
  }

  /// Nil when the bytes were not written by `encode`.
  package static func decode(_ bytes: [UInt8]) -> [Header]? {
    var headers: [Header] = []
    var place = 0
    while place < bytes.count {
      guard let name = take(bytes, &place), let value = take(bytes, &place) else { return nil }
      headers.append(
        Header(name: String(decoding: bytes[name], as: UTF8.self), value: Array(bytes[value])))
    }
    return headers
  }

  private static func append(_ value: some Collection<UInt8>, to bytes: inout [UInt8]) {
    let count = UInt32(clamping: value.count)
    bytes.append(UInt8(truncatingIfNeeded: count >> 24))
    bytes.append(UInt8(truncatingIfNeeded: count >> 16))
    bytes.append(UInt8(truncatingIfNeeded: count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: count))
    bytes.append(contentsOf: value)
  }

  /// Where the next byte string lies; nil when it is not all there.
  private static func take(_ bytes: [UInt8], _ place: inout Int) -> Range<Int>? {
    guard bytes.count - place >= 4 else { return nil }
    var count = 0
    for _ in 0..<4 {
      count = count << 8 | Int(bytes[place])
      place += 1
    }
    guard bytes.count - place >= count else { return nil }
    defer { place += count }
    return place..<place + count
  }
}
