import Glibc
import Processes

/// The ports of a stack, all on 127.0.0.1.
struct StackPorts: Sendable, Equatable {
  var order: Int
  var verify: Int
  var entitlement: Int
  var simulator: Int
  /// Of the development broker.
  var kafka: Int

  /// The ports that all documents name.
  static let usual = StackPorts(base: 8080)

  /// What is added to the base for the broker, so that the usual one has Kafka's own port.
  private static let kafkaDistance = 1012

  /// The highest base, so that all ports are below 65536.
  static let highestBase = 65535 - kafkaDistance

  /// Ports in the usual distances: 8080 gives 8081, 8082, 8083, 8090 and 9092.
  init(base: Int) {
    order = base + 1
    verify = base + 2
    entitlement = base + 3
    simulator = base + 10
    kafka = base + Self.kafkaDistance
  }

  /// Ports that are free now.
  ///
  /// All are held until each has its own; then another process could take one. They lie below those that
  /// the kernel gives to outgoing connections (ip(7), `ip_local_port_range`: 32768 to 60999), of which a
  /// stack makes many before its last service listens.
  static func free() throws -> StackPorts {
    var sockets: [LoopbackSocket] = []
    defer { for socket in sockets { socket.close() } }
    for _ in 0..<1000 where sockets.count < 5 {
      if let socket = LoopbackSocket(port: .random(in: 15_000..<32_000)) { sockets.append(socket) }
    }
    let ports = sockets.map(\.port)
    guard ports.count == 5 else { throw PortError(taken: []) }
    var all = StackPorts(base: 0)
    all.order = ports[0]
    all.verify = ports[1]
    all.entitlement = ports[2]
    all.simulator = ports[3]
    all.kafka = ports[4]
    return all
  }

  /// Throws `PortError` when one cannot be listened on.
  func check(needsBroker: Bool) throws {
    let wanted = [order, verify, entitlement, simulator] + (needsBroker ? [kafka] : [])
    let taken = wanted.filter { port in
      guard let socket = LoopbackSocket(port: port) else { return true }
      socket.close()
      return false
    }
    if !taken.isEmpty { throw PortError(taken: taken) }
  }
}

/// Ports that cannot be had.
struct PortError: Error, CustomStringConvertible {
  let taken: [Int]

  var description: String {
    guard !taken.isEmpty else { return "no free ports on 127.0.0.1: \(lastError())" }
    let list = taken.map(String.init).joined(separator: ", ")
    return "in use on 127.0.0.1: \(list). Stop what listens there, or choose others with --ports"
  }
}

/// A socket bound on 127.0.0.1, as proof that a port is free.
private struct LoopbackSocket {
  private let descriptor: Int32
  let port: Int

  init?(port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    // As servers do: a connection of before that still lingers does not matter.
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 1) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound else {
      Glibc.close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.port = Int(in_port_t(bigEndian: address.sin_port))
  }

  func close() { Glibc.close(descriptor) }
}
