import HTTPClient
import HTTPServer
import Synchronization

// A request on its way to another shard, and the answer on its way back.
extension Peers {
  /// The request as it is sent on: the caller's own, with one more hop.
  func wire(_ request: Request, _ address: String, timeout: Duration) -> HTTPRequest {
    var headers = request.headers.fields.filter { !Self.isOwnOfConnection($0.name) }
      .map { ($0.name, $0.value) }
    headers.append((Shards.header, "\(request.hops + 1)"))
    headers.append(("X-Request-Id", request.id))
    let method = request.method == .head ? .get : request.method
    let hasBody = !request.body.isEmpty || [.post, .put, .patch].contains(method)
    return HTTPRequest(
      method: method.rawValue, url: address + request.target, headers: headers,
      body: hasBody ? request.body : nil, timeout: timeout)
  }

  /// The fields of an answer that go on to the caller; what this server says itself is left out.
  static func carried(_ headers: [(String, String)]) -> [(String, String)] {
    headers.filter { field in
      let name = field.0.lowercased()
      return !isOwnOfConnection(name) && !saidHere.contains(name)
        && !name.hasPrefix("access-control-")
    }
  }

  private static let saidHere: Set<String> = [
    "date", "vary", "ratelimit", "ratelimit-policy", "purser-shard",
  ]

  /// Fields that belong to one connection (RFC 9110 §7.6.1), and those that are written anew.
  private static func isOwnOfConnection(_ name: String) -> Bool {
    connection.contains(name.lowercased())
  }

  private static let connection: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "purser-forwarded", "te", "trailer",
    "transfer-encoding", "upgrade", "x-request-id",
  ]
}

/// The pieces of a short body.
final class Gathered: Sendable {
  private let pieces = Mutex<[UInt8]>([])

  func take(_ piece: [UInt8]) -> Bool {
    pieces.withLock { bytes in
      bytes += piece
      return bytes.count <= 64 * 1024
    }
  }

  var bytes: [UInt8] { pieces.withLock { $0 } }
}
