/// Reads the keys of one JSON object and notes every fault with its place.
///
/// `null` counts as absent. Of a repeated key the last one counts; `reportRepeated` tells of it.
struct ObjectReader {
  let place: Place
  let members: [JSONMember]
  let faults: FaultCollector

  /// Nil, with a fault, if the value is no object.
  init?(_ node: JSONNode, at place: Place, faults: FaultCollector) {
    guard case .object(let members) = node.value else {
      faults.add(place, "is \(node.value.kind)", remedy: "write an object in { }")
      return nil
    }
    self.place = place
    self.members = members
    self.faults = faults
  }

  func place(of key: String) -> Place {
    place.key(key, line: members.last { $0.key == key }?.line ?? place.line)
  }

  func node(_ key: String) -> JSONNode? {
    guard let node = members.last(where: { $0.key == key })?.node, node.value != .null else {
      return nil
    }
    return node
  }

  func has(_ key: String) -> Bool { node(key) != nil }

  func text(_ key: String) -> String? {
    guard let node = node(key) else { return nil }
    guard case .string(let text) = node.value else {
      faults.add(place(of: key), "is \(node.value.kind)", remedy: "write a text in quotes")
      return nil
    }
    return text
  }

  /// The text, where somebody else tells of its faults.
  func given(_ key: String) -> String? {
    if case .string(let text)? = node(key)?.value, !text.isEmpty { text } else { nil }
  }

  func bool(_ key: String) -> Bool? {
    guard let node = node(key) else { return nil }
    guard case .bool(let value) = node.value else {
      faults.add(place(of: key), "is \(node.value.kind)", remedy: "write true or false")
      return nil
    }
    return value
  }

  func integer(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let node = node(key) else { return nil }
    let remedy = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let text) = node.value else {
      faults.add(place(of: key), "is \(node.value.kind)", remedy: remedy)
      return nil
    }
    guard let value = Self.whole(text), range.contains(value) else {
      faults.add(place(of: key), "is \(text.prefix(40))", remedy: remedy)
      return nil
    }
    return value
  }

  /// `1.0` is a whole number too, as JSON Schema has it.
  private static func whole(_ text: String) -> Int64? {
    Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
  }

  /// A text that says something; nil, with a fault, for an empty one.
  func filled(_ key: String, remedy: String) -> String? {
    guard let text = text(key) else { return nil }
    if text.isEmpty { faults.add(place(of: key), "is empty", remedy: remedy) }
    return text.isEmpty ? nil : text
  }

  /// The elements of a list; empty if the key is absent.
  func elements(_ key: String) -> [(node: JSONNode, place: Place)] {
    guard let node = node(key) else { return [] }
    guard case .array(let elements) = node.value else {
      faults.add(place(of: key), "is \(node.value.kind)", remedy: "write a list in [ ]")
      return []
    }
    let listPlace = place(of: key)
    return elements.enumerated().map {
      ($0.element, listPlace.index($0.offset, line: $0.element.line))
    }
  }

  func object(_ key: String) -> ObjectReader? {
    guard let node = node(key) else { return nil }
    return ObjectReader(node, at: place(of: key), faults: faults)
  }

  func objects(_ key: String) -> [ObjectReader] {
    elements(key).compactMap { ObjectReader($0.node, at: $0.place, faults: faults) }
  }

  /// Notes a fault if the key is absent or null.
  func require(_ key: String, remedy: String) {
    if !has(key) { faults.add(place(of: key), "is missing", remedy: remedy) }
  }

  func reportUnknown(except known: [String]) {
    for member in members where !known.contains(member.key) {
      faults.add(
        place.key(member.key, line: member.line), "is an unknown key",
        remedy: "correct or remove it; known here: \(known.joined(separator: ", "))")
    }
  }

  func reportRepeated() {
    var seen: Set<String> = []
    for member in members where !seen.insert(member.key).inserted {
      faults.add(
        place.key(member.key, line: member.line), "stands here twice",
        remedy: "keep one of the two")
    }
  }

  /// The same for this object and all that stands in it.
  ///
  /// - Parameter hidden: A key whose value is never looked at.
  func reportRepeatedWithin(except hidden: String) {
    reportRepeated()
    for member in members where member.key != hidden {
      Self.reportRepeated(
        in: member.node, at: place.key(member.key, line: member.line), faults, except: hidden)
    }
  }

  private static func reportRepeated(
    in node: JSONNode, at place: Place, _ faults: FaultCollector, except hidden: String
  ) {
    switch node.value {
    case .object:
      ObjectReader(node, at: place, faults: faults)?.reportRepeatedWithin(except: hidden)
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        reportRepeated(
          in: element, at: place.index(index, line: element.line), faults, except: hidden)
      }
    default: break
    }
  }
}
