import AppStore
import FoundationEssentials
import HTTPServer

/// The JSON body of a request, whose members are taken one by one, each with its own error code.
struct APIBody: Sendable {
  /// A JSON value of any kind.
  private enum Value: Decodable, Sendable {
    case text(String)
    case number(Double)
    case truth(Bool)
    case list([Value])
    case other

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let truth = try? value.decode(Bool.self) {
        self = .truth(truth)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let list = try? value.decode([Value].self) {
        self = .list(list)
      } else {
        self = .other
      }
    }
  }

  private let members: [String: Value]

  /// - Throws: `generalBadRequest` for anything but a JSON object.
  init(_ request: Request) throws(APIRefusal) {
    do {
      members = try JSONDecoder().decode([String: Value].self, from: Data(request.body))
    } catch {
      throw APIRefusal(.generalBadRequest)
    }
  }

  /// Whether the member is there, as anything but null.
  func has(_ name: String) -> Bool {
    if case .other? = members[name] { return false }
    return members[name] != nil
  }

  func text(_ name: String, or code: APIErrorCode) throws(APIRefusal) -> String {
    guard case .text(let text)? = members[name] else { throw APIRefusal(code) }
    return text
  }

  func truth(_ name: String, or code: APIErrorCode) throws(APIRefusal) -> Bool {
    guard case .truth(let truth)? = members[name] else { throw APIRefusal(code) }
    return truth
  }

  func number(
    _ name: String, in range: ClosedRange<Int64>, or code: APIErrorCode
  ) throws(APIRefusal) -> Int64 {
    guard case .number(let number)? = members[name], let whole = Int64(exactly: number),
      range.contains(whole)
    else { throw APIRefusal(code) }
    return whole
  }

  func texts(_ name: String, or code: APIErrorCode) throws(APIRefusal) -> [String] {
    guard case .list(let values)? = members[name] else { throw APIRefusal(code) }
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = value else { throw APIRefusal(code) }
      texts.append(text)
    }
    return texts
  }
}
