import FoundationEssentials
import Kafka

/// A record as one line of JSON, its value untouched where that is JSON itself.
enum RecordJSON {
  static func line(_ record: ReceivedRecord) -> String {
    var members = [
      ("topic", quoted(record.topic)), ("partition", "\(record.partition)"),
      ("offset", "\(record.offset)"), ("timestamp", "\(record.timestamp)"),
    ]
    members += bytes("key", record.key, mayBeJSON: false)
    members.append(("headers", headers(record.headers)))
    members += bytes("value", record.value, mayBeJSON: true)
    return object(members)
  }

  static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
  }

  /// A name that repeats has its values in an array.
  private static func headers(_ headers: [Header]) -> String {
    var names: [String] = []
    var values: [String: [String]] = [:]
    for header in headers {
      if values[header.name] == nil { names.append(header.name) }
      values[header.name, default: []].append(quoted(header.text))
    }
    return object(
      names.map { name in
        let all = values[name] ?? []
        return (name, all.count == 1 ? all[0] : "[\(all.joined(separator: ","))]")
      })
  }

  private static func bytes(
    _ name: String, _ bytes: [UInt8]?, mayBeJSON: Bool
  ) -> [(String, String)] {
    guard let bytes else { return [(name, "null")] }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return [("\(name)Base64", quoted(Data(bytes).base64EncodedString()))]
    }
    guard mayBeJSON, (try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))) != nil else {
      return [(name, quoted(text))]
    }
    // In JSON line breaks stand only between tokens, so a space does as well.
    return [(name, String(text.map { $0.isNewline ? " " : $0 }))]
  }

  static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Every String is encodable; the fallback cannot be reached.
    let data = (try? encoder.encode(text)) ?? Data("\"\"".utf8)
    return String(decoding: data, as: UTF8.self)
  }

  /// Accepts any JSON: the decoder has checked the whole text before it asks.
  private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) {}
  }
}
