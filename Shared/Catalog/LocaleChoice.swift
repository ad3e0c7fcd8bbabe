extension Product {
  /// The localization for languages in the order in which they are wanted (RFC 4647 §3.4, lookup).
  ///
  /// Without a fitting one, that of `fallback`, or the first. Nil if the product has none.
  public func localization(for languages: [String], otherwise fallback: String?)
    -> Localization?
  {
    let offered = localizations.map { (Localization.tag($0.locale), $0) }
    for language in languages {
      if language == "*" { break }
      var wanted = Localization.tag(language)
      while !wanted.isEmpty {
        if let exact = offered.first(where: { $0.0 == wanted }) { return exact.1 }
        // A region of the language is nearer than another language: `en` finds `en-us`.
        if let wider = offered.first(where: { $0.0.hasPrefix(wanted + "-") }) { return wider.1 }
        wanted = wanted.lastIndex(of: "-").map { String(wanted[..<$0]) } ?? ""
      }
    }
    let named = fallback.flatMap { fallback in
      offered.first { $0.0 == Localization.tag(fallback) }?.1
    }
    return named ?? localizations.first
  }
}
