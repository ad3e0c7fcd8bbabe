import CRdkafka
import ServiceRuntime
import Synchronization

/// Owns one `rd_kafka_t` and sees to it that nobody uses it while or after it is destroyed.
///
/// `@unchecked Sendable` for one pointer, on the word of rdkafka.h (`rd_kafka_new`): "The API is
/// completely thread-safe and the calling application may call any of the API functions from any of
/// its own threads at any time." Destruction is the exception, so uses are counted.
@safe final class ClientHandle: @unchecked Sendable {
  private struct State {
    var isClosed = false
    var isDestroyed = false
    var users = 0
    var left: Completion<Void>?
  }

  let context: ClientContext
  private let handle: OpaquePointer
  private let mainQueue: OpaquePointer
  private let state = Mutex(State())

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - type: Producer or consumer.
  ///   - configuration: What the operator chose.
  ///   - own: What Purser sets on top.
  ///   - install: Sets further callbacks on the `rd_kafka_conf_t`.
  init(
    _ type: rd_kafka_type_t, _ configuration: ClientConfiguration, own: [(String, String)],
    context: ClientContext, install: (OpaquePointer) -> Void = { _ in }
  ) throws(KafkaError) {
    let conf = ConfigurationHandle()
    try conf.set("client.id", context.name)
    // A record is one small write that nothing follows: waiting to fill a packet only delays it. The
    // operator may say otherwise.
    try conf.set("socket.nagle.disable", "true")
    for (property, value) in configuration.properties { try conf.set(property, value) }
    for (property, value) in own { try conf.set(property, value) }
    try conf.set("log.queue", "true")

    self.context = context
    let opaque = unsafe Unmanaged.passRetained(context).toOpaque()
    let made: Result<OpaquePointer, KafkaError>? = unsafe conf.withPointer { pointer in
      unsafe context.install(in: pointer)
      unsafe install(pointer)
      unsafe rd_kafka_conf_set_opaque(pointer, opaque)
      return unsafe Self.make(type, pointer)
    }
    switch unsafe made {
    case .success(let pointer):
      conf.release()
      unsafe handle = pointer
      unsafe mainQueue = rd_kafka_queue_get_main(pointer)
      // Null sends log lines to the main queue, so that they are heard inside our polls only.
      unsafe rd_kafka_set_log_queue(pointer, nil)
    case .failure(let error):
      unsafe Unmanaged<ClientContext>.fromOpaque(opaque).release()
      throw error
    case nil:
      unsafe Unmanaged<ClientContext>.fromOpaque(opaque).release()
      throw KafkaError(code: .invalidArgument, reason: "the configuration was used before")
    }
  }

  deinit { destroy() }

  private static func make(
    _ type: rd_kafka_type_t, _ conf: OpaquePointer
  ) -> Result<OpaquePointer, KafkaError> {
    let size = 512
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
      unsafe buffer.initialize(repeating: 0)
      if let handle = unsafe rd_kafka_new(type, conf, buffer.baseAddress, size) {
        return unsafe .success(handle)
      }
      let problem = unsafe text(buffer.baseAddress) ?? "no reason given"
      return unsafe .failure(
        KafkaError(code: .invalidArgument, reason: "cannot make a Kafka client: \(problem)"))
    }
  }

  /// Lets a closure use the pointer, which may not escape.
  ///
  /// - Parameter asOwner: Whether it is the owner, who may go on after `refuse()`.
  /// - Throws: What the closure throws, or `.closed`.
  func use<R>(
    asOwner: Bool = false, _ body: (OpaquePointer) throws(KafkaError) -> R
  ) throws(KafkaError) -> R {
    let mayEnter = state.withLock { state in
      guard !state.isDestroyed && (asOwner || !state.isClosed) else { return false }
      state.users += 1
      return true
    }
    guard mayEnter else {
      throw KafkaError(code: .closed, reason: "Kafka client \(context.name) is closed")
    }
    defer { leave() }
    return unsafe try body(handle)
  }

  private func leave() {
    let left: Completion<Void>? = state.withLock { state in
      state.users -= 1
      return state.users == 0 ? state.left : nil
    }
    left?.complete(with: ())
  }

  /// Refuses new uses, except by the owner.
  func refuse() { state.withLock { $0.isClosed = true } }

  /// Whether nobody uses the client at this moment; lasts only after `refuse()`.
  var isUnused: Bool { state.withLock { $0.users == 0 } }

  /// Serves callbacks and log lines on the calling thread, waiting for them up to a time.
  ///
  /// - Returns: The number of events served; 0 also when the client is closed.
  @discardableResult
  func serve(milliseconds: Int32) -> Int32 {
    let served: Int32? = unsafe try? use(asOwner: true) { handle in
      unsafe rd_kafka_poll(handle, milliseconds)
    }
    return served ?? 0
  }

  /// Makes a `serve` that waits return at once, or the next one if none waits.
  func interruptServe() {
    unsafe try? use(asOwner: true) { _ in unsafe rd_kafka_queue_yield(mainQueue) }
  }

  /// Refuses new uses, waits for those under way, and destroys the client; safe to repeat.
  ///
  /// Everything that the C client gave out (queues, lists, messages) must be destroyed before:
  /// `finally` runs when nobody uses the client any more.
  func destroy(flags: Int32 = 0, finally: () -> Void = {}) {
    let left = Completion<Void>()
    let (isFirst, isIdle) = state.withLock { state in
      let isFirst = !state.isDestroyed
      state.isClosed = true
      state.isDestroyed = true
      if isFirst { state.left = left }
      return (isFirst, state.users == 0)
    }
    guard isFirst else { return }
    if !isIdle { left.wait() }
    finally()
    unsafe rd_kafka_queue_destroy(mainQueue)
    unsafe rd_kafka_destroy_flags(handle, flags)
    unsafe Unmanaged.passUnretained(context).release()
  }
}
