import FoundationEssentials

/// A file of ids or signed transactions: JSON lines, or CSV with or without a header.
///
/// Read in place, a record at a time; records are counted without blank lines and header.
struct ImportFile: Sendable {
  /// One record, as the service takes it.
  struct Record: Sendable, Equatable, Encodable {
    var transactionId: String?
    var signedTransaction: String?
    var environment: String?
  }

  private enum Column: Sendable {
    case id
    case signed
    case environment
    case other
  }

  private let bytes: Data
  private let columns: [Column]
  private let start: Data.Index

  /// Opens the file; throws what reading throws.
  init(path: String) throws {
    try self.init(bytes: Data(contentsOf: URL(filePath: path), options: .mappedIfSafe))
  }

  /// Takes the contents of a file.
  init(bytes: Data) {
    self.bytes = bytes
    // Spreadsheets begin with a byte order mark.
    let first = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.startIndex + 3 : bytes.startIndex
    let (line, next) = Self.line(of: bytes, from: first)
    let header = Self.columns(ofHeader: line)
    columns = header ?? []
    start = header == nil ? first : next
  }

  /// The records behind the first `count`.
  func records(from count: Int64) -> Records { Records(file: self, skipping: count) }

  /// Walks over the records.
  struct Records: Sequence, IteratorProtocol {
    private let file: ImportFile
    private var place: Data.Index
    /// The line of the file on which the last record stands, from 1.
    private(set) var line: Int

    init(file: ImportFile, skipping count: Int64) {
      self.file = file
      place = file.start
      line = file.start == file.bytes.startIndex || file.columns.isEmpty ? 0 : 1
      var skipped: Int64 = 0
      while skipped < count, nextLine() != nil { skipped += 1 }
    }

    mutating func next() -> Record? { nextLine().map { file.record($0) } }

    private mutating func nextLine() -> String? {
      while place < file.bytes.endIndex {
        let (text, next) = ImportFile.line(of: file.bytes, from: place)
        place = next
        line += 1
        if text.contains(where: { !$0.isWhitespace }) { return text }
      }
      return nil
    }
  }

  /// The line's text without its end, and where the next begins.
  private static func line(of bytes: Data, from start: Data.Index) -> (String, Data.Index) {
    let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.endIndex
    let text = String(decoding: bytes[start..<end], as: UTF8.self)
    let next = end < bytes.endIndex ? end + 1 : end
    return (text.hasSuffix("\r") ? String(text.dropLast()) : text, next)
  }

  /// What the columns are, if the line is a header.
  private static func columns(ofHeader line: String) -> [Column]? {
    guard !line.hasPrefix("{"), !line.hasPrefix("\"{") else { return nil }
    let columns = fields(line).map { field -> Column in
      switch field.lowercased().filter({ $0.isLetter }) {
      case "transactionid", "originaltransactionid", "id": .id
      case "signedtransaction", "signedtransactioninfo", "jws", "jwsrepresentation": .signed
      case "environment": .environment
      default: .other
      }
    }
    return columns.contains { if case .other = $0 { false } else { true } } ? columns : nil
  }

  private func record(_ line: String) -> Record {
    if line.drop(while: \.isWhitespace).hasPrefix("{") { return Self.object(line) }
    var record = Record()
    let fields = Self.fields(line)
    for (index, field) in fields.enumerated() where !field.isEmpty {
      let column = columns.isEmpty ? Self.guess(field, index) : columns.dropFirst(index).first
      switch column {
      case .id: if record.transactionId == nil { record.transactionId = field }
      case .signed: record.signedTransaction = field
      case .environment: record.environment = field
      case .other, nil: break
      }
    }
    // A signed transaction says its own id, and more.
    if record.signedTransaction != nil { record.transactionId = nil }
    return record
  }

  /// Without a header: the first field is an id or a signed transaction, the second an environment.
  private static func guess(_ field: String, _ index: Int) -> Column {
    switch index {
    case 0: field.split(separator: ".").count == 3 ? .signed : .id
    case 1 where ["Production", "Sandbox"].contains(field): .environment
    default: .other
    }
  }

  private static func object(_ line: String) -> Record {
    struct Line: Decodable {
      var transactionId: String?
      var originalTransactionId: String?
      var signedTransaction: String?
      var signedTransactionInfo: String?
      var environment: String?
    }
    guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else {
      return Record()
    }
    let signed = line.signedTransaction ?? line.signedTransactionInfo
    return Record(
      transactionId: signed == nil ? line.transactionId ?? line.originalTransactionId : nil,
      signedTransaction: signed, environment: line.environment)
  }

  /// The fields of a line, separated by comma, semicolon or tab, without space and quotes around.
  private static func fields(_ line: String) -> [String] {
    line.split(omittingEmptySubsequences: false) { ",;\t".contains($0) }.map { field in
      var text = field.drop(while: \.isWhitespace)
      while text.last?.isWhitespace == true { text.removeLast() }
      if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
        text = text.dropFirst().dropLast()
      }
      return String(text)
    }
  }
}
