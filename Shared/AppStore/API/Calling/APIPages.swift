/// An answer that may go on in another one.
public protocol PagedAnswer: Sendable {
  /// Whether there is a next page.
  var hasMore: Bool { get }
  /// What the next page is asked with.
  var cursor: String? { get }
}

extension HistoryAnswer: PagedAnswer {
  /// The revision.
  public var cursor: String? { revision }
}

extension RefundHistoryAnswer: PagedAnswer {
  /// The revision.
  public var cursor: String? { revision }
}

extension NotificationHistoryAnswer: PagedAnswer {
  /// The pagination token.
  public var cursor: String? { paginationToken }
}

/// The pages of one query, fetched one at a time as they are asked for.
///
/// A failure ends the sequence; the cursor of the last page that came allows to go on later.
public struct APIPages<Page: PagedAnswer>: AsyncSequence, AsyncIteratorProtocol, Sendable {
  /// A page.
  public typealias Element = Page
  /// Why there is no page.
  public typealias Failure = APIError

  private let fetch: @Sendable (String?) async throws(APIError) -> Page
  private let limit: Int
  private var cursor: String?
  private var fetched = 0
  private var isAtEnd = false

  init(
    from cursor: String?, limit: Int,
    fetch: @escaping @Sendable (String?) async throws(APIError) -> Page
  ) {
    self.cursor = cursor
    self.limit = limit
    self.fetch = fetch
  }

  /// Itself, at the first page.
  public func makeAsyncIterator() -> APIPages { self }

  /// The next page, or nil after the last.
  ///
  /// - Throws: What the request throws, and `endlessPages` beyond the bound or when a page says that
  ///   more follow but not where.
  public mutating func next(
    isolation actor: isolated (any Actor)?
  ) async throws(APIError) -> Page? {
    guard !isAtEnd else { return nil }
    isAtEnd = true
    guard fetched < limit else {
      throw APIError(.endlessPages, message: "more than \(limit) pages")
    }
    let page = try await fetch(cursor)
    fetched += 1
    guard page.hasMore else { return page }
    guard let next = page.cursor, next != cursor else {
      throw APIError(
        .endlessPages, message: "page \(fetched) says that more follow, but leads to itself")
    }
    cursor = next
    isAtEnd = false
    return page
  }

  /// The next page, or nil after the last.
  public mutating func next() async throws(APIError) -> Page? { try await next(isolation: nil) }
}

extension AppStoreServerAPI {
  /// Pages that one query may have before it is taken for endless; 20 entries each.
  public static let mostPages = 10_000

  /// All pages of a customer's history, from a revision that was kept, or from the first.
  public func historyPages(
    _ anyId: String, _ query: HistoryQuery = HistoryQuery(), from revision: String? = nil,
    limit: Int = mostPages
  ) -> APIPages<HistoryAnswer> {
    APIPages(from: revision, limit: limit) { (revision) async throws(APIError) in
      try await answer(to: .transactionHistory(anyId, query, revision: revision))
    }
  }

  /// All pages of a customer's refunds, from a revision that was kept, or from the first.
  public func refundPages(
    _ anyId: String, from revision: String? = nil, limit: Int = mostPages
  ) -> APIPages<RefundHistoryAnswer> {
    APIPages(from: revision, limit: limit) { (revision) async throws(APIError) in
      try await answer(to: .refundHistory(anyId, revision: revision))
    }
  }

  /// All pages of the notification history, from a token that was kept, or from the first.
  public func notificationPages(
    _ query: NotificationHistoryQuery, from paginationToken: String? = nil, limit: Int = mostPages
  ) -> APIPages<NotificationHistoryAnswer> {
    APIPages(from: paginationToken, limit: limit) { (token) async throws(APIError) in
      try await answer(to: .notificationHistory(query, paginationToken: token))
    }
  }
}
