import Processes

/// The programs of a stack with their settings.
extension StackPlan {
  var broker: ChildProcess.Program {
    ChildProcess.Program(
      name: "broker", executable: places.broker,
      arguments: ["run", "--data-dir", file("broker"), "--port", "\(ports.kafka)"],
      environment: environment, logFile: file("broker.log"))
  }

  var simulator: ChildProcess.Program {
    program(
      "app-store-simulator",
      [
        "SIMULATOR_HTTP_PORT": "\(ports.simulator)",
        "SIMULATOR_CATALOG": places.storeKitFile,
        "SIMULATOR_BUNDLE_ID": bundleID,
        "SIMULATOR_ENVIRONMENT": "Sandbox",
        "SIMULATOR_NOTIFICATION_URL": "\(verifyURL)/v1/notifications",
        "SIMULATOR_ROOT_FILE": file("simulator-root.der"),
        "SIMULATOR_CLOCK_FILE": file("clock"),
        "SIMULATOR_API_KEY_FILE": file("simulator-key.p8"),
        "PURSER_LOG_LEVEL": logLevel,
      ])
  }

  /// The services with the address of each, in the order in which they are started.
  var services: [(program: ChildProcess.Program, url: String)] {
    [
      (service("order-service", "ORDER", ports.order, store: "orders.sqlite"), orderURL),
      (service("verify-service", "VERIFY", ports.verify, store: "verify.sqlite"), verifyURL),
      (
        service(
          "entitlement-service", "ENTITLEMENT", ports.entitlement, store: "entitlement.sqlite"),
        entitlementURL
      ),
    ]
  }

  private func service(
    _ name: String, _ prefix: String, _ port: Int, store: String
  ) -> ChildProcess.Program {
    var settings = [
      "\(prefix)_HTTP_PORT": "\(port)",
      "\(prefix)_STORE": file(store),
      "PURSER_CONFIG": file("purser.json"),
      "PURSER_TOPIC_PREFIX": topicPrefix,
      "PURSER_CLOCK_FILE": file("clock"),
      "PURSER_LOG_LEVEL": logLevel,
    ]
    if let keyFile {
      settings["PURSER_API_KEYS_FILE"] = keyFile
    } else {
      settings["PURSER_API_KEYS"] = keyLine
    }
    if prefix == "ENTITLEMENT", allowsPrivateWebhooks {
      settings["ENTITLEMENT_WEBHOOKS_PRIVATE"] = "1"
    }
    if prefix == "VERIFY" {
      settings["VERIFY_API_SANDBOX_URL"] = simulatorURL
      settings["VERIFY_RECEIPT_SANDBOX_URL"] = "\(simulatorURL)/verifyReceipt"
    }
    for (variable, value) in kafkaVariables { settings["KAFKA_\(variable)"] = value }
    return program(name, settings)
  }

  private func program(_ name: String, _ settings: [String: String]) -> ChildProcess.Program {
    ChildProcess.Program(
      name: name, executable: "\(places.executables)/\(name)",
      environment: environment.merging(settings) { $1 }, logFile: file("\(name).log"))
  }
}
