import Cryptography
import Events
import HTTPServer

/// What many routes read out of a request.
extension Request {
  /// The customer in the path.
  ///
  /// Provisional customers are Purser's own, and may be read by support.
  ///
  /// - Throws: `Problem` 422 `invalid-customer`.
  func customer(provisionalToo: Bool = true) throws(Problem) -> String {
    let customer = parameter("customer")
    if provisionalToo && Customer.isProvisional(customer) { return customer }
    do {
      try Customer.check(customer)
    } catch {
      throw Self.invalidCustomer(error)
    }
    return customer
  }

  private static func invalidCustomer(_ fault: Customer.Fault) -> Problem {
    let fault =
      switch fault {
      case .empty: "is empty"
      case .tooLong: "is longer than \(Customer.maximumBytes) bytes"
      case .controlCharacter: "contains a control character"
      case .dotSegment: "is '.' or '..', which cannot stand in the path of a URL"
      case .reserved: "begins with '$'; such ids are Purser's own"
      }
    return Problem(
      status: 422, type: "invalid-customer", title: "Invalid customer id",
      detail: "The customer id in the path \(fault).")
  }

  /// Apple's environment in the query; nil for all.
  func environment() throws(Problem) -> String? {
    guard let environment = queryValue("environment") else { return nil }
    return try checkedEnvironment(environment)
  }

  /// What `next` of the page before said, decoded; nil for the first page.
  func cursor() throws(Problem) -> String? {
    guard let text = queryValue("cursor") else { return nil }
    guard let bytes = Base64URL.decode(text), !bytes.isEmpty else { throw .badCursor }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A cursor that is a number.
  func numberCursor() throws(Problem) -> Int64? {
    guard let text = try cursor() else { return nil }
    guard let number = Int64(text) else { throw .badCursor }
    return number
  }

  /// The Idempotency-Key that every write here needs.
  ///
  /// - Throws: `Problem` 400 `idempotency-key-missing`.
  func requiredIdempotencyKey() throws(Problem) -> String {
    guard let key = try idempotencyKey() else {
      throw Problem(
        status: 400, type: "idempotency-key-missing", title: "Idempotency-Key missing",
        detail: "Send an Idempotency-Key, such as a UUID, and the same one when you repeat the "
          + "request: then it is done once.")
    }
    return key
  }

  /// Who asks, for the books: the key's name and, where the caller names one, the person behind it.
  func author(_ person: String?) throws(Problem) -> String {
    let key = principal?.name ?? Principal.nobody
    guard let person, !person.isEmpty else { return key }
    return "\(key): \(try checkedText(person, "author"))"
  }
}

/// - Throws: `Problem` 400 `unknown-environment`.
func checkedEnvironment(_ environment: String) throws(Problem) -> String {
  guard ["Production", "Sandbox", "Xcode"].contains(environment) else {
    throw Problem(
      status: 400, type: "unknown-environment", title: "Unknown environment",
      detail: "environment is '\(environment.prefix(40))'; give Production, Sandbox or Xcode.")
  }
  return environment
}

/// A text for people, of bounded length.
///
/// - Throws: `Problem` 422 `invalid-text`.
func checkedText(_ text: String, _ field: String) throws(Problem) -> String {
  guard (1...500).contains(text.utf8.count),
    !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
  else {
    throw Problem(
      status: 422, type: "invalid-text", title: "Invalid text",
      detail: "\(field) must have 1 to 500 bytes without control characters.",
      members: ["path": .string("$.\(field)")])
  }
  return text
}

/// A page of a list: JSON elements that are stored as they are answered, and where it goes on.
struct Page {
  var elements: [[UInt8]]
  /// What the next page begins after; nil at the end.
  var next: String?

  /// A page of at most `limit` rows out of `limit + 1` that were read.
  init<Row>(
    _ rows: [Row], limit: Int, element: (Row) throws -> [UInt8], cursor: (Row) -> String
  ) rethrows {
    let shown = rows.prefix(limit)
    elements = try shown.map(element)
    next = rows.count > limit ? shown.last.map(cursor) : nil
  }

  /// `{"customer":…, "<list>":[…], "next":…}` with the members given.
  func response(_ list: String, _ members: [(String, [UInt8])]) throws -> Response {
    var body: [UInt8] = [UInt8(ascii: "{")]
    for (name, value) in members { body += Array("\"\(name)\":".utf8) + value + [0x2C] }
    body += Array("\"\(list)\":[".utf8) + elements.joined(separator: [0x2C])
    body.append(UInt8(ascii: "]"))
    if let next {
      body += Array(",\"next\":\"\(Base64URL.encode(Array(next.utf8)))\"".utf8)
    }
    body.append(UInt8(ascii: "}"))
    return .json(bytes: body)
  }
}
