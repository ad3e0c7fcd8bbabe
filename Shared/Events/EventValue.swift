public import JSON

/// A value that is read from and written to JSON by hand, at a tenth of the cost of Foundation's
/// coders.
///
/// `Codable` stays the definition of the form: a test holds both to the same bytes, and every golden
/// file to every field, so that a field that was added in one place only is found.
public protocol EventValue: Codable, Sendable {
  /// Reads the object; fields that are not known are ignored.
  init(fields: JSONFields) throws(JSONFieldFault)

  /// Writes the members, sorted by name; those that are nil are left out.
  func write(to json: inout JSONWriter)
}
