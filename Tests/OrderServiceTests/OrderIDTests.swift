import Cryptography
import HTTPServer
import Kafka
import TestSupport
import Testing

@testable import order_service

@Suite("Order ids") struct OrderIDTests {
  @Test(arguments: [1, 3, 12, 1000])
  func `an id is a version 4 UUID in lower case that carries its customer's partition`(
    partitions: Int
  ) {
    for number in 0..<200 {
      let customer = "customer-\(number)"
      let id = OrderID.make(customer: customer, partitions: partitions)
      #expect(UUIDs.normalized(id) == id)
      #expect(Array(id)[14] == "4")
      let expected = Partitioner.partition(forKey: Array(customer.utf8), partitions: partitions)
      #expect(OrderID.partition(of: id, partitions: partitions) == Int(expected))
    }
  }

  @Test func `ids of one customer differ`() {
    let ids = (0..<1000).map { _ in OrderID.make(customer: "alice", partitions: 12) }
    #expect(Set(ids).count == 1000)
  }
}
