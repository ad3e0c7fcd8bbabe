import FoundationEssentials
import ServiceRuntime

/// `purser replay what-if`: who would own what under another catalog, policy or build.
enum WhatIfCommand {
  static let command = Command(
    name: "replay what-if",
    synopsis:
      "[--config FILE] [--with EXECUTABLE] [--at TIME] [--customer C] [--lineage L] [--type T] "
      + "[--json] [--to FILE] [--resume FOLDER]",
    summary: "Computes customers by another catalog, policy or build, and tells who differs",
    about: """
      Folds what the topics hold into a store of its own and computes each customer anew, for the time
      for which it was computed last, by the rules of --config: another purser.json with its catalogs and
      policies. --with names the entitlement-service of another build. It tells each right and each
      balance that would differ: what was told, and what would be. Nothing is published, sent or written
      elsewhere: the service's what-if has no producer, no HTTP and no timers.

      A balance would differ by what its purchases would have brought more or less; what was spent, given
      or has ended stays as it was decided. Below zero, some spends would not have been covered.

      With --resume FOLDER one that was stopped goes on where it was.
      """,
    options: [
      .init(name: "--config", value: "FILE", help: "the purser.json to compute by"),
      .init(name: "--with", value: "EXECUTABLE", help: "an entitlement-service of another build"),
      .init(
        name: "--at", value: "TIME",
        help: "as all stood then: a time, an age, or a record's place (transactions/3/17)"),
      .init(name: "--customer", value: "C", help: "only this customer, under any id of it; fast"),
      .init(name: "--lineage", value: "L", help: "only customers who were told of this lineage"),
      .init(
        name: "--type", value: "T",
        help: "only what would be told by events of a type that is T or has T in it"),
    ] + ReplayOutput.options + [
      .init(name: "--resume", value: "FOLDER", help: "where progress is kept until it is answered")
    ],
    examples: [
      "purser replay what-if --config new/purser.json --to differences.sqlite",
      "purser replay what-if --config new/purser.json --customer alice",
    ]
  ) { arguments, settings in try run(arguments, settings) }

  private static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let output = try ReplayOutput(arguments, settings)
    let config = arguments.text("--config")
    var words = ["what-if"]
    _ = try arguments.wholeLineage()
    for name in ["--customer", "--lineage", "--type"] {
      if let value = arguments.text(name) { words += [name, value] }
    }
    let given =
      words + [config ?? "", arguments.text("--with") ?? "", arguments.text("--at") ?? ""]
    let rules = config.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
    let run = try ServiceRun(
      "entitlement-service", settings, executable: arguments.text("--with"),
      resuming: arguments.text("--resume"),
      question: given.joined(separator: "\n") + "\n" + String(decoding: rules, as: UTF8.self))
    let computed: Int64
    do {
      // An age means the same time when it goes on.
      if let time = try time(arguments, settings, run) { words += ["--at", "\(time + 1)"] }
      let findings = run.file("findings.jsonl")
      if !run.has("findings.jsonl") {
        try run.run(
          words + ["--to", findings, "--computed", run.file("computed")],
          environment: [
            run.storeVariable: run.file("what-if.sqlite"),
            "PURSER_CONFIG": config ?? settings.doctor.config,
          ])
      }
      try WhatIfAnswer.forEach(findings) { try $0.put(to: output) }
      try output.finish()
      computed = try run.number("computed") ?? 0
    } catch {
      run.abandon()
      throw error
    }
    run.remove()
    let place = arguments.text("--to").map { "; see \($0)" } ?? ""
    Terminal.complain(
      "purser: \(output.count) rights and balances differ, of "
        + "\(computed) \(computed == 1 ? "customer" : "customers")\(place)")
    let isOfSome = arguments.text("--customer") != nil || arguments.text("--lineage") != nil
    guard isOfSome, computed == 0 else { return Tool.success }
    Terminal.complain("purser: no record is about what was asked for; is the id right?")
    return Tool.failure
  }

  private static func time(_ arguments: Arguments, _ settings: Settings, _ run: ServiceRun) throws
    -> Int64?
  {
    if let known = try run.number("time") { return known }
    guard let time = try arguments.time("--at", settings) else { return nil }
    try Data("\(time)".utf8).write(to: URL(filePath: run.file("time")))
    return time
  }
}

/// One right or balance that would be another, as the service has written it.
struct WhatIfAnswer: Decodable {
  let customer: String
  let environment: String
  let type: String
  let at: Int64
  let right: String?
  let unit: String?
  let lineage: String?
  let amountTold: Int64?
  let amountDerived: Int64?
  /// The whole line.
  private(set) var line = ""
  private let told: Standing?
  private let derived: Standing?

  private struct Standing: Decodable {
    let status: String?
    let expiresAt: Int64?
    let productId: String?

    var text: String {
      [
        status ?? "active", productId.map { "by \($0)" },
        expiresAt.map { "until \(PayloadSummary.moment($0))" },
      ].compactMap(\.self).joined(separator: " ")
    }
  }

  private enum CodingKeys: String, CodingKey {
    case customer, environment, type, at, right, unit, lineage, amountTold, amountDerived, told,
      derived
  }

  /// Hands over each line of a file, a part of the file at a time.
  static func forEach(_ path: String, _ body: (WhatIfAnswer) throws -> Void) throws {
    try LineReader.forEach(path) { line in
      var answer = try JSONDecoder().decode(WhatIfAnswer.self, from: Data(line))
      answer.line = String(decoding: line, as: UTF8.self)
      try body(answer)
    }
  }

  func put(to output: ReplayOutput) throws {
    try output.put(
      "findings",
      [
        ("customer", .text(customer)), ("environment", .text(environment)), ("type", .text(type)),
        ("at", .number(at)), ("entitlement", .text(right)), ("unit", .text(unit)),
        ("lineage", .text(lineage)),
        ("amount_told", .number(amountTold)), ("amount_derived", .number(amountDerived)),
        ("finding", .json(line)),
      ], json: line, text: text)
  }

  private var text: String {
    let who = "\(printable(customer))  \(environment)"
    if let lineage { return "\(who)  lineage \(lineage): the facts make another state" }
    guard let unit else {
      return
        "\(who)  \(right ?? "")  told: \(told?.text ?? "none")  would be: \(derived?.text ?? "none")"
    }
    return "\(who)  \(unit)  told: \(amountTold ?? 0)  would be: \(amountDerived ?? 0)"
  }
}
