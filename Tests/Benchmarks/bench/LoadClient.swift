import Glibc

/// An HTTP answer.
struct Answer {
  let status: Int
  let body: ArraySlice<UInt8>

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The text of a string member, found without parsing the rest.
  func member(_ name: String) -> String? {
    let mark = Array("\"\(name)\":\"".utf8)
    guard let start = body.firstRange(of: mark)?.upperBound,
      let end = body[start...].firstIndex(of: UInt8(ascii: "\""))
    else { return nil }
    return String(decoding: body[start..<end], as: UTF8.self)
  }

  func contains(_ text: String) -> Bool { body.firstRange(of: Array(text.utf8)) != nil }
}

extension ArraySlice<UInt8> {
  func firstRange(of part: [UInt8]) -> Range<Int>? {
    guard let first = part.first, count >= part.count else { return nil }
    var index = startIndex
    while let found = self[index...].firstIndex(of: first), found + part.count <= endIndex {
      if self[found..<found + part.count].elementsEqual(part) { return found..<found + part.count }
      index = found + 1
    }
    return nil
  }
}

/// Plays many HTTP connections from one thread, each asking its next question when it has its
/// answer: about 10 µs per request, so that the load is not what is measured.
///
/// Used by one thread; loopback only.
final class LoadClient {
  /// Gives the next request's bytes after an answer (nil for the first); nil ends the connection.
  typealias Player = (Answer?) throws -> [UInt8]?

  private struct Connection {
    var descriptor: Int32
    var player: Player
    var sending: [UInt8] = []
    var sent = 0
    var received: [UInt8] = []
    var isOpen = true
  }

  private var connections: [Connection] = []
  private(set) var answers = 0

  /// Opens a connection; its player is asked when `run` begins.
  func connect(port: Int, _ player: @escaping Player) throws {
    connections.append(Connection(descriptor: try Self.socket(to: port), player: player))
  }

  deinit {
    for connection in connections where connection.isOpen { close(connection.descriptor) }
  }

  /// Plays until all players have ended.
  ///
  /// - Throws: What a player throws, or `BenchError` when a server closes or says nothing for 30 s.
  func run() throws {
    for index in connections.indices { try ask(index, nil) }
    var polls: [pollfd] = []
    var owners: [Int] = []
    while true {
      polls.removeAll(keepingCapacity: true)
      owners.removeAll(keepingCapacity: true)
      for (index, connection) in connections.enumerated() where connection.isOpen {
        let isSending = connection.sent < connection.sending.count
        polls.append(
          pollfd(
            fd: connection.descriptor, events: Int16(isSending ? POLLOUT : POLLIN), revents: 0))
        owners.append(index)
      }
      guard !polls.isEmpty else { return }
      let ready = unsafe poll(&polls, nfds_t(polls.count), 30_000)
      guard ready > 0 else { throw BenchError("no answer within 30 s") }
      for (item, index) in zip(polls, owners) where item.revents != 0 {
        if connections[index].sent < connections[index].sending.count {
          try send(index)
        } else {
          try receive(index)
        }
      }
    }
  }

  private func ask(_ index: Int, _ answer: Answer?) throws {
    guard let request = try connections[index].player(answer) else {
      close(connections[index].descriptor)
      connections[index].isOpen = false
      return
    }
    connections[index].sending = request
    connections[index].sent = 0
    try send(index)
  }

  private func send(_ index: Int) throws {
    let connection = connections[index]
    let count = unsafe connection.sending.withUnsafeBytes { bytes in
      unsafe Glibc.send(
        connection.descriptor, bytes.baseAddress?.advanced(by: connection.sent),
        bytes.count - connection.sent, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    if count > 0 { connections[index].sent += count }
    guard count > 0 || errno == EAGAIN else {
      throw BenchError("a server closed a connection (errno \(errno))")
    }
  }

  private func receive(_ index: Int) throws {
    var part = [UInt8](repeating: 0, count: 32 * 1024)
    let count = unsafe recv(
      connections[index].descriptor, &part, part.count, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count < 0 && errno == EAGAIN { return }
      throw BenchError("a server closed a connection (errno \(errno))")
    }
    connections[index].received += part.prefix(count)
    guard let (answer, length) = try Self.parse(connections[index].received) else { return }
    connections[index].received.removeFirst(length)
    answers += 1
    try ask(index, answer)
  }

  /// The first whole answer; nil when more must come.
  private static func parse(_ bytes: [UInt8]) throws -> (Answer, Int)? {
    let all = bytes[...]
    guard let headEnd = all.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
    let head = String(decoding: all[..<headEnd], as: UTF8.self).lowercased()
    guard let status = Int(head.dropFirst(9).prefix(3)),
      let line = head.split(separator: "\r\n").first(where: { $0.hasPrefix("content-length:") }),
      let length = Int(line.dropFirst(15).filter { $0 != " " })
    else { throw BenchError("an answer has no status or length: \(head)") }
    guard bytes.count >= headEnd + length else { return nil }
    return (Answer(status: status, body: all[headEnd..<headEnd + length]), headEnd + length)
  }

  private static func socket(to port: Int) throws -> Int32 {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw BenchError("no socket (errno \(errno))") }
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      close(descriptor)
      throw BenchError("nothing listens on port \(port) (errno \(errno))")
    }
    return descriptor
  }

  /// One question and its answer.
  static func ask(port: Int, _ request: [UInt8]) throws -> (status: Int, text: String) {
    let client = LoadClient()
    var result = (status: 0, text: "")
    try client.connect(port: port) { answer in
      guard let answer else { return request }
      result = (answer.status, answer.text)
      return nil
    }
    try client.run()
    return result
  }
}

/// The bytes of HTTP requests.
enum Request {
  static func get(_ path: String, key: String? = nil) -> [UInt8] {
    let access = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    return Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(access)\r\n".utf8)
  }

  static func post(_ path: String, _ body: String, key: String? = nil, wait: Int? = nil) -> [UInt8]
  {
    let access = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    let wait = wait.map { "Prefer: wait=\($0)\r\n" } ?? ""
    return Array(
      """
      POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
      \(access)\(wait)Content-Length: \(body.utf8.count)\r\n\r\n\(body)
      """.utf8)
  }
}
