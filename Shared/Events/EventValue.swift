public import JSON

/// A value that is read from and written to JSON member by member, at a tenth of the cost of
/// Foundation's coders.
///
/// The extensions are written by `deploy/scripts/write-event-forms` from the stored properties.
/// `Codable` stays the definition of the form: a test holds both to the same bytes, and every golden
/// file to every field.
public protocol EventValue: Codable, Sendable {
  /// Reads the object; fields that are not known are ignored.
  init(fields: JSONFields) throws(JSONFieldFault)

  /// Writes the members, sorted by name; those that are nil are left out.
  func write(to json: inout JSONWriter)
}
