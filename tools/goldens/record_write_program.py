"""Records what real Spark makes of tests/compat/writes/program.py; output to tests/compat/writes/recorded.jsonl."""
import importlib.util
import json
import os
import sys
import tempfile

from pyspark.sql import SparkSession

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("program", os.path.join(here, "../../tests/compat/writes/program.py"))
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)

with tempfile.TemporaryDirectory() as root:
    builder = SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", root + "/warehouse")
    spark = builder.config("spark.sql.catalogImplementation", "in-memory").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print(json.dumps({"spark": spark.version}))
    for label, value in program.run(spark, root, root + "/warehouse"):
        print(json.dumps([label, value]).replace(root, "ROOT"))
        sys.stdout.flush()
    spark.stop()
