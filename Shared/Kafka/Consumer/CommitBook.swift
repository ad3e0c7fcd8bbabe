import CRdkafka
import ServiceRuntime
import Synchronization

/// Keeps at most one commit of positions under way; newer positions wait and overwrite each other.
///
/// So a broker that is away holds back one request, however often the service commits.
final class CommitBook: Sendable {
  private struct State {
    var isUnderWay = false
    var waiting: [TopicPartition: Int64] = [:]
  }

  private let state = Mutex(State())
  private let commits: Counter
  private let failures: Counter

  init(client: String, _ metrics: Metrics) {
    let labels = ["client": client]
    commits = metrics.counter(
      "kafka_consumer_commits_total", "Commits of positions that the broker took.", labels: labels)
    failures = metrics.counter(
      "kafka_consumer_commit_failures_total", "Commits of positions that failed.", labels: labels)
  }

  /// Whether a commit is under way or waits.
  var isBusy: Bool { state.withLock { $0.isUnderWay || !$0.waiting.isEmpty } }

  /// Adds positions to the next commit.
  func add(_ positions: [TopicPartition: Int64]) {
    state.withLock { $0.waiting.merge(positions) { _, new in new } }
  }

  /// Sends what waits, unless a commit is under way.
  func send(on handle: OpaquePointer) throws(KafkaError) {
    let positions: [TopicPartition: Int64]? = state.withLock { state in
      guard !state.isUnderWay && !state.waiting.isEmpty else { return nil }
      defer {
        state.isUnderWay = true
        state.waiting = [:]
      }
      return state.waiting
    }
    guard let positions else { return }
    let list = PositionList(positions)
    let code = unsafe list.withPointer { list in unsafe rd_kafka_commit(handle, list, 1) }
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
      state.withLock { $0.isUnderWay = false }
      failures.add()
      throw KafkaError(code, "positions were not committed")
    }
  }

  /// Installs the callback that hears how commits went, inside a poll of ours.
  static func install(in configuration: OpaquePointer) {
    unsafe rd_kafka_conf_set_offset_commit_cb(configuration) { _, code, _, opaque in
      guard let opaque = unsafe opaque else { return }
      unsafe ClientContext.from(opaque).commitEnded(code)
    }
  }

  fileprivate func ended(_ succeeded: Bool) {
    state.withLock { $0.isUnderWay = false }
    (succeeded ? commits : failures).add()
  }
}

extension ClientContext {
  fileprivate func commitEnded(_ code: rd_kafka_resp_err_t) {
    // `_NO_OFFSET` says that there was nothing to commit.
    let succeeded =
      code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET
    commits.ended(succeeded)
    guard !succeeded else { return }
    let error = KafkaError(code, "positions were not committed; the next commit will carry them")
    log.warning(
      "kafka positions were not committed", ["client": .string(name), "error": .init(error)])
  }
}
