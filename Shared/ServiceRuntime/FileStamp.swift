import Glibc

/// By what a changed file is told from an unchanged one, without reading it.
public struct FileStamp: Sendable, Equatable {
  private let device: UInt
  private let inode: UInt
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  /// Looks at a file, through symbolic links; one that is not there has a stamp too.
  public init(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      (device, inode, size, seconds, nanoseconds) = (0, 0, -1, 0, 0)
      return
    }
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    size = Int(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
