public import ServiceRuntime

extension Program.Question {
  /// `health`, which every service has: it asks the service of the same settings over HTTP.
  ///
  /// A container's health check, without a shell or another program in the image.
  ///
  /// - Parameters:
  ///   - prefix: Such as `ORDER`, of `ORDER_HTTP_HOST` and `ORDER_HTTP_PORT`.
  ///   - port: The default port.
  public static func health(prefix: String, port: Int) -> Self {
    Self(
      name: "health",
      help: """
        health [--path P]   asks the service that runs with these settings whether it lives, and ends
          with 0 or 1; P is /healthz, or /readyz for whether it may take traffic
        """,
      options: ["--path"]
    ) { reader, values in
      let host = reader.text("\(prefix)_HTTP_HOST", default: "127.0.0.1", "where it listens")
      let port = reader.integer(
        "\(prefix)_HTTP_PORT", default: port, in: 1...65535, "the port where it listens")
      guard reader.faults.isEmpty else { return nil }
      let path = values["--path"] ?? "/healthz"
      guard path.hasPrefix("/") else { return "--path is '\(path)'; give /healthz or /readyz" }
      return problem(
        at: "http://\(reachable(host)):\(port)\(path)",
        advice: "is it running, and with \(prefix)_HTTP_HOST and \(prefix)_HTTP_PORT as here?")
    }
  }

  /// An address to connect to, for one to listen on.
  private static func reachable(_ host: String) -> String {
    switch host {
    case "0.0.0.0", "": "127.0.0.1"
    case "::": "[::1]"
    case _ where host.contains(":"): "[\(host)]"
    default: host
    }
  }

  private static func problem(at url: String, advice: String) -> String? {
    let client = HTTPClient(workers: 1, name: "health", log: .silent, metrics: Metrics())
    do throws(HTTPClientError) {
      let answer = try client.sendAndWait(HTTPRequest(url: url, timeout: .seconds(4)))
      guard !answer.isSuccess else { return nil }
      let body = String(decoding: answer.body.prefix(300), as: UTF8.self)
      return "\(url) says \(answer.status) \(body)"
    } catch {
      return "nothing answers at \(url): \(error); \(advice)"
    }
  }
}
