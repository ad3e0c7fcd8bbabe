public import Events

/// What a re-shard does with the tables of a service.
public struct ReshardPlan: Sendable {
  /// A table, and to which shards its rows go.
  public struct Table: Sendable {
    enum Numbers: Sendable, Equatable {
      /// Rows keep what they have.
      case kept
      /// A column counts rows of one store: numbers are made apart, in the same way in all tables.
      case apart(column: Int)
      /// A first column counts up, and a second one says in which order rows of all stores come.
      case byTime(columns: String)
    }

    let name: String
    /// An expression over a row that gives its key; nil takes the row to all shards.
    let key: String?
    /// Another key, to whose shard a copy goes.
    let copyKey: String?
    let numbers: Numbers

    /// Rows that go where a key leads.
    ///
    /// - Parameters:
    ///   - name: The table.
    ///   - key: SQL over the table's row `t`, such as `t.customer`; where it gives null, the row goes to
    ///     the first shard.
    ///   - copyKey: The same for a copy; none where it gives null.
    public static func keyed(_ name: String, by key: String, copiedBy copyKey: String? = nil)
      -> Table
    {
      Table(name: name, key: key, copyKey: copyKey, numbers: .kept)
    }

    /// The same for a table whose given column, from 0, counts the rows of its store.
    public static func numbered(_ name: String, by key: String, column: Int = 0) -> Table {
      Table(name: name, key: key, copyKey: nil, numbers: .apart(column: column))
    }

    /// Rows that every shard has.
    public static func everywhere(_ name: String) -> Table {
      Table(name: name, key: nil, copyKey: nil, numbers: .kept)
    }
  }

  /// Ids that lead to one shard, and lie on another: a query gives the id as it is looked for, the
  /// customer to whom it leads, and what it leads by.
  public struct Parted: Sendable {
    enum Lead: Sendable { case partitionInID, key }

    let select: String
    let lead: Lead
    let isHashed: Bool

    /// Ids that carry a partition: `id, customer`.
    public static func ids(_ select: String) -> Parted {
      Parted(select: select, lead: .partitionInID, isHashed: false)
    }

    /// Customers who were merged: `customer, merged_into`.
    public static func customers(_ select: String) -> Parted {
      Parted(select: select, lead: .key, isHashed: true)
    }
  }

  let service: String
  let inputs: Set<Topic>
  let wholeInputs: Set<Topic>
  let tables: [Table]
  let parted: [Parted]

  /// Describes a service's tables.
  ///
  /// - Parameters:
  ///   - service: Such as `order-service`.
  ///   - inputs: The topics that it reads.
  ///   - wholeInputs: Of them those that every shard reads in full.
  ///   - tables: All tables but those of the pipeline.
  ///   - parted: What is found by ids that lead elsewhere.
  public init(
    service: String, inputs: Set<Topic>, wholeInputs: Set<Topic> = [], tables: [Table],
    parted: [Parted] = []
  ) {
    self.service = service
    self.inputs = inputs
    self.wholeInputs = wholeInputs
    self.tables = tables + [Self.audit]
    self.parted = parted
  }

  private static let audit = Table(
    name: "audit", key: "t.customer", copyKey: nil,
    numbers: .byTime(columns: "at, caller, action, path, event, subject, customer, request_id"))
}

/// Why stores are not made anew for another number of shards; final.
public enum ReshardError: Error, Sendable, CustomStringConvertible {
  /// The options cannot be used.
  case options(String)
  /// The stores that are given are not all shards of one number.
  case incomplete(String)
  /// Something is still on its way.
  case unquiet(String)
  /// A store stands where a new one is to stand.
  case targetIsThere(String)
  /// What was written is not what was read.
  case differs(String)
  /// The broker does not take the positions.
  case positions(String)
  /// A new store could not get its name.
  case cannotName(String, code: Int32)

  /// The fault and what to do.
  public var description: String {
    switch self {
    case .options(let fault): fault
    case .incomplete(let fault):
      "\(fault); give the stores of all shards, each once"
    case .unquiet(let fault):
      "\(fault); start the shards once more, let them read and publish everything, and stop them"
    case .targetIsThere(let path):
      "there is a store at \(path); new ones take nobody's place: give other files"
    case .differs(let fault):
      "\(fault); the new stores are thrown away, the old ones are as they were"
    case .positions(let fault): "the positions cannot be committed to Kafka: \(fault)"
    case .cannotName(let path, let code): "\(path) could not get its name (error \(code))"
    }
  }
}
