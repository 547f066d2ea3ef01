# ctest: TIMEOUT 300 LABELS broker
"""Promise: the broker of the tests stores, secures and survives."""
import pytest
from confluent_kafka import Consumer, KafkaException
from harness.kafka_broker import PASSWORD, USER


def test_records_come_back_in_order_with_all_their_parts(broker):
    broker.create_topic("parts", partitions=2)
    broker.produce("parts", [
        {"value": b"a", "key": b"k", "partition": 1, "timestamp": 1700000000000, "headers": [("h", b"1")]},
        {"value": None, "key": b"k", "partition": 0},
        {"value": b"b", "partition": 1}])
    found = broker.consume_all("parts")
    assert [(m.partition(), m.value()) for m in found] == [(0, None), (1, b"a"), (1, b"b")]
    assert found[1].timestamp()[1] == 1700000000000 and found[1].headers() == [("h", b"1")]


def test_topics_grow_and_go(broker):
    broker.create_topic("growing", partitions=1)
    broker.add_partitions("growing", 3)
    broker.delete_topic("growing")


def test_a_killed_broker_comes_back_with_its_topics(broker):
    broker.create_topic("kept")
    broker.produce("kept", [{"value": b"x"}])
    broker.kill()
    broker.start()
    assert [m.value() for m in broker.consume_all("kept")] == [b"x"]


def metadata(bootstrap, timeout_s=10, **settings):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "log_level": 0,
                         **{key.replace("_", "."): str(value) for key, value in settings.items()}})
    try:
        return consumer.list_topics(timeout=timeout_s).brokers
    finally:
        consumer.close()


def test_tls_wants_a_client_certificate(secure_broker):
    files = secure_broker.certificates
    assert metadata(secure_broker.ssl_bootstrap, security_protocol="SSL", ssl_ca_location=files.ca,
                    ssl_key_location=files.client_key, ssl_certificate_location=files.client_certificate)
    with pytest.raises(KafkaException):
        metadata(secure_broker.ssl_bootstrap, 2, security_protocol="SSL", ssl_ca_location=files.ca)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_sasl_over_tls_wants_the_password(secure_broker, mechanism):
    common = {"security_protocol": "SASL_SSL", "ssl_ca_location": secure_broker.certificates.ca,
              "sasl_mechanism": mechanism, "sasl_username": USER}
    assert metadata(secure_broker.sasl_ssl_bootstrap, sasl_password=PASSWORD, **common)
    with pytest.raises(KafkaException):
        metadata(secure_broker.sasl_ssl_bootstrap, 2, sasl_password="wrong", **common)
