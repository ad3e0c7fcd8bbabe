public import Events
public import Kafka

extension ReceivedRecord {
  /// The record's value, when it is of the given type; nil for types that this reader does not know.
  ///
  /// - Throws: `Undecodable` when headers or value are not what the type promises.
  public func decode<Value: Decodable>(_ value: Value.Type, type: EventType) throws(Undecodable)
    -> Value?
  {
    guard let name = header("ce_type") else {
      throw Undecodable("no-type", "the record has no header ce_type")
    }
    guard name == type.rawValue else { return nil }
    guard let bytes = self.value else {
      throw Undecodable("no-value", "a record of type \(name) has no value")
    }
    do {
      return try EventJSON.decode(value, from: bytes)
    } catch {
      throw Undecodable("malformed-value", error.detail)
    }
  }
}
