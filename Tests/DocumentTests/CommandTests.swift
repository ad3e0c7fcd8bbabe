import Testing

@testable import purser

@Suite("Commands in documents") struct CommandTests {
  private static let targets: Set<String> = Set(
    Repository.text("Makefile").split(separator: "\n").compactMap { line in
      guard let first = line.first, first.isLetter, let colon = line.firstIndex(of: ":"),
        line[colon...].hasPrefix(":=") == false
      else { return nil }
      let name = line[..<colon]
      return name.allSatisfy { $0.isLetter || $0 == "-" } ? String(name) : nil
    })

  /// What is wrong with a command line; nil when nothing is, or when it is none of ours.
  static func fault(in line: String) -> String? {
    var words = line.prefix { !"|;&>#".contains($0) }.split(separator: " ").map(String.init)
    if words.first == "$" { words.removeFirst() }
    while let first = words.first, first.contains("="), !first.hasPrefix("-") {
      words.removeFirst()
    }
    guard let program = words.first else { return nil }
    words.removeFirst()
    switch program.split(separator: "/").last.map(String.init) ?? program {
    case "make": return words.filter { !$0.contains("=") }.lazy.compactMap(faultOfTarget).first
    case "purser" where !program.hasSuffix("/") && !program.hasPrefix("/purser"):
      return faultOfPurser(words)
    case "docker", "kubectl": return faultOfContainers(words)
    default: return nil
    }
  }

  /// Files of ours that are named must be there, and what our image is told must be a command of it.
  private static func faultOfContainers(_ words: [String]) -> String? {
    for word in words where word.hasPrefix("deploy/") {
      guard Repository.exists(word) else { return "there is no \(word)" }
    }
    guard let image = words.firstIndex(where: { $0.hasPrefix("purser/purser:") }) else {
      return nil
    }
    return faultOfPurser(Array(words[(image + 1)...]))
  }

  private static func faultOfTarget(_ word: String) -> String? {
    targets.contains(word) ? nil : "the Makefile has no target '\(word)'"
  }

  private static func faultOfPurser(_ words: [String]) -> String? {
    guard let first = words.first, first != "--help" else { return nil }
    guard let command = Tool.commands.first(where: { words.starts(with: $0.words) }) else {
      let isGroup = words.count == 1 && Tool.commands.contains { $0.words.first == first }
      return isGroup ? nil : "there is no command 'purser \(words.joined(separator: " "))'"
    }
    for word in words.dropFirst(command.words.count) where word.hasPrefix("--") {
      let option = String(word.prefix { $0 != "=" })
      guard option == "--help" || command.options.contains(where: { $0.name == option }) else {
        return "'purser \(command.name)' has no option '\(option)'"
      }
    }
    return nil
  }

  @Test(arguments: Document.all)
  func `every make and purser command line names what is there`(document: Document) {
    for piece in document.commands + document.spans {
      let fault = Self.fault(in: piece.text)
      #expect(fault == nil, "\(document):\(piece.line): \(fault ?? "")")
    }
  }

  @Test func `a wrong command line is noticed`() {
    #expect(Self.fault(in: "make demo") == nil)
    #expect(Self.fault(in: "make everything") != nil)
    #expect(Self.fault(in: "KAFKA_BOOTSTRAP_SERVERS=a:1 purser topics create --prefix x.") == nil)
    #expect(Self.fault(in: ".build/debug/purser topics paint") != nil)
    #expect(Self.fault(in: "purser inspect iap.orders --colour") != nil)
    #expect(Self.fault(in: "purser repair") != nil)
    #expect(Self.fault(in: "kcat -C -t iap.orders") == nil)
    #expect(Self.fault(in: "docker compose --file deploy/compose.yaml up") == nil)
    #expect(Self.fault(in: "docker compose --file deploy/other.yaml up") != nil)
    #expect(Self.fault(in: "docker run --rm purser/purser:development demo --backwards") != nil)
    #expect(Self.fault(in: "kubectl apply --kustomize deploy/kubernetes/overlays/none") != nil)
  }
}
