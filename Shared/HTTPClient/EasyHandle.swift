import CCurl
import ServiceRuntime

/// Owns one easy handle of libcurl, with the connections that it keeps open.
@safe struct EasyHandle: ~Copyable {
  private let handle: UnsafeMutableRawPointer

  /// Initializes libcurl before the first handle; it must happen once.
  private static let started = purser_curl_start() == 0

  init?() {
    guard Self.started, let handle = unsafe purser_curl_new() else { return nil }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe purser_curl_free(handle) }

  /// Blocks until the transfer has ended.
  borrowing func perform(_ job: Job, _ settings: ClientSettings) -> Job.Outcome {
    let request = job.request
    let transfer = Transfer(job: job, bodyLimit: settings.bodyBytes)
    let timeout = min(request.timeout ?? settings.timeout, settings.longestTimeout)
    let fields = Self.lines(request.headers)
    var status = 0
    var words = [CChar](repeating: 0, count: 256)
    let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    let end = unsafe withCStrings(request.url, request.method, settings.caFile) {
      url, method, caFile in
      unsafe fields.withUnsafeBytes { fields in
        unsafe withOptionalBytes(request.body) { body in
          unsafe withOptionalBytes(settings.caPEM) { pem in
            var wish = unsafe purser_curl_request()
            unsafe wish.url = url
            unsafe wish.method = method
            unsafe wish.fields = fields.bindMemory(to: CChar.self).baseAddress
            unsafe wish.field_count = request.headers.count + 1
            unsafe wish.body = body?.baseAddress
            unsafe wish.body_length = body?.count ?? 0
            unsafe wish.timeout_milliseconds = max(1, Int(timeout.wholeMilliseconds))
            unsafe wish.connect_timeout_milliseconds =
              max(1, Int(min(timeout, settings.connectTimeout).wholeMilliseconds))
            unsafe wish.ca_file = caFile
            unsafe wish.ca_pem = pem?.baseAddress
            unsafe wish.ca_pem_length = pem?.count ?? 0
            unsafe wish.public_only = settings.publicAddressesOnly ? 1 : 0
            unsafe wish.context = context
            unsafe Transfer.fill(&wish)
            return unsafe purser_curl_perform(handle, &wish, &status, &words)
          }
        }
      }
    }
    let text = String(
      decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return transfer.outcome(end: UInt32(end), status: status, words: text)
  }

  /// `Expect: 100-continue` would cost a second with servers that do not know it.
  private static func lines(_ headers: [(String, String)]) -> [UInt8] {
    var lines = Array("Expect:".utf8)
    lines.append(0)
    for (name, value) in headers {
      // A semicolon is how curl is told to send a field with an empty value.
      lines += value.isEmpty ? "\(name);".utf8 : "\(name): \(value)".utf8
      lines.append(0)
    }
    return lines
  }
}

private func withCStrings<Result>(
  _ one: String, _ two: String, _ three: String?,
  _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Result
) -> Result {
  unsafe one.withCString { one in
    unsafe two.withCString { two in
      guard let three else { return unsafe body(one, two, nil) }
      return unsafe three.withCString { three in unsafe body(one, two, three) }
    }
  }
}

private func withOptionalBytes<Result>(
  _ bytes: [UInt8]?, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
) -> Result {
  guard let bytes else { return body(nil) }
  // An empty array may have no address, but an empty body is not the same as none.
  return unsafe (bytes + [0]).withUnsafeBufferPointer { padded in
    unsafe body(UnsafeBufferPointer(rebasing: padded.dropLast()))
  }
}
