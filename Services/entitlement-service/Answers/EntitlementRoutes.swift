import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers/{customer}/entitlements`, `/balances` and `/check`: what a customer owns.
///
/// With `If-None-Match` and `Prefer: wait` the answer waits until the customer changes.
struct EntitlementRoutes: Sendable {
  let store: Store
  let waiters: Waiters<String>
  let longestWait: Duration

  func add(to router: inout Router) {
    router.on(
      .get, "/v1/customers/{customer}/entitlements", scope: .entitlementsRead,
      atOnce: { request in try entitlementsAtOnce(request) },
      else: { request in
        let environment = try request.environment()
        return try await answer(request) { reader, customer in
          ("entitlements", try Self.entitlements(reader, customer, environment))
        }
      })
    on("balances", &router) { request in
      let environment = try request.environment()
      return { reader, customer in ("balances", try Self.balances(reader, customer, environment)) }
    }
    on("check", &router) { request in
      let rights = try rights(request)
      let environment = try request.environment() ?? "Production"
      return { reader, customer in
        ("rights", try Self.check(reader, customer, environment, rights))
      }
    }
  }

  /// What is read of a customer: the name of the member of the answer, and its value as JSON.
  private typealias Question = @Sendable (Reader, String) throws -> (name: String, value: [UInt8])

  /// A route that is answered on the thread of the connection, unless it must wait for a change or for
  /// the disk.
  private func on(
    _ what: String, _ router: inout Router,
    _ question: @escaping @Sendable (Request) throws -> Question
  ) {
    router.on(
      .get, "/v1/customers/{customer}/\(what)", scope: .entitlementsRead,
      atOnce: { request in try answerAtOnce(request, try question(request)) },
      else: { request in try await answer(request, try question(request)) })
  }

  /// What was read of a customer in one moment.
  private struct Reading: Sendable {
    let customer: String
    let version: Int64
    let tag: String
    let name: String
    let value: [UInt8]
  }

  /// The customer's version and what they own, read from one snapshot; the version is the entity tag.
  ///
  /// A customer of whom nothing is known has version 0 and owns nothing: that is an answer, not an
  /// error. One who was merged into another is answered as the other.
  private func answer(_ request: Request, _ question: @escaping Question) async throws -> Response {
    let asked = try request.customer()
    var reading = try await self.reading(asked, question)
    var granted: Duration?
    if request.ifNoneMatch(reading.tag),
      let wait = request.preferredWait(atMost: longestWait)
    {
      granted = wait
      let ticket = waiters.enter(reading.customer, group: request.principal?.name ?? "")
      defer { waiters.leave(ticket) }
      // It may have changed before the place in the line was taken.
      reading = try await self.reading(asked, question)
      if request.ifNoneMatch(reading.tag) {
        _ = await waiters.wait(ticket, atMost: wait)
        reading = try await self.reading(asked, question)
      }
    }
    let response = try Self.response(reading, request)
    return granted.map { response.appliedWait($0) } ?? response
  }

  /// The same without a wait, where it takes none.
  private func answerAtOnce(
    _ request: Request, _ question: @escaping Question
  ) throws -> Attempted {
    let asked = try request.customer()
    guard !mayWait(request),
      let reading = try store.readers.readAtOnce({ try Self.reading($0, asked, question) })
    else { return .untried }
    return .answered(try Self.response(reading, request))
  }

  private func mayWait(_ request: Request) -> Bool {
    request.headers["If-None-Match"] != nil && request.preferredWait(atMost: longestWait) != nil
  }

  /// What is asked most of all, in one statement, so that it needs no transaction around it.
  private func entitlementsAtOnce(_ request: Request) throws -> Attempted {
    let asked = try request.customer()
    let environment = try request.environment()
    guard !mayWait(request),
      let found = try store.readers.readAtOnce(
        isOneStatement: true, { try Self.entitlementsOfUnmerged($0, asked, environment) }),
      let reading = found
    else { return .untried }
    return .answered(try Self.response(reading, request))
  }

  /// Version and entitlements of a customer; nil for one who has become another or has no row.
  private static func entitlementsOfUnmerged(
    _ reader: Reader, _ asked: String, _ environment: String?
  ) throws -> Reading? {
    let rows = try reader.query(
      """
      SELECT c.version, c.merged_into IS NOT NULL, e.body
      FROM customers c LEFT JOIN entitlements e
        ON e.customer = ?1 AND (?2 IS NULL OR e.environment = ?2)
      WHERE c.customer = ?1 ORDER BY e.environment, e.name
      """, asked, environment
    ) { row in (version: row.int(0), isMerged: row.bool(1), body: row.optionalBlob(2)) }
    // Without a row of that name it may be one who was erased, which is another question.
    guard let version = rows.first?.version, rows.first?.isMerged != true else { return nil }
    return Reading(
      customer: asked, version: version, tag: "\(version)", name: "entitlements",
      value: list(rows.compactMap(\.body)))
  }

  private func reading(_ asked: String, _ question: @escaping Question) async throws -> Reading {
    try await store.readers.read { try Self.reading($0, asked, question) }
  }

  private static func reading(_ reader: Reader, _ asked: String, _ question: Question) throws
    -> Reading
  {
    let row = try CustomerRow.load(reader, asked)
    let isAlias = !Customer.isSame(row.customer, asked)
    let (name, value) = try question(reader, row.customer)
    return Reading(
      customer: row.customer, version: row.version,
      // Versions of two customers may be equal by chance.
      tag: isAlias ? "\(row.version)-merged" : "\(row.version)", name: name, value: value)
  }

  private static func response(_ reading: Reading, _ request: Request) throws -> Response {
    var body = Array("{\"customer\":".utf8) + (try EventJSON.encode(reading.customer))
    body += Array(",\"version\":\(reading.version),\"\(reading.name)\":".utf8) + reading.value
    body.append(UInt8(ascii: "}"))
    return Response.json(bytes: body).tagged(reading.tag, for: request)
  }

  /// The elements are stored as the JSON that they are answered as.
  private static func list(_ elements: [[UInt8]]) -> [UInt8] {
    var list: [UInt8] = []
    list.reserveCapacity(elements.reduce(2) { $0 + $1.count + 1 })
    list.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { list.append(UInt8(ascii: ",")) }
      list += element
    }
    list.append(UInt8(ascii: "]"))
    return list
  }

  static func entitlements(_ reader: Reader, _ customer: String, _ environment: String?) throws
    -> [UInt8]
  {
    list(
      try reader.query(
        """
        SELECT body FROM entitlements WHERE customer = ?1 AND (?2 IS NULL OR environment = ?2)
        ORDER BY environment, name
        """, customer, environment
      ) { $0.blob(0) })
  }

  static func balances(_ reader: Reader, _ customer: String, _ environment: String?) throws
    -> [UInt8]
  {
    list(
      try reader.query(
        """
        SELECT unit, environment, amount FROM balances
        WHERE customer = ?1 AND (?2 IS NULL OR environment = ?2) ORDER BY environment, unit
        """, customer, environment
      ) { row in
        try EventJSON.encode(
          Balance(unit: row.text(0), environment: row.text(1), amount: row.int(2)))
      })
  }

  /// Yes or no for each of some rights.
  private static func check(
    _ reader: Reader, _ customer: String, _ environment: String, _ rights: [String]
  ) throws -> [UInt8] {
    let active = Set(
      try reader.query(
        "SELECT name FROM entitlements WHERE customer = ? AND environment = ? AND is_active = 1",
        customer, environment
      ) { $0.text(0) })
    return try EventJSON.encode(
      Dictionary(rights.map { ($0, active.contains($0)) }, uniquingKeysWith: { $1 }))
  }

  private func rights(_ request: Request) throws(Problem) -> [String] {
    let rights = request.query.all("right").flatMap { $0.split(separator: ",").map(String.init) }
    guard (1...100).contains(rights.count), rights.allSatisfy({ (1...64).contains($0.utf8.count) })
    else {
      throw Problem(
        status: 400, type: "invalid-rights", title: "Invalid rights",
        detail: "Name 1 to 100 rights: right=pro&right=extra, or right=pro,extra.")
    }
    return rights
  }
}
