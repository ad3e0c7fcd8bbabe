import CCurl

/// What arrives while one transfer runs; lives on the worker's thread only.
final class Transfer {
  private let job: Job
  private let bodyLimit: Int
  private var headers: [(String, String)] = []
  private var headBytes = 0
  /// Of the answer itself, not of one before it.
  private var status: Int?
  private var body: [UInt8] = []
  private var isTooLarge = false

  /// Longest head, in bytes.
  static let headLimit = 64 * 1024

  init(job: Job, bodyLimit: Int) {
    self.job = job
    self.bodyLimit = bodyLimit
  }

  /// The callbacks: each finds its transfer and calls one method.
  static func fill(_ wish: inout purser_curl_request) {
    unsafe wish.head = { context, line, length in
      guard let transfer = unsafe transfer(context) else { return 0 }
      return unsafe transfer.head(UnsafeRawBufferPointer(start: line, count: length)) ? 1 : 0
    }
    unsafe wish.piece = { context, bytes, length in
      guard let transfer = unsafe transfer(context) else { return 0 }
      return unsafe transfer.piece(UnsafeRawBufferPointer(start: bytes, count: length)) ? 1 : 0
    }
    unsafe wish.given_up = { context in
      guard let transfer = unsafe transfer(context) else { return 1 }
      return transfer.job.isGivenUp ? 1 : 0
    }
  }

  private func head(_ line: UnsafeRawBufferPointer) -> Bool {
    headBytes += line.count
    guard headBytes <= Self.headLimit else {
      isTooLarge = true
      return false
    }
    let text = unsafe String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      // The head of a further answer, after 100 Continue.
      headers = []
      let code = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
      status = code.flatMap { $0 >= 200 ? $0 : nil }
      return true
    }
    if text.allSatisfy(\.isNewline), let status { job.body?.begin(status, headers) }
    guard let colon = text.firstIndex(of: ":") else { return true }
    let value = text[text.index(after: colon)...].drop { $0.isWhitespace }
    let end = value.lastIndex { !$0.isWhitespace }.map { value.index(after: $0) }
    headers.append((String(text[..<colon]), String(value[..<(end ?? value.startIndex)])))
    return true
  }

  private func piece(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let coming = job.body { return unsafe coming.take([UInt8](bytes)) }
    guard body.count + bytes.count <= bodyLimit else {
      isTooLarge = true
      return false
    }
    unsafe body.append(contentsOf: bytes)
    return true
  }

  func outcome(end: UInt32, status: Int, words: String) -> Job.Outcome {
    if end == PURSER_CURL_DONE.rawValue {
      return .success(HTTPResponse(status: status, headers: headers, body: body))
    }
    if isTooLarge {
      return .failure(job.error(.tooLarge, "the answer is longer than \(bodyLimit) bytes"))
    }
    if end == PURSER_CURL_FORBIDDEN_ADDRESS.rawValue {
      return .failure(
        job.error(.forbiddenAddress, "the name leads to this machine or to a private network"))
    }
    return .failure(job.error(kind(end), words))
  }

  private func kind(_ end: UInt32) -> HTTPClientError.Kind {
    switch end {
    case PURSER_CURL_REFUSED_URL.rawValue: .invalidRequest
    case PURSER_CURL_NAME_UNKNOWN.rawValue: .nameUnknown
    case PURSER_CURL_CANNOT_CONNECT.rawValue: .cannotConnect
    case PURSER_CURL_TIMED_OUT.rawValue: .timedOut
    case PURSER_CURL_TLS.rawValue: .tls
    case PURSER_CURL_CUT.rawValue: .cut
    case PURSER_CURL_GIVEN_UP.rawValue: job.isCancelled ? .cancelled : .closed
    case PURSER_CURL_FORBIDDEN_ADDRESS.rawValue: .forbiddenAddress
    case PURSER_CURL_CONFIGURATION.rawValue: .configuration
    default: .other
    }
  }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}
