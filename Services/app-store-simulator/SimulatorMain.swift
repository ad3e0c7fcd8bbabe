@main
struct SimulatorMain {
  static func main() {}
}
