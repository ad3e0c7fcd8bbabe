import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Receipts as clients send them")
struct ReceiptEncodingTests {
  /// Name and what it makes of the text of a receipt.
  static let encodings: [(String, @Sendable (String) -> String)] = [
    ("as it is", { $0 }),
    ("last line break", { $0 + "\r\n" }),
    ("lines of 76", { lines($0, of: 76, "\r\n") }),
    ("lines of 64 with spaces", { "  " + lines($0, of: 64, " \n ") }),
    ("line breaks written out", { lines($0, of: 76, "\\r\\n") }),
    ("URL alphabet", { $0.replacing("+", with: "-").replacing("/", with: "_") }),
    ("no padding", { String($0.prefix { $0 != "=" }) }),
    ("too much padding", { $0 + "==" }),
    (
      "URL alphabet without padding",
      { String($0.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }) }
    ),
    (
      "percent-encoded",
      {
        $0.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
      }
    ),
    ("plus lost to a form", { $0.replacing("+", with: " ") }),
    ("double quotes", { "\"\($0)\"" }),
    ("single quotes and space", { " '\($0)' \n" }),
    ("JSON with escaped slashes", { "\"" + $0.replacing("/", with: "\\/") + "\"" }),
    ("data URL", { "data:application/octet-stream;base64," + $0 }),
    ("byte order mark", { "\u{FEFF}" + $0 }),
    ("base64 of base64", { Base64.encode(Array($0.utf8)) }),
  ]

  private static func lines(_ text: String, of length: Int, _ end: String) -> String {
    var rest = text[...]
    var result = ""
    while !rest.isEmpty {
      result += rest.prefix(length) + end
      rest = rest.dropFirst(length)
    }
    return result
  }

  @Test(arguments: encodings.indices)
  func `every encoding leads to the same receipt`(_ index: Int) throws {
    let (name, encode) = Self.encodings[index]
    let verifier = try ReceiptSamples.ownVerifier()
    let chain = try AppStoreChains.chain()
    // Three lengths, so that all paddings occur.
    for version in ["1", "12", "123"] {
      var receipt = ReceiptSamples.receipt()
      receipt.applicationVersion = version
      let bytes = try chain.receiptSigner.sign(receipt)
      let text = encode(Base64.encode(bytes))
      #expect(try verifier.verify(text).receipt == receipt, "\(name)")
      #expect(ProofText.recognize(text) == .appReceipt, "\(name)")
      let request = try VerifyReceiptRequest(text: text, password: nil)
      #expect(request.receiptData == Base64.encode(bytes), "\(name)")
      let id = try ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)
      #expect(id?.digits == "1002", "\(name)")
    }
  }

  @Test func `Apple's receipt survives all of them too`() throws {
    let text = try ReceiptSamples.sandboxText().filter { !$0.isWhitespace }
    let verifier = try ReceiptSamples.appleVerifier()
    let hash = try verifier.verify(text).hash
    for (name, encode) in Self.encodings {
      #expect(try verifier.verify(encode(text)).hash == hash, "\(name)")
    }
  }

  @Test func `text that is no receipt is refused, and named where it is known`() throws {
    let verifier = try ReceiptSamples.ownVerifier()
    let transaction = try TestData.text("apple/xcode/xcode-signed-transaction")
    let legacy = try TestData.text("apple/mock_signed_data/legacyTransaction")
    let cases: [(String, ReceiptRejection.Code)] = [
      ("", .notBase64), ("   ", .notBase64), ("\"\"", .notBase64), ("%%%", .notBase64),
      ("not a receipt!", .notBase64), ("MII", .malformedReceipt), ("AAAA", .malformedReceipt),
      (transaction, .wrongKind), ("1000000692878476", .wrongKind), (legacy, .wrongKind),
      (Base64.encode([0x30, 0x80]), .malformedReceipt),
    ]
    for (text, code) in cases {
      let rejection = #expect(throws: ReceiptRejection.self) { try verifier.verify(text) }
      #expect(rejection?.code == code, "\(text.prefix(30))")
    }
    let rejection = #expect(throws: ReceiptRejection.self) { try verifier.verify(transaction) }
    #expect(rejection?.detail.contains("a signed transaction") == true)
  }

  @Test func `more text than the limit is not looked at`() throws {
    let chain = try AppStoreChains.chain()
    let bytes = try chain.receiptSigner.sign(ReceiptSamples.receipt())
    let text = Base64.encode(bytes)
    let apps = [AppIdentity(bundleId: "com.example", environments: [.sandbox])]
    let exact = try ReceiptVerifier(
      roots: [chain.root], apps: apps, sizeLimit: text.utf8.count)
    #expect(try exact.verify(text).receipt == ReceiptSamples.receipt())
    let tight = try ReceiptVerifier(
      roots: [chain.root], apps: apps, sizeLimit: text.utf8.count - 1)
    #expect(ReceiptSamples.code { _ = try tight.verify(text) } == .tooLarge)
    let tiny = try ReceiptVerifier(roots: [chain.root], apps: apps, sizeLimit: bytes.count - 1)
    #expect(ReceiptSamples.code { _ = try tiny.verify(bytes: bytes) } == .tooLarge)
  }
}
