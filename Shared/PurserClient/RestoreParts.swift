/// A restore in as many requests as it takes: the service has a bound on each.
enum RestoreParts {
  /// So many proofs stand in one request at most.
  static let most = 80
  /// So many bytes of proofs; the service takes bodies of 512 KiB.
  static let mostBytes = 450 * 1024

  /// What the service answers to one of them.
  struct Answer: Decodable, Sendable {
    let id: String
    let decided: Bool
    let items: [RestoreResult.Item]
  }

  /// Proofs in their order, in parts that the service takes.
  static func parts(of signed: [String]) -> [[String]] {
    var parts: [[String]] = []
    var bytes = 0
    for text in signed {
      // Quotes and a comma around each.
      let size = text.utf8.count + 3
      if let last = parts.last, last.count < most, bytes + size <= mostBytes {
        parts[parts.count - 1].append(text)
        bytes += size
      } else {
        parts.append([text])
        bytes = size
      }
    }
    return parts
  }
}

extension RestoreResult {
  /// Takes in the answer to the next part; places count on.
  mutating func add(_ answer: RestoreParts.Answer) {
    let before = items.count
    ids.append(answer.id)
    decided = decided && answer.decided
    items += answer.items.enumerated().map { index, item in
      var item = item
      item.place = "signedTransactions[\(before + index)]"
      return item
    }
  }
}
