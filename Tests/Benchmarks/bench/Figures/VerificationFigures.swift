import AppStore
import BenchBaselines
import FoundationEssentials
import Glibc

/// Verification of signed transactions with a cached chain on one core, beside bare P-256
/// verification and beside Apple's Python library.
enum VerificationFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    let signed = try (0..<64).map { number in
      try apple.transaction(
        number, isSubscription: true, token: "7b1de0c4-1d63-4cbf-9c1a-0f4a3f0b9a10")
    }
    let verifier = try SignedDataVerifier(
      roots: [apple.chain.root],
      apps: [AppIdentity(bundleId: Apple.bundleID, appAppleId: nil, environments: [.sandbox])],
      clock: { apple.now })

    // Limit and subjects take turns in short slices; CPU time of the thread is what counts.
    let rounds = bench.options.isSmoke ? 2 : 12
    let slice = bench.options.isSmoke ? 0.02 : 0.25
    var bare: [Double] = []
    var signatures: [Double] = []
    var payloads: [Double] = []
    for _ in 0..<rounds {
      bare.append(baseline_p256_verify(slice))
      signatures.append(
        try rate(slice) { index in _ = try verifier.verifySignature(signed[index % 64]) })
      payloads.append(
        try rate(slice) { index in
          _ = try verifier.verifyTransaction(
            signed[index % 64], expectedBundle: Apple.bundleID)
        })
    }
    let openssl = try opensslSpeed(bench)
    let python = try applePython(bench, apple, signed)
    let limit = bare.median
    let note =
      "openssl speed ecdsap256 says \(shown(openssl)) verifications/s; EVP_PKEY_verify in this "
      + "process, in turns with the subject, is the limit"
    return [
      Figure(
        "verify.signature", "JWS, chain cached, signature only", signatures.median, "/CPU s",
        limit: ("EVP_PKEY_verify", limit), target: .init(direction: .atLeast, value: 0.85),
        notes: [note, "against openssl speed: \(shown(signatures.median / openssl)) ×"]),
      Figure(
        "verify.payload", "JWS, chain cached, payload decoded", payloads.median, "/CPU s",
        limit: ("EVP_PKEY_verify", limit), target: .init(direction: .atLeast, value: 0.70),
        notes: ["against openssl speed: \(shown(payloads.median / openssl)) ×"]),
      Figure(
        "verify.apple-python", "the same beside Apple's Python library, offline", payloads.median,
        "/CPU s", limit: ("app-store-server-library", python),
        target: .init(direction: .atLeast, value: 20)),
    ]
  }

  private static func rate(_ seconds: Double, _ body: (Int) throws -> Void) throws -> Double {
    let began = baseline_thread_seconds()
    var count = 0
    var took = 0.0
    while took < seconds {
      for _ in 0..<50 {
        try body(count)
        count += 1
      }
      took = baseline_thread_seconds() - began
    }
    return Double(count) / took
  }

  /// The verifications per second of `openssl speed`, which counts user CPU time too.
  private static func opensslSpeed(_ bench: Bench) throws -> Double {
    let rates = try (0..<(bench.options.isSmoke ? 1 : 3)).map { _ in
      let text = try bench.output(
        of: "openssl", "/usr/bin/openssl", ["speed", "-seconds", "1", "ecdsap256"])
      // 256 bits ecdsa (nistp256)   0.0000s   0.0001s  45000.0  12000.0
      let line = text.split(separator: "\n").last { $0.contains("nistp256") } ?? ""
      guard let rate = line.split(separator: " ").last.flatMap({ Double($0) }) else {
        throw BenchError("openssl speed gave no rate: \(text)")
      }
      return rate
    }
    return rates.median
  }

  private static func applePython(_ bench: Bench, _ apple: Apple, _ signed: [String]) throws
    -> Double
  {
    try Data(apple.chain.rootDER).write(to: URL(filePath: bench.file("root.der")))
    try Data(signed.joined(separator: "\n").utf8).write(to: URL(filePath: bench.file("signed")))
    let text = try bench.output(
      of: "apple-python", "\(bench.repository)/Tests/Benchmarks/apple-python/run",
      [
        bench.file("root.der"), bench.file("signed"), Apple.bundleID,
        bench.options.isSmoke ? "0.2" : "3",
      ])
    guard let rate = text.split(separator: "\n").last.flatMap({ Double($0) }) else {
      throw BenchError("the Python library gave no rate: \(text)")
    }
    return rate
  }
}
