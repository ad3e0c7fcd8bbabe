import CMicrohttpd
import Glibc

/// Owns a listening socket.
final class ListeningSocket: Sendable {
  let descriptor: Int32
  let port: Int

  /// Connections that the kernel keeps until they are accepted.
  static let backlog: Int32 = 1024

  init(host: String, port: Int) throws(ServerError) {
    guard let number = UInt16(exactly: port) else {
      throw .cannotListen(host: host, port: port, reason: "a port lies between 0 and 65535")
    }
    let result = unsafe purser_http_listen(host, number, Self.backlog)
    guard result >= 0 else {
      let reason = unsafe String(cString: purser_http_listen_fault(result))
      throw .cannotListen(host: host, port: port, reason: reason)
    }
    descriptor = result
    self.port = Int(purser_http_port(result))
  }

  deinit { close(descriptor) }

  /// From now on the kernel refuses new connections, although the socket is still owned.
  func refuse() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// A server that cannot run.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address cannot be used; the reason is the system's.
  case cannotListen(host: String, port: Int, reason: String)
  /// libmicrohttpd could not start its threads.
  case cannotStart

  /// The fault, the place and the remedy.
  public var description: String {
    switch self {
    case .cannotListen(let host, let port, let reason):
      "cannot listen on \(host):\(port): \(reason); choose another address, or stop what uses it"
    case .cannotStart:
      "the HTTP server could not start its threads; look at the limits of threads and open files"
    }
  }
}
