import ServiceRuntime
import Synchronization

/// The body of one answer on its way: written by a task, read by the thread of its connection.
///
/// The connection is suspended while there is nothing to send. The desk's lock comes first, then the
/// stream's own: so nothing is suspended once the server is closing.
final class OutgoingStream: Sendable {
  private struct State {
    var pending: [UInt8] = []
    /// How much of it was read already.
    var sent = 0
    var isSuspended = false
    /// Nothing is written any more; what is pending still leaves.
    var hasEnded = false
    var task: Task<Void, Never>?
  }

  let shares: [StreamBody.Share]
  let peer: Peer
  private let core: ServerCore
  private let connection: ConnectionHandle
  /// Ends what the stream's task waits for when the stream ends.
  private let presence = ClientPresence()
  private let state = Mutex(State())

  init(_ core: ServerCore, _ peer: Peer, _ connection: ConnectionHandle, _ body: StreamBody) {
    self.core = core
    self.peer = peer
    self.connection = connection
    shares = body.shares
  }

  /// Lets the task write that the answer came with.
  func start(_ body: StreamBody) {
    let task = Task {
      await ClientPresence.$current.withValue(presence) {
        await body.run(StreamWriter { self.write($0) })
      }
      self.end()
    }
    let isLate = state.withLock { state in
      state.task = task
      return state.hasEnded
    }
    if isLate { task.cancel() }
  }

  /// Fills a buffer; 0 after the connection was suspended, -1 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    core.desk.withLock { desk in
      state.withLock { state in
        let count = min(buffer.count, state.pending.count - state.sent)
        if count > 0 {
          unsafe buffer.copyBytes(from: state.pending[state.sent..<state.sent + count])
          state.sent += count
          if state.sent == state.pending.count {
            state.pending = []
            state.sent = 0
          }
          peer.enter(.writing)
          return count
        }
        if state.hasEnded || desk.isClosing { return -1 }
        connection.suspend()
        state.isSuspended = true
        peer.enter(.streaming)
        return 0
      }
    }
  }

  /// Takes bytes; false when the stream has ended, also because the client does not read.
  private func write(_ bytes: [UInt8]) -> Bool {
    core.desk.withLock { _ in
      state.withLock { state in
        guard !state.hasEnded else { return false }
        guard state.pending.count - state.sent + bytes.count <= core.limits.streamBytes else {
          core.metrics.refused("slow-stream-reader")
          finish(&state)
          return false
        }
        state.pending += bytes
        wake(&state)
        return true
      }
    }
  }

  /// Ends the stream: what is pending leaves, then the answer is over.
  func end() { core.desk.withLock { _ in endAtDesk() } }

  /// The same, where the desk's lock is held already.
  func endAtDesk() { state.withLock { state in finish(&state) } }

  private func finish(_ state: inout State) {
    state.hasEnded = true
    state.task?.cancel()
    state.task = nil
    presence.left()
    wake(&state)
  }

  private func wake(_ state: inout State) {
    guard state.isSuspended else { return }
    state.isSuspended = false
    // From now on a client that does not read is cut by the watch.
    peer.enter(.writing)
    connection.resume()
  }
}

// Streams at the desk.
extension ServerCore {
  /// Takes a stream in, or says why not.
  func refusal(of stream: OutgoingStream, _ exchange: Exchange) -> Problem? {
    exchange.state.withLock { $0.isStream = true }
    let problem: Problem? = desk.withLock { desk in
      if desk.isStopping { return .stopping }
      let isFull = stream.shares.contains { desk.streamsOf[$0.group, default: 0] >= $0.limit }
      if isFull || desk.streams.count >= limits.streams { return .tooManyStreams }
      desk.streams[ObjectIdentifier(exchange)] = stream
      for share in stream.shares { desk.streamsOf[share.group, default: 0] += 1 }
      metrics.streams.add(1)
      return nil
    }
    if let problem { metrics.refused(problem.type) }
    return problem
  }

  /// Forgets the stream of an exchange that is over.
  func endStream(of exchange: Exchange) {
    desk.withLock { desk in
      guard let stream = desk.streams.removeValue(forKey: ObjectIdentifier(exchange)) else {
        return
      }
      for share in stream.shares {
        let left = desk.streamsOf[share.group, default: 1] - 1
        desk.streamsOf[share.group] = left == 0 ? nil : left
      }
      metrics.streams.add(-1)
      stream.endAtDesk()
    }
  }

  /// Ends the streams of clients that have finished sending: nobody reads a suspended connection, so
  /// their end would be seen with the next event only.
  func endStreams(where isGone: (Peer) -> Bool) {
    desk.withLock { desk in
      for stream in desk.streams.values where isGone(stream.peer) { stream.endAtDesk() }
    }
  }
}
