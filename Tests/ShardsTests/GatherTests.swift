import HTTPServer
import JSON
import Testing

@testable import Shards

@Suite("Lists of all shards") struct GatherTests {
  private let gathering = Gathering("items", isDescending: true, usualLimit: 2) {
    fields throws(JSONFieldFault) in
    let number = try fields.number("n")
    return Gathering.Place(rank: Gathering.Rank(number), cursor: "\(number)")
  }

  private func page(_ numbers: [Int], next: String? = nil) throws -> ShardPage {
    let items = numbers.map { "{\"n\":\($0)}" }.joined(separator: ",")
    let end = next.map { ",\"next\":\"\($0)\"" } ?? ""
    return try ShardPage(Array("{\"items\":[\(items)]\(end)}".utf8), gathering)
  }

  /// Pages of lists that are kept by three shards, read through to the end.
  @Test(arguments: [1, 2, 3, 7, 50])
  func `page by page all elements come once and in order`(limit: Int) throws {
    let lists = [[9, 6, 5, 1], [8, 7], [Int](), [20, 4, 3, 2]]
    var cursors = try ShardCursors(nil, count: lists.count)
    var all: [Int] = []
    for _ in 0..<100 {
      var pages: [Int: ShardPage] = [:]
      for (shard, list) in lists.enumerated() where cursors[shard] != .done {
        let rest = list.filter { $0 < cursors[shard].text.flatMap { Int($0) } ?? .max }
        let shown = Array(rest.prefix(limit))
        pages[shard] = try page(shown, next: rest.count > limit ? shown.last.map { "\($0)" } : nil)
      }
      let merged = ShardPages(pages, cursors, isDescending: true).page(of: limit)
      #expect(merged.elements.count <= limit)
      all += merged.elements.compactMap {
        Int(String(decoding: $0, as: UTF8.self).filter(\.isNumber))
      }
      guard let next = merged.cursors.text else { break }
      cursors = try ShardCursors(next, count: lists.count)
    }
    #expect(all == lists.flatMap { $0 }.sorted(by: >))
  }

  @Test func `a page ends where a shard may have more before what the others have`() throws {
    let cursors = try ShardCursors(nil, count: 2)
    let pages = [0: try page([9], next: "9"), 1: try page([5, 4])]
    let merged = ShardPages(pages, cursors, isDescending: true).page(of: 10)
    #expect(merged.elements.count == 1)
    #expect(merged.cursors.text == "9.")
  }

  @Test(arguments: ["a", "a.b.c", "-.-", ""])
  func `a cursor of another number of shards is refused`(text: String) {
    #expect(throws: Problem.self) { try ShardCursors(text, count: 2) }
  }
}
