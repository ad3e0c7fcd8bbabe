@main
struct OrderServiceMain {
  static func main() {}
}
