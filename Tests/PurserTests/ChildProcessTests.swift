import Glibc
import TestSupport
import Testing

@Suite struct `A process that we start` {
  @Test func `has none of our descriptors, however many there are`() async throws {
    // As C libraries open them: not closed at exec.
    let ours = (0..<400).map { _ in dup(STDERR_FILENO) }
    defer { for descriptor in ours { close(descriptor) } }
    #expect(ours.allSatisfy { $0 > STDERR_FILENO })
    let listed = try await Script.run("/bin/ls", ["/proc/self/fd"])
    // The fourth is the folder that `ls` reads.
    #expect(listed.output.split(separator: "\n") == ["0", "1", "2", "3"])
  }
}
