import Catalog
import FoundationEssentials

/// `purser catalog check`, `purser catalog import` and `purser catalog export`.
enum CatalogCommand {
  static let check = Command(
    name: "catalog check", synopsis: "FILE", summary: "Reads a catalog and tells every fault in it",
    about: """
      Reads a catalog.json, with the .storekit file that it names, or a .storekit file alone, as the
      services do. Prints what is in it, or a line for each fault: the file, the line, the place and
      what to do. Exit code 1 if there is any.
      """,
    options: [], operands: 1...1,
    examples: ["purser catalog check catalog.json", "purser catalog check Store.storekit"]
  ) { arguments, settings in
    let catalog = try Catalog.load(path: arguments.operands[0])
    Terminal(settings).line(summary(catalog))
    return Tool.success
  }

  static let importing = Command(
    name: "catalog import", synopsis: "FILE.storekit [--to FILE]",
    summary: "Makes a catalog.json for an Xcode .storekit file",
    about: """
      Reads a .storekit file of any version and writes a catalog.json that names it and spells out
      what each product gives by default, for you to change. Without --to it goes to standard output.
      A file that is there is never written over.
      """,
    options: [.init(name: "--to", value: "FILE", help: "where to write it")], operands: 1...1,
    examples: ["purser catalog import Store.storekit --to catalog.json"]
  ) { arguments, settings in
    let path = arguments.operands[0]
    guard path.hasSuffix(".storekit") else {
      throw arguments.error(
        "import takes an Xcode .storekit file, and '\(path)' is none by its name; a catalog.json "
          + "needs no import: name it in purser.json, read it with 'purser catalog check', or make "
          + "a .storekit file of it with 'purser catalog export'")
    }
    let catalog = try Catalog.load(path: path)
    let target = arguments.text("--to")
    let text = catalog.catalogText(storeKit: name(of: path, seenFrom: target))
    guard let target else {
      Terminal.standard.line(String(text.dropLast()))
      return Tool.success
    }
    try write(text, to: target)
    Terminal(settings).line("wrote \(target): \(summary(catalog))")
    return Tool.success
  }

  static let export = Command(
    name: "catalog export", synopsis: "FILE --to FOLDER",
    summary: "Writes a catalog as an Xcode .storekit file and a catalog.json",
    about: """
      Writes Store.storekit, which Xcode opens, and beside it a catalog.json with what such a file
      cannot hold: rights, credits, lengths, prices of other storefronts, metadata and offerings.
      Reading that catalog.json gives the same products, offers and offerings. Files that are there
      are never written over.
      """,
    options: [.init(name: "--to", value: "FOLDER", help: "where to write them; made if need be")],
    operands: 1...1, examples: ["purser catalog export catalog.json --to exported"]
  ) { arguments, settings in
    guard let folder = arguments.text("--to") else {
      throw arguments.error("--to FOLDER is missing")
    }
    let catalog = try Catalog.load(path: arguments.operands[0])
    let files = [
      ("Store.storekit", catalog.storeKitText),
      ("catalog.json", catalog.catalogText(storeKit: "Store.storekit")),
    ]
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw FileNotWritten(path: folder, problem: "is no folder and cannot be made")
    }
    for (name, _) in files where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
      throw CatalogWriteError(path: "\(folder)/\(name)")
    }
    for (name, text) in files {
      try write(text, to: "\(folder)/\(name)")
      Terminal(settings).line("wrote \(folder)/\(name)")
    }
    return Tool.success
  }

  /// What is in a catalog, in a few words.
  static func summary(_ catalog: Catalog) -> String {
    let kinds = ProductKind.allCases.map { kind in
      "\(catalog.orderedProducts.count { $0.kind == kind }) \(kind.rawValue)"
    }
    let subscriptions = catalog.orderedProducts.compactMap(\.subscription)
    let offers = subscriptions.reduce(0) { count, subscription in
      count + subscription.introductoryOffers.count + subscription.promotionalOffers.count
        + subscription.offerCodes.count + subscription.winBackOffers.count
    }
    return "\(catalog.orderedProducts.count) products (\(kinds.joined(separator: ", "))), "
      + "\(Set(subscriptions.map(\.groupID)).count) subscription groups, \(offers) offers, "
      + "\(catalog.offerings.count) offerings"
  }

  /// The .storekit file as a catalog in another folder must name it.
  private static func name(of path: String, seenFrom target: String?) -> String {
    func folder(_ path: String) -> String {
      path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
    guard let target, folder(target) != folder(path) else {
      return target == nil ? path : String(path.dropFirst(folder(path).count))
    }
    return path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  private static func write(_ text: String, to path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { throw CatalogWriteError(path: path) }
    do {
      try Data(text.utf8).write(to: URL(filePath: path))
    } catch {
      throw FileNotWritten(path: path, problem: "cannot be written")
    }
  }
}

/// A file or folder that cannot be made.
struct FileNotWritten: Error, CustomStringConvertible {
  let path: String
  let problem: String

  var description: String {
    "'\(path)' \(problem); make its folder, or name another for which this user has the right"
  }
}

/// A file that would be written over.
struct CatalogWriteError: Error, CustomStringConvertible {
  let path: String

  var description: String { "'\(path)' is there already; remove it or name another" }
}
