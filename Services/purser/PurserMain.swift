@main
struct PurserMain {
  static func main() {}
}
