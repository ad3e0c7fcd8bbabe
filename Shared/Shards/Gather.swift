import HTTPServer
import JSON
import Pipeline

// Lists that lie on all shards.
extension Shards {
  /// Asks all shards for a page, and makes one page of them in the list's order.
  ///
  /// - Throws: `Problem` 503 when a shard does not answer: a list without its part would be wrong.
  func gather(_ request: Request, _ gathering: Gathering, here: @escaping Router.Handler)
    async throws -> Response
  {
    let cursors = try ShardCursors(request.queryValue("cursor"), count: shard.count)
    let limit = try request.pageLimit(default: gathering.usualLimit)
    let asked = (0..<shard.count).filter { cursors[$0] != .done }
    let answers = try await withThrowingTaskGroup(of: (Int, Response).self) { group in
      for ordinal in asked {
        let part = request.with(parameter: "cursor", cursors[ordinal].text)
        group.addTask { (ordinal, try await self.answer(part, at: ordinal, here: here)) }
      }
      var answers: [Int: Response] = [:]
      for try await (ordinal, answer) in group { answers[ordinal] = answer }
      return answers
    }
    // A refusal is everyone's: the request is at fault, or the caller.
    let inOrder = asked.compactMap { answers[$0] }
    if let refusal = inOrder.first(where: { $0.status != 200 }) { return refusal }
    guard let first = inOrder.first else { throw Problem.badCursor }
    let pages = try answers.mapValues { try ShardPage($0.body, gathering) }
    let merged = ShardPages(pages, cursors, isDescending: gathering.isDescending)
      .page(of: limit)
    return .json(
      bytes: try Self.document(
        first.body, gathering.list, merged.elements, next: merged.cursors.text))
  }

  /// The answer of one shard, this one or another.
  func answer(_ request: Request, at ordinal: Int, here: @escaping Router.Handler) async throws
    -> Response
  {
    ordinal == shard.ordinal
      ? try await here(request) : try await peers.forward(request, to: ordinal)
  }

  /// The first answer with the list and `next` of all.
  private static func document(
    _ first: [UInt8], _ list: StaticString, _ elements: [[UInt8]], next: String?
  ) throws -> [UInt8] {
    let members = try JSONMembers(first)
    var written: [[UInt8]] = []
    for (name, value) in members.places {
      let text = String(decoding: first[name], as: UTF8.self)
      if text == "next" { continue }
      let value =
        text == "\(list)"
        ? [0x5B] + Array(elements.joined(separator: [0x2C])) + [0x5D] : Array(first[value])
      written.append([0x22] + Array(first[name]) + Array("\":".utf8) + value)
    }
    if let next { written.append(Array("\"next\":\"\(next)\"".utf8)) }
    return [0x7B] + Array(written.joined(separator: [0x2C])) + [0x7D]
  }
}

/// A page of one shard.
struct ShardPage {
  struct Element {
    let bytes: [UInt8]
    let place: Gathering.Place
  }

  var elements: [Element] = []
  /// Where the shard's next page begins; nil after the last.
  let next: String?

  init(_ body: [UInt8], _ gathering: Gathering) throws {
    let members = try JSONMembers(body)
    next = members.find("next").flatMap { members.text(at: $0) }
    guard let list = members.find(gathering.list), let places = members.elements(at: list) else {
      return
    }
    elements = try places.map { place in
      let bytes = Array(body[place])
      return Element(bytes: bytes, place: try gathering.place(try JSONFields(bytes)))
    }
  }
}

/// Pages of several shards that become one.
struct ShardPages {
  private var pages: [Int: ShardPage]
  private var cursors: ShardCursors
  private let isDescending: Bool

  init(_ pages: [Int: ShardPage], _ cursors: ShardCursors, isDescending: Bool) {
    self.pages = pages
    self.cursors = cursors
    self.isDescending = isDescending
  }

  /// The first elements of all in order, and where each shard goes on.
  func page(of limit: Int) -> (elements: [[UInt8]], cursors: ShardCursors) {
    var cursors = cursors
    var taken = pages.mapValues { _ in 0 }
    var elements: [[UInt8]] = []
    // A shard whose page is used up may have the next element: there the page of all ends.
    while elements.count < limit,
      !pages.contains(where: { $0.value.next != nil && taken[$0.key] == $0.value.elements.count }),
      let (ordinal, element) = first(taken)
    {
      elements.append(element.bytes)
      taken[ordinal, default: 0] += 1
      cursors[ordinal] = .after(element.place.cursor)
    }
    for (ordinal, page) in pages where taken[ordinal] == page.elements.count {
      cursors[ordinal] = page.next.map { .after($0) } ?? .done
    }
    return (elements, cursors)
  }

  private func first(_ taken: [Int: Int]) -> (Int, ShardPage.Element)? {
    var best: (Int, ShardPage.Element)?
    for (ordinal, page) in pages.sorted(by: { $0.key < $1.key }) {
      let index = taken[ordinal, default: 0]
      guard index < page.elements.count else { continue }
      let element = page.elements[index]
      guard let known = best else {
        best = (ordinal, element)
        continue
      }
      let (mine, others) = (element.place.rank, known.1.place.rank)
      if isDescending ? others < mine : mine < others { best = (ordinal, element) }
    }
    return best
  }
}

/// Where the next page begins on each shard: `a.b.-`, empty for the beginning and `-` for the end.
struct ShardCursors: Equatable {
  enum Place: Equatable {
    case beginning
    case after(String)
    case done

    /// As the shard understands it.
    var text: String? {
      if case .after(let text) = self { text } else { nil }
    }
  }

  private var places: [Place]

  init(_ text: String?, count: Int) throws(Problem) {
    guard let text else {
      places = Array(repeating: .beginning, count: count)
      return
    }
    places = text.split(separator: ".", omittingEmptySubsequences: false).map {
      $0.isEmpty ? .beginning : $0 == "-" ? .done : .after(String($0))
    }
    guard places.count == count, places.contains(where: { $0 != .done }) else {
      throw .badCursor
    }
  }

  subscript(ordinal: Int) -> Place {
    get { places[ordinal] }
    set { places[ordinal] = newValue }
  }

  /// Nil when all shards are at their ends.
  var text: String? {
    guard places.contains(where: { $0 != .done }) else { return nil }
    return places.map { place in
      switch place {
      case .beginning: ""
      case .after(let text): text
      case .done: "-"
      }
    }.joined(separator: ".")
  }
}
