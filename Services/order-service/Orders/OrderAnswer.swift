import Events
import HTTPServer
import JSON

/// An order as the app sees it.
struct OrderAnswer: Encodable {
  private let order: Order

  init(_ order: Order) { self.order = order }

  private enum Keys: CodingKey { case appAccountToken }

  func encode(to encoder: any Encoder) throws {
    try order.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(order.id, forKey: .appAccountToken)
  }

  /// The same members, sorted by name, without `Codable`: for answers on the way of a purchase.
  func write(to json: inout JSONWriter) {
    json.text("appAccountToken", order.id)
    order.write(to: &json)
  }

  func response(status: Int = 200) -> Response {
    var json = JSONWriter()
    json.object(write)
    return .json(bytes: json.bytes, status: status)
  }
}

/// A page of orders.
struct OrderList: Encodable {
  let orders: [OrderAnswer]
  /// The cursor of the next page; absent on the last one.
  let next: String?

  init(_ page: ListOrders.Page) {
    orders = page.orders.map { OrderAnswer($0) }
    next = page.next?.text
  }
}

/// Every move of an order.
struct MoveList: Encodable {
  let orderId: String
  let moves: [OrderMove]
}
