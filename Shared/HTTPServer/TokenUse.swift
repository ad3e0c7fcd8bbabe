/// What a customer's own token may do at a route; a key is bounded by its scopes alone.
public enum TokenUse: Sendable, Equatable {
  /// Nothing: grants, merges, erasures and all that concerns more than one customer.
  case denied
  /// What the route does, where `{customer}` in its path is the token's own.
  case ownCustomer
  /// What the route does, as it shows nothing of any customer.
  case noCustomer
  /// What the route does: its handler calls `Request.admit(customer:)` before it answers.
  case admittedByHandler
}
