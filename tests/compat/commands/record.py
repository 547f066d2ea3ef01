"""Records what real Spark makes of program.py: record.py sc://HOST:PORT WAREHOUSE > recorded.jsonl, of a Spark Connect server that has
Delta's catalogue, spark.sql.catalogImplementation in-memory and the session time zone UTC."""
import json
import sys
import tempfile

import program
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
with tempfile.TemporaryDirectory() as root:
    print(json.dumps({"spark": spark.version}), flush=True)
    program.run(spark, root, sys.argv[2], lambda *told: print(json.dumps(told), flush=True))
