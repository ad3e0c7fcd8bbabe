extension SettingsReader {
  /// A variable that looks like a setting of the program and is none.
  public struct Unknown: Sendable, Equatable {
    /// The environment variable.
    public let name: String
    /// The setting that is written nearly so; nil where none is.
    public let nearest: String?
  }

  /// Settings of `purser`, which services may find in an environment that they share with it.
  private static let ofTheTool = ["PURSER_ADMIN_KEY", "PURSER_ADMIN_KEY_FILE"]

  /// Variables whose names begin as those of the declared settings do, and that nobody asked for: mostly a
  /// slip of the pen, whose default then holds without a word.
  ///
  /// Ask for it after all settings were read.
  public var unknown: [Unknown] {
    let names = Set(declarations.map(\.name))
    let prefixes = Set(
      names.filter { !$0.contains("…") }.compactMap { name in
        name.firstIndex(of: "_").map { name[...$0] }
      })
    return environment.keys.sorted().filter { name in
      prefixes.contains { name.hasPrefix($0) } && !names.contains(name)
        && !Self.ofTheTool.contains(name) && !isOfKubernetes(name)
    }.map { name in
      let near = names.map { (name: $0, distance: Self.distance(Array(name.utf8), Array($0.utf8))) }
        .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
      return Unknown(name: name, nearest: near.flatMap { $0.distance <= 3 ? $0.name : nil })
    }
  }

  /// Kubernetes tells containers of each Service of their namespace: `ORDER_SERVICE_SERVICE_HOST`,
  /// `ORDER_SERVICE_PORT=tcp://…`, `ORDER_SERVICE_PORT_8081_TCP_ADDR` (kubernetes.io, "Accessing the
  /// Service", environment variables).
  private func isOfKubernetes(_ name: String) -> Bool {
    name.contains("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
      || name.contains("_PORT_") && (name.contains("_TCP") || name.contains("_UDP"))
      || name.hasSuffix("_PORT") && environment[name]?.contains("://") == true
  }

  /// How many letters must be added, removed or changed (Levenshtein).
  private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var row = Array(0...other.count)
    for (i, a) in one.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in other.enumerated() {
        let change = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(change, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[other.count]
  }
}
