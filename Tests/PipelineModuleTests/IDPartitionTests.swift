import Cryptography
import Kafka
import TestSupport
import Testing

@testable import Pipeline

@Suite("Ids that carry a partition") struct IDPartitionTests {
  @Test(arguments: [1, 3, 12, 1000])
  func `an id is a version 4 UUID in lower case that carries its customer's partition`(
    partitions: Int
  ) {
    for number in 0..<200 {
      let customer = "customer-\(number)"
      let expected = Partitioner.partition(forKey: Array(customer.utf8), partitions: partitions)
      let id = IDPartition.uuid(of: expected, partitions: partitions)
      #expect(UUIDs.normalized(id) == id)
      #expect(Array(id)[14] == "4")
      #expect(IDPartition.partition(of: id, partitions: partitions) == expected)
      let stamped = IDPartition.stamp(UUIDs.version4(), expected, partitions: partitions)
      #expect(IDPartition.partition(of: stamped, partitions: partitions) == expected)
    }
  }

  @Test func `ids of one partition differ`() {
    let ids = (0..<1000).map { _ in IDPartition.uuid(of: 7, partitions: 12) }
    #expect(Set(ids).count == 1000)
  }
}
