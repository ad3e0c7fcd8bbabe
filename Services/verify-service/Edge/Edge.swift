import AppStore
import Catalog
import Cryptography
import Events
import HTTPServer
import Kafka
import Pipeline
import ServiceRuntime
import Synchronization

/// Proves a notification and puts it on `iap.appstore` as received; has no store.
final class Edge: Sendable {
  /// What became of a notification.
  enum Reception: Sendable {
    /// The broker has it.
    case recorded
    /// It can never be valid.
    case forged(reason: String, detail: String)
    /// Genuine, but not for an app and environment that is configured, or not at this URL.
    case notConfigured(reason: String, detail: String)
    /// It could not be recorded now.
    case tryAgain(String)
  }

  /// How many notifications may wait for the broker at once.
  static let inFlightLimit = 2000
  /// How long one may wait for the broker before Apple is asked to come again.
  static let brokerTime = Duration.seconds(8)

  private let sender: EdgeSender
  private let broker: EdgeBroker
  private let verifier: SignedDataVerifier
  private let revocation: RevocationCheck
  private let apps: Apps
  private let topics: TopicNames
  private let clock: any WallClock
  private let log: Log
  private let metrics: Metrics
  private let recorded: Counter

  init(
    verifier: SignedDataVerifier, revocation: RevocationCheck, apps: Apps, topics: TopicNames,
    clock: any WallClock, log: Log,
    metrics: Metrics, broker: EdgeBroker, makeProducer: @escaping @Sendable () throws -> Producer
  ) throws {
    sender = try EdgeSender(
      limit: Self.inFlightLimit, metrics: metrics, makeProducer: makeProducer)
    self.broker = broker
    self.verifier = verifier
    self.revocation = revocation
    self.apps = apps
    self.topics = topics
    self.clock = clock
    self.log = log
    self.metrics = metrics
    recorded = Self.counter(metrics, "recorded")
    // Shown from the start: an alarm on a rise does not see the first of what was not there before.
    for result in ["not-configured", "part-refused", "bad-signature", "untrusted-chain", "busy"] {
      _ = Self.counter(metrics, result)
    }
  }

  func close(by deadline: Deadline) async { await sender.close(by: deadline) }

  /// Counts a notification by what became of it.
  func count(_ result: String) { Self.counter(metrics, result).add() }

  private static func counter(_ metrics: Metrics, _ result: String) -> Counter {
    metrics.counter(
      "notifications_total", "Notifications by what became of them.", labels: ["result": result])
  }

  /// What a notification is, by its signatures.
  enum Proof: Sendable {
    /// It can be recorded.
    case proven(AppStoreFact)
    /// Its issuers must be asked first, as the policy of its app wants it.
    case askIssuers(VerifiedNotification, AppStoreFact)
    /// It is not recorded.
    case refused(Reception)
  }

  /// Verifies a notification; does not wait.
  func prove(_ signedPayload: String, bundleId: String?) -> Proof {
    do {
      let verified = try verifier.verifyNotification(signedPayload)
      if let bundleId, let app = verified.notification.app, app.bundleId != bundleId {
        count("wrong-url")
        return .refused(
          .notConfigured(
            reason: "wrong-url",
            detail: "it is for \(app.bundleId) and came to the URL of \(bundleId)."))
      }
      let fact = FactWriter.fact(of: verified, signedPayload, receivedAt: clock.now())
      return policies(of: verified).revocationCheck == .off
        ? .proven(fact) : .askIssuers(verified, fact)
    } catch {
      switch error.code {
      case .busy:
        count("busy")
        return .refused(.tryAgain("Too many unknown certificate chains are being checked."))
      case .unknownForm where error.isGenuine, .malformedPayload where error.isGenuine:
        // A form that Apple may add tomorrow: kept as it is, without effect.
        log.warning("a genuine notification of unknown form was kept", ["error": LogValue(error)])
        return .proven(FactWriter.unknownForm(signedPayload, receivedAt: clock.now()))
      case .wrongApp where error.isGenuine, .wrongEnvironment where error.isGenuine:
        count("not-configured")
        log.error("a genuine notification is for nobody here", ["error": LogValue(error)])
        return .refused(
          .notConfigured(reason: error.code.rawValue, detail: error.description + "."))
      case _ where error.part != nil:
        // Apple signed the notification, and something in it does not stand: more likely a root is
        // missing here than that Apple is wrong. Apple comes again, until somebody has looked.
        count("part-refused")
        log.error("a genuine notification holds what is refused", ["error": LogValue(error)])
        return .refused(
          .tryAgain("The notification is genuine, but what it holds is not accepted here yet."))
      default:
        count(error.code.rawValue)
        log.warning("a notification was refused", ["error": LogValue(error)])
        return .refused(.forged(reason: error.code.rawValue, detail: error.description))
      }
    }
  }

  private func policies(of notification: VerifiedNotification) -> Policies {
    let notification = notification.notification
    return apps.policies(
      notification.app?.bundleId ?? "", notification.environment.rawValue)
  }

  /// What the issuers of its certificates have against it, where the policy says to ask them.
  private func refusal(of verified: VerifiedNotification) async -> Reception? {
    let (notification, policy) = (
      verified.notification, policies(of: verified).revocationCheck
    )
    // Mostly one chain signs all of them, and its answer is remembered.
    let chains = [
      notification.certificates, verified.transaction?.certificates,
      verified.renewalInfo?.certificates, verified.appTransaction?.certificates,
    ].compactMap { $0 }
    for chain in chains {
      switch await revocation.ask(chain, policy) {
      case .passed: continue
      case .refused(let reason, let detail):
        count(reason)
        log.error("a notification was refused", ["reason": .string(reason)])
        return .forged(reason: reason, detail: detail)
      case .unknown(let why):
        count("revocation-unknown")
        log.warning("the issuers of a chain could not be asked", ["fault": .string(why)])
        return .tryAgain("It cannot be asked now whether its certificates were revoked.")
      }
    }
    return nil
  }

  /// Asks the issuers, and puts the notification on the topic if they have nothing against it.
  func askAndRecord(
    _ verified: VerifiedNotification, _ fact: AppStoreFact, _ traceparent: String?
  ) async -> Reception {
    if let refusal = await refusal(of: verified) { return refusal }
    let told = Completion<Reception>()
    record(fact, traceparent) { told.complete(with: $0) }
    return await told.value()
  }

  /// Puts it on the topic; tells what became of it as soon as the broker has it, or has it not.
  func record(
    _ fact: AppStoreFact, _ traceparent: String?, _ report: @escaping @Sendable (Reception) -> Void
  ) {
    guard broker.isChecked else {
      count("topics-not-checked")
      return report(.tryAgain("The topics have not been found yet."))
    }
    let record: Record
    do {
      record = try FactWriter.record(
        fact, topic: topics.name(of: .appstore), now: clock.now(), traceparent)
    } catch {
      log.error("a notification could not be written", ["error": LogValue(error)])
      count("unwritable")
      return report(.tryAgain("The notification could not be written as a record."))
    }
    sender.send(record, atMost: Self.brokerTime) { [self] result in
      switch result {
      case .success:
        recorded.add()
        report(.recorded)
      case .failure(let error):
        count("broker-away")
        log.error("the broker did not take a notification", ["error": LogValue(error)])
        report(.tryAgain("The broker does not answer."))
      }
    }
  }
}

/// The edge's place in the order of starting.
final class EdgeService: Service {
  let name = "edge"
  private let edge: Edge
  private let ended = Completion<Void>()

  init(_ edge: Edge) { self.edge = edge }

  func run() async { await ended.value() }

  func stop(by deadline: Deadline) async {
    await edge.close(by: min(deadline, .after(.seconds(2))))
    ended.complete(with: ())
  }
}
