import ServiceRuntime
import Testing

@testable import Catalog
@testable import entitlement_service
@testable import order_service
@testable import verify_service

@Suite("Settings in documents") struct SettingsTests {
  /// Name and default of every setting of the three services, as `--help` says them.
  static let declared: [String: String] = {
    var order = SettingsReader([:])
    _ = order_service.Settings(&order, options: [:])
    var verify = SettingsReader([:])
    _ = verify_service.Settings(&verify, options: [:])
    var entitlement = SettingsReader([:])
    _ = entitlement_service.Settings(&entitlement, options: [:])
    var declared = ["PURSER_LOG_LEVEL": "info"]
    for one in order.declarations + verify.declarations + entitlement.declarations {
      declared[one.name] = one.defaultText ?? "required"
    }
    return declared
  }()

  /// `deploy/scripts/write-settings` makes the page; this says so when that was forgotten.
  @Test func `the page of settings holds every setting with its default, and no other`() {
    let page = Document("docs/settings.md")
    let sections = [
      "## All services", "## order-service", "## verify-service", "## entitlement-service",
    ]
    let rows = sections.flatMap { Document.rows(page.section($0)) }
    let listed = Dictionary(
      rows.map { ($0.cells[0].unquoted, $0.cells[1].unquoted) }, uniquingKeysWith: { $1 })
    #expect(Self.declared.count > 12)
    #expect(listed == Self.declared)
  }

  @Test func `the table of purser.json holds every policy, and no other`() {
    let rows = Document.rows(Document.operations.section("## purser.json"))
    #expect(Set(rows.map { $0.cells[0].unquoted }) == Set(Policies.keys))
  }

  @Test(arguments: Document.all)
  func `every variable that is named is one that a program reads`(document: Document) {
    let prefixes = ["PURSER_", "ORDER_", "VERIFY_", "ENTITLEMENT_", "SIMULATOR_"]
    for span in document.spans {
      let name = String(span.text.prefix { $0 != "=" })
      guard prefixes.contains(where: { name.hasPrefix($0) }),
        name.allSatisfy({ $0.isUppercase || $0 == "_" || $0.isNumber })
      else { continue }
      #expect(
        Self.declared[name] != nil || Repository.everySource.contains("\"\(name)\"")
          || (name.hasSuffix("_FILE")
            && Repository.everySource.contains("secret(\n      \"\(name.dropLast(5))\"")),
        "\(document):\(span.line): no program reads \(name)")
    }
  }
}
