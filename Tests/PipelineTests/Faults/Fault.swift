/// Something that goes wrong while customers buy.
enum Fault: Sendable, CustomStringConvertible {
  /// SIGKILL of some services at once; started again after a time.
  case kill([String], downFor: Duration)
  /// SIGKILL inside a step, the nth time that a service gets there; started again at once.
  case crash(String, point: String, time: Int)
  /// SIGTERM, after which a service must end in time and well; started again at once.
  case terminate(String)
  /// The broker neither answers nor closes for a time.
  case freezeBroker(Duration)
  /// A service stands still for a time.
  case freeze(String, Duration)
  /// A second process is started on a store that is in use.
  case startTwice(String)
  /// The disk takes nothing of a service's store for a time.
  case fillDisk(String, Duration)
  /// The disk with a service's store takes no writes for a time, as after an error of the device.
  case readOnlyDisk(String, Duration)
  /// The broker cuts all connections and takes none for a time; on the mock cluster.
  case brokerDown(Duration)
  /// The broker takes so long for each answer, for a time; on the mock cluster.
  case slowBroker(Duration, Duration)
  /// The broker answers the next requests of each kind with errors that pass; on the mock cluster.
  case brokerErrors
  /// The broker answers a producer so that librdkafka gives it up for good; on the mock cluster.
  case fatalProducer
  /// The services' clock is wrong by some milliseconds for a time.
  case stepClock(by: Int64, Duration)

  /// The steps that the library FaultInjection knows.
  static let points = [
    "before-commit", "after-commit", "after-produce", "before-removal", "after-removal",
  ]

  var description: String {
    switch self {
    case .kill(let names, let time): "SIGKILL \(names.joined(separator: " and ")), down for \(time)"
    case .crash(let name, let point, let time): "SIGKILL \(name) at \(point), time \(time)"
    case .terminate(let name): "SIGTERM \(name)"
    case .freezeBroker(let time): "the broker stands still for \(time)"
    case .freeze(let name, let time): "\(name) stands still for \(time)"
    case .startTwice(let name): "\(name) is started twice on one store"
    case .fillDisk(let name, let time): "the disk is full for \(name) for \(time)"
    case .readOnlyDisk(let name, let time): "the disk is read-only for \(name) for \(time)"
    case .brokerDown(let time): "the broker is down for \(time)"
    case .slowBroker(let round, let time): "the broker answers after \(round), for \(time)"
    case .brokerErrors: "the broker answers with errors"
    case .fatalProducer: "a producer is given up by librdkafka"
    case .stepClock(let shift, let time): "the clock is wrong by \(shift) ms for \(time)"
    }
  }

  /// A fault by chance.
  static func random(_ random: inout some RandomNumberGenerator) -> Fault {
    let services = Way.services.shuffled(using: &random)
    let name = services[0]
    func time(_ range: ClosedRange<Int>, _ random: inout some RandomNumberGenerator) -> Duration {
      .milliseconds(Int.random(in: range, using: &random))
    }
    switch Int.random(in: 0..<15, using: &random) {
    case 0...2: return .kill([name], downFor: time(0...1500, &random))
    case 3: return .kill(Array(services.prefix(2)), downFor: time(0...1000, &random))
    case 4: return .kill(services, downFor: time(0...1000, &random))
    case 5...7:
      let point = points.randomElement(using: &random) ?? points[0]
      return .crash(name, point: point, time: Int.random(in: 1...60, using: &random))
    case 8: return .terminate(name)
    case 9: return .freezeBroker(time(500...4000, &random))
    case 10: return .freeze(name, time(200...3000, &random))
    case 11: return .startTwice(name)
    case 12: return .fillDisk(name, time(200...3000, &random))
    case 13: return .readOnlyDisk(name, time(200...3000, &random))
    default:
      let shift = Int64.random(in: -3_600_000...3_600_000, using: &random)
      return .stepClock(by: shift, time(200...2000, &random))
    }
  }
}
