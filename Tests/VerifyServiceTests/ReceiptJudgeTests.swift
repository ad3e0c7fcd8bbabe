import AppStore
import Cryptography
import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

@Suite("Apple's own receipt utility", .timeLimit(.minutes(2))) struct ReceiptJudgeTests {
  private static let python = TestData.packageRoot + "/.venv/bin/python3"

  /// What Apple's library finds in each receipt: an id, `none` or `refused`.
  private func judged(_ lines: [String]) async throws -> [String] {
    try #require(
      unsafe access(Self.python, X_OK) == 0, "no \(Self.python); run deploy/scripts/setup")
    let folder = TestFolder.path("judge")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let text = lines.joined(separator: "\n")
    try Data(text.utf8).write(to: URL(filePath: folder + "/receipts"))
    let judge = try ChildProcess(
      ChildProcess.Program(
        name: "judge", executable: Self.python,
        arguments: [
          TestData.packageRoot + "/Tests/Fixtures/appstore/receipt_judge.py", folder + "/receipts",
        ], logFile: folder + "/log"))
    let ending = await judge.ending.value()
    let log = String(
      decoding: try Data(contentsOf: URL(filePath: folder + "/log")), as: UTF8.self)
    #expect(ending == .exit(0), "\(log)")
    return log.split(separator: "\n").map(String.init)
  }

  /// What we find, in the same words.
  private func found(_ line: String) -> String {
    let text = String(line.drop { $0 != " " }.dropFirst())
    do {
      if line.hasPrefix("app") {
        return try ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: text)?.digits ?? "none"
      }
      return try ReceiptIdentifiers.unprovedTransactionId(inLegacyTransactionReceipt: text).digits
    } catch {
      return "refused"
    }
  }

  @Test func `it finds the same ids in Apple's samples and in what we sign`() async throws {
    let samples = try IntakeSamples()
    var lines = [
      "app " + (try TestData.text("apple/receipts/sandbox-app-receipt.base64.txt")),
      "app " + (try TestData.text("apple/xcode/xcode-app-receipt-with-transaction")),
      "app " + (try TestData.text("apple/xcode/xcode-app-receipt-empty")),
      "transaction " + (try TestData.text("apple/mock_signed_data/legacyTransaction")),
    ]
    lines = lines.map { $0.replacing("\n", with: "") }
    for count in [0, 1, 2, 40] {
      lines.append("app " + (try samples.receipt((0..<count).map { "\(9000 - $0)" })))
    }
    let judged = try await judged(lines)
    #expect(judged == lines.map(found))
    #expect(judged.contains("none") && judged.contains("9000"))
  }
}
