/// Prices as decimal text.
enum Price {
  /// A price in thousandths of the currency unit.
  ///
  /// Nil unless the text is digits with an optional point and digits after it, nothing but zeros
  /// beyond the third, and at most twelve digits before it.
  static func milliunits(_ text: String) -> Int64? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), (1...12).contains(parts[0].count) else { return nil }
    let fraction = parts.count == 2 ? Array(parts[1]) : []
    guard parts.count == 1 || (1...12).contains(fraction.count) else { return nil }
    guard fraction.dropFirst(3).allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
    let kept = fraction.prefix(3)
    let padding = repeatElement(UInt8(ascii: "0"), count: 3 - kept.count)
    var value: Int64 = 0
    for digit in Array(parts[0]) + kept + padding {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return value
  }
}
