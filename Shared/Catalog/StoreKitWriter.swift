/// Writes a catalog as an Xcode `.storekit` file: of version 5 where something needs it, otherwise 4.
///
/// What such a file cannot hold (rights, credits, offerings and so on) is left out; `CatalogWriter`
/// writes it beside. Products stand in the order of their kinds, as Xcode has them.
struct StoreKitWriter {
  private let catalog: Catalog
  private let isVersion5: Bool

  init(_ catalog: Catalog) {
    self.catalog = catalog
    isVersion5 = catalog.orderedProducts.contains { product in
      product.subscription.map { !$0.billingPlans.isEmpty || $0.introductoryOffers.count > 1 }
        ?? false
    }
  }

  var text: String {
    let products = catalog.orderedProducts
    return JSONPrinter.text(
      .members([
        "appPolicies": .members(["eula": .string(""), "policies": .list([])]),
        "identifier": .string(
          catalog.settings?.identifier
            ?? InternalID.make(products.map(\.id).joined(separator: "\n"))),
        "nonRenewingSubscriptions": .list(
          products.filter { $0.kind == .nonRenewing }.map { .members(plain($0)) }),
        "products": .list(
          products.filter { $0.kind == .consumable || $0.kind == .nonConsumable }
            .map { .members(plain($0)) }),
        "settings": catalog.settings.map(settings) ?? .members([:]),
        "subscriptionGroups": .list(groups.map(group)),
        "version": .members([
          "major": .integer(isVersion5 ? 5 : 4), "minor": .integer(0),
        ]),
      ]))
  }

  private struct Group {
    let id: String
    let name: String
    var products: [(Product, Subscription)]
  }

  /// The groups in the order of their first products.
  private var groups: [Group] {
    var groups: [Group] = []
    for product in catalog.orderedProducts {
      guard let subscription = product.subscription else { continue }
      if let index = groups.firstIndex(where: { $0.id == subscription.groupID }) {
        groups[index].products.append((product, subscription))
      } else {
        groups.append(
          Group(
            id: subscription.groupID, name: subscription.groupName,
            products: [(product, subscription)]))
      }
    }
    return groups
  }

  private func group(_ group: Group) -> JSONValue {
    .members([
      "id": .string(group.id), "localizations": .list([]), "name": .string(group.name),
      "subscriptions": .list(group.products.map { .members(subscription($0, $1)) }),
    ])
  }

  private func plain(_ product: Product) -> KeyValuePairs<String, JSONValue?> {
    [
      "displayPrice": .string(product.displayPrice),
      "familyShareable": .bool(product.familyShareable),
      "internalID": .string(InternalID.make(product.id)),
      "localizations": localizations(product),
      "productID": .string(product.id),
      "referenceName": product.referenceName.map { .string($0) } ?? .null,
      "type": .string(product.kind.storeKitType),
    ]
  }

  private func subscription(
    _ product: Product, _ subscription: Subscription
  ) -> KeyValuePairs<String, JSONValue?> {
    [
      "adHocOffers": .list(subscription.promotionalOffers.map(offer)),
      "billingPlans": isVersion5
        ? .list(subscription.billingPlans.enumerated().map { plan(product, $0, $1) }) : nil,
      "codeOffers": .list(subscription.offerCodes.map(offer)),
      "displayPrice": .string(product.displayPrice),
      "familyShareable": .bool(product.familyShareable),
      "groupNumber": .integer(subscription.level),
      "internalID": .string(InternalID.make(product.id)),
      "introductoryOffer": isVersion5
        ? nil : subscription.introductoryOffers.first.map(offer) ?? .null,
      "introductoryOffers": isVersion5 ? .list(subscription.introductoryOffers.map(offer)) : nil,
      "localizations": localizations(product),
      "productID": .string(product.id),
      "recurringSubscriptionPeriod": .string(subscription.period.description),
      "referenceName": product.referenceName.map { .string($0) } ?? .null,
      "subscriptionGroupID": .string(subscription.groupID),
      "type": .string(product.kind.storeKitType),
      "winbackOffers": .list(subscription.winBackOffers.map(offer)),
    ]
  }

  private func localizations(_ product: Product) -> JSONValue {
    .list(
      product.localizations.map { localization in
        .members([
          "description": .string(localization.description),
          "displayName": .string(localization.displayName), "locale": .string(localization.locale),
        ])
      })
  }

  private func offer(_ offer: Offer) -> JSONValue {
    .members([
      "billingPlanType": offer.billingPlanType.map { .string($0) },
      "displayPrice": offer.displayPrice.map { .string($0) },
      "eligibility": offer.eligibility.isEmpty
        ? nil : .list(offer.eligibility.map { .string($0) }),
      "internalID": .string(offer.internalID),
      "isEligible": offer.isEligible.map { .bool($0) },
      "isStackable": offer.isStackable.map { .bool($0) },
      "numberOfPeriods": .integer(offer.periodCount),
      "offerID": offer.identifier.map { .string($0) },
      "paymentMode": .string(offer.paymentMode.rawValue),
      "referenceName": offer.referenceName.map { .string($0) },
      "subscriptionPeriod": .string(offer.period.description),
    ])
  }

  private func plan(_ product: Product, _ index: Int, _ plan: BillingPlan) -> JSONValue {
    .members([
      "billingPlanType": .string(plan.type),
      "commitmentDisplayPrice": plan.commitmentDisplayPrice.map { .string($0) },
      "displayPrice": .string(plan.displayPrice),
      "internalID": .string(InternalID.make("\(product.id)\nplan\n\(plan.type)\n\(index)")),
      "isEnabled": .bool(plan.isEnabled),
    ])
  }

  private func settings(_ settings: StoreKitSettings) -> JSONValue {
    .members([
      "_applicationInternalID": settings.applicationID.map { .string($0) },
      "_askToBuyEnabled": settings.askToBuyEnabled.map { .bool($0) },
      "_billingGracePeriodEnabled": settings.billingGracePeriodEnabled.map { .bool($0) },
      "_billingIssuesEnabled": settings.billingIssuesEnabled.map { .bool($0) },
      "_developerTeamID": settings.developerTeamID.map { .string($0) },
      "_disableDialogs": settings.disableDialogs.map { .bool($0) },
      "_failTransactionsEnabled": settings.failTransactionsEnabled.map { .bool($0) },
      "_locale": settings.locale.map { .string($0) },
      "_renewalBillingIssuesEnabled": settings.renewalBillingIssuesEnabled.map { .bool($0) },
      "_storeKitErrors": settings.errors.isEmpty ? nil : .list(settings.errors.map(error)),
      "_storefront": settings.storefront.map { .string($0) },
      "_timeRate": settings.timeRate.map { .integer($0) },
    ])
  }

  private func error(_ error: StoreKitSettings.SimulatedError) -> JSONValue {
    let hasChoice = error.type != nil || error.index != nil
    return .members([
      "current": hasChoice
        ? .members([
          "index": error.index.map { .integer($0) }, "type": error.type.map { .string($0) },
        ]) : .null,
      "enabled": .bool(error.isEnabled), "name": .string(error.name),
    ])
  }
}
