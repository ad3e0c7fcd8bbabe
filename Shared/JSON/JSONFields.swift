/// The members of one JSON object as values, read by name; null counts as absent.
public struct JSONFields: Sendable {
  private let members: JSONMembers

  /// The object that is the whole text.
  ///
  /// - Throws: `JSONFieldFault` when the text is no JSON object.
  public init(_ bytes: [UInt8]) throws(JSONFieldFault) {
    do {
      members = try JSONMembers(bytes)
    } catch {
      throw JSONFieldFault(path: [], kind: .notJSON(error))
    }
  }

  /// The object at a place of a text that was read before.
  private init(_ bytes: [UInt8], at place: Range<Int>) throws(JSONFieldFault) {
    do {
      members = try JSONMembers(bytes, at: place)
    } catch {
      throw JSONFieldFault(path: [], kind: .wrongType("an object"))
    }
  }

  /// Text; throws when it is absent.
  public func text(_ name: StaticString) throws(JSONFieldFault) -> String {
    try present(name, optionalText(name))
  }

  /// Text, or nil when it is absent.
  public func optionalText(_ name: StaticString) throws(JSONFieldFault) -> String? {
    guard let place = members.find(name) else { return nil }
    return try text(at: place, name)
  }

  /// A whole number; throws when it is absent.
  public func number(_ name: StaticString) throws(JSONFieldFault) -> Int64 {
    try present(name, optionalNumber(name))
  }

  /// A whole number, or nil when it is absent.
  public func optionalNumber(_ name: StaticString) throws(JSONFieldFault) -> Int64? {
    guard let place = members.find(name) else { return nil }
    guard let number = JSONNumber.whole(members.bytes[place]) else {
      throw fault(name, .wrongType("a whole number of 64 bits"))
    }
    return number
  }

  /// True or false; throws when it is absent.
  public func bool(_ name: StaticString) throws(JSONFieldFault) -> Bool {
    try present(name, optionalBool(name))
  }

  /// True or false, or nil when it is absent.
  public func optionalBool(_ name: StaticString) throws(JSONFieldFault) -> Bool? {
    guard let place = members.find(name) else { return nil }
    guard let value = members.bool(at: place) else {
      throw fault(name, .wrongType("true or false"))
    }
    return value
  }

  /// A list of texts, or nil when it is absent.
  public func optionalTexts(_ name: StaticString) throws(JSONFieldFault) -> [String]? {
    guard let places = try places(name) else { return nil }
    var texts: [String] = []
    texts.reserveCapacity(places.count)
    for place in places { texts.append(try text(at: place, name)) }
    return texts
  }

  /// An object; throws when it is absent.
  public func object<Value>(
    _ name: StaticString, _ read: (JSONFields) throws(JSONFieldFault) -> Value
  ) throws(JSONFieldFault) -> Value {
    try present(name, optionalObject(name, read))
  }

  /// An object, or nil when it is absent.
  public func optionalObject<Value>(
    _ name: StaticString, _ read: (JSONFields) throws(JSONFieldFault) -> Value
  ) throws(JSONFieldFault) -> Value? {
    guard let place = members.find(name) else { return nil }
    do {
      return try read(JSONFields(members.bytes, at: place))
    } catch {
      throw error.within(["\(name)"])
    }
  }

  /// A list of objects; throws when it is absent.
  public func objects<Value>(
    _ name: StaticString, _ read: (JSONFields) throws(JSONFieldFault) -> Value
  ) throws(JSONFieldFault) -> [Value] {
    let places = try present(name, places(name))
    var values: [Value] = []
    values.reserveCapacity(places.count)
    for (index, place) in places.enumerated() {
      do {
        values.append(try read(JSONFields(members.bytes, at: place)))
      } catch {
        throw error.within(["\(name)", "[\(index)]"])
      }
    }
    return values
  }

  private func text(at place: Range<Int>, _ name: StaticString) throws(JSONFieldFault) -> String {
    if let text = members.text(at: place) { return text }
    let isText = members.bytes[place.lowerBound] == UInt8(ascii: "\"")
    throw fault(name, .wrongType(isText ? "text with valid escapes" : "text"))
  }

  private func places(_ name: StaticString) throws(JSONFieldFault) -> [Range<Int>]? {
    guard let place = members.find(name) else { return nil }
    guard let places = members.elements(at: place) else {
      throw fault(name, .wrongType("a list"))
    }
    return places
  }

  private func present<Value>(
    _ name: StaticString, _ value: Value?
  ) throws(JSONFieldFault) -> Value {
    guard let value else { throw fault(name, .missing) }
    return value
  }

  private func fault(_ name: StaticString, _ kind: JSONFieldFault.Kind) -> JSONFieldFault {
    JSONFieldFault(path: ["\(name)"], kind: kind)
  }
}

/// A field that is missing or of the wrong type, or text that is no JSON object.
public struct JSONFieldFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: Sendable, Equatable {
    /// The field must be there.
    case missing
    /// The field must be of this type.
    case wrongType(String)
    /// The whole is no JSON object.
    case notJSON(JSONFault)
  }

  /// The names from the outermost object to the field; empty for the whole.
  public let path: [String]
  /// What is wrong.
  public let kind: Kind

  /// The same fault of a type, with other words for what is wanted.
  public func wanting(_ wanted: String) -> JSONFieldFault {
    if case .wrongType = kind { return JSONFieldFault(path: path, kind: .wrongType(wanted)) }
    return self
  }

  /// The same fault, told from an object around it; so that a place costs nothing while all is well.
  func within(_ outer: [String]) -> JSONFieldFault {
    JSONFieldFault(path: outer + path, kind: kind)
  }

  /// Place and fault in a line.
  public var description: String {
    let place = path.isEmpty ? "the document" : path.joined(separator: ".")
    return switch kind {
    case .missing: "\(place) is missing"
    case .wrongType(let wanted): "\(place) is not \(wanted)"
    case .notJSON(let fault): "\(place) is \(fault)"
    }
  }
}
