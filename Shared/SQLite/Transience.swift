public import ServiceRuntime

// Which faults of a store pass by themselves, and what a caller is told.

extension WriterBusy: Transient {
  /// The queue is full at this moment.
  public var tryAgain: TryAgain? {
    TryAgain(
      type: "overloaded", detail: "The store has more to write than it takes. Try again.",
      after: .seconds(1))
  }
}

extension ReadersBusy: Transient {
  /// The queue is full at this moment.
  public var tryAgain: TryAgain? {
    TryAgain(
      type: "overloaded", detail: "The store has more to read than it takes. Try again.",
      after: .seconds(1))
  }
}

extension WriterClosed: Transient {
  /// Another process, or this one after its start, will answer.
  public var tryAgain: TryAgain? { .stopping }
}

extension ReadersClosed: Transient {
  /// Another process, or this one after its start, will answer.
  public var tryAgain: TryAgain? { .stopping }
}

extension SQLiteError: Transient {
  /// A disk that is full or fails may be mended; a fault of the statement is final.
  public var tryAgain: TryAgain? {
    guard isStorageFailure else { return nil }
    return TryAgain(
      type: "store-failed",
      detail: "The store cannot be used at present; nothing was stored. Try again.",
      after: .seconds(5))
  }
}

extension TryAgain {
  fileprivate static let stopping = TryAgain(
    type: "stopping", detail: "This process is stopping. Try again.", after: .seconds(1))
}
