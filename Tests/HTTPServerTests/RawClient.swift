import Glibc
import Synchronization

/// A TCP connection that sends exactly the bytes it is told, for what no proper client would send.
final class RawClient: Sendable {
  private let descriptor: Int32

  /// Connects to a port of this machine; nil when refused.
  init?(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // No test hangs for want of an answer.
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    if result != 0 { return nil }
  }

  deinit { close(descriptor) }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes { rest in
        unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Says that nothing more will be sent.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes with a reset rather than in order.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// The next bytes; empty at the end, nil after a reset or in vain.
  private func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 16384)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : Array(buffer.prefix(count))
  }

  /// Everything until the server closes.
  func readToEnd() -> String {
    var all: [UInt8] = []
    while let bytes = receive(), !bytes.isEmpty { all += bytes }
    return String(decoding: all, as: UTF8.self)
  }

  /// Reads until a text has come, and forgets what came up to it; false when the connection ended
  /// before.
  ///
  /// Blocks: only within `onThread`.
  func readUntil(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    while true {
      let found = unread.withLock { unread -> Bool in
        guard
          let place = unread.indices.first(where: { unread[$0...].starts(with: wanted) })
        else { return false }
        unread.removeFirst(place + wanted.count)
        return true
      }
      if found { return true }
      guard let bytes = receive(), !bytes.isEmpty else { return false }
      unread.withLock { $0 += bytes }
    }
  }

  private let unread = Mutex<[UInt8]>([])

  /// One answer with its body, leaving what comes after it; nil when the connection ended before.
  ///
  /// Blocks: only within `onThread`, as handlers need the cooperative pool.
  func readAnswer() -> RawAnswer? {
    while true {
      if let answer = unread.withLock({ RawAnswer(prefixOf: &$0) }) { return answer }
      guard let bytes = receive(), !bytes.isEmpty else { return nil }
      unread.withLock { $0 += bytes }
    }
  }

  /// The same for tasks.
  func answer() async -> RawAnswer? { await onThread { self.readAnswer() } }
}

/// An answer as it stands on the wire.
struct RawAnswer {
  let status: Int
  let head: String
  let body: String

  /// Takes a whole answer off the front; nil when there is none yet.
  init?(prefixOf bytes: inout [UInt8]) {
    let end = Array("\r\n\r\n".utf8)
    guard
      let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) })
    else { return nil }
    head = String(decoding: bytes[..<split], as: UTF8.self)
    status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let length = Self.field("content-length", in: head).flatMap { Int($0) } ?? 0
    let start = split + end.count
    guard bytes.count >= start + length else { return nil }
    body = String(decoding: bytes[start..<start + length], as: UTF8.self)
    bytes.removeFirst(start + length)
  }

  func field(_ name: String) -> String? { Self.field(name, in: head) }

  private static func field(_ name: String, in head: String) -> String? {
    for line in head.split(separator: "\r\n").dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == name.lowercased() {
        return String(parts[1].drop { $0 == " " })
      }
    }
    return nil
  }
}
