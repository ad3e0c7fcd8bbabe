/// What acts next: a binary heap by time, then by number.
///
/// Entries that no longer fit what they name are skipped by the reader.
struct DueQueue: Sendable {
  struct Entry: Sendable, Equatable, Comparable {
    let time: Int64
    let key: UInt64

    static func < (a: Entry, b: Entry) -> Bool { (a.time, a.key) < (b.time, b.key) }
  }

  private var heap: [Entry] = []

  var first: Entry? { heap.first }
  var count: Int { heap.count }

  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0, heap[child] < heap[(child - 1) / 2] {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child] < heap[least] { least = child }
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
