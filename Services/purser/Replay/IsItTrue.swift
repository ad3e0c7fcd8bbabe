import FoundationEssentials
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// `purser replay true`: whether the stores are what the topics say.
struct IsItTrue {
  static let command = Command(
    name: "replay true",
    synopsis:
      "[SERVICE…] [--customer C] [--lineage L] [--type T] [--from TIME] [--decisions] [--json] "
      + "[--to FILE] [--resume FOLDER]",
    summary: "Rebuilds stores beside the live ones and tells whether they are equal",
    about: """
      For each service whose store is named (ORDER_STORE, VERIFY_STORE, ENTITLEMENT_STORE) it copies the
      live store, folds another one from the topics as the service's own rebuild does, compares the two
      row by row, and throws both away. It also derives again: all lineages from Apple's facts, all rights
      and balances from the lineages by the rules of PURSER_CONFIG, and tells which would be others. Live
      store, groups and topics are only read: a fold has no producer, no HTTP and no timers. Equal, or the
      first differences, each with the record that told it and what that came of; exit code 1 if there
      are any. With shards it is asked of each store by itself: which shard it is, the store says.

      Decisions of the moment (whose a purchase was, whether a spend was covered, when a right ran out) are
      taken as they were published, so this does not ask whether they were right: it lists them apart, with
      --decisions or in the file of --to. While a service is at work its newest rows may differ; ask again.

      With --resume FOLDER one that was stopped goes on where it was.
      """,
    options: [
      .init(name: "--customer", value: "C", help: "only rows and decisions of this customer"),
      .init(name: "--lineage", value: "L", help: "only rows and decisions of this lineage"),
      .init(
        name: "--type", value: "T",
        help: "only what was told by events of a type that is T or has T in it"),
      .init(
        name: "--from", value: "TIME",
        help: "only what was told since: a time, an age, or a record's place"),
      .init(name: "--decisions", help: "list the decisions that were taken as published"),
    ] + ReplayOutput.options + [
      .init(name: "--resume", value: "FOLDER", help: "where progress is kept until it is answered")
    ],
    operands: 0...3,
    examples: [
      "purser replay true", "purser replay true entitlement-service --customer alice --decisions",
      "purser replay true --to truth.sqlite --resume work",
    ]
  ) { arguments, settings in
    let stores = settings.doctor.stores.filter {
      arguments.operands.isEmpty || arguments.operands.contains($0.service)
    }
    let known = settings.doctor.stores.map(\.service)
    if let other = arguments.operands.first(where: { !known.contains($0) }), !known.isEmpty {
      throw arguments.error(
        "no store of '\(other)' is named, only of \(known.joined(separator: ", "))")
    }
    guard !stores.isEmpty else {
      throw arguments.error(
        "set ORDER_STORE, VERIFY_STORE or ENTITLEMENT_STORE as the services have it")
    }
    let question = IsItTrue(
      customer: arguments.text("--customer"), lineage: try arguments.wholeLineage(),
      filter: RecordFilter(
        key: nil, type: arguments.text("--type"), lineage: arguments.text("--lineage"),
        from: try arguments.time("--from", settings)),
      listsDecisions: arguments.has("--decisions") || arguments.text("--to") != nil,
      folder: arguments.text("--resume"), settings: settings,
      output: try ReplayOutput(arguments, settings))
    var isEqual = true
    for store in stores { isEqual = try question.check(store) && isEqual }
    try question.output.finish()
    return isEqual ? Tool.success : Tool.failure
  }

  let customer: String?
  let lineage: String?
  let filter: RecordFilter
  let listsDecisions: Bool
  let folder: String?
  let settings: Settings
  let output: ReplayOutput

  private func check(_ store: StoreCheck.Store) throws -> Bool {
    let shard = try StoreLabel(of: store.path, service: store.service).shard ?? .only
    let run = try ServiceRun(
      store.service, settings, resuming: folder, question: "\(settings.topicPrefix) \(store.path)")
    let findings = run.file("findings.jsonl")
    let comparison: StoreComparison
    do {
      let (live, rebuilt) = (run.file("live.sqlite"), run.file("rebuilt.sqlite"))
      if !run.has("live.sqlite") { try StoreBackup.copy(from: store.path, to: live) }
      if !run.has("rebuilt.sqlite") {
        let derives = store.service != "order-service"
        try run.run(
          ["fold", "--live", live] + (derives ? ["--findings", findings] : []),
          environment: [
            run.storeVariable: rebuilt,
            // As which shard it is folded is what the store itself says.
            "PURSER_PARTITIONS": "\(shard.partitions)", "PURSER_SHARD_COUNT": "\(shard.count)",
            "PURSER_SHARD": "\(shard.ordinal)",
          ])
      }
      Terminal.complain("purser: \(store.service): comparing row by row")
      comparison = try StoreComparison(
        live: live, rebuilt: rebuilt, customer: customer, lineage: lineage,
        isAlone: shard.isAlone)
    } catch {
      run.abandon()
      throw error
    }
    defer { run.remove() }
    let (explained, decisions) = try explain(comparison, store.service)
    let told = explained.filter { one in
      one.causes.isEmpty ? filter.isOpen : filter.takes(one.causes[0])
    }
    for one in told { try put(one, store.service) }
    let others = run.has("findings.jsonl") ? try putFindings(findings) : 0
    let isEqual = told.isEmpty && others == 0
    let isOfSome = customer != nil || lineage != nil
    let taken =
      listsDecisions
      ? decisions.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        .joined(separator: ", ")
      : isOfSome ? "" : try Self.decided(run.file("live.sqlite"), store.service)
    let summary =
      "\(store.service): \(isEqual ? "equal" : "NOT EQUAL"), \(comparison.same) rows"
      + (others > 0 ? ", \(others) would be derived otherwise" : "")
      + (isOfSome && taken.isEmpty
        ? "" : "; taken as published: \(taken.isEmpty ? "nothing" : taken)")
      + (listsDecisions ? "" : " (--decisions lists what was taken as published)")
    Terminal.complain("purser: \(summary)")
    // Nothing to compare is no proof that all is well.
    if isOfSome && isEqual && comparison.same == 0 {
      Terminal.complain(
        "purser: no row of \(store.service) is about what was asked for; is the id right?")
    }
    return isEqual
  }

  /// What led to the differences; lists the decisions on the way, and counts them.
  private func explain(_ comparison: StoreComparison, _ service: String) throws -> (
    explained: [Causes.Explained], decisions: [String: Int]
  ) {
    guard listsDecisions || !comparison.differences.isEmpty else { return ([], [:]) }
    var decisions: [String: Int] = [:]
    let explained = try Causes(service: service, settings: settings)
      .explain(comparison.differences) { record in
        guard listsDecisions, isOfCustomer(record), filter.takes(record),
          let kind = Decisions.kind(of: record)
        else { return }
        decisions[kind, default: 0] += 1
        try put(record, "decisions", [("decision", .text(kind))], service, label: "as published")
      }
    return (explained, decisions)
  }

  private func isOfCustomer(_ record: ReceivedRecord) -> Bool {
    customer.map { record.key == Array($0.utf8) } ?? true
  }

  private func put(_ one: Causes.Explained, _ service: String) throws {
    let difference = one.difference
    let number = Int64(output.count + 1)
    try output.put(
      "differences",
      [
        ("number", .number(number)), ("service", .text(service)),
        ("only_in", .text(difference.side)), ("store_table", .text(difference.table)),
        ("store_row", .text(difference.row)),
      ], text: "only \(difference.side): \(difference.table) \(printable(difference.row))")
    for (depth, record) in one.causes.enumerated() {
      try put(
        record, "causes", [("difference", .number(number)), ("depth", .number(Int64(depth)))],
        service, label: depth == 0 ? "  told by" : "  which came of")
    }
    if one.causes.isEmpty { output.say("  no record tells of it") }
  }

  private func put(
    _ record: ReceivedRecord, _ table: String, _ members: [(String, ReplayOutput.Field)],
    _ service: String, label: String
  ) throws {
    let terminal = Terminal(settings)
    try output.put(
      table,
      members + [
        ("service", .text(service)), ("topic", .text(record.topic)),
        ("partition", .number(Int64(record.partition))),
        ("record_offset", .number(record.offset)), ("time", .number(record.timestamp)),
        ("key", .text(record.key.map { String(decoding: $0, as: UTF8.self) })),
        ("type", .text(record.header("ce_type"))), ("line", .text(PayloadSummary.text(record))),
      ], text: "\(label)  \(record.topic)  \(RecordLine.line(record, terminal))")
  }

  /// Tells what would be another by the rules of today; how many.
  private func putFindings(_ path: String) throws -> Int {
    var count = 0
    try WhatIfAnswer.forEach(path) { answer in
      guard customer.map({ $0 == answer.customer }) ?? true,
        lineage.map({ answer.line.contains($0) }) ?? true,
        filter.type.map({ answer.type.contains($0) }) ?? true,
        filter.from.map({ answer.at >= $0 }) ?? true
      else { return }
      count += 1
      try answer.put(to: output)
    }
    return count
  }

  /// How many decisions of the moment a store has.
  private static func decided(_ path: String, _ service: String) throws -> String {
    let counts =
      switch service {
      case "order-service":
        [("orders", "orders"), ("outcomes", "proofs WHERE outcome IS NOT NULL")]
      case "verify-service": [("owners", "lineages"), ("outcomes", "proof_outcomes")]
      default:
        [("spends", "spends"), ("entries", "balance_entries"), ("events", "timeline")]
      }
    let store = try Connection(path: path, mode: .readOnly)
    return try counts.map { name, table in
      "\(try store.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) } ?? 0) \(name)"
    }.joined(separator: ", ")
  }
}
