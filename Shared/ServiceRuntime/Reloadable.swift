import Synchronization

/// A value that was read from files, and is read again when one of them changes.
///
/// A bad file is refused: the value stays as it was. `FileWatch` looks for changes.
public final class Reloadable<Value: Sendable>: Watched {
  /// Reads the value; names each file to `note` before it opens it, whether or not it can be read.
  public typealias Load = @Sendable (_ note: (String) -> Void) throws -> Value

  private struct State {
    var value: Value
    var generation = 0
    var listeners: [@Sendable (Value) -> Void] = []
  }

  /// What logs and metrics call it, such as `catalog`.
  public let name: String
  private let load: Load
  private let state: Mutex<State>
  private let stamps: Mutex<[String: FileStamp]>

  /// Reads the value for the first time.
  ///
  /// Blocks. Throws what `load` throws.
  public init(_ name: String, load: @escaping Load) throws {
    self.name = name
    self.load = load
    var stamps: [String: FileStamp] = [:]
    let value = try load { path in stamps[path] = FileStamp(path: path) }
    state = Mutex(State(value: value))
    self.stamps = Mutex(stamps)
  }

  /// Holds a value that no file stands behind.
  public init(_ name: String, fixed value: Value) {
    self.name = name
    load = { _ in value }
    state = Mutex(State(value: value))
    stamps = Mutex([:])
  }

  /// The value that was read last.
  public var value: Value { state.withLock { $0.value } }

  /// The value, and a number that changes with it.
  public var snapshot: (value: Value, generation: Int) {
    state.withLock { ($0.value, $0.generation) }
  }

  /// Calls the body with each new value, on the thread of the watch; keep it short.
  public func whenChanged(_ body: @escaping @Sendable (Value) -> Void) {
    state.withLock { $0.listeners.append(body) }
  }

  /// The files that stand behind the value, as they were when they were read.
  public var files: [String: FileStamp] { stamps.withLock { $0 } }

  /// Reads the files again; the value stays when that fails.
  ///
  /// Blocks. Throws what `load` throws.
  public func reload() throws {
    // Stamps are taken before the reading: what changes in between is seen as a change later.
    var fresh: [String: FileStamp] = [:]
    do {
      let value = try load { path in fresh[path] = FileStamp(path: path) }
      stamps.withLock { $0 = fresh }
      let listeners = state.withLock { state in
        state.value = value
        state.generation += 1
        return state.listeners
      }
      for listener in listeners { listener(value) }
    } catch {
      // What stood behind the kept value is watched on, and so is what the bad one named.
      stamps.withLock { $0.merge(fresh) { $1 } }
      throw error
    }
  }
}
