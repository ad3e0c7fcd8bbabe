"""Reads topics to their ends and has the official SDK of CloudEvents take each record as an event.

    cloudevents_judge.py BROKER TOPIC…

Writes how many events of each type it took; fails at the first record that is none.
"""

import collections
import sys

from cloudevents.core.bindings import kafka
from confluent_kafka import Consumer, TopicPartition

consumer = Consumer(
    {"bootstrap.servers": sys.argv[1], "group.id": "cloudevents-judge", "enable.auto.commit": False}
)
taken = collections.Counter()
for topic in sys.argv[2:]:
    numbers = consumer.list_topics(topic, 30).topics[topic].partitions
    ends = {n: consumer.get_watermark_offsets(TopicPartition(topic, n), 30)[1] for n in numbers}
    consumer.assign([TopicPartition(topic, n, 0) for n in numbers])
    left = sum(ends.values())
    while left:
        for message in consumer.consume(500, timeout=0.1):
            assert not message.error(), message.error()
            left -= 1
            headers = dict(message.headers())
            event = kafka.from_binary_event(
                kafka.KafkaMessage(headers, message.key(), message.value() or b"null")
            )
            where = f"{topic} {message.partition()}:{message.offset()}"
            assert event.get_specversion() == "1.0", where
            assert event.get_id() == headers["ce_id"].decode(), where
            assert event.get_subject() == headers["ce_subject"].decode(), where
            assert event.get_source().startswith("/purser/"), where
            assert event.get_time().utcoffset().total_seconds() == 0, where
            assert event.get_datacontenttype() == "application/json", where
            assert event.get_extension("partitionkey") == message.key().decode(), where
            if message.value():
                assert isinstance(event.get_data(), dict), where
                # What the SDK writes of it is what was there.
                again = kafka.to_binary_event(event, key_mapper=lambda _: message.key())
                # The SDK writes times with microseconds, and the key as an attribute; headers that are not
                # CloudEvents' it leaves out.
                ours = {name for name in headers if name.startswith("purser-")}
                for name in headers.keys() - {"ce_time", "traceparent"} - ours:
                    assert again.headers[name] == headers[name], f"{where}: {name}"
            taken[event.get_type()] += 1
for kind, count in sorted(taken.items()):
    print(kind, count)
