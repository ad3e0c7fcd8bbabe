/// What `purser up` says when everything is ready.
enum UpText {
  static func whatIsThere(_ plan: StackPlan, _ terminal: Terminal) -> String {
    let broker = plan.kafkaVariables["BOOTSTRAP_SERVERS"] ?? ""
    let table = columns([
      ["order-service", plan.orderURL, "orders and proofs", plan.file("orders.sqlite")],
      ["verify-service", plan.verifyURL, "Apple's notifications", plan.file("verify.sqlite")],
      [
        "entitlement-service", plan.entitlementURL, "what customers own",
        plan.file("entitlement.sqlite"),
      ],
      ["app-store-simulator", plan.simulatorURL, "plays Apple", ""],
      ["Kafka", broker, "topics \(plan.topicPrefix)…", ""],
    ])
    let title = { (text: String) in terminal.styled(text, .bold) }
    return """

      \(title("Everything is ready"))
      \(table)

      \(title("Try it in another terminal"))
      export KEY=$(cat \(plan.file("api-key")))

      # An order for alice, before she pays. Its id is StoreKit's appAccountToken.
      ORDER=$(curl -s \(plan.orderURL)/v1/orders -H "Authorization: Bearer $KEY" \\
        -d '{"customer":"alice","productId":"pro.monthly"}' | tee /dev/stderr \\
        | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')

      # Alice buys with it at the simulator, which tells Purser as Apple would.
      curl -s -o /dev/null -w 'bought: %{http_code}\\n' \(plan.simulatorURL)/control/purchases \\
        -d '{"productId":"pro.monthly","appAccountToken":"'$ORDER'"}'

      # What she owns a moment later.
      sleep 1; curl -s -w '\\n' \(plan.entitlementURL)/v1/customers/alice/entitlements \\
        -H "Authorization: Bearer $KEY"

      # 40 days pass: Apple renews, and the same question has a new answer.
      curl -s -w '\\n' \(plan.simulatorURL)/control/clock -d '{"advanceSeconds":3456000}'
      sleep 1; curl -s -w '\\n' \(plan.entitlementURL)/v1/customers/alice/entitlements \\
        -H "Authorization: Bearer $KEY"

      # What was written to Kafka.
      KAFKA_BOOTSTRAP_SERVERS=\(broker) PURSER_TOPIC_PREFIX=\(plan.topicPrefix) \\
        \(plan.places.executables)/purser inspect entitlements

      \(title("Events as they come")), Ctrl-C stops everything
      """
  }
}
