import Events
import FoundationEssentials
import HTTPClient
import Kafka
import Testing

/// One request that must be refused.
struct BadRequest: Sendable, CustomTestStringConvertible {
  let name: String
  var method = "POST"
  let party: String
  let path: String
  var body = ""
  /// Nil takes the stack's key, an empty text none.
  var key: String?
  var headers: [String: String] = [:]
  let status: Int
  /// The slug of `type`.
  let type: String

  var testDescription: String { name }

  static let order = "order-service"
  static let verify = "verify-service"
  static let rights = "entitlement-service"
  static let good = #"{"customer":"bad","productId":"themes.all"}"#
  static let huge =
    #"{"customer":""# + String(repeating: "a", count: 2_000_000) + #"","productId":"x"}"#
  static let noOrder = "/v1/orders/00000000-0000-4000-8000-000000000000"

  static let all: [BadRequest] = orders + proofs + notifications + reads

  static let orders = [
    body("an order that is not JSON", "{", 400, "invalid-json"),
    body("an order that is an array", "[]", 400, "invalid-json"),
    body("an empty body", "", 400, "invalid-json"),
    body("a customer that is a number", #"{"customer":1,"productId":"x"}"#, 400, "invalid-field"),
    body("an order without customer", #"{"productId":"themes.all"}"#, 400, "invalid-field"),
    body("an order without product", #"{"customer":"bad"}"#, 400, "invalid-field"),
    body(
      "an unknown product", #"{"customer":"bad","productId":"x"}"#, 422, "unknown-product"),
    body(
      "an unknown app", #"{"customer":"bad","productId":"themes.all","bundleId":"x"}"#, 422,
      "unknown-app"),
    body(
      "an empty customer id", #"{"customer":"","productId":"themes.all"}"#, 422,
      "invalid-customer"),
    body(
      "a reserved customer id", #"{"customer":"$appstore:x","productId":"themes.all"}"#, 422,
      "invalid-customer"),
    body(
      "a customer id with a control character",
      #"{"customer":"a\u0000b","productId":"themes.all"}"#, 422, "invalid-customer"),
    body(
      "a customer id of 129 bytes",
      #"{"customer":""# + String(repeating: "a", count: 129) + #"","productId":"themes.all"}"#, 422,
      "invalid-customer"),
    body(
      "no pieces of a consumable", #"{"customer":"bad","productId":"coins.100","quantity":0}"#, 422,
      "invalid-quantity"),
    body(
      "eleven of a consumable", #"{"customer":"bad","productId":"coins.100","quantity":11}"#, 422,
      "invalid-quantity"),
    body(
      "two of a non-consumable", #"{"customer":"bad","productId":"themes.all","quantity":2}"#, 422,
      "invalid-quantity"),
    body(
      "a half of a consumable", #"{"customer":"bad","productId":"coins.100","quantity":0.5}"#, 400,
      "invalid-field"),
    body("an order of 2 MB", huge, 413, "body-too-large"),
    BadRequest(
      name: "an order without a key", party: order, path: "/v1/orders", body: good, key: "",
      status: 401, type: "missing-key"),
    BadRequest(
      name: "an order with a wrong key", party: order, path: "/v1/orders", body: good, key: "wrong",
      status: 401, type: "unknown-key"),
    BadRequest(
      name: "an order with a key of another scope", party: order, path: "/v1/orders", body: good,
      key: BadInput.readerKey, status: 403, type: "scope-missing"),
    BadRequest(
      name: "a method that orders do not have", method: "DELETE", party: order, path: "/v1/orders",
      status: 405, type: "method-not-allowed"),
    BadRequest(
      name: "a path that is not there", method: "GET", party: order, path: "/v2/orders",
      status: 404, type: "not-found"),
  ]

  static let proofs = [
    BadRequest(
      name: "an order that nobody opened", method: "GET", party: order, path: noOrder, status: 404,
      type: "unknown-order"),
    BadRequest(
      name: "a proof for an order that nobody opened", party: order, path: noOrder + "/proofs",
      body: #"{"signedTransaction":"e30.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.e30"}"#, status: 404,
      type: "unknown-order"),
    proof("a proof that is not JSON", "{", 400, "invalid-json"),
    proof("a proof without text", "{}", 400, "invalid-field"),
    proof("a proof that is empty", #"{"signedTransaction":""}"#, 422, "malformed-proof"),
    proof("a proof that is an id", #"{"signedTransaction":"2000000000"}"#, 422, "malformed-proof"),
    proof("a proof that is a receipt", #"{"signedTransaction":"MIIT"}"#, 422, "malformed-proof"),
    proof("a proof of two parts", #"{"signedTransaction":"e30.e30"}"#, 422, "malformed-proof"),
    proof(
      "a proof of odd letters", #"{"signedTransaction":"e30.e3!.e30"}"#, 422, "malformed-proof"),
    proof(
      "a proof of 200 KB",
      #"{"signedTransaction":"e30.e30."# + String(repeating: "a", count: 200 * 1024) + #""}"#, 422,
      "malformed-proof"),
    proof("a proof of 2 MB", huge, 413, "body-too-large"),
  ]

  static let notifications = [
    notification("a notification that is not JSON", "signedPayload", 400, "invalid-json"),
    notification("a notification without payload", "{}", 400, "invalid-field"),
    notification("a payload that is a number", #"{"signedPayload":1}"#, 400, "invalid-field"),
    notification(
      "a payload that is no JWS", #"{"signedPayload":"a.b"}"#, 400, "notification-rejected"),
    notification(
      "a payload that says nothing", #"{"signedPayload":"e30.e30.e30"}"#, 400,
      "notification-rejected"),
    notification("a notification of 2 MB", huge, 413, "body-too-large"),
    BadRequest(
      name: "a read of notifications", method: "GET", party: verify, path: "/v1/notifications",
      status: 405, type: "method-not-allowed"),
  ]

  static let reads = [
    BadRequest(
      name: "rights of a reserved customer", method: "GET", party: rights,
      path: "/v1/customers/$x/entitlements", status: 422, type: "invalid-customer"),
    BadRequest(
      name: "rights without a key", method: "GET", party: rights,
      path: "/v1/customers/a/entitlements", key: "", status: 401, type: "missing-key"),
    BadRequest(
      name: "balances with a key of another scope", method: "GET", party: rights,
      path: "/v1/customers/a/balances", key: BadInput.shopKey, status: 403, type: "scope-missing"),
    BadRequest(
      name: "balances of an id of 200 bytes", method: "GET", party: rights,
      path: "/v1/customers/\(String(repeating: "a", count: 200))/balances", status: 422,
      type: "invalid-customer"),
  ]

  private static func body(_ name: String, _ body: String, _ status: Int, _ type: String)
    -> BadRequest
  {
    BadRequest(
      name: name, party: order, path: "/v1/orders", body: body, status: status, type: type)
  }

  /// `{order}` stands for an order that is open.
  private static func proof(_ name: String, _ body: String, _ status: Int, _ type: String)
    -> BadRequest
  {
    BadRequest(
      name: name, party: order, path: "/v1/orders/{order}/proofs", body: body, status: status,
      type: type)
  }

  private static func notification(_ name: String, _ body: String, _ status: Int, _ type: String)
    -> BadRequest
  {
    BadRequest(
      name: name, party: verify, path: "/v1/notifications", body: body, status: status, type: type)
  }
}
