#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A customer's purchases: order, pay, prove, finish; and what the customer owns.
///
/// Make one for each customer that is signed in, and call `start()` when the app starts.
public actor Purser {
  private let configuration: PurserConfiguration
  private let calls: ServiceCalls
  private let store: any PurchaseStore
  private let copies: any LocalCopies
  private let now: @Sendable () -> Int64
  private var listening: Task<Void, Never>?
  /// Transactions that are being settled: one is posted once, whoever finds it.
  private var settling: [String: Task<Proved, Never>] = [:]
  /// The version of the rights that the server told last.
  private var version: Int64?
  private var listeners: [UUID: AsyncStream<PurserEntitlements>.Continuation] = [:]

  /// Makes it.
  ///
  /// - Parameters:
  ///   - configuration: Where the services are, and who asks.
  ///   - transport: How requests reach them; `URLSessionTransport()` on Apple's systems.
  ///   - store: What takes the money; `StoreKitStore()` on Apple's systems.
  ///   - copies: What is known without a network.
  ///   - now: The time, UTC milliseconds.
  public init(
    configuration: PurserConfiguration, transport: any Transport, store: any PurchaseStore,
    copies: any LocalCopies,
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }
  ) {
    self.configuration = configuration
    calls = ServiceCalls(configuration: configuration, transport: transport)
    self.store = store
    self.copies = copies
    self.now = now
  }

  deinit { listening?.cancel() }

  /// Settles what an earlier run of the app left unfinished, and from now on what comes while it runs.
  @discardableResult
  public func start() async -> [Settlement] {
    if listening == nil {
      let updates = await store.updates()
      listening = Task { [weak self] in
        for await transaction in updates {
          guard let self else { return }
          _ = await self.settle(transaction)
        }
      }
    }
    return await settleUnfinished()
  }

  /// Brings every unfinished transaction to the server; call it again when the network comes back.
  @discardableResult
  public func settleUnfinished() async -> [Settlement] {
    var settlements: [Settlement] = []
    for transaction in await store.unfinished() {
      settlements.append(await settle(transaction))
    }
    return settlements
  }

  /// What may be bought; without a network what was said last.
  ///
  /// - Throws: `PurserError` when nothing is known.
  public func products() async throws -> [PurserProduct] {
    struct List: Codable { let products: [PurserProduct] }
    return try await fresh(window("products"), as: List.self).value.products
  }

  /// The paywall's packages; without a network what was said last for this placement.
  ///
  /// - Parameter placement: The place in the app, as the catalog names it.
  /// - Throws: `PurserError` when nothing is known.
  public func offerings(placement: String? = nil) async throws -> PurserOfferings {
    try await fresh(window("offerings", placement: placement), as: PurserOfferings.self).value
  }

  /// What this version of the app is shown; the path is the name of the copy too, as each view of the
  /// catalog has an entity tag of its own.
  private func window(_ list: String, placement: String? = nil) -> (name: String, url: String) {
    let path = ServiceCalls.path(
      list,
      [
        "bundleId": configuration.bundleId, "appVersion": configuration.appVersion,
        "placement": placement,
      ])
    return (path, "\(configuration.orders)/v1/\(path)")
  }

  /// Buys a product: places an order, asks the store for the money, proves it, finishes.
  ///
  /// - Throws: `PurserError` before anything was paid; what the store throws. Nothing is thrown after
  ///   the customer has paid.
  public func buy(_ productId: String, quantity: Int = 1) async throws -> BuyResult {
    struct Body: Encodable {
      let customer: String
      let productId: String
      let bundleId: String?
      let appVersion: String?
      let quantity: Int
    }
    let body = Body(
      customer: configuration.customer, productId: productId, bundleId: configuration.bundleId,
      appVersion: configuration.appVersion, quantity: quantity)
    // The key makes a repeated request open no second order.
    let order: PurserOrder = try await calls.post(
      "/v1/orders", body, headers: ["Idempotency-Key": UUID().uuidString]
    ).read()
    switch try await store.purchase(productId, quantity: quantity, token: order.id) {
    case .cancelled: return .cancelled(await move(order, "cancel"))
    case .pending: return .pending(await move(order, "pending"))
    case .purchased(let transaction):
      switch await settle(transaction, isNew: true) {
      case .recorded: return .completed(await self.order(order))
      case .belongsToAnother, .later, .refused: return .submitted(await self.order(order))
      }
    }
  }

  /// Brings a transaction to the server and finishes it when the server says so; safe to repeat.
  public func settle(_ transaction: StoreTransaction) async -> Settlement {
    await settle(transaction, isNew: false)
  }

  /// - Parameter isNew: Whether it was bought just now: then its right is awaited even when Apple's
  ///   notification told the server of it before the proof did.
  private func settle(_ transaction: StoreTransaction, isNew: Bool) async -> Settlement {
    if let running = settling[transaction.id] { return await running.value.settlement }
    let before = version
    let task = Task { await prove(transaction) }
    settling[transaction.id] = task
    let proved = await task.value
    settling[transaction.id] = nil
    if proved.isNews || isNew && proved.settlement == .recorded {
      await awaitRights(after: before)
    }
    return proved.settlement
  }

  /// Asks for the rights until they tell of the purchase: they follow the order within moments.
  private func awaitRights(after before: Int64?) async {
    for attempt in 1...5 {
      guard let known = try? await entitlements(), known.askedAt != nil, known.version == before
      else { return }
      if attempt < 5, (try? await configuration.pause(0.2 * Double(attempt))) == nil { return }
    }
  }

  /// Brings everything that the Apple account owns to the server, for this customer.
  ///
  /// - Parameter asksApple: Whether Apple is asked for what other devices bought, which may want the
  ///   customer's password: only when a button was pressed.
  /// - Throws: `PurserError`.
  public func restore(asksApple: Bool = false) async throws -> RestoreResult? {
    if asksApple { try await store.sync() }
    let owned = await store.owned()
    let open = await store.unfinished()
    let all = Dictionary(
      (owned + open).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }
    )
    .values.sorted { $0.id < $1.id }
    guard !all.isEmpty else { return nil }
    var result = RestoreResult(ids: [], decided: true, items: [])
    for part in RestoreParts.parts(of: all.map(\.signed)) {
      let answer = try await restore(part)
      result.add(answer)
      // At once: if the next part cannot be sent, this one is done.
      let finished = Set(answer.items.filter(\.finish).compactMap(\.transactionId))
      for transaction in open where finished.contains(transaction.id) {
        await store.finish(transaction)
      }
    }
    _ = try? await entitlements()
    return result
  }

  /// What the customer owns; without a network what was said last.
  ///
  /// - Throws: `PurserError` when nothing is known.
  public func entitlements() async throws -> PurserEntitlements {
    let customer = ServiceCalls.escaped(configuration.customer)
    let url = "\(configuration.entitlements)/v1/customers/\(customer)/entitlements"
    let (value, isFresh) = try await fresh(
      ("entitlements-\(customer)", url), as: PurserEntitlements.self)
    guard isFresh else { return value }
    version = value.version
    var told = value
    told.askedAt = now()
    for listener in listeners.values { listener.yield(told) }
    return told
  }

  /// Whether the customer has a right now, asking the server if it can be reached.
  public func has(_ entitlement: String) async -> Bool {
    guard let known = try? await entitlements() else { return false }
    return known.has(entitlement, at: now())
  }

  /// What the customer owns, whenever the server was asked; the newest is kept for a slow listener.
  public func changes() -> AsyncStream<PurserEntitlements> {
    let id = UUID()
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      listeners[id] = continuation
      continuation.onTermination = { [weak self] _ in
        Task { [weak self] in await self?.forget(id) }
      }
    }
  }

  private func forget(_ id: UUID) { listeners[id] = nil }

  /// What came of a proof, and whether it told the server something new.
  private struct Proved: Sendable {
    let settlement: Settlement
    let isNews: Bool
  }

  /// Posts the proof to the order that the transaction names, or restores it where it names none.
  private func prove(_ transaction: StoreTransaction) async -> Proved {
    let answer: ProofAnswer
    do {
      if let order = transaction.appAccountToken, let proof = try await proof(transaction, order) {
        answer = proof
      } else {
        let item = try await restore([transaction.signed]).items.first
        answer = ProofAnswer(
          outcome: item?.outcome, finish: item?.finish ?? false, reason: item?.reason,
          detail: item?.detail)
      }
    } catch PurserError.refused(let refusal) {
      answer = ProofAnswer(
        outcome: refusal.type, finish: refusal.finish ?? false, reason: refusal.type,
        detail: refusal.detail, status: refusal.status)
    } catch {
      return Proved(settlement: .later, isNews: false)
    }
    if answer.finish { await store.finish(transaction) }
    return Proved(settlement: answer.settlement, isNews: answer.outcome == "accepted")
  }

  /// What the app is told about a proof, posted or restored.
  private struct ProofAnswer: Decodable {
    var outcome: String?
    var finish: Bool
    var reason: String?
    var detail: String?
    var status: Int?

    var settlement: Settlement {
      let refusal = PurserError.Refusal(
        type: reason ?? outcome ?? "", status: status ?? 200, detail: detail ?? "", finish: finish)
      switch outcome {
      case nil: return .later
      case "belongs-to-another": return .belongsToAnother(refusal)
      default: return finish ? .recorded : .refused(refusal)
      }
    }
  }

  /// The answer to a posted proof; nil when there is no such order.
  private func proof(_ transaction: StoreTransaction, _ order: String) async throws -> ProofAnswer?
  {
    do {
      return try await calls.post(
        "/v1/orders/\(ServiceCalls.escaped(order))/proofs",
        ["signedTransaction": transaction.signed], headers: preferredWait
      ).read(ProofAnswer.self)
    } catch PurserError.refused(let refusal) where refusal.type == "unknown-order" {
      // The token of an account, or an order of another customer on this device.
      return nil
    }
  }

  private func restore(_ signed: [String]) async throws -> RestoreParts.Answer {
    struct Body: Encodable {
      let customer: String
      let bundleId: String?
      let signedTransactions: [String]
    }
    return try await calls.post(
      "/v1/restores",
      Body(
        customer: configuration.customer, bundleId: configuration.bundleId,
        signedTransactions: signed), headers: preferredWait
    ).read()
  }

  private var preferredWait: [String: String] { ["Prefer": "wait=\(configuration.wait)"] }

  /// Tells the order what the customer did; what cannot be told matters little, as it expires.
  private func move(_ order: PurserOrder, _ wish: String) async -> PurserOrder {
    let answer = try? await calls.post("/v1/orders/\(order.id)/\(wish)", [String: String]())
    return (try? answer?.read(PurserOrder.self)) ?? order
  }

  /// The order as it stands now, or as it was known.
  private func order(_ order: PurserOrder) async -> PurserOrder {
    let answer = try? await calls.get("\(configuration.orders)/v1/orders/\(order.id)", tag: nil)
    return (try? answer?.read(PurserOrder.self)) ?? order
  }

  /// Asks with the tag of the copy; the copy when the server says that it holds, or is not reached.
  private func fresh<Value: Codable & Sendable>(
    _ asked: (name: String, url: String), as type: Value.Type
  ) async throws -> (value: Value, isFresh: Bool) {
    let (name, url) = asked
    let kept = copies.read(name).flatMap {
      try? JSONDecoder().decode(KeptAnswer<Value>.self, from: $0)
    }
    do {
      let answer = try await calls.get(url, tag: kept?.tag)
      if answer.status == 304, let kept { return (kept.value, true) }
      let value = try answer.read(type)
      copies.write(
        name, try? JSONEncoder().encode(KeptAnswer(tag: answer.tag, value: value)))
      return (value, true)
    } catch let error as PurserError where error.isTemporary {
      guard let kept else { throw error }
      return (kept.value, false)
    }
  }
}
