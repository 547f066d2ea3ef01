"""A real Kafka broker (one node, KRaft) for tests: own ports on loopback, own folder, ended by its id."""
import os
import pathlib
import subprocess

from harness.certificates import STORE_PASSWORD, make_certificates
from harness.processes import Process, clean_environment, free_ports, port_answers
from harness.tcp_proxy import TcpProxy
from harness.waiting import wait_until

START_TIMEOUT_S = 90
USER, PASSWORD = "alice", "alice-secret"
MEMORY = "-Xmx384m"
# Quick to start, and no more work than a test needs.
JAVA_FLAGS = (MEMORY, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def kafka_home():
    home = pathlib.Path(os.environ.get("TW_KAFKA_HOME", ""))
    if not (home / "jars").is_dir():
        raise RuntimeError(f"no Kafka broker at '{home}': run tools/setup.sh --kafka (make test does)")
    return home


class KafkaBroker:
    """start() once; stop(), kill() and start() again keep topics and ports.

    Listeners: `bootstrap` (PLAINTEXT) always; with secure=True also `ssl_bootstrap` (TLS, client certificate required),
    `sasl_ssl_bootstrap` (TLS, PLAIN and SCRAM-SHA-256/512, user USER) and `sasl_plaintext_bootstrap` (the same without TLS).
    With proxied=True `proxied_bootstrap` reaches the broker through `proxy` only, which a test may hold up, cut or stop.
    """

    def __init__(self, folder, secure=False, proxied=False):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.secure = secure
        self.certificates = make_certificates(self.folder / "certificates") if secure else None
        ports = free_ports(6)
        self.port, self._controller_port, self._ssl_port, self._sasl_ssl_port, self._sasl_plaintext_port, behind = ports
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.ssl_bootstrap = f"127.0.0.1:{self._ssl_port}" if secure else None
        self.sasl_ssl_bootstrap = f"127.0.0.1:{self._sasl_ssl_port}" if secure else None
        self.sasl_plaintext_bootstrap = f"127.0.0.1:{self._sasl_plaintext_port}" if secure else None
        self.proxy = TcpProxy(behind).start() if proxied else None
        self._behind_proxy_port = behind
        self.proxied_bootstrap = f"127.0.0.1:{self.proxy.port}" if proxied else None
        self._process = None

    def _properties(self):
        listeners = {"PLAINTEXT": self.port}
        if self.secure:
            listeners |= {"SSL": self._ssl_port, "SASL_SSL": self._sasl_ssl_port, "SASL_PLAINTEXT": self._sasl_plaintext_port}
        bound = advertised = ",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items())
        if self.proxy:
            bound += f",PROXIED://127.0.0.1:{self._behind_proxy_port}"
            advertised += f",PROXIED://127.0.0.1:{self.proxy.port}"
        properties = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "listeners": f"{bound},CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": advertised,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map":
                "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "log.dirs": self.folder / "data",
            "num.partitions": 1,
            "num.network.threads": 2,
            "num.io.threads": 2,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.num.partitions": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "log.segment.delete.delay.ms": 1000,
        }
        if self.secure:
            plain = (f'org.apache.kafka.common.security.plain.PlainLoginModule required username="{USER}" '
                     f'password="{PASSWORD}" user_{USER}="{PASSWORD}";')
            scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            properties |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": self.certificates.broker_bundle,
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": self.certificates.ca,
                "listener.name.ssl.ssl.client.auth": "required",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            }
            for listener in ("sasl_ssl", "sasl_plaintext"):
                properties |= {
                    f"listener.name.{listener}.plain.sasl.jaas.config": plain,
                    f"listener.name.{listener}.scram-sha-256.sasl.jaas.config": scram,
                    f"listener.name.{listener}.scram-sha-512.sasl.jaas.config": scram,
                }
        return properties

    def _java(self, *arguments):
        return ["java", *JAVA_FLAGS, "-cp", f"{kafka_home()}/jars/*", *map(str, arguments)]

    def start(self):
        """Starts the broker and waits until it answers. Returns self."""
        config = self.folder / "server.properties"
        if not config.exists():
            config.write_text("".join(f"{key}={value}\n" for key, value in self._properties().items()))
            scram = [word for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512") if self.secure
                     for word in ("--add-scram", f"{mechanism}=[name={USER},password={PASSWORD}]")]
            formatted = subprocess.run(
                self._java("kafka.tools.StorageTool", "format", "-t", "dGhhbHdlZy10ZXN0LTAwMQ", "-c", config, *scram),
                capture_output=True, text=True, env=clean_environment(), check=False)
            if formatted.returncode != 0:
                raise RuntimeError(f"formatting the broker's folder failed:\n{formatted.stdout}{formatted.stderr}")
        self._process = Process(self._java("kafka.Kafka", config), self.folder, "broker", clean_environment())
        wait_until(self._answers, "broker to answer", START_TIMEOUT_S, alive=self._process.check_alive)
        return self

    def _answers(self):
        if not port_answers(self.port):
            return False
        from confluent_kafka import KafkaException
        try:
            return bool(self.admin().list_topics(timeout=2).brokers)
        except KafkaException:
            return False

    def stop(self):
        if self._process is not None and self._process.running():
            self._process.signal(15)
            try:
                self._process.wait(30)
            finally:
                self._process.kill()
        if self.proxy:
            self.proxy.stop()

    def kill(self):
        """kill -9: as if the machine had failed. start() brings it back with its topics."""
        self._process.kill()

    # What tests do with topics.

    def admin(self):
        from confluent_kafka.admin import AdminClient
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})

    def create_topic(self, name, partitions=1, **config):
        from confluent_kafka.admin import NewTopic
        admin = self.admin()
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        admin.create_topics([NewTopic(name, partitions, 1, config=settings)])[name].result(30)
        wait_until(lambda: self._partitions(admin, name) == partitions, f"topic {name}")
        return name

    @staticmethod
    def _partitions(admin, name):
        topic = admin.list_topics(timeout=10).topics.get(name)
        return 0 if topic is None or topic.error else len(topic.partitions)

    def add_partitions(self, name, total):
        from confluent_kafka.admin import NewPartitions
        admin = self.admin()
        admin.create_partitions([NewPartitions(name, total)])[name].result(30)
        wait_until(lambda: self._partitions(admin, name) == total, f"{total} partitions of {name}")

    def delete_topic(self, name):
        admin = self.admin()
        admin.delete_topics([name])[name].result(30)
        wait_until(lambda: self._partitions(admin, name) == 0, f"end of topic {name}")

    def produce(self, topic, records, **settings):
        """records: dicts with value, key, partition, timestamp (ms), headers (all optional). Returns when all are stored."""
        from confluent_kafka import Producer
        errors = []
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 5, "queue.buffering.max.messages": 1000000,
                             **settings})
        for record in records:
            arguments = {name: record[name] for name in ("value", "key", "partition", "timestamp", "headers") if name in record}
            producer.produce(topic, on_delivery=lambda error, _m: errors.append(error) if error else None, **arguments)
            producer.poll(0)
        left = producer.flush(60)
        if left or errors:
            raise RuntimeError(f"{left} records unsent, errors: {errors[:3]}")

    def consume_all(self, topic, isolation="read_committed", timeout_s=30):
        """Every record of a topic up to its present end, by partition and offset, as confluent_kafka messages."""
        from confluent_kafka import Consumer, TopicPartition
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "test-reader", "enable.auto.commit": False,
                             "isolation.level": isolation, "enable.partition.eof": True, "auto.offset.reset": "earliest"})
        try:
            partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
            consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
            at_end, found = set(), []

            def poll():
                message = consumer.poll(0.5)
                if message is not None and message.error() is None:
                    found.append(message)
                elif message is not None:
                    at_end.add(message.partition())
                return at_end == set(partitions)

            wait_until(poll, f"the end of {topic}", timeout_s, poll_s=0)
        finally:
            consumer.close()
        return sorted(found, key=lambda m: (m.partition(), m.offset()))

    @property
    def client_p12_password(self):
        return STORE_PASSWORD
