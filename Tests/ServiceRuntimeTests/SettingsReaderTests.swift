import FoundationEssentials
import ServiceRuntime
import TestSupport
import Testing

@Suite struct `Settings` {
  private enum Role: String, CaseIterable { case edge, ledger, all }

  private func file(_ text: String) throws -> String {
    let path = TestFolder.path("settings")
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test func `values are read and defaults stand in`() throws {
    var reader = SettingsReader([
      "HOST": "example.org", "PORT": "8080", "WAIT": "7", "INSECURE": "Yes", "ROLE": "edge",
      "KAFKA_ACKS": "all", "KAFKA_": "nothing",
    ])
    #expect(reader.text("HOST", default: "localhost", "host") == "example.org")
    #expect(reader.text("OTHER", default: "localhost", "host") == "localhost")
    #expect(reader.requiredText("HOST", "host") == "example.org")
    #expect(reader.optionalText("NOBODY", "a name") == nil)
    #expect(reader.integer("PORT", default: 1, in: 1...65535, "port") == 8080)
    #expect(reader.integer("OTHER_PORT", default: 1, in: 1...65535, "port") == 1)
    #expect(reader.seconds("WAIT", default: 1, in: 0...60, "wait") == .seconds(7))
    #expect(reader.flag("INSECURE", default: false, "flag") == true)
    #expect(reader.flag("SECURE", default: false, "flag") == false)
    #expect(reader.choice("ROLE", default: Role.all, "role") == .edge)
    #expect(reader.choice("ROLE2", default: Role.all, "role") == .all)
    #expect(reader.prefixed("KAFKA_", "librdkafka") == ["ACKS": "all"])
    try reader.finish()
  }

  @Test func `all faults are told at once, each with its name and what to give`() throws {
    var reader = SettingsReader([
      "PORT": "70000", "WAIT": "soon", "INSECURE": "perhaps", "ROLE": "king", "EMPTY": "",
    ])
    _ = reader.requiredText("BOOTSTRAP", "give the broker's address")
    _ = reader.requiredText("EMPTY", "give something")
    _ = reader.integer("PORT", default: 8080, in: 1...65535, "port")
    _ = reader.seconds("WAIT", default: 1, in: 0...60, "wait")
    _ = reader.flag("INSECURE", default: false, "flag")
    _ = reader.choice("ROLE", default: Role.all, "role")
    reader.fault("CATALOG", "names no file")
    let error = #expect(throws: SettingsError.self) { try reader.finish() }
    #expect(
      error?.faults.map(\.name) == [
        "BOOTSTRAP", "EMPTY", "PORT", "WAIT", "INSECURE", "ROLE", "CATALOG",
      ])
    let lines = error?.description.split(separator: "\n").map(String.init) ?? []
    #expect(lines.count == 7)
    #expect(lines.contains("BOOTSTRAP is not set; give the broker's address"))
    #expect(lines.contains("PORT is '70000'; give a whole number from 1 to 65535"))
    #expect(lines.contains("ROLE is 'king'; give one of edge, ledger, all"))
    #expect(SettingsError.exitCode == 78)
  }

  @Test(arguments: ["hunter2", "hunter2\n", "hunter2\r\n"])
  func `a secret comes from a file, without the newline that editors add`(_ text: String) throws {
    let path = try file(text)
    var reader = SettingsReader(["TOKEN_FILE": path])
    #expect(reader.secret("TOKEN", "token")?.reveal == "hunter2")
    try reader.finish()
  }

  @Test func `a key of several lines keeps them`() throws {
    let key = "-----BEGIN PRIVATE KEY-----\nMIGT\n-----END PRIVATE KEY-----"
    var reader = SettingsReader(["KEY_FILE": try file("\(key)\n")])
    #expect(reader.secret("KEY", "key")?.reveal == key)
  }

  @Test func `an empty secret file is a fault, not an empty secret`() throws {
    var reader = SettingsReader(["KEY_FILE": try file("\n")])
    #expect(reader.secret("KEY", "key") == nil)
    #expect(reader.faults.map(\.name) == ["KEY_FILE"])
  }

  @Test func `a secret comes from its variable, or is absent`() throws {
    var reader = SettingsReader(["TOKEN": "hunter2", "EMPTY": "", "EMPTY_FILE": ""])
    #expect(reader.secret("TOKEN", "token")?.reveal == "hunter2")
    #expect(reader.secret("EMPTY", "token") == nil)
    #expect(reader.secret("ABSENT", "token") == nil)
    try reader.finish()
  }

  @Test func `a secret never shows in errors, prints or dumps`() throws {
    var reader = SettingsReader(["TOKEN": "hunter2", "TOKEN_FILE": "/nowhere", "KEY_FILE": "/nope"])
    #expect(reader.secret("TOKEN", "token") == nil)
    #expect(reader.secret("KEY", "key") == nil)
    let error = #expect(throws: SettingsError.self) { try reader.finish() }
    let text = error?.description ?? ""
    #expect(text.contains("TOKEN is set, and so is TOKEN_FILE; give only one of them"))
    #expect(text.contains("KEY_FILE names '/nope', which cannot be read"))
    #expect(!text.contains("hunter2"))

    let secret = Secret("hunter2")
    var dumped = ""
    dump([secret], to: &dumped)
    let shown = ["\(secret)", String(reflecting: secret), "\(Optional(secret) as Any)", dumped]
    for text in shown { #expect(!text.contains("hunter2")) }
  }

  @Test func `help lists every setting with its default`() {
    var reader = SettingsReader([:])
    _ = reader.requiredText("BOOTSTRAP", "the broker's address")
    _ = reader.integer("PORT", default: 8080, in: 1...65535, "the port")
    _ = reader.secret("TOKEN", "the token")
    #expect(reader.declarations.map(\.name) == ["BOOTSTRAP", "PORT", "TOKEN", "TOKEN_FILE"])
    #expect(reader.helpText.contains("BOOTSTRAP\n      the broker's address [required]"))
    #expect(reader.helpText.contains("PORT\n      the port (1 to 65535) [default 8080]"))
  }

  @Test func `a variable that is nearly a setting is told with the one that was meant`() {
    var reader = SettingsReader([
      "ORDER_LIFTIME": "60", "ORDER_LIFETIME": "70", "PURSER_SHARDS": "3",
      "PURSER_LOG_LEVEL": "info", "PATH": "/bin", "VERIFY_STORE": "/v", "KAFKA_ACKS": "all",
    ])
    _ = reader.integer("ORDER_LIFETIME", default: 1, in: 1...100, "a time")
    _ = reader.text("PURSER_LOG_LEVEL", default: "info", "a level")
    _ = reader.integer("PURSER_SHARD_COUNT", default: 1, in: 1...9, "a number")
    _ = reader.prefixed("KAFKA_", "the broker")
    #expect(reader.unknown.map(\.name) == ["ORDER_LIFTIME", "PURSER_SHARDS"])
    #expect(reader.unknown.map(\.nearest) == ["ORDER_LIFETIME", nil])
  }

  @Test func `what Kubernetes and the tool have in the environment is nobody's slip`() {
    var reader = SettingsReader([
      "ORDER_SERVICE_SERVICE_HOST": "10.0.0.1", "ORDER_SERVICE_SERVICE_PORT_HTTP": "8081",
      "ORDER_SERVICE_PORT": "tcp://10.0.0.1:8081", "ORDER_SERVICE_PORT_8081_TCP_ADDR": "10.0.0.1",
      "PURSER_ADMIN_KEY_FILE": "/run/key", "PURSER_HTTP_PORT": "80",
    ])
    _ = reader.text("ORDER_STORE", default: "", "a store")
    _ = reader.text("PURSER_LOG_LEVEL", default: "info", "a level")
    #expect(reader.unknown.map(\.name) == ["PURSER_HTTP_PORT"])
  }

  @Test func `a warning that stays true is said at once, when it changes, and after a while`() {
    var repeats = Repeats(every: .seconds(30))
    let start = ContinuousClock.now
    let said = [("no topics", 0), ("no topics", 29), ("no broker", 29), ("no broker", 60)].map {
      text, second in repeats.isDue(text, at: start + .seconds(second))
    }
    #expect(said == [true, false, true, true])
  }
}
