/// The offers of a subscription as `catalog.json` writes them.
struct CatalogOffers {
  static let kinds = ["introductory", "promotional", "codes", "winBack"]
  static let keys = [
    "id", "referenceName", "paymentMode", "period", "periods", "displayPrice", "eligibility",
    "stackable",
  ]

  let introductory: [Offer]
  let promotional: [Offer]
  let codes: [Offer]
  let winBack: [Offer]

  static let none = CatalogOffers(introductory: [], promotional: [], codes: [], winBack: [])

  private init(introductory: [Offer], promotional: [Offer], codes: [Offer], winBack: [Offer]) {
    self.introductory = introductory
    self.promotional = promotional
    self.codes = codes
    self.winBack = winBack
  }

  /// Reads `{"introductory": [...], "promotional": [...], "codes": [...], "winBack": [...]}`.
  init(_ object: ObjectReader, product: String) {
    object.reportRepeated()
    object.reportUnknown(except: Self.kinds)
    introductory = Self.offers(object, "introductory", product, needsID: false)
    promotional = Self.offers(object, "promotional", product, needsID: true)
    codes = Self.offers(object, "codes", product, needsID: false)
    winBack = Self.offers(object, "winBack", product, needsID: true)
  }

  private static func offers(
    _ object: ObjectReader, _ kind: String, _ product: String, needsID: Bool
  ) -> [Offer] {
    var seen: Set<String> = []
    return object.objects(kind).enumerated().compactMap { index, reader in
      reader.reportRepeated()
      reader.reportUnknown(except: keys)
      if needsID { reader.require("id", remedy: "add the offer's id from App Store Connect") }
      if let id = reader.filled("id", remedy: "add the offer's id from App Store Connect"),
        !seen.insert(id).inserted
      {
        reader.faults.add(
          reader.place(of: "id"), "\(quoted(id)) stands here twice", remedy: "keep one of the two")
      }
      return Offer(
        reader, internalID: InternalID.make("\(product)\n\(kind)\n\(index)"),
        isCode: kind == "codes")
    }
  }
}

extension Offer {
  /// Nil, with a fault, without mode or period.
  fileprivate init?(_ reader: ObjectReader, internalID: String, isCode: Bool) {
    let modes = PaymentMode.allCases.map(\.rawValue).joined(separator: ", ")
    reader.require("paymentMode", remedy: "write one of \(modes)")
    let mode: PaymentMode? = reader.word("paymentMode")
    let period = reader.requiredPeriod("period")
    let count = reader.integer("periods", in: 1...1000) ?? 1
    guard let mode, let period else { return nil }
    let price = mode == .free ? nil : reader.price("displayPrice")
    if mode == .free && reader.has("displayPrice") {
      reader.faults.add(
        reader.place(of: "displayPrice"), "a free offer has no price", remedy: "remove it")
    }
    let eligible: [String] = isCode ? reader.names("eligibility") : []
    if !isCode {
      for key in ["eligibility", "stackable"] where reader.has(key) {
        reader.faults.add(reader.place(of: key), "is for offer codes only", remedy: "remove it")
      }
    }
    for word in eligible where !["new", "existing", "expired"].contains(word) {
      reader.faults.add(
        reader.place(of: "eligibility"), "has \(quoted(word))",
        remedy: "write some of new, existing, expired")
    }
    self.init(
      internalID: internalID, identifier: reader.text("id"),
      referenceName: reader.text("referenceName"), paymentMode: mode, period: period,
      periodCount: Int(count), displayPrice: price?.text, priceMilliunits: price?.milliunits ?? 0,
      billingPlanType: nil, eligibility: eligible,
      isStackable: isCode ? reader.bool("stackable") : nil, isEligible: nil)
  }
}

/// Xcode's ids of things in a `.storekit` file: eight hexadecimal digits.
enum InternalID {
  /// The same text always gives the same id (FNV-1a, 32 bits).
  static func make(_ text: String) -> String {
    var hash: UInt32 = 0x811C_9DC5
    for byte in text.utf8 {
      hash ^= UInt32(byte)
      hash = hash &* 0x0100_0193
    }
    let digits = String(hash, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
