import FoundationEssentials
import Pipeline
import SQLite
import ServiceRuntime

/// One service's store: whole, and its books in order.
struct StoreCheck {
  /// Whose store a file is.
  struct Store: Sendable, Equatable {
    let service: String
    let path: String
  }

  let store: Store
  let isDeep: Bool

  /// What was found, and the shard that the store was made for, where that can be read.
  ///
  /// Blocks; reads beside the running service.
  func examine() -> (findings: [Finding], shard: Shard?) {
    var shard: Shard?
    return (findings(&shard), shard)
  }

  private func findings(_ shard: inout Shard?) -> [Finding] {
    let subject = "\(store.service) (\(store.path))"
    guard FileManager.default.fileExists(atPath: store.path) else {
      return [
        .warning(
          "stores", subject, "is not there",
          "start the service once, or name the file where it is")
      ]
    }
    do {
      let readers = try Readers(path: store.path, count: 1)
      shard = try readers.readAndWait { try Shard.noted(in: $0) }
      let isDeep = isDeep
      let (faults, books, waiting) = try readers.readAndWait { reader in
        let check = isDeep ? "PRAGMA integrity_check" : "PRAGMA quick_check"
        let faults = try reader.query(check) { $0.text(0) }.filter { $0 != "ok" }
        return (faults, try Self.books(reader), try Self.deadLetters(reader))
      }
      var findings: [Finding] =
        faults.isEmpty
        ? [.good("stores", subject, isDeep ? "every page is whole" : "whole")]
        : faults.prefix(5).map {
          .fault(
            "stores", subject, $0, "stop the service and restore the backup, see operations.md")
        }
      if let books {
        findings.append(
          books == 0
            ? .good("stores", subject, "every balance is the sum of its entries")
            : .fault(
              "stores", subject, "\(books) balances are not the sum of their entries",
              "keep a copy of the file and report it; the entries tell what is right"))
      }
      if waiting > 0 {
        findings.append(
          .warning(
            "stores", subject, "\(waiting) records wait behind one that could not be handled",
            "look at the dead letters and restart the service with a mended build"))
      }
      return findings
    } catch {
      return [
        .fault(
          "stores", subject, "cannot be read: \(error)",
          "check permissions and the disk; restore the backup if the file is damaged")
      ]
    }
  }

  /// Balances that differ from their entries; nil for a store without balances.
  private static func books(_ reader: Reader) throws -> Int64? {
    guard try reader.hasTable("balances"), try reader.hasTable("balance_entries") else {
      return nil
    }
    return try reader.first(
      """
      SELECT count(*) FROM balances AS b FULL JOIN (
        SELECT customer, environment, unit, sum(amount) AS amount FROM balance_entries
        GROUP BY customer, environment, unit) AS e
      ON b.customer = e.customer AND b.environment = e.environment AND b.unit = e.unit
      WHERE coalesce(b.amount, 0) <> coalesce(e.amount, 0)
      """
    ) { $0.int(0) }
  }

  /// Records that wait behind one that failed.
  private static func deadLetters(_ reader: Reader) throws -> Int64 {
    guard try reader.hasTable("waiting_records") else { return 0 }
    return try reader.first("SELECT count(*) FROM waiting_records") { $0.int(0) } ?? 0
  }
}
