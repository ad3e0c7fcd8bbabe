import FoundationEssentials
import Testing

@testable import purser

/// Gives a suite a stack of its own, which all of its tests share as `Way.current`.
struct WayTrait: SuiteTrait, TestScoping {
  /// Settings of a service beyond the usual ones, by its name.
  var extra: @Sendable (StackPlan) -> [String: [String: String]] = { _ in [:] }
  /// Whether verify-service has a key to the simulator's API.
  var asksApple = false
  /// Which services run.
  var services = Way.services
  /// Whether the suite leaves everything whole, so that the laws must hold at its end.
  var keepsLaws = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let way = try await Way.start(
      extra: extra, asksApple: asksApple, services: services)
    var failure: (any Error)?
    do {
      try await Way.$current.withValue(way) { try await function() }
      if keepsLaws { try await Laws.check(way) }
    } catch {
      failure = error
    }
    for complaint in await way.stop() { Issue.record("\(complaint)") }
    if let failure { throw failure }
  }
}

extension Trait where Self == WayTrait {
  /// A stack of the suite's own.
  static var ownWay: WayTrait { WayTrait() }

  /// A stack whose customers are merged and erased: the suite holds the laws that are about those.
  static var wayOfCustomers: WayTrait { WayTrait(keepsLaws: false) }

  /// A stack whose jobs ask the simulator, often.
  static var wayWithApple: WayTrait {
    WayTrait(
      extra: { _ in
        [
          "verify-service": [
            "VERIFY_BACK_FILL_INTERVAL": "1", "VERIFY_RECONCILE_AFTER": "1",
          ]
        ]
      }, asksApple: true)
  }

  /// A stack whose verify-service asks the simulator about receipts, with a second configuration
  /// in which only `verifyReceipt` proves them.
  static var wayWithReceipts: WayTrait {
    WayTrait(
      extra: { plan in
        let own = plan.configuration.replacing(
          "\"Sandbox\": {}", with: "\"Sandbox\": {\"policies\": {\"receipts\": \"verifyReceipt\"}}"
        ).replacing("\"bundleId\"", with: "\"sharedSecretFile\": \"secret.txt\", \"bundleId\"")
        do {
          try Data(own.utf8).write(to: URL(filePath: plan.file("asks-apple.json")))
          try Data("open-sesame".utf8).write(to: URL(filePath: plan.file("secret.txt")))
        } catch {
          Issue.record(error)
        }
        return [
          "app-store-simulator": ["SIMULATOR_SHARED_SECRET": "open-sesame"],
          // The simulator plays both of Apple's servers.
          "verify-service": [
            "VERIFY_RECEIPT_PRODUCTION_URL": "\(plan.simulatorURL)/verifyReceipt"
          ],
        ]
      }, asksApple: true)
  }

  /// A stack whose services can be made to fail.
  static var wayWithFaults: WayTrait {
    WayTrait(extra: { plan in FaultInjector.settings(of: plan) })
  }

  /// A stack whose services know keys of less than all scopes too.
  static var wayWithKeys: WayTrait {
    WayTrait(extra: { plan in
      let keys = BadInput.keys(of: plan.apiKey)
      return Dictionary(uniqueKeysWithValues: Way.services.map { ($0, keys) })
    })
  }

  /// A stack that serves a second app, which the simulator's forgeries of another bundle id are of.
  static var wayWithTwoApps: WayTrait {
    WayTrait(extra: { plan in
      let other =
        "\"apps\": [ { \"bundleId\": \"\(plan.bundleID).other\", \"environments\": { \"Sandbox\": {} } },"
      do {
        try Data(plan.configuration.replacing("\"apps\": [", with: other).utf8)
          .write(to: URL(filePath: plan.file("two-apps.json")))
      } catch {
        Issue.record(error)
      }
      let own = ["PURSER_CONFIG": plan.file("two-apps.json")]
      return Dictionary(uniqueKeysWithValues: Way.services.map { ($0, own) })
    })
  }

  /// A stack whose order-service has a catalog of its own, which a test may change.
  static var wayWithOwnCatalog: WayTrait {
    WayTrait(extra: { plan in
      do {
        let folder = URL(filePath: plan.places.catalog).deletingLastPathComponent().path
        for (name, copy) in [
          ("catalog.json", "own-catalog.json"), ("Store.storekit", "Store.storekit"),
        ] {
          try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: plan.file(copy))
        }
        let own = plan.configuration.replacing(
          plan.places.catalog, with: plan.file("own-catalog.json"))
        try Data(own.utf8).write(to: URL(filePath: plan.file("own-purser.json")))
      } catch {
        Issue.record(error)
      }
      return ["order-service": ["PURSER_CONFIG": plan.file("own-purser.json")]]
    })
  }
}

/// All suites that run whole stacks, one after another: two at once would only slow each other down.
@Suite("The whole way", .serialized)
enum WholeWay {
  /// The stack of the running test.
  static var way: Way {
    get throws {
      guard let way = Way.current else {
        throw NotInTime(description: "the suite has no trait .ownWay")
      }
      return way
    }
  }
}
