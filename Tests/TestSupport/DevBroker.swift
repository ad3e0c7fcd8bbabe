import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime

/// A broker of its own for a test: the one of development, in a process that the test owns.
///
/// It has a random port and a temporary folder. It ends with `stop`, with the object, and with the
/// test process, however that dies.
public final class DevBroker: Sendable {
  /// What went wrong with the broker's process.
  public struct Failure: Error, CustomStringConvertible {
    /// What went wrong.
    public let description: String
  }

  /// The broker as host:port.
  public let bootstrapServers: String
  private let folder: String
  private let process: ChildProcess

  private init(port: UInt16, folder: String, process: ChildProcess) {
    bootstrapServers = "127.0.0.1:\(port)"
    self.folder = folder
    self.process = process
  }

  /// Starts a broker and waits until it answers.
  ///
  /// - Throws: `Failure` when it does not within 60 s, which includes its installation.
  public static func start() throws -> DevBroker {
    let folder = TestFolder.path("broker")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let port = try freePort()
    var program = ChildProcess.Program(
      name: "dev-broker", executable: script,
      arguments: ["run", "--data-dir", folder, "--port", "\(port)"],
      environment: ProcessInfo.processInfo.environment, logFile: "\(folder)/broker.log")
    // It may be frozen when we end.
    program.isKilledWithParent = true
    let process = try ChildProcess(program)
    let deadline = Deadline.after(.seconds(60))
    // The control file comes after the port was bound: so it is our broker that answers.
    while unsafe access("\(folder)/noida.control.json", F_OK) != 0 || !answers(port) {
      guard process.ending.current == nil && !deadline.hasPassed else {
        process.send(SIGKILL)
        throw Failure(description: "no broker on port \(port); see \(folder)/broker.log")
      }
      usleep(2000)
    }
    return DevBroker(port: port, folder: folder, process: process)
  }

  deinit { stop() }

  /// Makes the broker unreachable without losing anything: it neither answers nor closes.
  ///
  /// Returns when all of its threads stand still.
  public func freeze() {
    process.send(SIGSTOP)
    waitUntilStopped(by: .after(.seconds(5)))
  }

  /// Lets a frozen broker go on.
  public func thaw() { process.send(SIGCONT) }

  /// The signal is only sent when `send` returns; the kernel reports the stop of the last thread.
  private func waitUntilStopped(by deadline: Deadline) {
    guard let child = process.processID else { return }
    var info = unsafe siginfo_t()
    while !deadline.hasPassed {
      unsafe info.si_signo = 0
      let result = unsafe waitid(P_PID, id_t(child), &info, WSTOPPED | WNOHANG)
      if unsafe result != 0 || info.si_signo == SIGCHLD { return }
      usleep(500)
    }
  }

  /// Kills the broker and removes its data; safe to repeat.
  public func stop() {
    process.send(SIGKILL)
    _ = process.ending.wait()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static var script: String {
    // This file is Tests/TestSupport/DevBroker.swift.
    var parts = #filePath.split(separator: "/")
    parts.removeLast(3)
    return "/" + parts.joined(separator: "/") + "/deploy/scripts/dev-broker"
  }

  private static func freePort() throws -> UInt16 {
    try withSocket { socket in
      var address = loopback(port: 0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
        }
      }
      guard bound else { throw Failure(description: "no free port: errno \(errno)") }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  private static func answers(_ port: UInt16) -> Bool {
    let connected = try? withSocket { socket in
      var address = loopback(port: port)
      return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
    return connected ?? false
  }

  private static func withSocket<R>(_ body: (Int32) throws -> R) throws -> R {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket: errno \(errno)") }
    defer { close(descriptor) }
    return try body(descriptor)
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
