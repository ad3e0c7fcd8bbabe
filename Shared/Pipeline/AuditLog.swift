import Cryptography
public import SQLite
import ServiceRuntime

/// The log of writes: what each key, token or person changed, written with the change itself.
///
/// A request that changed nothing, such as one that was repeated, leaves no entry.
public enum AuditLog {
  /// How long entries are kept, in milliseconds: 400 days, so that a year can be looked back on.
  public static let lifetime: Int64 = 400 * 24 * 3600 * 1000
  /// No page looks at more entries than this, however few of them fit.
  static let longestScan: Int64 = 20_000
  /// Old entries go after so many new ones, twice as many at a time.
  private static let betweenRemovals: Int64 = 256

  static func insert(_ transaction: Transaction, _ note: AuditNote, at now: Int64) throws {
    try transaction.run(
      """
      INSERT INTO audit (at, caller, action, path, event, subject, customer, request_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, now, note.caller.name, note.caller.action, note.caller.path, note.event, note.subject,
      note.customer ?? note.caller.customer, note.caller.requestId)
    // Who was erased by this very request is forgotten in its entry too.
    for customer in note.forgotten { try forget(transaction, customer) }
    guard transaction.lastInsertedRowID.isMultiple(of: betweenRemovals) else { return }
    // By id, as entries stand in the order of time: no index of the time is needed.
    try transaction.run(
      """
      DELETE FROM audit WHERE id IN (
        SELECT id FROM (SELECT id, at FROM audit ORDER BY id LIMIT ?) WHERE at < ?)
      """, betweenRemovals * 2, now - lifetime)
  }

  /// Takes a customer's id out of all entries, and what else leads to them: paths, entities, tokens.
  ///
  /// What stays is who did what when, and a hash of the id: whoever knows the id still finds the
  /// entries, and nobody finds the id in them.
  static func forget(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run(
      """
      UPDATE audit SET customer = ?2, subject = NULL, path = substr(action, instr(action, ' ') + 1),
        caller = CASE WHEN caller LIKE 'token:%' THEN 'token:erased' ELSE caller END
      WHERE customer = ?1
      """, customer, hash(customer))
  }

  private static func hash(_ customer: String) -> String { "erased:" + SHA256.hex(customer) }

  /// Which entries are asked for; nil asks for all.
  public struct Filter: Sendable {
    /// Entries before this id, which is the cursor of the page before.
    public var before: Int64?
    /// The name of a key, or `token:` and a customer.
    public var caller: String?
    /// Whom the change was about.
    public var customer: String?
    /// From this time on, UTC milliseconds.
    public var from: Int64?
    /// Until before this time, UTC milliseconds.
    public var until: Int64?

    /// All entries.
    public init() {}
  }

  /// A page of entries, the newest first.
  public struct Page: Sendable {
    /// The entries.
    public let entries: [AuditEntry]
    /// The cursor of the next page; nil when this is the last.
    public let next: Int64?
  }

  /// Reads a page of at most `limit` entries.
  public static func page(_ reader: Reader, _ filter: Filter, limit: Int) throws -> Page {
    let newest = try reader.first("SELECT max(id) FROM audit") { $0.int(0) } ?? 0
    let before = min(filter.before ?? .max, newest + 1)
    // With a customer the index finds them; otherwise a page looks at a stretch of the table.
    let floor = filter.customer == nil ? max(0, before - longestScan) : 0
    // Two texts, as SQLite takes the index only where the condition says that there is a customer.
    let ofCustomer = filter.customer == nil ? "?3 IS NULL AND ?8 IS NULL" : "customer IN (?3, ?8)"
    let entries = try reader.query(
      """
      SELECT id, at, caller, action, path, event, subject, customer, request_id FROM audit
      WHERE id < ?1 AND id >= ?2 AND \(ofCustomer) AND (?4 IS NULL OR caller = ?4)
        AND (?5 IS NULL OR at >= ?5) AND (?6 IS NULL OR at < ?6)
      ORDER BY id DESC LIMIT ?7
      """, before, floor, filter.customer, filter.caller, filter.from, filter.until, Int64(limit),
      filter.customer.map(hash)
    ) { row in
      AuditEntry(
        id: row.int(0), at: row.int(1), caller: row.text(2), action: row.text(3),
        path: row.text(4), event: row.optionalText(5), subject: row.optionalText(6),
        customer: row.optionalText(7), requestId: row.text(8))
    }
    if entries.count == limit, let last = entries.last {
      return Page(entries: entries, next: last.id)
    }
    let oldest = try reader.first("SELECT min(id) FROM audit") { $0.int(0) } ?? 0
    return Page(entries: entries, next: floor > oldest ? floor : nil)
  }
}

/// One write, as the log of writes has it.
public struct AuditEntry: Sendable, Equatable, Encodable {
  /// Counts up.
  public let id: Int64
  /// When, in UTC milliseconds.
  public let at: Int64
  /// The name of the key, `token:` and the customer, or `anyone` where nobody is asked.
  public let caller: String
  /// Method and pattern of the route.
  public let action: String
  /// The path that was asked for; the route's pattern once its customer was erased.
  public let path: String
  /// The type of the first event that came of it; nil if none did.
  public let event: String?
  /// The entity that this event is about.
  public let subject: String?
  /// The customer that it is about; `erased:` and a hash once this one was erased.
  public let customer: String?
  /// The request's id, as in logs.
  public let requestId: String
}

/// What a change notes about itself for the log of writes, while it runs.
final class AuditNote {
  let caller: Caller
  private(set) var event: String?
  private(set) var subject: String?
  private(set) var customer: String?
  /// Customers whom the change erased.
  private(set) var forgotten: [String] = []

  init(_ caller: Caller) { self.caller = caller }

  func forget(_ customer: String) { forgotten.append(customer) }

  /// The first event that came of it names what the write was.
  func published(_ event: String, subject: String, key: String) {
    guard self.event == nil else { return }
    self.event = event
    self.subject = subject
    customer = key
  }
}
