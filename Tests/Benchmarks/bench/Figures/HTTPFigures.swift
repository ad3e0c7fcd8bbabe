import FoundationEssentials
import Processes
import ServiceRuntime

/// CPU of an empty answer: at once on the server's thread, and through suspension and a task.
enum HTTPFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let port = try Bench.freePort()
    let server = try bench.start(
      "empty-server", "\(bench.executables)/bench", ["--serve-empty", "\(port)"])
    try bench.waitReady(port, "/direct", "empty-server")
    let nginx = try startNginx(bench)

    var direct: [Double] = []
    var suspended: [Double] = []
    var limit: [Double] = []
    let count = bench.options.isSmoke ? 500 : 20_000
    for _ in 0..<(bench.options.isSmoke ? 1 : 5) {
      if let nginx { limit.append(try cost(nginx.child, nginx.port, "/", count)) }
      direct.append(try cost(server, port, "/direct", count))
      suspended.append(try cost(server, port, "/suspended", count))
    }
    let peer: (name: String, value: Double)? =
      limit.isEmpty ? nil : ("nginx, static answer", limit.median)
    let notes = peer == nil ? ["install nginx-light to have nginx beside it"] : []
    return [
      Figure(
        "http.direct", "an empty answer on the server's thread", direct.median, "µs of CPU",
        limit: peer, notes: notes),
      Figure(
        "http.suspended", "an empty answer through a suspended connection and a task",
        suspended.median, "µs of CPU", limit: peer, notes: notes),
    ]
  }

  /// CPU of a server per request, in microseconds, with 64 connections.
  static func cost(_ server: ChildProcess, _ port: Int, _ path: String, _ count: Int) throws
    -> Double
  {
    try cost(server, port, count) { _ in Request.get(path) }
  }

  static func cost(
    _ server: ChildProcess, _ port: Int, _ count: Int, _ request: @escaping (Int) -> [UInt8]
  ) throws -> Double {
    let client = LoadClient()
    var left = count
    for _ in 0..<64 {
      try client.connect(port: port) { answer in
        if let answer, answer.status != 200 {
          throw BenchError("answered \(answer.status): \(answer.text)")
        }
        guard left > 0 else { return nil }
        left -= 1
        return request(left)
      }
    }
    let before = Meter.cpu(of: server.processID)
    try client.run()
    return (Meter.cpu(of: server.processID) - before) / Double(client.answers) * 1e6
  }

  private static func startNginx(_ bench: Bench) throws -> (child: ChildProcess, port: Int)? {
    let program = "/usr/sbin/nginx"
    guard FileManager.default.isExecutableFile(atPath: program) else { return nil }
    let port = try Bench.freePort()
    let text = """
      daemon off; master_process off; worker_processes 1; pid \(bench.file("nginx.pid"));
      error_log \(bench.file("nginx-error.log"));
      events { worker_connections 256; }
      http {
        access_log off; keepalive_requests 1000000; default_type application/json;
        client_body_temp_path \(bench.file("nginx-a")); proxy_temp_path \(bench.file("nginx-b"));
        fastcgi_temp_path \(bench.file("nginx-c")); uwsgi_temp_path \(bench.file("nginx-d"));
        scgi_temp_path \(bench.file("nginx-e"));
        server { listen 127.0.0.1:\(port); location / { return 200 '{}'; } }
      }
      """
    try Data(text.utf8).write(to: URL(filePath: bench.file("nginx.conf")))
    let child = try bench.start(
      "nginx", program, ["-c", bench.file("nginx.conf"), "-p", bench.folder])
    try bench.waitReady(port, "/", "nginx")
    return (child, port)
  }
}
