#!/usr/bin/env python3
"""Keeps a table of active customers in SQLite, from the topics of Purser. Needs confluent-kafka.

    active_customers.py --broker localhost:9092 --table active.sqlite

It begins with what every customer owns now (iap.entitlement-state) and goes on with what changes
(iap.entitlements). Each event is applied once, whatever is read twice: the customer's version, the rows and
the place in the topic change in one transaction. So it may be stopped or killed at any time, and goes on
where it was. Several of them may run, each with a table of its own.
"""

import argparse
import json
import signal
import sqlite3
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

PATIENCE = 30  # seconds for a question to the broker
HOUR = 3600 * 1000

TABLES = """
CREATE TABLE IF NOT EXISTS customers (customer TEXT PRIMARY KEY, version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS active (
  customer TEXT, environment TEXT, entitlement TEXT, product TEXT, expires_at INTEGER,
  PRIMARY KEY (customer, environment, entitlement));
CREATE TABLE IF NOT EXISTS positions (
  partition INTEGER PRIMARY KEY, next_offset INTEGER NOT NULL);
"""


class Table:
    """What we know; nothing counts before `commit`."""

    def __init__(self, path):
        self.store = sqlite3.connect(path)
        self.store.executescript(TABLES)

    def positions(self):
        return dict(self.store.execute("SELECT partition, next_offset FROM positions"))

    def move(self, partition, next_offset):
        self.store.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (partition, next_offset))

    def version(self, customer):
        row = self.store.execute("SELECT version FROM customers WHERE customer = ?", (customer,))
        return next(iter(row), (None,))[0]

    def set_version(self, customer, version):
        self.store.execute("INSERT OR REPLACE INTO customers VALUES (?, ?)", (customer, version))

    def put(self, customer, right):
        self.store.execute(
            "INSERT OR REPLACE INTO active VALUES (?, ?, ?, ?, ?)",
            (customer, right["environment"], right["name"], right.get("productId"), right.get("expiresAt")),
        )

    def remove(self, customer, right):
        self.store.execute(
            "DELETE FROM active WHERE customer = ? AND environment = ? AND entitlement = ?",
            (customer, right["environment"], right["name"]),
        )

    def forget(self, customer):
        self.store.execute("DELETE FROM active WHERE customer = ?", (customer,))

    def begin_with(self, customer, state):
        """The whole state of a customer; None for one who was erased."""
        known = self.version(customer)
        if state and known is not None and state["version"] <= known:
            return  # an older record that was written again
        self.forget(customer)
        if state:
            self.set_version(customer, state["version"])
            for right in state["entitlements"]:
                self.put(customer, right)

    def apply(self, kind, event):
        """One event; those that are known are skipped."""
        customer, version = event["customer"], event["version"]
        known = self.version(customer)
        if known is not None and version <= known:
            return
        if known is not None and version > known + 1:
            raise SystemExit(
                f"{customer}: version {version} came after {known}; remove the table and begin again"
            )
        self.set_version(customer, version)
        if kind.startswith("purser.entitlement."):
            right = event["entitlement"]
            self.put(customer, right) if right["isActive"] else self.remove(customer, right)
        elif kind == "purser.entitlements.customer-erased.v1":
            self.forget(customer)
        # Every other type moves the version and nothing that this table is about.

    def commit(self):
        self.store.commit()


def header(message, name):
    return next((value.decode() for key, value in message.headers() or [] if key == name), "")


def messages(consumer, count=500):
    for message in consumer.consume(count, timeout=0.2):
        if message.error():
            raise KafkaException(message.error())
        yield message


def partitions(consumer, topic):
    found = consumer.list_topics(topic, PATIENCE).topics[topic]
    return [TopicPartition(topic, number) for number in sorted(found.partitions)]


def bounds(consumer, places):
    """Where each partition begins and ends now."""
    return {p.partition: consumer.get_watermark_offsets(p, PATIENCE) for p in places}


def begin(consumer, table, state_topic, event_topic):
    """The first start: what all own now, and then the events from an hour before."""
    began = int(time.time() * 1000) - HOUR
    events = partitions(consumer, event_topic)
    event_ends = bounds(consumer, events)
    states = partitions(consumer, state_topic)
    limits = bounds(consumer, states)
    left = {number: end for number, (low, end) in limits.items() if end > low}
    consumer.assign([TopicPartition(state_topic, p, limits[p][0]) for p in limits])
    while left:
        for message in messages(consumer):
            value = message.value()
            table.begin_with(message.key().decode(), json.loads(value) if value else None)
        for place in consumer.position(states):
            if place.offset >= left.get(place.partition, place.offset + 1):
                del left[place.partition]
    wanted = [TopicPartition(event_topic, p.partition, began) for p in events]
    for place in consumer.offsets_for_times(wanted, PATIENCE):
        end = event_ends[place.partition][1]
        table.move(place.partition, place.offset if place.offset >= 0 else end)
    table.commit()


def follow(consumer, table, topic, until_end):
    """Every event from where we were."""
    places = partitions(consumer, topic)
    known = table.positions()
    limits = bounds(consumer, places)
    # A partition that we do not know was added later: all of it is news.
    next_offsets = {p.partition: known.get(p.partition, limits[p.partition][0]) for p in places}
    consumer.assign([TopicPartition(topic, number, next_offsets[number]) for number in next_offsets])
    while not stopping:
        if until_end and all(next_offsets[p] >= end for p, (_, end) in limits.items()):
            return
        for message in messages(consumer):
            table.apply(header(message, "ce_type"), json.loads(message.value()))
            next_offsets[message.partition()] = message.offset() + 1
            table.move(message.partition(), message.offset() + 1)
        table.commit()


parser = argparse.ArgumentParser(description="Keeps a table of active customers.")
parser.add_argument("--broker", required=True, help="host:port of a broker")
parser.add_argument("--table", required=True, help="the SQLite file of the table")
parser.add_argument("--prefix", default="iap.", help="what the names of the topics begin with")
parser.add_argument("--until-end", action="store_true", help="stop where the topic ends now")
options = parser.parse_args()

stopping = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stopping.append(True))

consumer = Consumer(
    {
        "bootstrap.servers": options.broker,
        "group.id": "active-customers",  # only a name: nothing is committed to it
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
    }
)
table = Table(options.table)
if not table.positions():
    begin(consumer, table, options.prefix + "entitlement-state", options.prefix + "entitlements")
follow(consumer, table, options.prefix + "entitlements", options.until_end)
consumer.close()
