"""Records what real Spark makes of program.py: record.py sc://HOST:PORT > recorded.jsonl, of a Spark Connect server with the session time zone UTC."""
import json
import sys

import program
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
spark.conf.set("spark.sql.shuffle.partitions", "2")
print(json.dumps({"spark": spark.version}), flush=True)
program.run(spark, lambda *told: print(json.dumps(told, ensure_ascii=False), flush=True))
