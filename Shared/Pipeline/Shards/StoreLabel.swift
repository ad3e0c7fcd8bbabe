import SQLite

/// Whose a store is, read without its service: for tools that look at copies.
public struct StoreLabel: Sendable, Equatable {
  /// The shard; nil for a store that has noted none.
  public let shard: Shard?

  /// Reads it.
  ///
  /// - Parameters:
  ///   - path: The SQLite file, which must be there.
  ///   - service: Whose store it must be, such as `order-service`; nil asks nothing.
  /// - Throws: `ForeignStore` for another program's; `SQLiteError`.
  public init(of path: String, service: String? = nil) throws {
    let store = try Connection(path: path, mode: .readOnly)
    let id = try store.first("PRAGMA application_id") { $0.int(0) } ?? 0
    if let service, id != Int64(StoreIdentity.id(of: "/purser/\(service)")) {
      throw ForeignStore(path: path, service: service)
    }
    shard = try ShardOfStore.read(store)
  }
}

/// A file that is no store of the service for which it was given; final.
public struct ForeignStore: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// Whose store it should be.
  public let service: String

  /// The fault and what to do.
  public var description: String {
    "\(path) is no store of \(service); name that one, or a copy of it"
  }
}
