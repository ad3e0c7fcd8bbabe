import Events
import FoundationEssentials
import HTTPClient
import ServiceRuntime

/// Plays steps of a story: asks over HTTP, waits for events, says each in a line, and stops at
/// whatever is not as expected.
///
/// Used from one thread of ours; its calls block.
final class Storyteller {
  /// Whom a step asks.
  enum Party: String {
    case orders = "order-service"
    case entitlements = "entitlement-service"
    case simulator = "app-store-simulator"
  }

  /// How long a step may take.
  static let patience = Duration.seconds(20)

  private let stage: Stage
  private let http: HTTPClient
  private let events: EventReader
  private let terminal: Terminal
  private let isInterrupted: @Sendable () -> Bool
  /// A process that has ended, where the stack is ours.
  private let broken: () -> StackError?
  private var chapters = 0
  private(set) var exchanges = 0

  init(
    stage: Stage, http: HTTPClient, events: EventReader, terminal: Terminal,
    isInterrupted: @escaping @Sendable () -> Bool, broken: @escaping () -> StackError? = { nil }
  ) {
    self.stage = stage
    self.http = http
    self.events = events
    self.terminal = terminal
    self.isInterrupted = isInterrupted
    self.broken = broken
  }

  /// Begins a chapter.
  func chapter(_ title: String, _ text: String) {
    chapters += 1
    terminal.line()
    terminal.line(terminal.styled("\(chapters). \(title)", .bold))
    terminal.line(terminal.styled("   \(text)", .dim))
  }

  /// What a step has shown.
  func conclude(_ text: String) {
    terminal.line("  " + terminal.styled("✓ \(text)", .green))
  }

  /// Asks, and says the exchange in a line.
  ///
  /// - Throws: `StoryFailure` when the answer is another than the expected.
  func ask<Reply: Decodable>(
    _ party: Party, _ method: String, _ path: String, _ body: (any Encodable)? = nil,
    headers: [(String, String)] = [], status expected: Int = 200, as type: Reply.Type,
    tell: (Reply) -> String
  ) throws -> Reply {
    if isInterrupted() { throw Interrupted() }
    let request = HTTPRequest(
      method: method, url: url(of: party) + path,
      headers: headers + access(to: party),
      body: try body.map { [UInt8](try JSONEncoder().encode($0)) }, timeout: Self.patience)
    let title = "\(method) \(party.rawValue) \(path)"
    let answer: HTTPResponse
    do throws(HTTPClientError) {
      answer = try http.sendAndWait(request)
    } catch {
      throw StoryFailure("\(title): \(error)")
    }
    exchanges += 1
    let text = printable(String(decoding: answer.body.prefix(600), as: UTF8.self))
    guard answer.status == expected else {
      say(title, answer.status, text)
      throw StoryFailure("\(title) was answered with \(answer.status), not \(expected): \(text)")
    }
    do {
      let reply = try EventJSON.decode(type, from: answer.body)
      say(title, answer.status, tell(reply))
      return reply
    } catch {
      say(title, answer.status, text)
      throw StoryFailure("\(title): \(error.detail) in the answer \(text)")
    }
  }

  private func say(_ title: String, _ status: Int, _ telling: String) {
    let style: Terminal.Style = (200...299).contains(status) ? .green : .red
    let code = terminal.styled("\(status)", style)
    terminal.line(
      "  \(terminal.styled("http ", .yellow))  \(title)  \(code)  \(printable(telling))")
  }

  private func url(of party: Party) -> String {
    switch party {
    case .orders: stage.orderURL
    case .entitlements: stage.entitlementURL
    case .simulator: stage.simulatorURL
    }
  }

  private func access(to party: Party) -> [(String, String)] {
    let type = [("Content-Type", "application/json")]
    guard party != .simulator else { return type }
    return type + [("Authorization", "Bearer \(stage.apiKey)")]
  }

  /// Waits for an event that was read from Kafka.
  ///
  /// - Throws: `StoryFailure` when none comes in time.
  func expect<Value: Decodable & Sendable>(
    _ what: String, _ type: Value.Type, where test: @escaping @Sendable (Value) -> Bool
  ) throws -> Value {
    let event = try events.first(by: .after(Self.patience), isInterrupted: isInterrupted) { event in
      event.payload(Value.self).map(test) ?? false
    }
    if let value = event?.payload(type) { return value }
    if let broken = broken() { throw broken }
    let fault = events.fault.map { "; reading failed: \($0)" } ?? ""
    throw StoryFailure("no event within \(Self.patience) said that \(what)\(fault)")
  }

  /// Stops the story if a fact is not as expected.
  func require(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw StoryFailure(what()) }
  }

  /// All events so far with a payload of a type that passes a test.
  func past<Value: Decodable>(_ type: Value.Type, where test: (Value) -> Bool) -> [Value] {
    events.all.compactMap { $0.payload(type) }.filter(test)
  }
}

/// A step of the story that did not come out.
struct StoryFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
