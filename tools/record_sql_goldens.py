"""Records what real Spark answers to expressions: run by the oracle's spark-run.

    spark-run tools/record_sql_goldens.py tests/sql/functions/operators.sql ...

Each line of a .sql file is one expression; lines that begin with # are comments, `!key=value` sets a setting for what
follows (and is recorded). The answers stand in the .jsonl file of the same name: first a header with the version, then one
object per expression: name, type, nullable and value (its CAST AS STRING, binaries in hex), or error and params.
"""

import json
import sys

from pyspark.sql import SparkSession


def answer(spark, expression):
    row = {"sql": expression}
    try:
        frame = spark.sql("SELECT " + expression)
        field = frame.schema[0]
        row.update(name=field.name, type=field.dataType.simpleString(), nullable=field.nullable)
        text = "hex(v)" if row["type"] == "binary" else "cast(v AS string)"
        row["value"] = frame.toDF("v").selectExpr(text + " AS s").collect()[0][0]
    except Exception as error:  # whatever Spark raises is the answer
        condition = getattr(error, "getCondition", lambda: None)()
        row["error"] = condition or type(error).__name__
        try:
            row["params"] = dict(error.getMessageParameters() or {})
        except Exception:
            row["params"] = {}
        if not condition:
            row["message"] = str(error)[:200]
    return row


def main():
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for path in sys.argv[1:]:
        touched = []
        with open(path, encoding="utf-8") as source, open(path[: -len("sql")] + "jsonl", "w", encoding="utf-8") as out:
            print(json.dumps({"spark": spark.version, "from": path.rsplit("/", 1)[-1]}), file=out)
            for line in source:
                line = line.rstrip("\n")
                if not line or line.startswith("#"):
                    continue
                if line.startswith("!"):
                    key, value = line[1:].split("=", 1)
                    spark.conf.set(key, value)
                    touched.append(key)
                    print(json.dumps({"set": key, "to": value}), file=out)
                    continue
                print(json.dumps(answer(spark, line), ensure_ascii=False), file=out)
        for key in touched:
            spark.conf.unset(key)


main()
