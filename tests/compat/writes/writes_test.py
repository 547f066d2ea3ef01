# ctest: TIMEOUT 300
"""The program of this folder gives what real Spark 4.2.0 gave: file names, bytes, rows and conditions, outcome by outcome."""
import importlib.util
import json
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))

# Where we answer otherwise, and why.
OTHERWISE = {
    # Hadoop's own framing of these two codecs is not there.
    **{f"{name} {codec}": {"error": "UNSUPPORTED_FEATURE.THALWEG"} for name in ("csv", "json", "text") for codec in ("snappy", "lz4")},
    # Parquet columns of the UNKNOWN type are not written.
    "parquet void": {"error": "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
}


@pytest.fixture(scope="module")
def outcomes(shared_server, tmp_path_factory):
    spec = importlib.util.spec_from_file_location("write_program", os.path.join(HERE, "program.py"))
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    root = tmp_path_factory.mktemp("writes")
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return [(label, json.loads(json.dumps(value).replace(str(root), "ROOT")))
            for label, value in program.run(spark, root, os.path.join(shared_server.folder, "spark-warehouse"))]


def recorded():
    with open(os.path.join(HERE, "recorded.jsonl"), encoding="utf-8") as file:
        assert json.loads(next(file))["spark"] == "4.2.0"
        return [tuple(json.loads(line)) for line in file]


@pytest.mark.parametrize("index, label", [(i, label) for i, (label, _) in enumerate(recorded())])
def test_outcome(outcomes, index, label):
    got_label, got = outcomes[index]
    assert got_label == label
    assert got == OTHERWISE.get(label, recorded()[index][1])
