import FoundationEssentials

/// Reads settings from environment variables, remembers what was asked for, and collects all faults.
///
/// A service's `Settings` asks for each of its settings once; the same calls give the values, the
/// list for `--help`, and every fault at once. Only `Settings.swift` files touch the environment.
public struct SettingsReader {
  /// One setting, as `--help` and the documents list it.
  public struct Declaration: Sendable, Equatable {
    /// The environment variable.
    public let name: String
    /// The default in words; nil when the setting must be given.
    public let defaultText: String?
    /// What the setting means.
    public let help: String
  }

  /// A fault of one setting.
  public struct Fault: Sendable, Equatable {
    /// The environment variable.
    public let name: String
    /// What is wrong and what to do; never the value of a secret.
    public let problem: String
  }

  let environment: [String: String]
  /// Everything that was asked for, in order.
  public private(set) var declarations: [Declaration] = []
  /// Everything that was wrong.
  public private(set) var faults: [Fault] = []

  /// Makes a reader over an environment.
  public init(_ environment: [String: String]) { self.environment = environment }

  /// A text; the default stands in when it is absent.
  public mutating func text(_ name: String, default value: String, _ help: String) -> String {
    declare(name, value.isEmpty ? "none" : value, help)
    return environment[name] ?? value
  }

  /// A text that may be absent.
  public mutating func optionalText(_ name: String, _ help: String) -> String? {
    declare(name, "none", help)
    guard let value = environment[name], !value.isEmpty else { return nil }
    return value
  }

  /// A text that must be given.
  public mutating func requiredText(_ name: String, _ help: String) -> String {
    declare(name, nil, help)
    guard let value = environment[name], !value.isEmpty else {
      fault(name, "is not set; \(help)")
      return ""
    }
    return value
  }

  /// A whole number within a range.
  public mutating func integer(
    _ name: String, default value: Int, in range: ClosedRange<Int>, _ help: String
  ) -> Int {
    declare(name, "\(value)", "\(help) (\(range.lowerBound) to \(range.upperBound))")
    return environment[name].flatMap { number($0, in: range, name) } ?? value
  }

  /// A whole number within a range that may be absent.
  public mutating func optionalInteger(
    _ name: String, in range: ClosedRange<Int>, _ help: String
  ) -> Int? {
    let help = "\(help) (\(range.lowerBound) to \(range.upperBound))"
    return optionalText(name, help).flatMap { number($0, in: range, name) }
  }

  private mutating func number(_ text: String, in range: ClosedRange<Int>, _ name: String) -> Int? {
    if let number = Int(text), range.contains(number) { return number }
    fault(
      name, "is '\(text)'; give a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// Seconds, as a whole number within a range.
  public mutating func seconds(
    _ name: String, default value: Int, in range: ClosedRange<Int>, _ help: String
  ) -> Duration {
    .seconds(integer(name, default: value, in: range, "\(help), in seconds"))
  }

  /// `1`, `true`, `yes` or `0`, `false`, `no`.
  public mutating func flag(_ name: String, default value: Bool, _ help: String) -> Bool {
    declare(name, value ? "1" : "0", help)
    switch environment[name]?.lowercased() {
    case nil, "": return value
    case "1", "true", "yes": return true
    case "0", "false", "no": return false
    case .some(let text):
      fault(name, "is '\(text)'; give 1 or 0")
      return value
    }
  }

  /// One of a closed set of words.
  public mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default value: Choice, _ help: String
  ) -> Choice where Choice.RawValue == String {
    let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    declare(name, value.rawValue, "\(help) (\(words))")
    guard let text = environment[name] else { return value }
    guard let choice = Choice(rawValue: text) else {
      fault(name, "is '\(text)'; give one of \(words)")
      return value
    }
    return choice
  }

  /// A secret: from the variable itself, or from the file that `<NAME>_FILE` names.
  public mutating func secret(_ name: String, _ help: String) -> Secret? {
    declare(name, "none", help)
    declare("\(name)_FILE", "none", "a file that holds \(name)")
    if let path = environment["\(name)_FILE"], !path.isEmpty {
      guard environment[name, default: ""].isEmpty else {
        fault(name, "is set, and so is \(name)_FILE; give only one of them")
        return nil
      }
      guard let data = try? Data(contentsOf: URL(filePath: path)) else {
        fault("\(name)_FILE", "names '\(path)', which cannot be read")
        return nil
      }
      // Editors and `echo` end a file with a newline that is no part of the secret.
      let end = data.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? data.startIndex
      guard end > data.startIndex else {
        fault("\(name)_FILE", "names '\(path)', which is empty")
        return nil
      }
      return Secret(String(decoding: data[..<end], as: UTF8.self))
    }
    guard let value = environment[name], !value.isEmpty else { return nil }
    return Secret(value)
  }

  /// The file that `<NAME>_FILE` names; nil when the secret comes from the variable itself.
  public func fileOfSecret(_ name: String) -> String? {
    environment["\(name)_FILE"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// All variables with a prefix, such as `KAFKA_`, with the prefix removed.
  public mutating func prefixed(_ prefix: String, _ help: String) -> [String: String] {
    declare("\(prefix)…", "none", help)
    var found: [String: String] = [:]
    for (name, value) in environment where name.hasPrefix(prefix) && name.count > prefix.count {
      found[String(name.dropFirst(prefix.count))] = value
    }
    return found
  }

  /// Reports a fault that the calling `Settings` found by itself.
  public mutating func fault(_ name: String, _ problem: String) {
    faults.append(Fault(name: name, problem: problem))
  }

  private mutating func declare(_ name: String, _ defaultText: String?, _ help: String) {
    declarations.append(Declaration(name: name, defaultText: defaultText, help: help))
  }

  /// Throws all faults together, if there are any.
  ///
  /// - Throws: `SettingsError`.
  public func finish() throws(SettingsError) {
    guard faults.isEmpty else { throw SettingsError(faults: faults) }
  }

  /// The list of settings for `--help`.
  public var helpText: String {
    declarations.map { declaration in
      let value = declaration.defaultText.map { "default \($0)" } ?? "required"
      return "  \(declaration.name)\n      \(declaration.help) [\(value)]\n"
    }.joined()
  }
}

/// Settings that cannot be used; a process exits with 78 (`EX_CONFIG` of sysexits.h).
public struct SettingsError: Error, Equatable, CustomStringConvertible {
  /// The exit code for it.
  public static let exitCode: Int32 = 78
  /// Every fault that was found.
  public let faults: [SettingsReader.Fault]

  /// All faults, a line each.
  public var description: String {
    faults.map { "\($0.name) \($0.problem)" }.joined(separator: "\n")
  }
}
