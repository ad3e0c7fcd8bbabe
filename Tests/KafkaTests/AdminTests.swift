import Kafka
import ServiceRuntime
import Testing

@Suite(.timeLimit(.minutes(2)))
struct `The admin client` {
  @Test func `makes topics as specified and tells of them`() async throws {
    let admin = try newAdmin(KafkaSubject.devBroker.configuration)
    let name = KafkaSubject.newName("made")
    let specification = TopicSpecification(
      name: name, partitions: 5,
      settings: ["retention.ms": "-1", "cleanup.policy": "compact", "max.message.bytes": "2097152"])
    try await admin.perform { admin throws(KafkaError) in
      try admin.create([specification], timeout: .seconds(10))
    }
    let description = try await admin.perform { admin throws(KafkaError) in
      try admin.topics(timeout: .seconds(10))[name]
    }
    #expect(
      description
        == TopicDescription(name: name, partitions: 5, replicationFactor: 1, hasLeaders: true))
    let settings = try await admin.perform { admin throws(KafkaError) in
      try admin.settings(of: name, timeout: .seconds(10))
    }
    #expect(settings["retention.ms"] == "-1")
    #expect(settings["cleanup.policy"] == "compact")
    #expect(settings["max.message.bytes"] == "2097152")
    await admin.close()
  }

  @Test func `says which topic exists already and makes the others`() async throws {
    let admin = try newAdmin(KafkaSubject.devBroker.configuration)
    let old = TopicSpecification(name: KafkaSubject.newName("old"), partitions: 1)
    let new = TopicSpecification(name: KafkaSubject.newName("new"), partitions: 1)
    try await admin.perform { admin throws(KafkaError) in
      try admin.create([old], timeout: .seconds(10))
    }
    let error = await #expect(throws: KafkaError.self) {
      try await admin.perform { admin throws(KafkaError) in
        try admin.create([old, new], timeout: .seconds(10))
      }
    }
    #expect(error?.code == .topicAlreadyExists)
    #expect(error?.isRetriable == false)
    #expect(error?.reason.contains(old.name) == true)
    let topics = try await admin.perform { admin throws(KafkaError) in
      try admin.topics(timeout: .seconds(10))
    }
    #expect(topics[new.name] != nil)
    await admin.close()
  }

  @Test func `deletes topics`() async throws {
    let subject = KafkaSubject.devBroker
    let topic = try await subject.newTopic()
    let admin = try newAdmin(subject.configuration)
    let topics = try await admin.perform { admin throws(KafkaError) in
      try admin.delete([topic], timeout: .seconds(10))
      return try admin.topics(timeout: .seconds(10))
    }
    #expect(topics[topic] == nil)
    await admin.close()
  }

  @Test func `knows whether a broker answers`() async throws {
    let cluster = try MockCluster()
    let admin = try newAdmin(cluster.configuration)
    let before = try await admin.perform { $0.isReachable(timeout: .seconds(10)) }
    try cluster.setBroker(1, isUp: false)
    let after = try await admin.perform { $0.isReachable(timeout: .milliseconds(200)) }
    #expect(before && !after)
    await admin.close()
  }

  @Test func `takes no calls after its end`() async throws {
    let admin = try newAdmin(.bootstrap("127.0.0.1:1"))
    await admin.close()
    let error = await #expect(throws: KafkaError.self) {
      try await admin.perform { admin throws(KafkaError) in
        try admin.topics(timeout: .seconds(1))
      }
    }
    #expect(error?.code == .closed)
  }
}
