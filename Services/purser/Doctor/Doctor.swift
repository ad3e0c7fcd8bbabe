import Catalog
import HTTPClient
import ServiceRuntime

/// Examines an installation, part by part; a part that cannot be read does not keep the others from
/// being looked at.
struct Doctor {
  struct Options: Sendable {
    let config: String
    let asksApple: Bool
    let testsNotifications: Bool
    let isDeep: Bool
  }

  let options: Options
  let settings: Settings

  /// Blocks; for the main thread.
  func examine() -> [Finding] {
    var findings: [Finding] = []
    do {
      let apps = try Apps.load(path: options.config)
      findings.append(
        .good("purser.json", options.config, "\(apps.all.count) apps, readable and complete"))
      findings += examine(apps)
    } catch {
      findings.append(
        .fault(
          "purser.json", options.config, "cannot be used: \(error)",
          "correct the places named; --config or PURSER_CONFIG name another file"))
    }
    let stores = settings.doctor.stores.map { store in
      (store, seen: StoreCheck(store: store, isDeep: options.isDeep).examine())
    }
    let shards = ShardCheck(
      known: stores.compactMap { store, seen in
        seen.shard.map { ShardCheck.Known(store: store, shard: $0) }
      }, count: settings.doctor.shardCount, partitions: settings.partitions)
    findings += TopicCheck(settings: settings, partitions: shards.expectedPartitions).findings()
    findings += shards.findings()
    findings += stores.flatMap(\.seen.findings)
    if stores.isEmpty {
      findings.append(
        .warning(
          "stores", "", "were not looked at: none is named",
          "set ORDER_STORE, VERIFY_STORE and ENTITLEMENT_STORE on the machine where they are"))
    }
    return findings
  }

  private func examine(_ apps: Apps) -> [Finding] {
    let (roots, rootFindings) = RootCheck(apps: apps, now: SystemClock().now()).examine()
    var findings = rootFindings
    for path in Set(apps.all.map(\.catalog)).sorted() {
      do {
        let catalog = try Catalog.load(path: path)
        findings.append(
          .good("catalog", path, "\(catalog.orderedProducts.count) products, readable"))
      } catch {
        findings.append(
          .fault("catalog", path, "cannot be used: \(error)", "correct the places named"))
      }
    }
    let (keys, keyFindings) = KeyCheck(apps: apps, variable: settings.doctor.variable).examine()
    findings += keyFindings
    guard options.asksApple else {
      findings.append(
        .warning("Apple", "", "was not asked (--offline)", "run it again without --offline"))
      return findings
    }
    let check = AppleCheck(
      apps: apps, keys: keys, roots: roots, doctor: settings.doctor,
      testsNotifications: options.testsNotifications)
    let answer = Completion<[Finding]>()
    // The checks wait for the network as tasks; this thread is the program's own and may block.
    Task { answer.complete(with: await check.findings()) }
    return findings + answer.wait()
  }
}
