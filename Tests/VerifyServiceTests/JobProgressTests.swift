import FoundationEssentials
import HTTPServer
import Testing

@testable import verify_service

/// How far the jobs of several shards are, as one answer.
@Suite("Jobs of all shards") struct JobProgressTests {
  private static let shards = [
    #"""
    {"backFill":[{"bundleId":"a","environment":"Production","doneUntil":5,"isReading":true,"fetched":3,"recovered":1}],
     "reconcile":[{"bundleId":"a","environment":"Production","watched":4,"nextDueAt":900}],
     "refundSweep":[{"bundleId":"a","environment":"Production","finishedAt":70,"asked":2,"recovered":1}],
     "importsWaiting":2,"consumption":[{"state":"sent","requests":1}]}
    """#,
    #"""
    {"backFill":[],
     "reconcile":[{"bundleId":"a","environment":"Production","watched":6,"nextDueAt":300},
                  {"bundleId":"b","environment":"Sandbox","watched":1}],
     "refundSweep":[{"bundleId":"a","environment":"Production","asked":5,"recovered":0}],
     "importsWaiting":0,"consumption":[{"state":"failed","requests":2},{"state":"sent","requests":3}]}
    """#,
    #"""
    {"backFill":[],"reconcile":[],
     "refundSweep":[{"bundleId":"a","environment":"Production","finishedAt":80,"asked":1,"recovered":0}],
     "importsWaiting":1,"consumption":[]}
    """#,
  ]

  @Test func `what is counted is the sum of all shards, and a sweep is done when all are`() throws {
    let answer = try JobProgress.ofAllShards.combine(
      Self.shards.map { Response.json(bytes: Array($0.utf8)) })
    let jobs = try JSONDecoder().decode(JobProgress.self, from: Data(answer.body))
    #expect(jobs.backFill.map(\.fetched) == [3])
    #expect(jobs.reconcile.map(\.watched) == [10, 1])
    #expect(jobs.reconcile.map(\.nextDueAt) == [300, nil])
    #expect(jobs.refundSweep.map(\.asked) == [8])
    #expect(jobs.refundSweep.map(\.finishedAt) == [nil])
    #expect(jobs.importsWaiting == 3)
    #expect(jobs.consumption.map(\.state) == ["failed", "sent"])
    #expect(jobs.consumption.map(\.requests) == [2, 4])
  }
}
