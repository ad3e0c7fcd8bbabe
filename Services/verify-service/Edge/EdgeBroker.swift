import Events
import Kafka
import Pipeline
import ServiceRuntime
import Synchronization

/// What the edge knows of the broker: nothing is sent before the topic was found as it must be, and
/// the edge is ready only while the broker answers.
final class EdgeBroker: Service {
  /// The name that logs show; also the thread's.
  let name = "edge-broker"

  private static let pause = Duration.seconds(2)

  private let makeAdmin: @Sendable () throws -> Admin
  private let plan: TopicPlan
  private let log: Log
  private let checked = Atomic<Bool>(false)
  private let reachable = Atomic<Bool>(false)
  private let stopping = Completion<Void>()
  private let ended = Completion<Void>()

  init(plan: TopicPlan, log: Log, makeAdmin: @escaping @Sendable () throws -> Admin) {
    self.plan = plan
    self.log = log
    self.makeAdmin = makeAdmin
  }

  /// Whether records may be sent: `iap.appstore` is there and as it must be.
  var isChecked: Bool { checked.load(ordering: .acquiring) }

  /// Whether records may be sent and the broker answered when it was last asked.
  var isReady: Bool { isChecked && reachable.load(ordering: .acquiring) }

  /// Asks until stopped.
  ///
  /// - Throws: `TopicsUnusable` when the topic can never serve as it is.
  func run() async throws {
    defer { ended.complete(with: ()) }
    try await DedicatedThread.run(named: name) { try self.loop() }
  }

  func stop(by deadline: Deadline) async {
    stopping.complete(with: ())
    await ended.value()
  }

  private func loop() throws {
    let admin = try makeAdmin()
    defer { admin.closeAndWait() }
    repeat {
      let answers: Bool
      do {
        if !isChecked {
          _ = try plan.check([.appstore], admin, timeout: .seconds(2)) {
            log.warning(TopicPlan.unseenWarning, ["error": LogValue($0)])
          }
          checked.store(true, ordering: .releasing)
        }
        answers = admin.isReachable(timeout: .seconds(2))
      } catch let error as TopicsUnusable {
        throw error
      } catch {
        log.warning("the topics are not there yet; trying again", ["error": LogValue(error)])
        answers = false
      }
      if reachable.exchange(answers, ordering: .acquiringAndReleasing) != answers {
        answers
          ? log.info("the broker answers")
          : log.warning("the broker does not answer")
      }
    } while stopping.wait(by: .after(isReady ? Self.pause : .milliseconds(500))) == nil
  }
}
