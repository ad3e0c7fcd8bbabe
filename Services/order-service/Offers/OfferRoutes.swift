import HTTPServer

/// `/v1/customers/{customer}/offers` and `/v1/offers/…`: who may have which offer, and its signature.
struct OfferRoutes: Sendable {
  let signOffer: SignOffer

  func add(to router: inout Router) {
    router.on(.get, "/v1/customers/{customer}/offers", scope: .orders) { request in
      let customer = request.parameter("customer")
      let groups = try await signOffer.eligibility(
        customer, bundleId: request.queryValue("bundleId"),
        environment: request.queryValue("environment"))
      return .json(Eligibility(customer: customer, groups: groups.map(Eligibility.Group.init)))
    }
    router.on(
      .post, "/v1/offers/promotional", scope: .orders, tokens: .admittedByHandler,
      home: .customerInBody
    ) { request in
      let input = try request.json(SignOffer.PromotionalInput.self)
      try request.admit(customer: input.customer)
      return .json(try await signOffer.promotional(input)).with("Cache-Control", "no-store")
    }
    router.on(
      .post, "/v1/offers/introductory", scope: .orders, tokens: .admittedByHandler,
      home: .customerInBody
    ) { request in
      let input = try request.json(SignOffer.IntroductoryInput.self)
      try request.admit(customer: input.customer)
      return .json(try await signOffer.introductory(input)).with("Cache-Control", "no-store")
    }
  }
}

private struct Eligibility: Encodable {
  struct Group: Encodable {
    let groupId: String
    let introductory: Bool
    let promotional: Bool
    let winBack: [String]

    init(_ one: OfferEligibility) {
      groupId = one.groupId
      introductory = one.introductory
      promotional = one.promotional
      winBack = one.winBack
    }
  }

  let customer: String
  let groups: [Group]
}
