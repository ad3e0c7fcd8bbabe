import CRdkafka

/// Hands records to `rd_kafka_produceva`.
enum Producing {
  /// Enqueues a record; the report will be called exactly once if and only if this returns.
  ///
  /// librdkafka copies key and value (`RD_KAFKA_MSG_F_COPY`) and owns the headers on success.
  static func enqueue(
    _ record: Record, _ report: PendingReport, on handle: OpaquePointer
  ) throws(KafkaError) {
    let headers = unsafe makeHeaders(record.headers)
    let opaque = unsafe Unmanaged.passRetained(report).toOpaque()
    let error = unsafe record.topic.withCString { topic in
      unsafe withBytes(record.key) { key in
        unsafe withBytes(record.value) { value in
          unsafe withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 8) { fields in
            unsafe fields.initialize(repeating: rd_kafka_vu_t())
            unsafe fields[0].vtype = RD_KAFKA_VTYPE_TOPIC
            unsafe fields[0].u.cstr = topic
            unsafe fields[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS
            unsafe fields[1].u.i = RD_KAFKA_MSG_F_COPY
            unsafe fields[2].vtype = RD_KAFKA_VTYPE_KEY
            unsafe fields[2].u.mem = key
            unsafe fields[3].vtype = RD_KAFKA_VTYPE_VALUE
            unsafe fields[3].u.mem = value
            unsafe fields[4].vtype = RD_KAFKA_VTYPE_OPAQUE
            unsafe fields[4].u.ptr = opaque
            unsafe fields[5].vtype = RD_KAFKA_VTYPE_PARTITION
            unsafe fields[5].u.i32 = record.partition ?? RD_KAFKA_PARTITION_UA
            // Zero asks for the current time.
            unsafe fields[6].vtype = RD_KAFKA_VTYPE_TIMESTAMP
            unsafe fields[6].u.i64 = record.timestamp ?? 0
            var count = 7
            if let headers = unsafe headers {
              unsafe fields[7].vtype = RD_KAFKA_VTYPE_HEADERS
              unsafe fields[7].u.headers = headers
              count = 8
            }
            return unsafe rd_kafka_produceva(handle, fields.baseAddress, count)
          }
        }
      }
    }
    guard let error = unsafe error else { return }
    // Refused: no callback will come, so the retain and the headers are ours again.
    unsafe Unmanaged<PendingReport>.fromOpaque(opaque).release()
    if let headers = unsafe headers { unsafe rd_kafka_headers_destroy(headers) }
    throw unsafe KafkaError(consuming: error, "record for \(record.topic) was not taken")
  }

  private static func makeHeaders(_ headers: [Header]) -> OpaquePointer? {
    guard !headers.isEmpty, let list = unsafe rd_kafka_headers_new(headers.count) else {
      return nil
    }
    for header in headers {
      var name = header.name
      name.withUTF8 { name in
        unsafe withBytes(header.value) { value in
          unsafe name.withMemoryRebound(to: CChar.self) { name in
            _ = unsafe rd_kafka_header_add(
              list, name.baseAddress, name.count, value.ptr, value.size)
          }
        }
      }
    }
    return unsafe list
  }

  private typealias Memory = rd_kafka_vu_t.__Unnamed_union_u.__Unnamed_struct_mem

  /// Null stands for an absent value, so empty bytes need an address of their own.
  private static func withBytes<R>(_ bytes: [UInt8]?, _ body: (Memory) -> R) -> R {
    guard let bytes else { return unsafe body(Memory(ptr: nil, size: 0)) }
    if bytes.isEmpty {
      return unsafe withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
        unsafe body(Memory(ptr: empty.baseAddress, size: 0))
      }
    }
    return unsafe bytes.withUnsafeBytes { buffer in
      unsafe body(
        Memory(ptr: UnsafeMutableRawPointer(mutating: buffer.baseAddress), size: buffer.count))
    }
  }
}
