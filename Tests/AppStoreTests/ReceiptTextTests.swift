import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("What a proof's text is")
struct ReceiptTextTests {
  @Test func `Apple's and Xcode's samples are recognized`() throws {
    let xcode = "apple/xcode/xcode-"
    let signed = "apple/mock_signed_data/"
    let cases: [(String, ProofText.Kind)] = [
      (xcode + "signed-transaction", .signedTransaction),
      (xcode + "signed-renewal-info", .signedRenewalInfo),
      (xcode + "signed-app-transaction", .signedAppTransaction),
      (xcode + "app-receipt-empty", .appReceipt),
      (xcode + "app-receipt-with-transaction", .appReceipt),
      (signed + "testNotification", .signedNotification),
      (signed + "legacyTransaction", .legacyTransactionReceipt),
      ("apple/receipts/sandbox-app-receipt.base64.txt", .appReceipt),
    ]
    for (file, kind) in cases {
      let text = try TestData.text(file)
      #expect(ProofText.recognize(text) == kind, "\(file)")
      #expect(ProofText.recognize(" \"\(text)\"\n") == kind, "\(file) in quotes")
    }
  }

  @Test func `a transaction id is digits, of which there are at most twenty`() {
    for text in ["0", "1000000692878476", " 2000000123456789\n", "\"42\""] {
      #expect(ProofText.recognize(text) == .transactionId)
    }
    for text in ["-1", "1e5", "12 34 x", "1000000692878476, 1000000692879214", "0x10"] {
      #expect(ProofText.recognize(text) != .transactionId)
    }
    #expect(ProofText.recognize(String(repeating: "1", count: 20)) == .transactionId)
    #expect(ProofText.recognize(String(repeating: "1", count: 21)) != .transactionId)
  }

  @Test func `what is unknown says what it looks like`() throws {
    let chain = try AppStoreChains.chain()
    let transaction = try TestData.text("apple/xcode/xcode-signed-transaction")
    let cases: [(String, String)] = [
      ("", "an empty text"), ("{\"transactionId\":\"1\"}", "JSON"), ("a.b.c", "JWS"),
      ("hello world", "neither"), ("AAAA", "no receipt"),
      (try chain.signer.sign(Array("{}".utf8)), "no purchase"),
      (try chain.signer.sign(Array("[]".utf8)), "not a JSON object"),
      (Base64.encode(Array(transaction.utf8)), "a signed transaction"),
      (Base64.encode(chain.leaf.der), "no receipt"),
    ]
    for (text, word) in cases {
      guard case .unknown(let reason) = ProofText.recognize(text) else {
        Issue.record("\(text.prefix(20)) was recognized")
        continue
      }
      #expect(reason.contains(word), "\(reason)")
    }
    #expect(
      ProofText.recognize("1234", sizeLimit: 3) == .unknown(reason: "text of too many bytes"))
  }
}

@Suite("Ids out of receipts that nobody proved")
struct ReceiptIdentifierTests {
  @Test func `app receipts give the first id, or none without a purchase`() throws {
    func id(_ text: String) throws -> String? {
      try ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)?.digits
    }
    #expect(try id(ReceiptSamples.sandboxText()) == "1000000692879214")
    #expect(try id(ReceiptSamples.xcodeText("with-transaction")) == "0")
    #expect(try id(ReceiptSamples.xcodeText("empty")) == nil)
  }

  @Test func `nobody needs to be trusted, but an id is digits and nothing else`() throws {
    let chain = try AppStoreChains.chain()
    var receipt = ReceiptSamples.receipt()
    receipt.inApps[0].transactionId = "../../v1/subscriptions/1"
    func id() throws -> String? {
      let text = Base64.encode(try chain.receiptSigner.sign(receipt))
      return try ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)?.digits
    }
    #expect(try id() == nil)
    receipt.inApps.append(
      InAppReceipt(productId: "p", transactionId: "77", purchaseDate: AppStoreChains.now))
    #expect(try id() == "77")
  }

  @Test func `Apple's legacy transaction receipt gives its id`() throws {
    let text = try TestData.text("apple/mock_signed_data/legacyTransaction")
    let id = try ReceiptIdentifiers.unprovedTransactionId(inLegacyTransactionReceipt: text)
    #expect(id.digits == "33993399")
    let list = try #require(Base64.decode(text.filter { !$0.isWhitespace }))
    let plain = try ReceiptIdentifiers.unprovedTransactionId(
      inLegacyTransactionReceipt: String(decoding: list, as: UTF8.self))
    #expect(plain == id)
    let request = try VerifyReceiptRequest(text: text, password: nil)
    #expect(request.receiptData == Base64.encode(list))
  }

  @Test func `space around the equals sign is one or more of any kind`() throws {
    func id(outer: String, inner: String) throws -> String {
      let info = Base64.encode(Array("{\n\t\"transaction-id\"\(inner)\"42\";\n}".utf8))
      let list = "{\n\t\"signature\" = \"AAAA\";\n\t\"purchase-info\"\(outer)\"\(info)\";\n}"
      return try ReceiptIdentifiers.unprovedTransactionId(
        inLegacyTransactionReceipt: Base64.encode(Array(list.utf8))
      ).digits
    }
    for space in [" = ", "  =\t\t", "\n=\n", " \t= \r\n"] {
      #expect(try id(outer: space, inner: " = ") == "42")
      #expect(try id(outer: " = ", inner: space) == "42")
    }
    for space in ["=", " =", "= ", " == ", ":"] {
      #expect(throws: ReceiptRejection.self) { try id(outer: space, inner: " = ") }
      #expect(throws: ReceiptRejection.self) { try id(outer: " = ", inner: space) }
    }
  }

  @Test func `a legacy receipt without an id is malformed, another proof is named`() throws {
    func code(_ text: String) -> ReceiptRejection.Code? {
      ReceiptSamples.code {
        _ = try ReceiptIdentifiers.unprovedTransactionId(inLegacyTransactionReceipt: text)
      }
    }
    func list(_ info: String) -> String {
      Base64.encode(Array("{ \"purchase-info\" = \"\(info)\"; }".utf8))
    }
    #expect(code(list("!!!!")) == .malformedReceipt)
    #expect(code(list(Base64.encode(Array("{}".utf8)))) == .malformedReceipt)
    let letters = Base64.encode(Array("\"transaction-id\" = \"4x2\";".utf8))
    #expect(code(list(letters)) == .malformedReceipt)
    #expect(code("{ \"purchase-info\" = \"\(letters)\"; }") == .malformedReceipt)
    #expect(code("12345") == .wrongKind)
    let receipt = try ReceiptSamples.sandboxText()
    #expect(code(receipt) == .wrongKind)
    #expect(code("") == .notBase64)
  }
}
