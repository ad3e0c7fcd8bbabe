extension Subscription {
  /// Reads a subscription of a `.storekit` file; nil, with a fault, without group, level or period.
  init?(storeKit product: ObjectReader, group: ObjectReader) {
    product.require("groupNumber", remedy: "add the level in its group, 1 for the highest")
    let level = product.integer("groupNumber", in: 1...10_000)
    let period = product.requiredPeriod("recurringSubscriptionPeriod")
    let groupID = group.given("id")
    if let named = product.text("subscriptionGroupID"), let groupID, named != groupID {
      product.faults.add(
        product.place(of: "subscriptionGroupID"),
        "is \(quoted(named)), but it stands in the group \(quoted(groupID))",
        remedy: "write the id of its group, or move it there")
    }
    let offers = (
      introductory: Self.introductoryOffers(of: product),
      promotional: Self.named(product.objects("adHocOffers")),
      codes: product.objects("codeOffers").compactMap { Offer(storeKit: $0) },
      winBack: Self.named(product.objects("winbackOffers"))
    )
    let plans = product.objects("billingPlans").map { BillingPlan(storeKit: $0) }
    guard let level, let period, let groupID else { return nil }
    self.init(
      groupID: groupID, groupName: group.text("name") ?? groupID, level: Int(level),
      period: period, introductoryOffers: offers.introductory,
      promotionalOffers: offers.promotional, offerCodes: offers.codes,
      winBackOffers: offers.winBack, billingPlans: plans)
  }

  /// Offers that apps and Apple name by their ids.
  private static func named(_ readers: [ObjectReader]) -> [Offer] {
    var seen: Set<String> = []
    return readers.compactMap { reader in
      let remedy = "add the offer's id from App Store Connect"
      reader.require("offerID", remedy: remedy)
      if let id = reader.filled("offerID", remedy: remedy), !seen.insert(id).inserted {
        reader.faults.add(
          reader.place(of: "offerID"), "\(quoted(id)) stands here twice",
          remedy: "give one of the two another id")
      }
      return Offer(storeKit: reader)
    }
  }

  /// Version 5 has a list, or the list and the single offer of older versions with equal content:
  /// the list counts if it has any, and each internal id once.
  private static func introductoryOffers(of product: ObjectReader) -> [Offer] {
    var sources = product.objects("introductoryOffers")
    if sources.isEmpty, let single = product.object("introductoryOffer") { sources = [single] }
    var seen: Set<String> = []
    return sources.compactMap { Offer(storeKit: $0) }
      .filter { $0.internalID.isEmpty || seen.insert($0.internalID).inserted }
  }
}

extension Offer {
  /// Reads an offer of a `.storekit` file; nil, with a fault, without mode or period.
  fileprivate init?(storeKit offer: ObjectReader) {
    let modes = PaymentMode.allCases.map(\.rawValue).joined(separator: ", ")
    offer.require("paymentMode", remedy: "write one of \(modes)")
    let period = offer.requiredPeriod("subscriptionPeriod")
    let count = offer.integer("numberOfPeriods", in: 1...1000) ?? 1
    guard let text = offer.text("paymentMode") else { return nil }
    guard let mode = PaymentMode(rawValue: text) else {
      offer.faults.add(
        offer.place(of: "paymentMode"), "is \(quoted(text))", remedy: "write one of \(modes)")
      return nil
    }
    // Xcode may leave an old price in an offer that was made free.
    let price = mode == .free ? nil : offer.price("displayPrice")
    guard let period else { return nil }
    self.init(
      internalID: offer.text("internalID") ?? "", identifier: offer.text("offerID"),
      referenceName: offer.text("referenceName"), paymentMode: mode, period: period,
      periodCount: Int(count), displayPrice: price?.text, priceMilliunits: price?.milliunits ?? 0,
      billingPlanType: offer.text("billingPlanType"),
      eligibility: offer.elements("eligibility").compactMap {
        if case .string(let word) = $0.node.value { word } else { nil }
      },
      isStackable: offer.bool("isStackable"), isEligible: offer.bool("isEligible"))
  }
}

extension BillingPlan {
  fileprivate init(storeKit plan: ObjectReader) {
    let price = plan.price("displayPrice")
    let commitment = plan.optionalPrice("commitmentDisplayPrice")
    self.init(
      type: plan.text("billingPlanType") ?? "", displayPrice: price.text,
      priceMilliunits: price.milliunits, commitmentDisplayPrice: commitment?.text,
      commitmentPriceMilliunits: commitment?.milliunits, isEnabled: plan.bool("isEnabled") ?? true)
  }
}
