/// A value as SQLite stores it.
public enum Value: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// A type whose values may be bound to the parameters of a statement.
public protocol Bindable {
  /// The value as SQLite stores it.
  var sqliteValue: Value { get }
}

extension Value: Bindable {
  /// Itself.
  public var sqliteValue: Value { self }
}

extension Int: Bindable {
  /// An integer.
  public var sqliteValue: Value { .integer(Int64(self)) }
}

extension Int32: Bindable {
  /// An integer.
  public var sqliteValue: Value { .integer(Int64(self)) }
}

extension Int64: Bindable {
  /// An integer.
  public var sqliteValue: Value { .integer(self) }
}

extension Bool: Bindable {
  /// 1 or 0.
  public var sqliteValue: Value { .integer(self ? 1 : 0) }
}

extension Double: Bindable {
  /// A real number.
  ///
  /// SQLite stores NaN as NULL.
  public var sqliteValue: Value { .real(self) }
}

extension String: Bindable {
  /// Text in UTF-8; NUL bytes are kept.
  public var sqliteValue: Value { .text(self) }
}

extension [UInt8]: Bindable {
  /// Bytes; an empty array is an empty blob, not NULL.
  public var sqliteValue: Value { .blob(self) }
}

extension Optional: Bindable where Wrapped: Bindable {
  /// NULL, or the wrapped value.
  public var sqliteValue: Value { self?.sqliteValue ?? .null }
}
