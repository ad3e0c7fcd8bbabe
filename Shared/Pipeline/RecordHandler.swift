public import Kafka

/// Turns the records of one topic into changes of the store.
public protocol RecordHandler: Sendable {
  /// Decodes a record and returns the work for the writer; nil when there is nothing to do.
  ///
  /// Called on the thread `kafka-in`, off the writer: the place for work that costs time, such as
  /// proving a signature.
  ///
  /// - Throws: `Undecodable` for a record that will never make sense: it becomes a dead letter.
  func prepare(_ record: ReceivedRecord) throws -> RecordWork?
}

/// The part of handling a record that changes the store.
///
/// Runs on the writer thread, in a savepoint of its own. It must give the same result however often
/// it runs.
public typealias RecordWork = @Sendable (Change) throws -> Void

/// A record that cannot be used, now or later; final.
public struct Undecodable: Error, Sendable, Equatable, CustomStringConvertible {
  /// A stable word, such as `not-json`.
  public let reason: String
  /// The same for people, naming the place.
  public let detail: String

  /// Names a fault.
  public init(_ reason: String, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }

  /// Both in a line.
  public var description: String { "\(reason): \(detail)" }
}
