/// A country's App Store: what a transaction says about where it was made.
struct Storefront: Sendable, Equatable {
  /// ISO 3166-1 alpha-3.
  let code: String
  /// Apple's number of it.
  let id: String
  /// ISO 4217; prices of the catalog are taken as they are, never converted.
  let currency: String

  /// Where purchases are made when nobody says otherwise.
  static let unitedStates = Storefront(code: "USA", id: "143441", currency: "USD")

  /// The storefronts that the simulator knows.
  static let all: [Storefront] = [
    unitedStates,
    Storefront(code: "FRA", id: "143442", currency: "EUR"),
    Storefront(code: "DEU", id: "143443", currency: "EUR"),
    Storefront(code: "GBR", id: "143444", currency: "GBP"),
    Storefront(code: "AUT", id: "143445", currency: "EUR"),
    Storefront(code: "ITA", id: "143450", currency: "EUR"),
    Storefront(code: "NLD", id: "143452", currency: "EUR"),
    Storefront(code: "ESP", id: "143454", currency: "EUR"),
    Storefront(code: "CAN", id: "143455", currency: "CAD"),
    Storefront(code: "SWE", id: "143456", currency: "SEK"),
    Storefront(code: "CHE", id: "143459", currency: "CHF"),
    Storefront(code: "AUS", id: "143460", currency: "AUD"),
    Storefront(code: "JPN", id: "143462", currency: "JPY"),
    Storefront(code: "CHN", id: "143465", currency: "CNY"),
    Storefront(code: "KOR", id: "143466", currency: "KRW"),
    Storefront(code: "IND", id: "143467", currency: "INR"),
    Storefront(code: "MEX", id: "143468", currency: "MXN"),
    Storefront(code: "POL", id: "143478", currency: "PLN"),
    Storefront(code: "BRA", id: "143503", currency: "BRL"),
  ]

  /// The storefront of a country; nil if it is not in the list.
  static func of(_ code: String) -> Storefront? { all.first { $0.code == code } }
}
