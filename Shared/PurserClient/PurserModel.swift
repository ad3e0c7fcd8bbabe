#if canImport(Observation)
  public import Observation

  /// What a SwiftUI view needs to know, observed.
  @MainActor @Observable
  public final class PurserModel {
    /// What may be bought.
    public private(set) var products: [PurserProduct] = []
    /// The paywall that was read last; nil when the catalog has none for its place.
    public private(set) var offering: PurserOffering?
    /// What the customer owns, as last known; nil before the first answer.
    public private(set) var entitlements: PurserEntitlements?
    /// The product whose purchase is under way.
    public private(set) var buying: String?
    /// What went wrong last, for a message to the customer.
    public private(set) var fault: PurserError?

    private let purser: Purser
    private var following: Task<Void, Never>?

    /// Makes a model over the customer's purchases.
    public init(_ purser: Purser) { self.purser = purser }

    /// Settles what is unfinished, reads products and rights, and follows them from now on.
    public func start() async {
      if following == nil {
        let changes = await purser.changes()
        following = Task { [weak self] in
          for await known in changes {
            guard let self else { return }
            self.entitlements = known
          }
        }
      }
      await purser.start()
      await refresh()
    }

    /// Reads products and rights anew; call it when the app comes to the front.
    public func refresh() async {
      await attempt {
        products = try await purser.products()
        entitlements = try await purser.entitlements()
      }
    }

    /// Reads the paywall of a place in the app; call it before the paywall is shown.
    public func readOffering(placement: String? = nil) async {
      await attempt { offering = try await purser.offerings(placement: placement).offering }
    }

    /// Buys a product; nil when it failed, and then `fault` says why.
    public func buy(_ productId: String, quantity: Int = 1) async -> BuyResult? {
      buying = productId
      defer { buying = nil }
      var result: BuyResult?
      await attempt { result = try await purser.buy(productId, quantity: quantity) }
      return result
    }

    /// Restores what the Apple account owns, as the customer asked for it.
    public func restore() async -> RestoreResult? {
      var result: RestoreResult?
      await attempt { result = try await purser.restore(asksApple: true) }
      return result
    }

    /// Whether the customer has a right at a time, by what is known.
    public func has(_ entitlement: String, at now: Int64) -> Bool {
      entitlements?.has(entitlement, at: now) ?? false
    }

    private func attempt(_ work: () async throws -> Void) async {
      do {
        fault = nil
        try await work()
      } catch let error as PurserError {
        fault = error
      } catch {
        fault = .unreachable(String(describing: error))
      }
    }
  }
#endif
