import AppStore
import Catalog
import Glibc
import HTTPServer
import ServiceRuntime

/// Plays Apple's App Store for development and tests.
@main
struct SimulatorMain {
  static func main() async {
    var reader = Settings.environmentReader()
    let wantsHelp = CommandLine.arguments.dropFirst().contains { $0 == "--help" || $0 == "-h" }
    do throws(SettingsError) {
      let settings = try Settings(&reader)
      if wantsHelp { help(reader) }
      exit(await run(settings))
    } catch {
      if wantsHelp { help(reader) }
      say("app-store-simulator: \(error.faults.count) setting(s) cannot be used:\n\(error)")
      exit(SettingsError.exitCode)
    }
  }

  private static func help(_ reader: SettingsReader) -> Never {
    print("app-store-simulator plays Apple's App Store. Settings:\n\n\(reader.helpText)")
    exit(0)
  }

  private static func say(_ text: String) {
    StandardError.write(text + "\n")
  }

  private static func run(_ settings: Settings) async -> Int32 {
    let signals = ShutdownSignals()
    let log = Log(program: "app-store-simulator", minimumLevel: settings.logLevel)
    do {
      let parts = try Assembly(settings, log: log)
      log.info(
        "serving",
        [
          "port": LogValue(parts.server.port), "root": .string(settings.rootFile),
          "environment": .string(settings.environment.rawValue),
          "products": LogValue(settings.catalog.products.count),
        ])
      let group = ServiceGroup([parts.courier, parts.ticker, parts.server], log: log)
      return await group.run(signals: signals) == .clean ? 0 : 1
    } catch {
      log.error("cannot start", ["error": LogValue(error)])
      say("app-store-simulator cannot start: \(error)")
      return error is ClockFileError || error is RootFileError ? SettingsError.exitCode : 1
    }
  }
}

/// Standard error, unbuffered.
private enum StandardError {
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
