@main
struct VerifyServiceMain {
  static func main() {}
}
