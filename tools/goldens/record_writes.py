"""Records what Spark's writers of CSV, JSON and text files write: the cases of src/connectors/file/testdata/writes.jsonl (format, options, schema,
rows as JSON) again with real Spark, to standard output. Answers are the bytes of the one data file, as Latin-1, or the condition of the error."""
import json
import os
import sys
import tempfile

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/connectors/file/testdata/writes.jsonl"), encoding="utf-8") as file:
    cases = [json.loads(line) for line in file][1:]

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
print(json.dumps({"spark": spark.version, "zone": "UTC"}))
for case in cases:
    case = {key: case[key] for key in ("format", "options", "schema", "rows")}
    with tempfile.TemporaryDirectory() as folder:
        rows, out = os.path.join(folder, "rows.json"), os.path.join(folder, "out")
        with open(rows, "w", encoding="utf-8") as file:
            file.writelines(row + "\n" for row in case["rows"])
        try:
            frame = spark.read.schema(case["schema"]).json(rows).coalesce(1)
            frame.write.format(case["format"]).options(**case["options"]).save(out)
            parts = sorted(name for name in os.listdir(out) if name.startswith("part-"))
            case["files"] = len(parts)
            with open(os.path.join(out, parts[0]), "rb") as file:
                case["bytes"] = file.read().decode("latin-1")
        except PySparkException as error:
            case["error"] = error.getCondition()
    print(json.dumps(case))
    sys.stdout.flush()
