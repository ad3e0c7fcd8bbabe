/// One thing that is wrong in a catalog, where it is, and what to do.
public struct Fault: Sendable, Equatable, CustomStringConvertible {
  /// The file, as named by the caller; empty if unknown.
  public let file: String
  /// The line in the file, from 1; nil if unknown.
  public let line: Int?
  /// The place, keys joined by dots: `products.coins.100.credits.coins`.
  public let path: String
  /// What is wrong.
  public let problem: String
  /// What to do about it.
  public let remedy: String

  /// Makes a fault.
  public init(file: String = "", line: Int? = nil, path: String, problem: String, remedy: String) {
    self.file = file
    self.line = line
    self.path = path
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line: path: problem; remedy`.
  public var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return [place, path, "\(problem); \(remedy)"].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

/// Why a catalog could not be read.
///
/// Final: only a change of the files helps.
public enum CatalogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A file that cannot be read.
  case unreadable(path: String, reason: String)
  /// A file of more than `Catalog.largestFile` bytes.
  case tooLarge(path: String)
  /// Text that is not JSON; line and column count from 1, the column in bytes.
  case invalidJSON(file: String, line: Int, column: Int, problem: String)
  /// Everything that is wrong in what the files say, the first 200 of it.
  case faults([Fault])

  /// What is wrong, a line per fault.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "cannot read the file \(path): \(reason); check the path and its permissions"
    case .tooLarge(let path):
      "the file \(path) has more than \(Catalog.largestFile) bytes; name the right file"
    case .invalidJSON(let file, let line, let column, let problem):
      "\(file):\(line):\(column): not valid JSON: \(problem); correct the file there"
    case .faults(let faults):
      faults.map(\.description).joined(separator: "\n")
    }
  }
}

/// Gathers faults while a catalog is read, so that all are reported at once.
///
/// At most 200, since a file of another kind may have one in each line.
final class FaultCollector {
  private(set) var faults: [Fault] = []

  func add(_ place: Place, _ problem: String, remedy: String) {
    guard faults.count < 200 else { return }
    faults.append(
      Fault(
        file: place.file, line: place.line, path: place.path, problem: problem, remedy: remedy))
  }

  func throwIfAny() throws(CatalogError) {
    if !faults.isEmpty { throw .faults(faults) }
  }
}

/// Where something stands in a source.
struct Place: Sendable, Equatable {
  let file: String
  let line: Int
  let path: String

  func key(_ key: String, line: Int) -> Place {
    Place(file: file, line: line, path: path.isEmpty ? key : "\(path).\(key)")
  }

  func index(_ index: Int, line: Int) -> Place {
    Place(file: file, line: line, path: "\(path)[\(index)]")
  }
}
