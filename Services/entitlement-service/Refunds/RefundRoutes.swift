import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers/{customer}/refund-settings`: consent, and what Apple is told of this customer.
struct RefundRoutes: Sendable {
  let store: Store

  /// What the caller puts; what is left out goes back to the app's policy.
  struct Input: Decodable, Sendable {
    let customerConsented: Bool
    let refundPreference: String?
    let deliveryStatus: String?
    let sampleContentProvided: Bool?
    let author: String?
  }

  func add(to router: inout Router) {
    let path = "/v1/customers/{customer}/refund-settings"
    router.on(.get, path, scope: .entitlementsRead, tokens: .denied) { request in
      let asked = try request.customer()
      return .json(
        try await store.readers.read { reader in
          try RefundSettings.load(reader, CustomerRow.load(reader, asked).customer)
        })
    }
    router.on(.put, path, scope: .entitlementsWrite) { request in try await put(request) }
  }

  private func put(_ request: Request) async throws -> Response {
    let asked = try request.customer(provisionalToo: false)
    let input = try request.json(Input.self)
    let preferences = Policies.RefundPreference.allCases.map(\.rawValue)
    if let word = input.refundPreference, !preferences.contains(word) {
      throw Self.unknownWord("refundPreference", preferences)
    }
    if let word = input.deliveryStatus, !RefundSettings.deliveryStatuses.contains(word) {
      throw Self.unknownWord("deliveryStatus", RefundSettings.deliveryStatuses)
    }
    var settings = RefundSettings()
    settings.customerConsented = input.customerConsented
    settings.refundPreference = input.refundPreference
    settings.deliveryStatus = input.deliveryStatus
    settings.sampleContentProvided = input.sampleContentProvided
    settings.author = try request.author(input.author)
    return .json(
      try await store.change { [settings] change in
        var settings = settings
        settings.updatedAt = change.now
        let row = try CustomerRow.writable(change.transaction, asked)
        try settings.save(change.transaction, row.customer)
        return settings
      })
  }

  private static func unknownWord(_ field: String, _ words: [String]) -> Problem {
    Problem(
      status: 422, type: "unknown-word", title: "Unknown word",
      detail: "\(field) must be one of \(words.joined(separator: ", ")).",
      members: ["path": .string("$.\(field)")])
  }
}
