import Cryptography
import Events
import HTTPServer
import JSON
import SQLite

/// `GET /v1/orders`: orders by customer, by state, by time, the newest first, in pages.
struct ListOrders: Sendable {
  /// The most orders of a page.
  static let largestPage = 200
  private static let usualPage = 50

  var customer: String?
  var state: OrderState?
  /// Opened at or after this time, UTC milliseconds.
  var from: Int64?
  /// Opened before this time, UTC milliseconds.
  var to: Int64?
  var limit: Int
  var cursor: Cursor?

  /// How the lists of all shards become one.
  static let gathering = Gathering("orders", isDescending: true, usualLimit: usualPage) {
    fields throws(JSONFieldFault) in
    let (createdAt, id) = (try fields.number("createdAt"), try fields.text("id"))
    return Gathering.Place(
      rank: Gathering.Rank(createdAt, id), cursor: Cursor(createdAt: createdAt, id: id).text)
  }

  struct Page: Sendable {
    let orders: [Order]
    /// Where the next page begins; nil after the last.
    let next: Cursor?
  }

  /// The place behind an order in the list.
  struct Cursor: Sendable, Equatable {
    let createdAt: Int64
    let id: String

    var text: String { Base64URL.encode(Array("\(createdAt) \(id)".utf8)) }

    init(createdAt: Int64, id: String) {
      self.createdAt = createdAt
      self.id = id
    }

    init?(_ text: String) {
      guard let bytes = Base64URL.decode(text) else { return nil }
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      guard parts.count == 2, let createdAt = Int64(parts[0]),
        let id = UUIDs.normalized(String(parts[1]))
      else { return nil }
      self.init(createdAt: createdAt, id: id)
    }
  }

  /// Reads the parameters.
  ///
  /// - Throws: `Problem` 400 `invalid-parameter`.
  init(_ request: Request) throws(Problem) {
    customer = request.queryValue("customer")
    state = try Self.state(request)
    from = try request.time("from")
    to = try request.time("to")
    limit = try request.pageLimit(default: Self.usualPage, most: Self.largestPage)
    if let text = request.queryValue("cursor") {
      guard let cursor = Cursor(text) else {
        throw .badCursor
      }
      self.cursor = cursor
    }
  }

  private static func state(_ request: Request) throws(Problem) -> OrderState? {
    guard let text = request.queryValue("state") else { return nil }
    let known: [OrderState] = [
      .created, .submitted, .pending, .completed, .rejected, .cancelled, .expired,
    ]
    guard known.contains(OrderState(rawValue: text)) else {
      throw .invalidParameter(
        "state", "give one of \(known.map(\.rawValue).joined(separator: ", ")).")
    }
    return OrderState(rawValue: text)
  }

  /// A page; an index serves each question.
  func run(_ rows: some StoreRows) throws -> Page {
    let before = cursor ?? Cursor(createdAt: to ?? .max, id: "")
    var conditions = ["(created_at, id) < (?, ?)", "created_at >= ?"]
    var choice: [String] = []
    if let customer {
      conditions.append("customer = ?")
      choice.append(try CustomerStore.root(rows, customer))
    }
    if let state {
      conditions.append("state = ?")
      choice.append(state.rawValue)
    }
    // A customer has few orders, a state may have nearly all; SQLite cannot know.
    let index =
      customer != nil
      ? "orders_by_customer" : state != nil ? "orders_by_state" : "orders_by_time"
    let sql = """
      SELECT body FROM orders INDEXED BY \(index) WHERE \(conditions.joined(separator: " AND "))
      ORDER BY created_at DESC, id DESC LIMIT ?
      """
    let count = Int64(limit + 1)
    let map = { (row: borrowing Row) in try EventJSON.decode(Order.self, from: row.blob(0)) }
    let (time, id, from) = (before.createdAt, before.id, from ?? 0)
    let found: [Order] =
      switch choice.count {
      case 0: try rows.query(sql, time, id, from, count, map: map)
      case 1: try rows.query(sql, time, id, from, choice[0], count, map: map)
      default: try rows.query(sql, time, id, from, choice[0], choice[1], count, map: map)
      }
    let orders = Array(found.prefix(limit))
    let next = found.count > limit ? orders.last : nil
    return Page(orders: orders, next: next.map { Cursor(createdAt: $0.createdAt, id: $0.id) })
  }
}
