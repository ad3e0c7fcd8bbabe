public import Events
public import ServiceRuntime

/// How a store is to be made anew.
public struct RebuildWish: Sendable {
  /// An old copy, for what no topic carries.
  public let backup: String?
  /// Whether the service goes on meanwhile, and the new store is only to be looked at.
  public let isBeside: Bool
  /// A copy of the service's store, whose places in the inputs are taken; nil takes those that the service
  /// has told Kafka, which come a little later.
  public let live: String?
  /// Where it is written what the rules of today say otherwise than was told; nil asks for nothing.
  public let findings: String?

  /// Describes a wish.
  public init(
    backup: String? = nil, isBeside: Bool = false, live: String? = nil, findings: String? = nil
  ) {
    self.backup = backup
    self.isBeside = isBeside
    self.live = live
    self.findings = findings
  }
}

extension Program.Command {
  /// `rebuild`, `rebuild-if-lost` and `fold`, which every service with a store has.
  ///
  /// - Parameters:
  ///   - service: Such as `order-service`.
  ///   - own: The topic that nobody else writes to: what stands there was told by the store.
  ///   - derives: Whether it can also compute again what was told.
  ///   - pipeline: Where store and broker are.
  ///   - run: Makes the store.
  public static func rebuilds(
    _ service: String, own: Topic, derives: Bool = false,
    pipeline: @escaping @Sendable (Settings) -> PipelineSettings,
    _ run: @escaping @Sendable (Settings, RebuildWish, Log) throws -> Void
  ) -> [Self] {
    [
      Self(
        name: "rebuild",
        help: """
          rebuild [--backup FILE]   makes a lost store anew from the topics, and ends; --backup names
            an old copy, from which what no topic carries is taken over; one that was killed goes on
          """,
        options: ["--backup"]
      ) { settings, options, log in
        try run(settings, RebuildWish(backup: options["--backup"]), log)
      },
      Self(
        name: "rebuild-if-lost",
        help: """
          rebuild-if-lost [--backups FOLDER]   does that where there is no store though this shard has
            told something, and else nothing, as before the start of a pod whose volume may be new; takes
            the newest of the shard's copies in FOLDER, named as 'purser backup' names them
          """,
        options: ["--backups"]
      ) { settings, options, log in
        let lost = LostStore(service: service, own: own, settings: pipeline(settings), log: log)
        guard try lost.isLost() else { return }
        let backup = try options["--backups"].flatMap { try lost.newestBackup(in: $0) }
        try run(settings, RebuildWish(backup: backup), log)
      },
      Self(
        name: "fold",
        help: """
          fold [--live FILE]\(derives ? " [--findings FILE]" : "")   makes such a store where there is none, beside a service that
            has its own elsewhere, of which FILE is a copy; for 'purser replay true'
          """,
        options: derives ? ["--live", "--findings"] : ["--live"]
      ) { settings, options, log in
        try run(
          settings,
          RebuildWish(isBeside: true, live: options["--live"], findings: options["--findings"]), log
        )
      },
    ]
  }
}
