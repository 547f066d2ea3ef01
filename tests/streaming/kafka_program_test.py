# ctest: TIMEOUT 300 LABELS broker
"""A whole program under `thalweg submit`: messages of a real Kafka broker, counted on the console."""
import pathlib

import pytest
from harness.spark_examples import with_spark_example
from harness.submitted import printed, submit  # pylint: disable=unused-import
from harness.waiting import wait_until

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.mark.parametrize("how, topics", [("subscribe", "words-subscribe"), ("subscribePattern", "words-subscribeP.*"),
                                         ("assign", '{"words-assign":[0,1]}')])
def test_messages_of_kafka(submit, broker, how, topics):
    topic = f"words-{how}"
    broker.create_topic(topic, 2)
    broker.produce(topic, [{"value": word} for word in ("spark", "kafka", "spark")])
    program = submit(PROGRAMS / "kafka_counts.py", broker.bootstrap, how, topics)
    printed(program, ("spark", "2"), ("kafka", "1"))
    broker.produce(topic, [{"value": "kafka"}])
    printed(program, ("spark", "2"), ("kafka", "2"))
    program.stop()


@pytest.mark.parametrize("path", with_spark_example(PROGRAMS / "kafka_words.py", "structured_kafka_wordcount.py"), ids=lambda p: p.stem)
def test_words_of_kafka(submit, broker, path):
    topic = f"lines-{path.stem}"
    broker.create_topic(topic, 2)
    program = submit(path, broker.bootstrap, "subscribe", topic)
    wait_until(lambda: any("Batch: 0" in line for line in program.lines), "the first, empty batch", alive=program.check_alive)
    broker.produce(topic, [{"value": line} for line in ("spark kafka", "spark")])
    printed(program, ("spark", "2"), ("kafka", "1"))
    program.stop()
