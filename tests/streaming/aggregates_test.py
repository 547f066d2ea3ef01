"""Aggregates over files that come one by one, the server's state reloaded after each: the same as one batch over all of them."""
import random

import pytest
from harness.stream_cases import InputFolder, drain, read_files, rows
from pyspark.sql import functions as F

SCHEMA = "k STRING, i INT, d DOUBLE, dec DECIMAL(10,2), s STRING, b BOOLEAN, t TIMESTAMP, day DATE, a ARRAY<INT>"

AGGREGATES = {
    "count": lambda: [F.count("*"), F.count("i"), F.count("s"), F.count_if("b")],
    "sum": lambda: [F.sum("i"), F.sum("dec"), F.sum(F.col("i") % 7)],
    "avg": lambda: [F.avg("i"), F.avg("dec")],
    "extremes": lambda: [F.min("i"), F.max("d"), F.min("s"), F.max("s"), F.max("t"), F.min("day"), F.max("dec"), F.max("b")],
    "bits": lambda: [F.bit_xor("i"), F.bit_and("i"), F.bit_or("i"), F.bool_and("b"), F.bool_or("b")],
    "structs": lambda: [F.max(F.struct("i", "s"))],
}


def records(seed):
    """Forty lines of JSON with nulls, empty texts and texts beyond ASCII."""
    chance = random.Random(seed)
    lines = []
    for _ in range(40):
        fields = [f'"k":"{chance.choice("abcde")}"']
        if chance.random() < 0.9:
            fields.append(f'"i":{chance.randint(-1000, 1000)}')
        if chance.random() < 0.9:
            fields.append(f'"d":{chance.randint(-1000, 1000) / 8}')
        if chance.random() < 0.9:
            fields.append(f'"dec":{chance.randint(-100000, 100000) / 100}')
        if chance.random() < 0.8:
            fields.append(f'"s":"{chance.choice(["", "a", "zz", "a text of more than eight bytes", "größer", "日本"])}"')
        if chance.random() < 0.9:
            fields.append(f'"b":{chance.choice(["true", "false"])}')
        if chance.random() < 0.9:
            fields.append(f'"t":"{chance.randint(1950, 2050)}-03-01T10:00:00.{chance.randint(0, 999999):06d}Z"')
        if chance.random() < 0.9:
            fields.append(f'"day":"{chance.randint(1900, 2100)}-02-11"')
        lines.append("{" + ",".join(fields) + "}")
    return lines


@pytest.mark.parametrize("name", AGGREGATES)
def test_the_stream_says_what_a_batch_says(spark, tmp_path, name):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    folder = InputFolder(tmp_path / "in")

    def aggregated(frame):
        columns = [one.alias(f"c{i}") for i, one in enumerate(AGGREGATES[name]())]
        return frame.groupBy("k").agg(*columns)

    for part in range(3):
        folder.put(f"{part}.json", *records(part))
        drain(aggregated(read_files(spark, folder, SCHEMA)), "complete", f"agg_{name}", tmp_path / "ck")
        expected = rows(aggregated(spark.read.schema(SCHEMA).json(str(folder.path))))
        assert len(expected) == 5
        assert rows(spark.table(f"agg_{name}")) == expected


@pytest.mark.parametrize("name", ["count", "sum", "extremes"])
def test_a_stream_without_groups(spark, tmp_path, name):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    folder = InputFolder(tmp_path / "in")
    for part in range(2):
        folder.put(f"{part}.json", *records(part))
        total = read_files(spark, folder, SCHEMA).agg(*[one.alias(f"c{i}") for i, one in enumerate(AGGREGATES[name]())])
        drain(total, "complete", f"total_{name}", tmp_path / "ck")
        expected = spark.read.schema(SCHEMA).json(str(folder.path)).agg(*AGGREGATES[name]())
        assert rows(spark.table(f"total_{name}")) == rows(expected)
