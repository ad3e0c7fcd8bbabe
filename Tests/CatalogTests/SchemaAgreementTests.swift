import Catalog
import FoundationEssentials
import TestSupport
import Testing

/// The same files through the JSON Schema that is shipped and through the reader.
@Suite("Schema and reader agree") struct SchemaAgreementTests {
  private static func product(_ kind: String, _ more: String) -> String {
    let subscription =
      kind == "auto-renewable" && !more.contains("subscription")
      ? #", "subscription": {"group": "Pro", "level": 1, "period": "P1M"}"# : ""
    let price = more.hasPrefix(#", "displayPrice""#) ? "" : #", "displayPrice": "0.99""#
    return #"{"products": {"p": {"kind": "\#(kind)"\#(price)\#(subscription)\#(more)}}}"#
  }

  private static func offer(_ kind: String, _ offer: String) -> String {
    product(
      "auto-renewable",
      #", "subscription": {"group": "Pro", "level": 1, "period": "P1M", "offers": {"\#(kind)": [\#(offer)]}}"#
    )
  }

  private static func offering(_ offering: String) -> String {
    #"{"products": {"p": {"kind": "consumable", "displayPrice": "1"}}, "offerings": [\#(offering)]}"#
  }

  /// What both take.
  static let good: [String] =
    [
      "", #", "metadata": null"#, #", "metadata": {"a": "b"}"#, #", "prices": null"#,
      #", "displayPrice": "0.9900""#, #", "displayPrice": "12""#, #", "displayPrice": "0.990""#,
      #", "credits": {"coins": 100}"#, #", "credits": {"coins": 100.0}"#, #", "credits": {}"#,
      #", "credits": {"coins": {"amount": 5, "expiresAfter": "P30D"}}"#,
      #", "credits": {"coins": {"amount": 5, "expiresAfter": "period"}}"#,
      #", "credits": {"coins": {"amount": 5, "boughtFrom": "2027-01-01T12:00:00Z"}}"#,
      #", "credits": null, "entitlements": null, "sold": null, "appVersions": null"#,
      #", "entitlements": []"#, #", "appVersions": {"from": "2.0", "to": null}"#,
      #", "prices": {"DEU": {"displayPrice": "1.19", "currency": "EUR"}}"#,
      #", "localizations": [{"locale": "zh_Hans", "displayName": "x", "description": null}]"#,
      #", "localizations": [{"locale": "es-419", "displayName": ""}]"#,
    ].map { product("consumable", $0) }
    + [
      #", "entitlements": ["pro"]"#,
      #", "entitlements": ["pro", {"name": "extra", "from": "2027-01-01", "boughtUntil": null}]"#,
      #", "entitlements": [{"name": "pro", "until": "2027-01-01"}, {"name": "pro", "from": "2027-01-01"}]"#,
    ].map { product("non-consumable", $0) }
    + [
      product("non-renewing", #", "length": "P90D", "entitlements": ["pro"]"#),
      product("auto-renewable", ""), product("auto-renewable", #", "length": null"#),
      offer("introductory", #"{"paymentMode": "free", "period": "P1W"}"#),
      offer("introductory", #"{"paymentMode": "free", "period": "P1W", "displayPrice": null}"#),
      offer("codes", #"{"paymentMode": "free", "period": "P1W", "eligibility": ["new"]}"#),
      offer(
        "promotional",
        #"{"id": "o", "paymentMode": "payUpFront", "period": "P1M", "displayPrice": "1"}"#),
      offer("winBack", #"{"id": "o", "paymentMode": "free", "period": "P1M", "periods": 3}"#),
      offering(#"{"id": "main", "packages": [{"id": "a", "product": "p"}], "default": null}"#),
      offering(
        #"{"id": "m", "packages": [{"id": "a", "product": "p"}], "placements": ["x"], "default": true}"#
      ),
      #"{"products": {}}"#, #"{"products": {}, "storekit": null, "offerings": null}"#,
    ]

  /// What neither takes.
  static let bad: [String] =
    [
      #", "displayPrice": "0.9951""#, #", "displayPrice": "0,99""#, #", "displayPrice": "1.""#,
      #", "displayPrice": 0.99"#, #", "displayPrice": null"#, #", "metadata": {"a": 1}"#,
      #", "metadata": {"a": null}"#, #", "credits": {"coins": 0}"#, #", "credits": {"Coins": 1}"#,
      #", "credits": {"coins": null}"#, #", "credits": {"coins": 1.5}"#,
      #", "credits": {"coins": {"expiresAfter": "P1D"}}"#,
      #", "credits": {"coins": {"amount": 1, "expiresAfter": "P0D"}}"#,
      #", "credits": {"coins": {"amount": 1, "boughtFrom": "tomorrow"}}"#,
      #", "entitlements": ["pro"]"#, #", "length": "P1M""#, #", "news": 1"#,
      #", "prices": {"de": {"displayPrice": "1", "currency": "EUR"}}"#,
      #", "prices": {"DEU": null}"#, #", "prices": {"DEU": {"displayPrice": "1"}}"#,
      #", "localizations": [{"locale": "", "displayName": "x"}]"#,
      #", "localizations": [{"locale": "!!", "displayName": "x"}]"#,
      #", "localizations": [{"locale": "en_US"}]"#, #", "localizations": [null]"#,
      #", "appVersions": {"from": "2.x"}"#, #", "sold": "no""#,
      #", "subscription": {"group": "Pro", "level": 1, "period": "P1M"}"#,
    ].map { product("consumable", $0) }
    + [
      #", "entitlements": ["Pro"]"#, #", "entitlements": ["pro", "pro"]"#,
      #", "entitlements": [null]"#, #", "entitlements": [{"from": "2027-01-01"}]"#,
      #", "entitlements": [{"name": "pro", "from": "2027-13-01"}]"#,
      #", "entitlements": [{"name": "pro", "since": "2027-01-01"}]"#,
      #", "credits": {"coins": 1}"#,
    ].map { product("non-consumable", $0) }
    + [
      product("gift", ""), product("non-renewing", #", "length": "P0D""#),
      product("non-renewing", #", "length": "P1H""#),
      product("auto-renewable", #", "subscription": null"#),
      product("auto-renewable", #", "subscription": {"group": "", "level": 1, "period": "P1M"}"#),
      product("auto-renewable", #", "subscription": {"group": "a", "level": 0, "period": "P1M"}"#),
      offer("introductory", #"{"paymentMode": "free", "period": "P1W", "displayPrice": "1"}"#),
      offer("introductory", #"{"paymentMode": "payUpFront", "period": "P1W"}"#),
      offer("introductory", #"{"paymentMode": "free", "period": "P1W", "stackable": true}"#),
      offer("promotional", #"{"paymentMode": "free", "period": "P1W"}"#),
      offer("winBack", #"{"id": "", "paymentMode": "free", "period": "P1W"}"#),
      offer("codes", #"{"paymentMode": "gift", "period": "P1W"}"#),
      offering(#"{"id": "Main", "packages": [{"id": "a", "product": "p"}]}"#),
      offering(#"{"id": "main", "packages": []}"#), offering(#"{"id": "main"}"#),
      offering(#"{"id": "main", "packages": [{"id": "a", "product": ""}]}"#),
      #"{"products": {"p": {}}}"#, #"{"products": {"p": null}}"#, #"{"products": {"": {}}}"#,
      #"{"products": null}"#, "{}", #"{"storekit": ""}"#, #"{"storekit": null}"#, "[]",
    ]

  @Test func `what one takes the other takes, and what one refuses the other refuses`() async throws
  {
    let texts = Self.good + Self.bad
    let file = TestFolder.path("catalogs")
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data("[\(texts.joined(separator: ","))]".utf8).write(to: URL(filePath: file))
    let judge = """
      from json import load
      from sys import argv
      from jsonschema import Draft202012Validator
      schema = load(open(argv[1]))
      Draft202012Validator.check_schema(schema)
      judge = Draft202012Validator(schema)
      print("".join("y" if judge.is_valid(one) else "n" for one in load(open(argv[2]))))
      """
    let ending = try await Script.run(
      Script.python, ["-c", judge, "\(TestFiles.packageRoot)/docs/catalog.schema.json", file])
    try #require(ending.code == 0, "\(ending.output)")
    let verdicts = ending.output.filter { "yn".contains($0) }.map { $0 == "y" }
    try #require(verdicts.count == texts.count, "\(ending.output)")
    for (index, (text, bySchema)) in zip(texts, verdicts).enumerated() {
      let isGood = index < Self.good.count
      #expect(bySchema == isGood, "the schema: \(text)")
      let byReader = (try? makeCatalog(text)) != nil
      #expect(byReader == isGood, "the reader: \(text)")
    }
  }
}
