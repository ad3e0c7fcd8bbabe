import FoundationEssentials
import Glibc
import ServiceRuntime

/// Measures Purser's figures, each beside its limit or peer in the same run.
///
/// An executable of its own and not a subcommand of `purser`: what measures needs a load generator, a
/// signer and plain C baselines, none of which belong into a tool that is shipped.
@main
struct BenchMain {
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if let port = options.servePort { return try await EmptyServer.serve(port: port) }
      // Figures block, so they run on a thread of ours.
      let failed = Completion<Bool>()
      _ = DedicatedThread(name: "bench") { failed.complete(with: run(options)) }
      exit(await failed.value() ? 1 : 0)
    } catch {
      complain("bench: \(error)")
      exit(64)
    }
  }

  private static func run(_ options: Options) -> Bool {
    var report = Report(isJSON: options.isJSON)
    var hasFailed = false
    for figure in allFigures where options.wants(figure) {
      do {
        let bench = try Bench(figure.name, options)
        defer { bench.end() }
        for line in try figure.measure(bench) { report.add(line) }
      } catch {
        hasFailed = true
        complain("bench: \(figure.name) could not be measured: \(error)")
      }
    }
    report.finish()
    return hasFailed
  }
}

/// A group of figures that are measured together.
struct FigureGroup: Sendable {
  let name: String
  /// Takes so long that it is measured only when it is asked for by its name.
  var isLong = false
  let measure: @Sendable (Bench) throws -> [Figure]
}

let allFigures: [FigureGroup] = [
  FigureGroup(name: "verify", measure: VerificationFigures.measure),
  FigureGroup(name: "commit", measure: CommitFigures.measure),
  FigureGroup(name: "http", measure: HTTPFigures.measure),
  FigureGroup(name: "edge", measure: EdgeFigures.measure),
  FigureGroup(name: "way", measure: IdleWayFigures.measure),
  FigureGroup(name: "load", measure: LoadFigures.measure),
  FigureGroup(name: "replay", measure: ReplayFigures.measure),
  FigureGroup(name: "store", measure: StoreFigures.measure),
  FigureGroup(name: "timers", measure: TimerFigures.measure),
  FigureGroup(name: "memory", isLong: true, measure: MemoryFigures.measure),
]

/// What the command line asks for.
struct Options: Sendable {
  var isJSON = false
  /// A short run that shows that all of it works; its figures say little.
  var isSmoke = false
  /// Empty for all.
  var names: Set<String> = []
  var customers = 1_000_000
  var seconds = 10.0
  var connections = 192
  /// How many shards of each service the load is played on.
  var shards = 1
  var keepsFolder = false
  /// Set in the child that is the empty server.
  var servePort: Int?

  /// Whether a group is asked for; without names, all that do not take long.
  func wants(_ group: FigureGroup) -> Bool {
    names.isEmpty ? !group.isLong : names.contains(group.name)
  }

  init(_ words: [String]) throws {
    var rest = words[...]
    func number(_ word: String) throws -> Int {
      guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
        throw BenchError("\(word) needs a number")
      }
      return number
    }
    while let word = rest.popFirst() {
      switch word {
      case "--json": isJSON = true
      case "--smoke": isSmoke = true
      case "--keep": keepsFolder = true
      case "--customers": customers = try number(word)
      case "--seconds": seconds = Double(try number(word))
      case "--connections": connections = try number(word)
      case "--shards": shards = try number(word)
      case "--serve-empty": servePort = try number(word)
      case "--only":
        guard let name = rest.popFirst(), allFigures.contains(where: { $0.name == name }) else {
          throw BenchError("--only needs one of \(allFigures.map(\.name).joined(separator: ", "))")
        }
        names.insert(name)
      default:
        throw BenchError(
          "'\(word)' is unknown; there are --json, --smoke, --only NAME, --seconds N, "
            + "--connections N, --shards N, --customers N, --keep")
      }
    }
    if isSmoke {
      seconds = 1
      customers = min(customers, 2000)
      connections = min(connections, 16)
    }
  }
}

/// What could not be measured, in words.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

func complain(_ text: String) {
  var line = text + "\n"
  line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}
