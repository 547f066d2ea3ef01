"""Checkpoints of single stateful operators that Spark 4.2.0 left (spark-4.2.0/<operator>/, two files in two micro-batches) go on
here with a third file: what comes out knows what Spark had seen, and what Spark wrote about its state stays as it is."""
import json
import os
import shutil

import pytest
from harness.spark_checkpoints import GOLDENS
from harness.stream_cases import read_files

FILES = [[("a", 1, "10:00:01"), ("b", 2, "10:00:02"), ("a", 3, "10:00:03")], [("a", 4, "10:00:20"), ("c", 5, "10:00:21")]]
RECORDED_FOLDER = "/tmp/w/mk"


def marked(stream):
    return stream.withWatermark("ts", "5 seconds")  # 10:00:16 when Spark had done


CASES = {  # golden: (query, third file, what comes, repeated rows, late rows)
    "dedup": (lambda s: s.dropDuplicates(["k"]), [("a", 6, "10:00:22"), ("d", 7, "10:00:22"), ("c", 8, "10:00:22")], ["d7"], 2, 0),
    "dedup-watermark": (lambda s: marked(s).dropDuplicates(["k", "ts"]),
                        [("a", 6, "10:00:20"), ("a", 7, "10:00:16"), ("a", 8, "10:00:22")], ["a8"], 1, 1),
    "dedup-within-watermark": (lambda s: marked(s).dropDuplicatesWithinWatermark(["k"]),
                               [("c", 6, "10:00:22"), ("a", 7, "10:00:23"), ("b", 8, "10:00:10")], ["a7"], 1, 1),
    "limit": (lambda s: s.limit(4), [("d", 6, "10:00:22")], [], None, 0),
}


def put(folder, number, rows):
    folder.mkdir(exist_ok=True)
    path = folder / f"f{number}.json"
    path.write_text("".join(json.dumps({"k": k, "v": v, "ts": f"2024-03-01T{t}Z"}) + "\n" for k, v, t in rows))
    os.utime(path, (1709280000 + number, 1709280000 + number))


@pytest.mark.parametrize("name", CASES)
def test_a_query_of_spark_goes_on(spark, tmp_path, name):
    make, third, expected, repeated, late = CASES[name]
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(GOLDENS / name / "checkpoint", checkpoint)
    for number, rows in enumerate([*FILES, third]):
        put(tmp_path / "in1", number, rows)
    for path in (checkpoint / "sources" / "0").iterdir():
        if not path.name.startswith("."):
            path.write_text(path.read_text().replace(f"{RECORDED_FOLDER}/{name}/in1", str(tmp_path / "in1")))
    described = {path: path.read_bytes() for path in (checkpoint / "state").rglob("*") if path.name in ("metadata", "schema")}
    assert described
    first = max(int(path.name) for path in (checkpoint / "commits").iterdir() if path.name.isdigit()) + 1

    frame = make(read_files(spark, tmp_path / "in1", "k STRING, v INT, ts TIMESTAMP"))
    query = (frame.writeStream.format("delta").option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
             .start(str(tmp_path / "table")))
    assert query.awaitTermination(60), "the run did not end"
    progress = query.recentProgress[0]
    assert progress["batchId"] == first
    (state,) = progress["stateOperators"]
    assert state["customMetrics"].get("numDroppedDuplicateRows") == repeated
    assert state["numRowsDroppedByWatermark"] == late
    got = sorted(f"{row.k}{row.v}" for row in spark.read.format("delta").load(str(tmp_path / "table")).collect())
    assert got == expected
    assert {path: path.read_bytes() for path in described} == described
