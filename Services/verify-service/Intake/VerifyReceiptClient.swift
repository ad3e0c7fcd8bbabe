import AppStore
import Catalog
import Events
import HTTPClient

/// Asks `verifyReceipt`: production first on each request, the sandbox on 21007 (reference §6.1).
struct VerifyReceiptClient: Sendable {
  typealias Transport = @Sendable (HTTPRequest) async throws(HTTPClientError) -> HTTPResponse

  let production: String
  let sandbox: String
  let secrets: [String: SharedSecret]
  let apps: Apps
  let transport: Transport
  /// Hears of every request: which server, how it ended in a word, and how long it took.
  var observe: @Sendable (VerifyReceiptServer, String, Duration) -> Void = { _, _, _ in }
  let clock: @Sendable () -> Int64

  /// - Parameter own: What the receipt's own signature proved, where that counts too.
  func ask(_ proof: Proof, ownProof own: VerifiedReceipt?) async -> IntakeWorker.Answer {
    let request: VerifyReceiptRequest
    let body: [UInt8]
    do {
      request = try VerifyReceiptRequest(text: proof.content, password: secrets[proof.bundleId])
      body = try request.json()
    } catch let error as ReceiptRejection {
      return rejected(error.code.rawValue, error.description)
    } catch {
      return rejected("malformed-receipt", "the receipt cannot be sent to Apple")
    }
    var server = VerifyReceiptServer.production
    // Each server may send us to the other one, once.
    for _ in 0..<2 {
      switch await send(body, to: server) {
      case .failure(let fault): return .tryLater(fault: fault.text, after: fault.after)
      case .success(let response):
        switch response.outcome(from: server) {
        case .switchToSandbox: server = .sandbox
        case .switchToProduction: server = .production
        case .ok: return judged(response, from: server, proof, own)
        case .retry:
          return .tryLater(
            fault: "verifyReceipt answered status \(response.status.rawValue)", after: nil)
        case .neverPurchased:
          return rejected(
            "account-not-found", "Apple says that the account is gone: as if nothing was bought")
        case .final(let fault): return final(fault, response.status)
        }
      }
    }
    return rejected("no-server", "each of Apple's servers names the other one for this receipt")
  }

  private struct Fault: Error {
    let text: String
    var after: Duration?
  }

  private func send(_ body: [UInt8], to server: VerifyReceiptServer) async
    -> Result<VerifyReceiptResponse, Fault>
  {
    let began = ContinuousClock.now
    var word = "transport"
    defer { observe(server, word, ContinuousClock.now - began) }
    let response: HTTPResponse
    do {
      response = try await transport(
        HTTPRequest(
          method: "POST", url: server == .production ? production : sandbox,
          headers: [("Content-Type", "application/json"), ("User-Agent", "purser")], body: body,
          timeout: .seconds(30)))
    } catch {
      return .failure(Fault(text: "verifyReceipt: \(error)"))
    }
    // Verdicts come with 200, so any other status is about the server.
    guard response.isSuccess else {
      word = "http-\(response.status)"
      return .failure(
        Fault(text: "verifyReceipt answered HTTP \(response.status)", after: response.retryAfter))
    }
    do {
      let answer = try VerifyReceiptResponse(json: response.body)
      word = answer.status.rawValue == 0 ? "ok" : "\(answer.status.rawValue)"
      return .success(answer)
    } catch {
      word = "garbled"
      return .failure(Fault(text: "verifyReceipt's answer cannot be read: \(error)"))
    }
  }

  private func judged(
    _ response: VerifyReceiptResponse, from server: VerifyReceiptServer, _ proof: Proof,
    _ own: VerifiedReceipt?
  ) -> IntakeWorker.Answer {
    let environment: AppEnvironment = server == .production ? .production : .sandbox
    guard let bundleId = response.receipt?.bundleId, let app = apps.app(bundleId) else {
      return rejected(
        "wrong-app", "Apple says that the receipt is of \(response.receipt?.bundleId ?? "no app")")
    }
    guard app.environments[environment.rawValue] != nil else {
      return rejected("wrong-environment", "\(environment) is not configured for \(bundleId)")
    }
    let hash = own?.hash ?? FactWriter.hash(of: proof)
    var facts = ProvedFacts()
    facts.receipt = ProvedFacts.Whole(
      base64: proof.content, hash: hash, bundleId: bundleId,
      environment: environment.rawValue)
    do {
      if let own { try facts.add(own.lineages, evidence: RecordedReceipt.receipt) }
      try facts.add(
        response.lineages(
          bundleId: bundleId, environment: environment, receiptHash: hash, now: clock()),
        evidence: RecordedReceipt.verifyReceipt)
    } catch {
      return rejected("malformed-content", "Apple's answer cannot be recorded")
    }
    return .decided(.proved(facts))
  }

  private func final(_ fault: VerifyReceiptFault, _ status: VerifyReceiptStatus)
    -> IntakeWorker.Answer
  {
    let advice =
      fault == .wrongSharedSecret
      ? "; correct the file that sharedSecretFile names in purser.json, then post it again" : ""
    return rejected(fault.rawValue, "verifyReceipt answered status \(status.rawValue)\(advice)")
  }

  private func rejected(_ reason: String, _ detail: String) -> IntakeWorker.Answer {
    .decided(.rejected(reason: reason, detail: detail))
  }
}
