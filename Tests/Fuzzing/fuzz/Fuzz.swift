import AppStore
import CFuzzer
import Glibc

/// Feeds the readers of hostile input with what libFuzzer finds: `fuzz jws corpus -max_total_time=60`.
///
/// A crash, a hang, or more memory than allowed ends the process with a file that repeats it.
@main
struct Fuzz {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 1, let reader = Reader(rawValue: arguments[1]) else {
      let names = Reader.allCases.map(\.rawValue).joined(separator: ", ")
      print("usage: fuzz \(names) [libFuzzer's arguments]")
      exit(64)
    }
    // libFuzzer keeps the arguments, so they live as long as the process.
    let kept = [arguments[0]] + arguments.dropFirst(2)
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
      capacity: kept.count + 1)
    for (index, argument) in kept.enumerated() { unsafe pointers[index] = strdup(argument) }
    unsafe pointers[kept.count] = nil
    var count = Int32(kept.count)
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe pointers
    switch reader {
    case .jws: unsafe run(&count, &list) { data, size in unsafe Readers.jws(bytes(data, size)) }
    case .receipt:
      unsafe run(&count, &list) { data, size in unsafe Readers.receipt(bytes(data, size)) }
    case .json: unsafe run(&count, &list) { data, size in unsafe Readers.json(bytes(data, size)) }
    case .ocsp: unsafe run(&count, &list) { data, size in unsafe Readers.ocsp(bytes(data, size)) }
    }
  }

  /// What is read.
  enum Reader: String, CaseIterable {
    case jws
    case receipt
    case json
    case ocsp
  }

  private static func run(
    _ count: inout Int32,
    _ list: inout UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) {
    exit(unsafe LLVMFuzzerRunDriver(&count, &list, one))
  }
}

private func bytes(_ data: UnsafePointer<UInt8>?, _ size: Int) -> [UInt8] {
  unsafe Array(UnsafeBufferPointer(start: data, count: size))
}
