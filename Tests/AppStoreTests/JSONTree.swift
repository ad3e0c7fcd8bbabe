import FoundationEssentials

/// Any JSON, read by Foundation: an independent judge of what the models read and write.
enum JSONTree: Decodable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  init(_ bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
  }

  init(of value: some Encodable) throws {
    self = try JSONTree([UInt8](JSONEncoder().encode(value)))
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONTree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }
}
