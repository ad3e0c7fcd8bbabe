import Glibc
import ServiceRuntime

/// A server that answers each connection with given bytes and closes, for what no proper one does.
final class RawServer: Sendable {
  private let descriptor: Int32
  let port: Int

  init?(answer: [UInt8], connections: Int = 1) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    self.descriptor = descriptor
    port = Int(UInt16(bigEndian: address.sin_port))
    guard isBound else { return nil }
    _ = DedicatedThread(name: "raw-server") {
      for _ in 0..<connections {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { return }
        var request = [UInt8](repeating: 0, count: 8192)
        _ = unsafe recv(client, &request, request.count, 0)
        var sent = 0
        while sent < answer.count {
          let count = unsafe answer[sent...].withUnsafeBytes { rest in
            unsafe send(client, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
          }
          guard count > 0 else { break }
          sent += count
        }
        close(client)
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }
}
