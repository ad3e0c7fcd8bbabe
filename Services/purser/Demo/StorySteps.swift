import Events

/// What several chapters do.
extension Story {
  /// Order, purchase, proof: the way of every purchase.
  func buy(_ product: String, quantity: Int? = nil) throws -> Answers.Purchase {
    let order = try teller.ask(
      .orders, "POST", "/v1/orders",
      Questions.Order(customer: customer, productId: product, quantity: quantity), status: 201,
      as: Answers.Order.self
    ) { order in "order \(PayloadSummary.short(order.id)) \(order.state)" }
    try teller.require(
      order.id == order.appAccountToken && order.state == "created",
      "a new order is '\(order.state)', its token \(order.appAccountToken)")

    let bought = try teller.ask(
      .simulator, "POST", "/control/purchases",
      Questions.Purchase(productId: product, appAccountToken: order.id, quantity: quantity),
      status: 201, as: Answers.Purchase.self
    ) { bought in
      let end = bought.expiresDate.map { ", paid until \(moment($0))" } ?? ""
      return "transaction \(bought.transactionId)\(end)"
    }

    let proof = try teller.ask(
      .orders, "POST", "/v1/orders/\(order.id)/proofs",
      Questions.Proof(signedTransaction: bought.signedTransaction),
      headers: [("Prefer", "wait=15")], as: Answers.Proof.self
    ) { proof in
      "\(proof.outcome ?? "undecided"), order \(proof.order.state), finish: \(proof.finish)"
    }
    try teller.require(
      proof.finish && proof.order.state == "completed",
      "the proof is '\(proof.outcome ?? "undecided")', the order '\(proof.order.state)'")
    _ = try teller.expect("the order is completed", Order.self) { event in
      event.id == order.id && event.state == .completed
    }
    teller.conclude("Apple's signature is proved and recorded: the app may call finish()")
    return bought
  }

  /// Waits for the event that says of a right of alice what the step expects.
  func rightChanged(
    _ name: String, _ what: String, where test: @escaping @Sendable (EntitlementChanged) -> Bool
  ) throws -> EntitlementChanged {
    try teller.expect(what, EntitlementChanged.self) { [customer] change in
      change.customer == customer && change.entitlement.name == name && test(change)
    }
  }

  func entitlements() throws -> Answers.Entitlements {
    try teller.ask(
      .entitlements, "GET", "/v1/customers/\(customer)/entitlements",
      as: Answers.Entitlements.self
    ) { answer in
      let active = answer.entitlements.filter(\.isActive).map(\.name)
      return "version \(answer.version), active: "
        + (active.isEmpty ? "none" : active.joined(separator: ", "))
    }
  }

  /// Moves the clock of everybody to a time; what falls due on the way happens.
  func advance(to time: Int64) throws {
    let clock = try teller.ask(
      .simulator, "GET", "/control/clock", as: Answers.Clock.self
    ) { clock in "it is \(moment(clock.now))" }
    _ = try teller.ask(
      .simulator, "POST", "/control/clock",
      Questions.Clock(advanceSeconds: max(0, (time - clock.now) / 1000)), as: Answers.Clock.self
    ) { clock in "now it is \(moment(clock.now))" }
  }

  func moment(_ time: Int64?) -> String {
    time.map(PayloadSummary.moment) ?? "its end"
  }
}
