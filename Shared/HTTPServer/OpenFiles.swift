import Glibc
import ServiceRuntime

/// The number of files that the process may hold open, of which each connection is one.
enum OpenFiles {
  /// Kept for everything that is no connection.
  static let others = 256

  /// Raises the soft limit as far as the hard one lets it, and warns when that is not enough.
  static func allow(_ connections: Int, _ log: Log) {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(kind, &limit) == 0 else { return }
    let wanted = rlim_t(connections + others)
    guard limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    let isRaised = unsafe setrlimit(kind, &limit) == 0
    guard !isRaised || limit.rlim_cur < wanted else { return }
    log.warning(
      "the limit of open files is lower than the connections need; raise it",
      ["limit": LogValue(limit.rlim_cur), "connections": LogValue(connections)])
  }
}
