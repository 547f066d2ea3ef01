"""Writes recorded.jsonl: what real Spark and Delta answer to program.py.

    TW_SPARK_RUN=.../spark-run; $TW_SPARK_RUN record.py TESTS_DELTA OUT [PART ...]

PART: builders, tables, maintenance, properties, streams, changes; none: all of them. Outcomes are known by their labels, whatever their order."""
import datetime
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import program  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
root = tempfile.mkdtemp(prefix="delta-record-")
with open(sys.argv[2], "w", encoding="utf-8") as out:
    header = {"spark": spark.version, "delta": "4.4.0", "date": datetime.date.today().isoformat()}
    out.write(json.dumps(header) + "\n")

    def heard(label, value):
        out.write(json.dumps([label, value]).replace(root, "ROOT") + "\n")
        out.flush()

    for part in sys.argv[3:] or program.PARTS:
        getattr(program.Program(spark, tempfile.mkdtemp(dir=root), sys.argv[1], heard), part)()
