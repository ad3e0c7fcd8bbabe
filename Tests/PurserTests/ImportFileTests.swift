import FoundationEssentials
import Testing

@testable import purser

@Suite("Files to import")
struct ImportFileTests {
  private typealias Record = ImportFile.Record

  private func records(_ text: String, from count: Int64 = 0) -> [ImportFile.Record] {
    Array(ImportFile(bytes: Data(text.utf8)).records(from: count))
  }

  @Test func `one id a line, with or without an environment`() {
    #expect(
      records("100\r\n\n200,Sandbox\n\"300\";Production\n") == [
        Record(transactionId: "100"), Record(transactionId: "200", environment: "Sandbox"),
        Record(transactionId: "300", environment: "Production"),
      ])
  }

  @Test func `a header says what the columns are`() {
    let text = "\u{FEFF}user,Original Transaction ID,environment\nmary,100,Production\njohn,,\n"
    #expect(
      records(text) == [Record(transactionId: "100", environment: "Production"), Record()])
    #expect(
      records("signed_transaction\ta\nx.y.z\t1\n") == [Record(signedTransaction: "x.y.z")])
  }

  @Test func `a signed transaction needs no header and says its own id`() {
    #expect(records("aa.bb.cc") == [Record(signedTransaction: "aa.bb.cc")])
    #expect(
      records("transactionId,jws\n1,aa.bb.cc\n") == [Record(signedTransaction: "aa.bb.cc")])
  }

  @Test func `JSON lines, and what is no JSON is a record of no use`() {
    let text = """
      {"transactionId": "1"}
      {"signedTransaction": "a.b.c", "environment": "Sandbox", "more": [1]}
      {"originalTransactionId": "2"}
      {broken
      """
    #expect(
      records(text) == [
        Record(transactionId: "1"), Record(signedTransaction: "a.b.c", environment: "Sandbox"),
        Record(transactionId: "2"), Record(),
      ])
  }

  @Test func `reading goes on behind what was taken, and knows the lines`() {
    let text = "id\n\n1\n2\n\n3\n"
    #expect(records(text, from: 2) == [Record(transactionId: "3")])
    var rest = ImportFile(bytes: Data(text.utf8)).records(from: 2)
    #expect(rest.next() != nil && rest.line == 6)
    #expect(rest.next() == nil)
    #expect(records("", from: 5).isEmpty)
  }
}

@Suite("Doctor")
struct DoctorTests {
  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", Int64?(0)),
    ("Mon, 30 Nov 2026 12:13:14 GMT", 1_796_040_794_000),
    ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199_000),
    ("Mon, 30 Nov 2026 12:13:14 CET", nil), ("yesterday", nil), ("", nil),
  ])
  func `the date of an answer is read`(text: String, date: Int64?) {
    #expect(ServerDate.milliseconds(text) == date)
  }

  @Test(arguments: [
    "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE",
    "UNSUPPORTED_CHARSET", "INVALID_RESPONSE", "PREMATURE_CLOSE", "SSL_ISSUE",
    "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
  ])
  func `every word of Apple's about a lost notification has advice of its own`(word: String) {
    #expect(NotificationAdvice.remedy(word) != NotificationAdvice.remedy("OTHER"))
  }
}
