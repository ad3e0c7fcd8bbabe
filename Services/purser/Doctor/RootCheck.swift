import Catalog
import Cryptography
import FoundationEssentials

/// The root certificates: readable, in force, and Apple's where real money is.
struct RootCheck {
  /// Apple Root CA - G3, to which all signed data leads.
  static let appleG3 = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
  /// Apple Root CA, to which receipts lead.
  static let appleReceipts = "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"

  let apps: Apps
  /// UTC milliseconds.
  let now: Int64

  /// The certificates that can be used, and what was found.
  func examine() -> ([Certificate], [Finding]) {
    var findings: [Finding] = []
    var roots: [Certificate] = []
    for file in apps.roots {
      guard let data = try? Data(contentsOf: URL(filePath: file)) else {
        findings.append(
          .fault("roots", file, "cannot be read", "check the path and the file's permissions"))
        continue
      }
      do {
        let root = try Certificate(bytes: [UInt8](data), name: file)
        roots.append(root)
        findings.append(look(at: root, file))
      } catch {
        findings.append(
          .fault(
            "roots", file, "is no certificate: \(error)",
            "download it again from apple.com/certificateauthority, as DER or PEM"))
      }
    }
    return (roots, findings + completeness(roots))
  }

  private func look(at root: Certificate, _ file: String) -> Finding {
    let day: Int64 = 86_400_000
    guard root.notBefore <= now, now < root.notAfter else {
      return .fault(
        "roots", file, "\(root.subject) is not in force at this machine's time",
        "check the clock; otherwise remove the file and take the present root")
    }
    guard root.notAfter - now > 180 * day else {
      return .warning(
        "roots", file, "\(root.subject) ends in \((root.notAfter - now) / day) days",
        "add its successor beside it now")
    }
    return .good("roots", file, root.subject)
  }

  private func completeness(_ roots: [Certificate]) -> [Finding] {
    let fingerprints = Set(roots.map { $0.sha256Fingerprint.lowercased() })
    let foreign = roots.filter {
      let fingerprint = $0.sha256Fingerprint.lowercased()
      return fingerprint != Self.appleG3 && fingerprint != Self.appleReceipts
        && !$0.subject.contains("O=Apple Inc.")
    }
    guard apps.servesProduction else {
      return foreign.map {
        .warning(
          "roots", $0.subject, "is not Apple's: whoever has its key can sign purchases",
          "keep it for development only")
      }
    }
    var findings: [Finding] = foreign.map {
      .fault(
        "roots", $0.subject, "is not Apple's, and an app serves Production",
        "remove it: whoever has its key can sign purchases")
    }
    if !fingerprints.contains(Self.appleG3) {
      findings.append(
        .fault(
          "roots", "Apple Root CA - G3", "is missing: nothing that Apple signs will be accepted",
          "download AppleRootCA-G3.cer from apple.com/certificateauthority and name it in roots"))
    }
    let wantsReceipts = apps.all.contains { app in
      app.environments.values.contains { $0.receipts != .verifyReceipt }
    }
    if wantsReceipts, !fingerprints.contains(Self.appleReceipts) {
      findings.append(
        .warning(
          "roots", "Apple Root CA", "is missing: app receipts cannot be verified",
          "name AppleIncRootCertificate.cer in roots, if apps post receipts"))
    }
    return findings
  }
}
