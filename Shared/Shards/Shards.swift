public import HTTPServer
import JSON
public import Pipeline
public import SQLite
public import ServiceRuntime

/// Finds the shard that answers a request, and asks it there.
///
/// Any shard takes any request. What belongs to another is passed on with the caller's own
/// credentials, and let in there as if it had come there first: the header that says so gives no rights,
/// it only bounds how often a request is passed on.
public final class Shards: Placement, Service {
  /// What a request names.
  public enum Wanted: Sendable {
    /// A customer's id.
    case customer(String)
    /// An id that carries a partition, such as an order's.
    case id(String)
    /// A key of another kind.
    case key(String)

    var elsewhere: String? {
      switch self {
      case .customer(let customer): Elsewhere.name(ofCustomer: customer)
      case .id(let id): id
      case .key: nil
      }
    }
  }

  /// Says that this store has what is asked for, though its id leads to another shard: a merge, since a
  /// re-shard.
  public typealias Knows = @Sendable (Reader, Wanted) throws -> Bool

  /// The header that counts how often a request was passed on.
  public static let header = "Purser-Forwarded"
  /// The header in which whoever was asked by another shard says who it is.
  public static let answerer = "Purser-Shard"
  /// A request is passed on once; twice where a re-shard has parted a merge.
  static let hopLimit = 2

  /// The name that logs show.
  public let name = "shards"
  let shard: Shard
  let peers: Peers
  private let store: Store
  private let knows: Knows
  private let hasElsewhere: Bool
  private let ended = Completion<Void>()

  /// Nil where there is one shard.
  ///
  /// Blocks: reads the store.
  ///
  /// - Parameters:
  ///   - settings: Which shard this is, and where the others are.
  ///   - store: Where it is looked for what lies elsewhere.
  ///   - patience: So long a shard that is away is tried again: a restart of it takes less.
  ///   - knows: Says that something is here all the same.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  public init?(
    _ settings: ShardSettings, _ store: Store, log: Log, metrics: Metrics,
    patience: Duration = .seconds(15), knows: @escaping Knows = { _, _ in false }
  ) throws {
    guard !settings.shard.isAlone else { return nil }
    shard = settings.shard
    self.store = store
    self.knows = knows
    hasElsewhere = try store.readers.readAndWait { try Elsewhere.isNeeded($0) }
    peers = Peers(settings, store.source, patience: patience, log: log, metrics: metrics)
  }

  /// Who a shard of a service is, in words that only it says.
  static func identity(_ source: String, _ ordinal: Int, of count: Int) -> String {
    "\(source) \(ordinal)/\(count)"
  }

  /// Tells who this is, when a shard asks.
  public func identification(_ headers: Headers) -> [(String, String)] {
    guard headers[Self.header] != nil else { return [] }
    return [(Self.answerer, Self.identity(store.source, shard.ordinal, of: shard.count))]
  }

  /// Runs until stopped.
  public func run() async { await ended.value() }

  /// Gives up what is still asked.
  public func stop(by deadline: Deadline) async {
    await peers.close(by: min(deadline, .after(.seconds(1))))
    ended.complete(with: ())
  }

  /// Whether the request is surely answered here, without asking anyone.
  public func isSurelyHere(_ request: Request, _ home: Home) -> Bool {
    guard !hasElsewhere, case .one(let partition, _, _) = place(request, home) else { return false }
    return shard.owns(partition)
  }

  /// The answer, from this shard or from others.
  public func respond(
    to request: Request, _ home: Home, here: @escaping Router.Handler
  ) async throws -> Response {
    switch place(request, home) {
    case .here: return try await here(request)
    case .one(let partition, let wanted, let streams):
      guard let target = try await target(request, partition, wanted) else {
        return try await here(request)
      }
      return streams
        ? try await peers.stream(request, to: target) : try await peers.forward(request, to: target)
    case .all(let gathering):
      guard request.hops == 0 else { return try await here(request) }
      return try await gather(request, gathering, here: here)
    case .each(let spread):
      guard request.hops == 0 else { return try await here(request) }
      return try await self.spread(request, spread, here: here)
    }
  }

  /// To whom a request goes; nil where it is answered here.
  private func target(_ request: Request, _ partition: Int32, _ wanted: Wanted) async throws -> Int?
  {
    let isOwn = shard.owns(partition)
    let hops = request.hops
    var partition = partition
    if isOwn {
      guard hasElsewhere, let what = wanted.elsewhere,
        let other = try await store.readers.read({ try Elsewhere.partition($0, what) }),
        !shard.owns(other)
      else { return nil }
      partition = other
    } else if hops > 0 {
      let knows = knows
      guard try await store.readers.read({ try knows($0, wanted) }) else {
        peers.misdirected.add()
        throw Problem.wrongShard
      }
      return nil
    }
    guard hops < Self.hopLimit else {
      peers.misdirected.add()
      throw Problem.wrongShard
    }
    return shard.home(of: partition)
  }

  private enum Destination {
    case here
    case one(Int32, Wanted, streams: Bool)
    case all(Gathering)
    case each(Spread)
  }

  private func place(_ request: Request, _ home: Home) -> Destination {
    switch home {
    case .here: return .here
    case .customer: return customer(request.parameter("customer"))
    case .customerInBody:
      let named = try? JSONFields(request.body).optionalText("customer")
      guard let customer = named ?? request.principal?.customer else { return .here }
      return self.customer(customer)
    case .customerInQuery(let gathering):
      guard let customer = request.queryValue("customer") ?? request.principal?.customer else {
        return .all(gathering)
      }
      return self.customer(customer)
    case .id(let name, let streams):
      let id = request.parameter(name).lowercased()
      guard let partition = IDPartition.partition(of: id, partitions: shard.partitions) else {
        return .here
      }
      return .one(partition, .id(id), streams: streams)
    case .key(let name):
      let key = request.parameter(name)
      return .one(shard.partition(of: key), .key(key), streams: false)
    case .gathered(let gathering): return .all(gathering)
    case .everywhere(let spread): return .each(spread)
    }
  }

  private func customer(_ customer: String) -> Destination {
    .one(shard.partition(of: customer), .customer(customer), streams: false)
  }
}

extension Request {
  /// How often the request was passed on, as far as it says.
  var hops: Int {
    guard let text = headers[Shards.header] else { return 0 }
    return min(max(1, Int(text) ?? 1), Shards.hopLimit)
  }
}

extension Problem {
  /// 503: the shard of the customer does not answer.
  static func shardAway(_ ordinal: Int) -> Problem {
    Problem(
      status: 503, type: "shard-away", title: "Shard away",
      detail: "Shard \(ordinal), which has what is asked for, does not answer. Try again; a write "
        + "that may have reached it needs the same Idempotency-Key.", retryAfter: .seconds(2))
  }

  /// 503: another shard sent the request here, and it does not belong here.
  static let wrongShard = Problem(
    status: 503, type: "wrong-shard", title: "Wrong shard",
    detail: "The request was passed on to a shard that does not have what is asked for: the "
      + "shards' settings differ, or the number of shards is being changed.",
    retryAfter: .seconds(5))
}
