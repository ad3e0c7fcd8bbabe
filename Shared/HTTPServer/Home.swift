import FoundationEssentials
public import JSON

/// Which of several processes answers a request.
public enum Home: Sendable {
  /// Whichever is asked.
  case here
  /// The one that has the customer of the path.
  case customer
  /// The one that has the customer in the body's member `customer`, or of the token that asks.
  case customerInBody
  /// The one that has the customer in the query, or of the token that asks; without one all are asked.
  case customerInQuery(Gathering)
  /// The one to which the id in a placeholder leads, by its first two bytes.
  ///
  /// - streams: Whether the answer is written as things happen.
  case id(String, streams: Bool)
  /// The one that has a placeholder's value as a key.
  case key(String)
  /// All, and their lists become one.
  case gathered(Gathering)
  /// All, one after another.
  case everywhere(Spread)
}

/// How lists of several processes become one, each sorted in the same way.
public struct Gathering: Sendable {
  /// What an element is sorted by: numbers first, then text.
  public struct Rank: Sendable, Comparable {
    let number: Int64
    let text: String

    /// Makes a rank.
    public init(_ number: Int64 = 0, _ text: String = "") {
      self.number = number
      self.text = text
    }

    /// By number, then by the bytes of the text, as SQLite sorts.
    public static func < (left: Rank, right: Rank) -> Bool {
      left.number == right.number
        ? left.text.utf8.lexicographicallyPrecedes(right.text.utf8) : left.number < right.number
    }

    /// The same in both.
    public static func == (left: Rank, right: Rank) -> Bool { !(left < right) && !(right < left) }
  }

  /// What is read of an element.
  public struct Place: Sendable {
    /// What it is sorted by.
    public let rank: Rank
    /// The cursor, as its process understands it, of what comes after it.
    public let cursor: String

    /// Makes a place.
    public init(rank: Rank, cursor: String) {
      self.rank = rank
      self.cursor = cursor
    }
  }

  /// The member of the answer that holds the list.
  public let list: StaticString
  /// Whether the greatest comes first.
  public let isDescending: Bool
  /// Elements of a page without `limit`.
  public let usualLimit: Int
  /// Reads an element.
  public let place: @Sendable (JSONFields) throws(JSONFieldFault) -> Place

  /// Describes a list.
  public init(
    _ list: StaticString, isDescending: Bool, usualLimit: Int = 100,
    place: @escaping @Sendable (JSONFields) throws(JSONFieldFault) -> Place
  ) {
    self.list = list
    self.isDescending = isDescending
    self.usualLimit = usualLimit
    self.place = place
  }
}

/// How a request to all processes is made, and what is answered.
public struct Spread: Sendable {
  /// The body for the others, of the request and of the first one's answer.
  public typealias Body = @Sendable (_ request: Request, _ first: Response) throws -> [UInt8]
  /// One answer of all, the first one's first.
  public typealias Combine = @Sendable ([Response]) throws -> Response

  /// Makes the body for the others; nil passes on the request's own.
  public let body: Body?
  /// Makes the answer.
  public let combine: Combine

  /// Describes a request to all; unless told otherwise the first one's answer is the answer.
  public init(body: Body? = nil, combine: @escaping Combine = { $0[0] }) {
    self.body = body
    self.combine = combine
  }

  /// A request to all whose answers, values as JSON, become one value; the first one's comes first.
  public static func joined<Answer: Codable & SendableMetatype>(
    status: Int = 200, _ join: @escaping @Sendable ([Answer]) -> Answer
  ) -> Spread {
    Spread(combine: { answers in
      let all = try answers.map { try JSONDecoder().decode(Answer.self, from: Data($0.body)) }
      return .json(join(all), status: status)
    })
  }
}

/// Has requests answered where they belong; a router with none answers all of them itself.
public protocol Placement: Sendable {
  /// What is said in each answer to a request that was passed on, so that whoever passed it on knows who answers;
  /// empty for other requests.
  func identification(_ headers: Headers) -> [(String, String)]

  /// Whether the request is surely answered here, without asking anyone.
  func isSurelyHere(_ request: Request, _ home: Home) -> Bool

  /// The answer, from wherever it comes.
  ///
  /// - Parameter here: Answers a request in this process.
  func respond(to request: Request, _ home: Home, here: @escaping Router.Handler) async throws
    -> Response
}

extension Placement {
  /// The action of a route that may belong elsewhere.
  func placing(_ action: Router.Action, _ home: Home) -> Router.Action {
    switch (home, action) {
    case (.here, _), (_, .direct): action
    case (_, .task(let handler)): .task { try await respond(to: $0, home, here: handler) }
    case (_, .attempt(let attempt, else: let handler)):
      .attempt(
        { request in isSurelyHere(request, home) ? try attempt(request) : .untried },
        else: { try await respond(to: $0, home, here: handler) })
    }
  }
}
