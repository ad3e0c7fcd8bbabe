import CMicrohttpd

/// A `MHD_Connection` that is handled by libmicrohttpd.
///
/// Crosses threads for one call only. microhttpd.h on `MHD_resume_connection`: "It is safe to resume
/// a suspended connection at any time." Everything else happens on the connection's own thread.
@safe struct ConnectionHandle: @unchecked Sendable {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  /// Takes the connection out of the event loop; only from within its own step.
  func suspend() { unsafe purser_http_suspend(handle) }

  /// Puts it back; exactly once for each `suspend`.
  func resume() { unsafe purser_http_resume(handle) }

  /// The header fields as they came.
  func headers() -> Headers {
    var fields: [(String, String)] = []
    unsafe withUnsafeMutablePointer(to: &fields) { list in
      unsafe purser_http_each_field(handle, list) { list, name, nameLength, value, valueLength in
        guard let list = unsafe list, let name = unsafe name, let value = unsafe value else {
          return
        }
        unsafe list.assumingMemoryBound(to: [(String, String)].self).pointee.append(
          (text(name, nameLength), text(value, valueLength)))
      }
    }
    return Headers(fields)
  }

  /// Queues an answer; false when libmicrohttpd refuses it, and then the connection must be closed.
  func answer(_ response: Response) -> Bool {
    let (fields, count) = fields(of: response)
    return unsafe fields.withUnsafeBytes { fields in
      unsafe response.body.withUnsafeBufferPointer { body in
        unsafe purser_http_answer(
          handle, UInt32(response.status), body.baseAddress, body.count,
          fields.bindMemory(to: CChar.self).baseAddress, count) != 0
      }
    }
  }

  /// Queues an answer whose body is what a stream gives; false as above.
  func answer(_ response: Response, with stream: OutgoingStream) -> Bool {
    let (fields, count) = fields(of: response)
    return unsafe fields.withUnsafeBytes { fields in
      unsafe purser_http_stream(
        handle, UInt32(response.status), fields.bindMemory(to: CChar.self).baseAddress, count,
        Unmanaged.passRetained(stream).toOpaque(),
        { context, buffer, maximum in
          guard let context = unsafe context, let buffer = unsafe buffer else { return -1 }
          return unsafe Unmanaged<OutgoingStream>.fromOpaque(context).takeUnretainedValue().read(
            into: UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
        },
        { context in
          if let context = unsafe context {
            unsafe Unmanaged<OutgoingStream>.fromOpaque(context).release()
          }
        }) != 0
    }
  }

  /// Name NUL value NUL for each field that may be sent, and their number.
  private func fields(of response: Response) -> ([UInt8], Int) {
    var fields: [UInt8] = []
    var count = 0
    for (name, value) in response.headers where isSendable(name, value) {
      fields += name.utf8
      fields.append(0)
      fields += value.utf8
      fields.append(0)
      count += 1
    }
    fields.append(0)
    return (fields, count)
  }

  /// Content-Length and Date come from libmicrohttpd; control characters would split the answer.
  private func isSendable(_ name: String, _ value: String) -> Bool {
    HeadCheck.isToken(name) && !Headers.same(name, "Content-Length")
      && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}

private func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
  unsafe String(
    decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
}
