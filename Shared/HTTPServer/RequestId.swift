import Synchronization

/// Ids that tie an answer to the lines of the log.
enum RequestId {
  /// Longer ids of clients are replaced.
  static let longest = 128

  private static let prefix = String(UInt64.random(in: (1 << 60)...UInt64.max), radix: 16)
  private static let count = Atomic<Int>(0)

  static func taken(from headers: Headers) -> String {
    if let sent = headers["X-Request-Id"], isSane(sent) { return sent }
    let (_, number) = count.wrappingAdd(1, ordering: .relaxed)
    return "\(prefix)-\(number)"
  }

  /// Letters, digits, `.`, `_`, `-`, `:`, `/`, `+`, `=`: what is harmless in logs and headers.
  private static func isSane(_ id: String) -> Bool {
    (1...longest).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x2F, 0x3D, 0x5F: true
        default: false
        }
      }
  }
}
