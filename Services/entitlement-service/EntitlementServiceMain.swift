@main
struct EntitlementServiceMain {
  static func main() {}
}
