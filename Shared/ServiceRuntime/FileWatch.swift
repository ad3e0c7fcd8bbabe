import Synchronization

/// Something that was read from files; `Reloadable` is the one kind of it.
public protocol Watched: AnyObject, Sendable {
  /// What logs and metrics call it.
  var name: String { get }
  /// The files, as they were when they were read.
  var files: [String: FileStamp] { get }
  /// Reads them again, and keeps what it has when that fails.
  func reload() throws
}

/// Looks at files for changes on the thread `file-watch`, and has them read again.
///
/// It asks the file system twice a second: notices of the kernel do not come from network file
/// systems, nor for the links by which Kubernetes changes a mounted file. A file that still changes
/// is left alone until two looks in a row find it the same.
public final class FileWatch: Service {
  /// The name that logs show.
  public let name = "file-watch"
  private let watched: [any Watched]
  private let interval: Duration
  private let log: Log
  private let metrics: Metrics
  private let wake = Wake()
  private let isStopping = Atomic<Bool>(false)
  private let ended = Completion<Void>()

  /// Makes a watch over what may change; nothing is looked at before `run()`.
  public init(
    _ watched: [any Watched], every interval: Duration = .milliseconds(500), log: Log,
    metrics: Metrics
  ) {
    // Several apps may share a file.
    var seen: Set<ObjectIdentifier> = []
    self.watched = watched.filter { seen.insert(ObjectIdentifier($0)).inserted }
    self.interval = interval
    self.log = log
    self.metrics = metrics
  }

  /// Looks until stopped.
  public func run() async {
    let thread = DedicatedThread(name: "file-watch") { [self] in
      // What a look found changed, to be read when the next one finds it the same.
      var pending: [[String: FileStamp]?] = watched.map { _ in nil }
      while !isStopping.load(ordering: .acquiring) {
        wake.wait(atMost: interval)
        for (index, one) in watched.enumerated() { look(at: one, &pending[index]) }
      }
    }
    await thread.joined()
    ended.complete(with: ())
  }

  /// Ends after the look at hand.
  public func stop(by deadline: Deadline) async {
    isStopping.store(true, ordering: .releasing)
    wake.signal()
    await ended.value()
  }

  private func look(at one: any Watched, _ pending: inout [String: FileStamp]?) {
    let known = one.files
    var now: [String: FileStamp] = [:]
    for path in known.keys { now[path] = FileStamp(path: path) }
    guard now != known else {
      pending = nil
      return
    }
    guard now == pending else {
      pending = now
      return
    }
    pending = nil
    read(one)
  }

  private func read(_ one: any Watched) {
    let labels = ["what": one.name]
    let refused = metrics.gauge(
      "file_reload_refused", "1 while a changed file cannot be used and the old one holds.",
      labels: labels)
    do {
      try one.reload()
      refused.set(0)
      metrics.counter("file_reloads_total", "Changed files that were read.", labels: labels).add()
      log.info("a changed file was read", ["what": .string(one.name)])
    } catch {
      refused.set(1)
      metrics.counter(
        "file_reload_failures_total", "Changed files that could not be used.", labels: labels
      ).add()
      log.error(
        "a changed file cannot be used; what was read before holds",
        ["what": .string(one.name), "error": .string(String(describing: error))])
    }
  }
}
