import HTTPClient

extension APIError {
  /// What to do about it, for a person.
  public var advice: String {
    switch kind {
    case .refused(let code): code.advice
    case .unauthorized:
      """
      Apple does not say why. Check that the key is an In-App Purchase key, not one of the App Store \
      Connect API; that key id and issuer id belong to it and it is not revoked; that the bundle id \
      is the app's; that the clock is right. For an app that was never released production answers \
      the same, whatever the key: if the sandbox takes it, nothing is to be done.
      """
    case .status:
      status == 404
        ? "No such path: the base URL points to something that is not Apple's API."
        : "Apple or something on the way is out of order; try again later."
    case .garbled:
      "Try again; if it stays, something on the way answers in Apple's place, such as a proxy."
    case .unexpectedAnswer: "Apple's answer has a new form; Purser needs an update."
    case .transport(let error): Self.advice(on: error.kind)
    case .limited: "Wait as said, or spread the work over a longer time."
    case .noServer:
      "Name an environment with a server; Xcode has none, so its purchases stay local."
    case .badRequest(let field): "Correct \(field)."
    case .signing: "Check the API key."
    case .unknownTransaction:
      "Apple does not know the id for this app and these environments; grant nothing."
    case .endlessPages: "Narrow the query, or look whether the answers come from Apple."
    case .cancelled: "Nothing; the caller gave up."
    }
  }

  private static func advice(on kind: HTTPClientError.Kind) -> String {
    switch kind {
    case .nameUnknown, .cannotConnect:
      "Check the name service, the firewall and the proxy: port 443 of Apple's hosts must be open."
    case .timedOut, .cut, .busy: "Try again; if it stays, look at the network."
    case .tls: "Check the clock, the trusted authorities and whether a proxy opens the connection."
    case .invalidRequest, .forbiddenAddress, .configuration: "Check the base URL and the CA file."
    case .tooLarge: "The answer is longer than any of Apple's; check the base URL."
    case .cancelled, .closed: "Nothing; the service is stopping."
    case .other: "Look at curl's words."
    }
  }
}
