import FoundationEssentials
public import JSON

extension Request {
  /// The body as a value of a type.
  ///
  /// - Throws: `Problem` 400 `invalid-json` when the body is not JSON, or 400 `invalid-field` with
  ///   the member `path`, such as `$.items[0].id`.
  public func json<T: Decodable>(_ type: T.Type = T.self) throws(Problem) -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(body))
    } catch let error as DecodingError {
      throw Self.problem(error, isJSON: isJSON)
    } catch let problem as Problem {
      throw problem
    } catch {
      throw Self.invalidField("$", "The body cannot be used.")
    }
  }

  /// The body's members, read by hand: for routes whose cost is measured.
  ///
  /// - Throws: `Problem` as `json(_:)` does.
  public func fields<T>(_ read: (JSONFields) throws(JSONFieldFault) -> T) throws(Problem) -> T {
    do {
      return try read(JSONFields(body))
    } catch {
      let path = error.path.reduce("$") { path, name in
        name.hasPrefix("[") ? path + name : "\(path).\(name)"
      }
      switch error.kind {
      case .missing: throw Self.invalidField(path, "This member is missing.")
      case .wrongType(let wanted): throw Self.invalidField(path, "This must be \(wanted).")
      case .notJSON: throw Self.invalidJSON
      }
    }
  }

  private static let invalidJSON = Problem(
    status: 400, type: "invalid-json", title: "Invalid JSON",
    detail: "The body is not JSON (RFC 8259), or no object.")

  /// The coder reports a number that its type cannot hold as if the whole text were not JSON.
  private var isJSON: Bool {
    struct Anything: Decodable {
      init(from decoder: any Decoder) {}
    }
    return (try? JSONDecoder().decode(Anything.self, from: Data(body))) != nil
  }

  private static func problem(_ error: DecodingError, isJSON: @autoclosure () -> Bool) -> Problem {
    switch error {
    case .keyNotFound(let key, let context):
      return invalidField(jsonPath(context.codingPath + [key]), "This member is missing.")
    case .valueNotFound(_, let context):
      return invalidField(jsonPath(context.codingPath), "This is null but must have a value.")
    case .typeMismatch(let type, let context):
      return invalidField(jsonPath(context.codingPath), "This must be \(word(for: type)).")
    case .dataCorrupted(let context):
      // The coder reports text that is not JSON at the root, with an error beneath.
      guard context.codingPath.isEmpty else {
        return invalidField(jsonPath(context.codingPath), context.debugDescription)
      }
      guard !isJSON() else {
        return invalidField(
          "$",
          "Something in it does not fit: a number is too large or not whole, or a text has half of a "
            + "surrogate pair, such as \\ud800.")
      }
      return invalidJSON
    @unknown default:
      return invalidField("$", "The body cannot be used.")
    }
  }

  private static func invalidField(_ path: String, _ what: String) -> Problem {
    Problem(
      status: 400, type: "invalid-field", title: "Invalid field", detail: "\(path): \(what)",
      members: ["path": .string(path)])
  }

  static func jsonPath(_ keys: [any CodingKey]) -> String {
    keys.reduce("$") { path, key in
      key.intValue.map { "\(path)[\($0)]" } ?? "\(path).\(key.stringValue)"
    }
  }

  private static func word(for type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [String: Any].Type: "an object"
    case is [Any].Type: "an array"
    default: "of another kind"
    }
  }
}
