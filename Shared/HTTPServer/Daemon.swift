import CMicrohttpd
import ServiceRuntime
import Synchronization

/// Owns one `MHD_Daemon` and the reference that its callbacks hold to the core.
final class Daemon: Sendable {
  @safe private struct Handles: @unchecked Sendable {
    // microhttpd.h documents MHD_quiesce_daemon and MHD_stop_daemon for a daemon "run using threads";
    // both are called once, one after the other, under the lock below.
    let daemon: OpaquePointer
    let core: Unmanaged<ServerCore>
  }

  private let handles: Mutex<Handles?>

  /// Starts the threads; nil when libmicrohttpd refuses.
  init?(core: ServerCore, listening: ListeningSocket, threads: Int) {
    let retained = unsafe Unmanaged.passRetained(core)
    var callbacks = unsafe purser_http_callbacks()
    unsafe callbacks.context = unsafe retained.toOpaque()
    unsafe Daemon.fill(&callbacks)
    let limits = core.limits
    var options = purser_http_options(
      listening_descriptor: listening.descriptor,
      threads: UInt32(max(1, threads)),
      connections: UInt32(max(1, limits.connections)),
      connections_per_client: UInt32(max(0, limits.connectionsPerClient)),
      // A net below the watch, which is exact.
      idle_seconds: UInt32(clamping: limits.idleTime.components.seconds + 60),
      // Half of it is the read buffer for heads; parsed fields take some more.
      connection_memory_bytes: limits.headerBytes * 2 + 16 * 1024)
    guard let daemon = unsafe purser_http_start(&options, &callbacks) else {
      unsafe retained.release()
      return nil
    }
    handles = unsafe Mutex(Handles(daemon: daemon, core: retained))
  }

  /// Refuses connections from now on.
  func quiesce() {
    handles.withLock { handles in
      if let handles { unsafe purser_http_quiesce(handles.daemon) }
    }
  }

  /// Ends the threads; blocks.
  ///
  /// No connection may be suspended, or libmicrohttpd aborts the process.
  func stop() {
    guard let taken = handles.withLock({ $0.take() }) else { return }
    unsafe purser_http_stop(taken.daemon)
    unsafe taken.core.release()
  }

  /// The callbacks: each finds its object and calls one method.
  private static func fill(_ callbacks: inout purser_http_callbacks) {
    unsafe callbacks.connected = { context, descriptor in
      guard let core = unsafe core(context) else { return nil }
      return unsafe Unmanaged.passRetained(core.connected(descriptor)).toOpaque()
    }
    unsafe callbacks.disconnected = { context, peer in
      guard let core = unsafe core(context), let peer = unsafe peer else { return }
      unsafe core.disconnected(Unmanaged<Peer>.fromOpaque(peer).takeRetainedValue())
    }
    unsafe callbacks.began = { context, peer, target in
      guard let core = unsafe core(context), let peer = unsafe peer, let target = unsafe target
      else { return nil }
      let exchange = unsafe core.began(
        Unmanaged<Peer>.fromOpaque(peer).takeUnretainedValue(), target: String(cString: target))
      return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }
    unsafe callbacks.step = { context, exchange, connection, method, version, bytes, count in
      guard let core = unsafe core(context), let exchange = unsafe exchange,
        let connection = unsafe connection, let method = unsafe method,
        let version = unsafe version
      else { return 0 }
      let go = unsafe core.step(
        Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue(),
        ConnectionHandle(connection), method: String(cString: method),
        version: String(cString: version),
        piece: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
      return go ? 1 : 0
    }
    unsafe callbacks.ended = { context, exchange in
      guard let core = unsafe core(context), let exchange = unsafe exchange else { return }
      unsafe core.ended(Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue())
    }
    unsafe callbacks.log = { context, line in
      guard let core = unsafe core(context), let line = unsafe line else { return }
      let text = unsafe String(cString: line)
      core.log.debug("libmicrohttpd", ["line": .string(text)])
    }
  }
}

private func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
}
