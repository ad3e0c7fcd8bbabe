import Glibc

/// The operator's tool: shows the whole way, and looks after topics.
@main
struct PurserMain {
  static func main() {
    exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
  }
}
