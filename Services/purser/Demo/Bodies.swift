/// The parts of HTTP answers that the story looks at.
enum Answers {
  struct Products: Decodable {
    struct Product: Decodable {
      let id: String
      let type: String
    }
    let products: [Product]
  }

  struct Order: Decodable {
    let id: String
    let appAccountToken: String
    let state: String
  }

  struct Proof: Decodable {
    struct Order: Decodable { let state: String }
    let outcome: String?
    let finish: Bool
    let order: Order
  }

  struct Purchase: Decodable {
    let transactionId: String
    let originalTransactionId: String
    let signedTransaction: String
    let expiresDate: Int64?
  }

  struct Change: Decodable {}

  struct Clock: Decodable {
    let now: Int64
  }

  struct Entitlements: Decodable {
    struct Entitlement: Decodable {
      let name: String
      let isActive: Bool
      let expiresAt: Int64?
      let willRenew: Bool?
    }
    let version: Int64
    let entitlements: [Entitlement]

    func active(_ name: String) -> Entitlement? {
      entitlements.first { $0.name == name && $0.isActive }
    }
  }

  struct Balances: Decodable {
    struct Balance: Decodable {
      let unit: String
      let amount: Int64
    }
    let balances: [Balance]
  }
}

/// The HTTP bodies that the story sends.
enum Questions {
  struct Order: Encodable {
    var customer: String
    var productId: String
    var quantity: Int?
  }

  struct Purchase: Encodable {
    var productId: String
    var appAccountToken: String
    var quantity: Int?
  }

  struct Proof: Encodable { var signedTransaction: String }

  struct Clock: Encodable { var advanceSeconds: Int64 }

  struct Nothing: Encodable {}
}
