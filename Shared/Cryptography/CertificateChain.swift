internal import COpenSSL

/// A leaf that was proved to descend from a pinned root, and when its chain is valid.
public struct VerifiedChain: Sendable {
  /// The leaf's key.
  public let leafKey: PublicKey
  /// First moment at which all certificates are valid, UNIX milliseconds.
  public let validFrom: Int64
  /// Last moment at which all certificates are valid, UNIX milliseconds, inclusive.
  public let validThrough: Int64
  /// Leaf, intermediate and root; a pinned certificate stands alone.
  public let certificates: [Certificate]

  init(
    leafKey: PublicKey, validFrom: Int64, validThrough: Int64, certificates: [Certificate]
  ) {
    self.leafKey = leafKey
    self.certificates = certificates
    self.validFrom = validFrom
    self.validThrough = validThrough
  }

  /// A single certificate that the caller has pinned itself, byte for byte.
  public init(pinned certificate: Certificate) {
    self.init(
      leafKey: certificate.publicKey, validFrom: certificate.notBefore,
      // RFC 5280 counts the whole last second as valid.
      validThrough: certificate.notAfter + 999, certificates: [certificate])
  }
}

/// Why a chain does not stand.
public struct ChainFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// OpenSSL's words, or ours.
  public let detail: String
  /// The detail.
  public var description: String { detail }
}

/// What is strong enough for a chain.
public enum ChainStrength: Sendable {
  /// 112 bits of security throughout.
  case current
  /// The same, but certificates may be signed with SHA-1, as those of old receipts are.
  case withSHA1
}

/// Checks leaf ← intermediate ← pinned root by the rules of RFC 5280, except for the time.
///
/// Times are left to the caller, who checks `validFrom...validThrough` at the date that counts:
/// the answer then holds for every date and may be cached.
public enum CertificateChain {
  /// The verified chain, or the reason against it.
  ///
  /// All OpenSSL objects live for this call only.
  public static func verify(
    leaf: Certificate, intermediate: Certificate, roots: [Certificate],
    strength: ChainStrength = .current
  ) throws(ChainFault) -> VerifiedChain {
    do {
      let root = try checkSignatures(
        leaf: leaf, intermediate: intermediate, roots: roots, strength: strength)
      let chain = [leaf, intermediate, root]
      return VerifiedChain(
        leafKey: leaf.publicKey,
        validFrom: chain.map(\.notBefore).max() ?? .max,
        // RFC 5280 counts the whole last second as valid.
        validThrough: chain.map(\.notAfter).min().map { $0 + 999 } ?? .min,
        certificates: chain)
    } catch let fault as ChainFault {
      throw fault
    } catch {
      throw ChainFault(detail: "\(error)")
    }
  }

  /// Answers the pinned root on which the chain ends.
  private static func checkSignatures(
    leaf: Certificate, intermediate: Certificate, roots: [Certificate], strength: ChainStrength
  ) throws -> Certificate {
    defer { ErrorQueue.clear() }
    let leafHandle = try CertificateHandle(der: leaf.der)
    let intermediateHandle = try CertificateHandle(der: intermediate.der)
    guard let store = unsafe X509_STORE_new(), let context = unsafe X509_STORE_CTX_new(),
      let untrusted = unsafe OPENSSL_sk_new_null()
    else { throw CryptographyError.failed("preparing a chain check") }
    defer {
      unsafe X509_STORE_CTX_free(context)
      unsafe X509_STORE_free(store)
      unsafe OPENSSL_sk_free(untrusted)
    }
    for root in roots {
      let handle = try CertificateHandle(der: root.der)
      // The store takes its own reference.
      guard unsafe X509_STORE_add_cert(store, handle.handle) == 1 else {
        throw CryptographyError.failed("pinning a root")
      }
    }
    guard
      unsafe OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediateHandle.handle)) > 0,
      unsafe X509_STORE_CTX_init(context, store, leafHandle.handle, untrusted) == 1,
      let parameters = unsafe X509_STORE_CTX_get0_param(context)
    else { throw CryptographyError.failed("preparing a chain check") }
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
    // One certificate between leaf and root.
    unsafe X509_VERIFY_PARAM_set_depth(parameters, 1)
    switch strength {
    case .current:
      // 112 bits of security, so no SHA-1 and no short RSA.
      unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
    case .withSHA1:
      // OpenSSL has no level between SHA-1 refused and everything allowed.
      unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
      try checkStrength(of: leafHandle)
      try checkStrength(of: intermediateHandle)
    }

    guard unsafe X509_verify_cert(context) == 1 else {
      let code = unsafe X509_STORE_CTX_get_error(context)
      let text = unsafe X509_verify_cert_error_string(Int(code)).map {
        unsafe String(cString: $0)
      }
      throw ChainFault(detail: text ?? "certificate check \(code) failed")
    }
    try checkUsage(leaf: leafHandle, intermediate: intermediateHandle)
    return try unsafe end(of: context, intermediate: intermediateHandle, roots: roots)
  }

  /// The chain must use the intermediate it came with and end on one of the pinned roots.
  private static func end(
    of context: OpaquePointer, intermediate: borrowing CertificateHandle, roots: [Certificate]
  ) throws -> Certificate {
    guard let built = unsafe X509_STORE_CTX_get0_chain(context),
      unsafe OPENSSL_sk_num(built) == 3,
      let second = unsafe OPENSSL_sk_value(built, 1), let last = unsafe OPENSSL_sk_value(built, 2),
      unsafe X509_cmp(OpaquePointer(second), intermediate.handle) == 0
    else { throw ChainFault(detail: "the chain does not go through its own intermediate") }
    let lastDER = unsafe DER.encode { unsafe i2d_X509(OpaquePointer(last), $0) }
    guard let root = roots.first(where: { $0.der == lastDER }) else {
      throw ChainFault(detail: "the chain does not end on a pinned root")
    }
    return root
  }

  /// Keys as strong as at the current level, and signatures over no digest weaker than SHA-1.
  private static func checkStrength(
    of certificate: borrowing CertificateHandle
  ) throws(ChainFault) {
    var digestBits: Int32 = 0
    // OpenSSL counts 63 bits for SHA-1 and 39 for MD5.
    guard unsafe X509_get_signature_info(certificate.handle, nil, nil, &digestBits, nil) == 1,
      digestBits >= 63
    else { throw ChainFault(detail: "a certificate is signed with a digest that is too weak") }
    guard let key = unsafe X509_get0_pubkey(certificate.handle),
      unsafe EVP_PKEY_get_security_bits(key) >= 112
    else { throw ChainFault(detail: "a certificate's key is too short") }
  }

  /// Rules that OpenSSL enforces in full only under its strict flag, which would also demand key
  /// identifiers; Apple's own test chain has none.
  private static func checkUsage(
    leaf: borrowing CertificateHandle, intermediate: borrowing CertificateHandle
  ) throws(ChainFault) {
    let flags = unsafe X509_get_extension_flags(intermediate.handle)
    guard flags & UInt32(EXFLAG_CA) != 0, flags & UInt32(EXFLAG_BCONS) != 0 else {
      throw ChainFault(detail: "the intermediate certificate is not marked as an authority")
    }
    guard unsafe X509_get_key_usage(intermediate.handle) & UInt32(KU_KEY_CERT_SIGN) != 0 else {
      throw ChainFault(detail: "the intermediate certificate may not sign certificates")
    }
    guard unsafe X509_get_key_usage(leaf.handle) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else {
      throw ChainFault(detail: "the leaf certificate may not sign data")
    }
  }
}
