"""Real Spark as a worker: commands as JSON lines on standard input, answers as lines that begin with "@@ " on standard output.

Started by the command in TW_SPARK_RUN. Commands: {"do": "run" | "answer" | "sample" | "state" | "damage base", ...}; see engines.py.
"""
import json
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import handover_queries as queries  # noqa: E402
from harness import sample_queries as samples  # noqa: E402


def state(spark, checkpoint):
    """Every record of the newest state, as Spark's own reader gives it."""
    found = []
    for row in spark.read.format("state-metadata").load(checkpoint).collect():
        reader = spark.read.format("statestore").option("operatorId", row.operatorId).option("storeName", row.stateStoreName)
        found += [f"{row.operatorId} {row.operatorName} {row.numPartitions} {one.j}"
                  for one in reader.load(checkpoint).selectExpr("to_json(struct(*)) AS j").collect()]
    return sorted(found)


def main():
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    spark.streams.active  # starts the coordinator that the state reader asks for
    print("@@", json.dumps({"version": spark.version}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            case = queries.CASES.get(command.get("case"))
            if command["do"] == "run":
                result = queries.run(spark, case, command["place"], command["settings"])
            elif command["do"] == "answer":
                result = queries.answer(spark, case, command["place"], command["settings"])
            elif command["do"] == "sample":
                result = samples.run(spark, command["name"], command["place"], command["step"])
            elif command["do"] == "damage base":
                result = queries.damage_base(spark, command["place"])
            else:
                result = state(spark, command["place"] + "/checkpoint")
            print("@@", json.dumps({"result": result}), flush=True)
        except Exception:
            print("@@", json.dumps({"error": traceback.format_exc()[-4000:]}), flush=True)


main()
