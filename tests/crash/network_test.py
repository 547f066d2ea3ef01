# ctest: TIMEOUT 900 LABELS broker crash
"""Promise: when the broker or the network fails for a while, a query goes on by itself or ends with a named error; nothing is lost or doubled.

TW_LONG_OUTAGES: also the outages of a minute (`make crash`).
"""
import os

import deltalake
import pytest
from harness.kafka_broker import KafkaBroker
from harness.thalweg_server import ThalwegServer
from harness.waiting import let_pass, wait_until

OUTAGES_S = [5, 60] if os.environ.get("TW_LONG_OUTAGES") else [5]


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    one = KafkaBroker(tmp_path_factory.mktemp("broker"), proxied=True).start()
    yield one
    one.stop()


class Copy:
    """A running query that copies a topic into a Delta table, through the proxy."""

    def __init__(self, broker, folder, topic):
        self.broker, self.topic = broker, broker.create_topic(topic, 2)
        self.table, self.checkpoint = folder / "table", folder / "ck"
        self.server = ThalwegServer(folder / "server").start()
        self.session = self.server.session()
        self.sent = 0
        self.query = self.start()

    def start(self):
        return (self.session.readStream.format("kafka").option("kafka.bootstrap.servers", self.broker.proxied_bootstrap)
                .option("subscribe", self.topic).option("startingOffsets", "earliest").load()
                .selectExpr("CAST(CAST(value AS STRING) AS INT) AS n")
                .writeStream.format("delta").option("checkpointLocation", str(self.checkpoint)).start(str(self.table)))

    def send(self, count=50):
        self.broker.produce(self.topic, [{"value": str(self.sent + i), "partition": i % 2} for i in range(count)])
        self.sent += count

    def rows(self):
        if not (self.table / "_delta_log").exists():
            return []
        try:
            return sorted(row["n"] for row in deltalake.DeltaTable(str(self.table)).to_pyarrow_table().to_pylist())
        except deltalake.exceptions.TableNotFoundError:  # the first version is on its way
            return []

    def await_all(self, timeout_s=90):
        wait_until(lambda: len(self.rows()) >= self.sent, f"{self.sent} rows", timeout_s, poll_s=0.2, alive=self.server.process.check_alive)
        assert self.rows() == list(range(self.sent))

    def restart_if_failed(self):
        """A query that gave up must say why; started again, it goes on."""
        if not self.query.isActive:
            assert "KAFKA" in str(self.query.exception()).upper(), self.query.exception()
            self.query = self.start()


@pytest.fixture
def copy(proxied, tmp_path, request):
    topic = "net-" + "".join(c if c.isalnum() else "-" for c in request.node.name)
    one = Copy(proxied, tmp_path, topic)
    yield one
    one.server.stop()


@pytest.mark.parametrize("seconds", OUTAGES_S)
def test_broker_that_cannot_be_reached_for_a_while(copy, seconds):
    copy.send()
    copy.await_all()
    copy.broker.proxy.stop()  # connections are reset, new ones refused
    copy.send()
    let_pass(seconds)
    copy.broker.proxy.start()
    copy.restart_if_failed()
    copy.send()
    copy.await_all()


@pytest.mark.parametrize("seconds", OUTAGES_S)
def test_network_that_swallows_everything_for_a_while(copy, seconds):
    copy.send()
    copy.await_all()
    copy.broker.proxy.hold()
    copy.send()
    let_pass(seconds)
    copy.broker.proxy.release()
    copy.restart_if_failed()
    copy.send()
    copy.await_all()


def test_connections_that_are_reset_again_and_again(copy):
    for _ in range(10):
        copy.send(20)
        copy.broker.proxy.reset()
    copy.restart_if_failed()
    copy.await_all()


def test_broker_that_dies_and_comes_back(copy):
    copy.send()
    copy.await_all()
    copy.broker.kill()
    copy.broker.start()
    copy.send()
    copy.restart_if_failed()
    copy.await_all()


def test_server_killed_during_an_outage_goes_on_after_it(copy):
    copy.send()
    copy.await_all()
    copy.broker.proxy.stop()
    copy.send()
    copy.server.kill()
    copy.broker.proxy.start()
    copy.server.start()
    copy.session = copy.server.session()
    copy.query = copy.start()
    copy.await_all()
