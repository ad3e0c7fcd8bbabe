import ServiceRuntime

/// What a store tells about itself; every series carries the label `store`.
struct StoreMetrics: Sendable {
  let commitDuration: Histogram
  let commits: Counter
  let committedJobs: Counter
  let groupSize: Histogram
  let refusedJobs: Counter
  let failedJobs: Counter
  let storageFailures: Counter

  init(_ metrics: Metrics, store: String, queue: JobQueue<WriteJob>) {
    let labels = ["store": store]
    commitDuration = metrics.histogram(
      "sqlite_commit_seconds", "Time that COMMIT took.", labels: labels)
    commits = metrics.counter("sqlite_commits_total", "Commits.", labels: labels)
    committedJobs = metrics.counter(
      "sqlite_committed_jobs_total", "Jobs that were committed; by commits, the mean group.",
      labels: labels)
    groupSize = metrics.histogram(
      "sqlite_group_jobs", "Jobs of one COMMIT.", labels: labels, bounds: Histogram.sizes)
    metrics.reading("sqlite_queue_jobs", "Jobs that wait for the writer.", labels: labels) {
      [weak queue] in queue?.count ?? 0
    }
    refusedJobs = metrics.counter(
      "sqlite_refused_jobs_total", "Jobs refused because the queue was full.", labels: labels)
    failedJobs = metrics.counter(
      "sqlite_failed_jobs_total", "Jobs that failed by themselves and were rolled back alone.",
      labels: labels)
    storageFailures = metrics.counter(
      "sqlite_storage_failures_total", "Groups lost to a failure of the store or the disk.",
      labels: labels)
  }
}
