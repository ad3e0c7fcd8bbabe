import Glibc

/// Owns the lock on a store: `flock` on `<store>.lock`, in which the owner's process id stands.
///
/// Not `locking_mode=EXCLUSIVE`, which would shut out this process's own readers. The kernel drops
/// the lock when the process dies, however it dies; the file stays.
public struct StoreLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock of a store.
  ///
  /// - Throws: `SQLiteError` `.ownedElsewhere` when another process has it.
  public init(store path: String) throws(SQLiteError) {
    let lockPath = "\(path).lock"
    let descriptor = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw SQLiteError(
        code: .cannotOpen,
        message: "cannot open the lock file \(lockPath): \(systemMessage(errno)); "
          + "the folder must exist and this process must be allowed to write in it")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      let owner = Self.owner(descriptor)
      Glibc.close(descriptor)
      guard reason == EWOULDBLOCK else {
        throw SQLiteError(
          code: .ioError, message: "cannot lock \(lockPath): \(systemMessage(reason))")
      }
      throw SQLiteError(
        code: .ownedElsewhere,
        message: "the store \(path) is in use by process \(owner); "
          + "stop that process or give this one a store of its own")
    }
    Self.write(owner: "\(getpid())\n", to: descriptor)
    self.descriptor = descriptor
  }

  deinit {
    Glibc.close(descriptor)
  }

  private static func owner(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    let digits = bytes.prefix(max(0, count)).filter { (0x30...0x39).contains($0) }
    return digits.isEmpty ? "unknown" : String(decoding: digits, as: UTF8.self)
  }

  /// Only for the text of an error elsewhere, so a full disk does not matter here.
  private static func write(owner: String, to descriptor: Int32) {
    _ = ftruncate(descriptor, 0)
    var owner = owner
    _ = owner.withUTF8 { bytes in unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, 0) }
  }
}

private func systemMessage(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
