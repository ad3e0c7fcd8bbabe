import AppStore
import Events
import Pipeline
import SQLite
import ServiceRuntime

/// Brings what was bought before Purser: the whole history of a customer, or signed transactions of a
/// file.
///
/// Several items at a time; each is whole with its removal from the table, so that a kill repeats
/// it, and what is repeated is no news.
struct HistoryImport: AppleJob {
  let name = "import"
  let lane: AppleLane? = nil
  let apple: AppleAPI
  let facts: AppleFacts
  let store: Store
  let recorded: Counter

  /// Items that are asked for at a time.
  private static let batch: Int64 = 8

  func step() async throws -> AppleStep {
    let now = store.clock.now()
    let due = try await store.readers.read { reader in
      try ImportStore.due(reader, by: now, limit: Self.batch)
    }
    guard !due.isEmpty else { return .rest(.seconds(1)) }
    let failure = await withTaskGroup(of: (any Error)?.self) { group -> (any Error)? in
      for item in due { group.addTask { await attempt(item, now) } }
      var first: (any Error)?
      for await failure in group { first = first ?? failure }
      return first
    }
    // What is wrong with the key or the way is wrong for all: the job pauses.
    if let failure { throw failure }
    return .again
  }

  /// Nil when the item is dealt with, for good or for later.
  private func attempt(_ item: ImportStore.Item, _ now: Int64) async -> (any Error)? {
    do {
      try await bring(item, now)
      return nil
    } catch let error as APIError {
      return await settle(item, error.isVerdict, "\(error) \(error.advice)", error)
    } catch let error as ForeignAnswer {
      return await settle(item, item.kind == .signed, error.description, error)
    } catch let error as NoAPIKey {
      _ = await settle(item, true, error.description, error)
      return nil
    } catch {
      return error
    }
  }

  private func settle(
    _ item: ImportStore.Item, _ isFinal: Bool, _ reason: String, _ error: any Error
  ) async -> (any Error)? {
    do {
      let isLast = isFinal || item.tries + 1 >= ImportStore.triesLimit
      try await store.change { change in
        if isLast {
          try ImportStore.fail(item, reason, change)
        } else {
          try ImportStore.postpone(item, change)
        }
      }
      let concernsAll = (error as? APIError)?.concernsAll ?? false
      return !isLast && concernsAll ? error : nil
    } catch {
      return error
    }
  }

  private func bring(_ item: ImportStore.Item, _ now: Int64) async throws {
    if item.kind == .signed { return try await bringSigned(item, now) }
    let client = try await client(of: item)
    let lane = AppleLane(bundleId: item.bundleId, environment: client.environment.rawValue)
    let recorded = recorded
    var originals: Set<String> = []
    var ids: Set<String> = []
    var news = 0
    var hasSubscription = false
    // A page at a time: a customer may have thousands of transactions.
    try await client.followPages(limit: 1_000) { cursor in
      try .transactionHistory(item.value, revision: cursor)
    } take: { page in
      let found = try page.signedTransactions.map {
        try facts.transaction($0, source: .historyImport, lane: lane, at: now)
      }
      for fact in found {
        fact.transaction.map { _ = ids.insert($0.transactionId) }
        fact.fact.lineage.flatMap { LineageID($0) }.map {
          _ = originals.insert($0.originalTransactionId)
        }
        if fact.transaction?.type == "Auto-Renewable Subscription" { hasSubscription = true }
      }
      news += try await store.change { change in
        let news = try change.publishNews(found)
        change.count(recorded, news)
        return news
      }
    }
    var renewals: [AppleFact] = []
    if hasSubscription {
      let answer = try await client.result(of: try .subscriptionStatuses(item.value)).get()
      renewals = try AppleStatuses(answer, source: .historyImport, lane: lane, facts, at: now).facts
    }
    let (last, before, customers, answered) = (renewals, news, originals, ids)
    try await store.change { change in
      let news = try change.publishNews(last)
      change.count(recorded, news)
      try ImportStore.forgetCustomer(lane, customers, change)
      try ImportStore.finishIds(lane, customers.union(answered), but: item, change)
      try ImportStore.finish(item, recorded: before + news, change)
    }
  }

  private func bringSigned(_ item: ImportStore.Item, _ now: Int64) async throws {
    let verified = try facts.anyTransaction(
      item.value, bundleId: item.bundleId, source: .historyImport, at: now)
    let recorded = recorded
    try await store.change { change in
      let news = try change.publishNews([verified])
      change.count(recorded, news)
      try ImportStore.finish(item, recorded: news, change)
    }
  }

  /// The client of the item's environment; Apple is asked which it is where nobody knows.
  private func client(of item: ImportStore.Item) async throws -> AppStoreServerAPI {
    if let environment = item.environment {
      let lane = AppleLane(bundleId: item.bundleId, environment: environment)
      guard let client = apple.client(lane) else { throw NoAPIKey(lane: lane) }
      return client
    }
    guard let lookup = apple.lookup(item.bundleId) else {
      throw NoAPIKey(lane: AppleLane(bundleId: item.bundleId, environment: "any environment"))
    }
    let found = try await lookup.find(item.value)
    let lane = AppleLane(bundleId: item.bundleId, environment: found.environment.rawValue)
    guard let client = apple.client(lane) else { throw NoAPIKey(lane: lane) }
    return client
  }
}

/// No key to Apple's API is configured for an app.
struct NoAPIKey: Error, CustomStringConvertible {
  let lane: AppleLane

  var description: String {
    "no API key is configured for \(lane); name one in purser.json under api"
  }
}

extension AppleFacts {
  /// A signed transaction of a file, of whichever configured environment it is.
  func anyTransaction(
    _ signed: String, bundleId: String, source: FactSource, at now: Int64
  ) throws -> AppleFact {
    let environment: String
    do {
      environment = try verifier.verifyTransaction(signed, expectedBundle: bundleId)
        .environment.rawValue
    } catch {
      throw ForeignAnswer(
        lane: AppleLane(bundleId: bundleId, environment: "any environment"),
        detail: error.description)
    }
    return try transaction(
      signed, source: source, lane: AppleLane(bundleId: bundleId, environment: environment),
      at: now)
  }
}
