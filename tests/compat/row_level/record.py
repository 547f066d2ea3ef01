"""Runs the cases on the Spark session there is and writes what it answered: spark-run record.py recorded.json (real Spark with Delta)."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import CASES  # noqa: E402


def plain(value):
    if isinstance(value, (int, str, bool, float)) or value is None:
        return value
    if isinstance(value, (list, tuple)) and not hasattr(value, "asDict"):
        return [plain(item) for item in value]
    if hasattr(value, "asDict"):
        return {key: plain(item) for key, item in value.asDict().items()}
    return str(value)


def error_of(error):
    """PySpark looks messages of Delta up where they are not: what came with the error counts then."""
    def ask(name):
        try:
            return getattr(error, name)()
        except Exception:  # noqa: BLE001
            return None
    message = ask("getMessage") or getattr(error, "_desc", None) or str(error)
    return {"class": type(error).__name__, "condition": ask("getCondition") or getattr(error, "_errorClass", None), "state": ask("getSqlState"),
            "message": re.sub(r"#\d+L?", "", message)[:1500]}


def commit_of(directory, version):
    path = os.path.join(directory, "_delta_log", f"{version:020d}.json")
    actions = [json.loads(line) for line in open(path)]
    info = next(action["commitInfo"] for action in actions if "commitInfo" in action)
    return {"operation": info["operation"], "parameters": {k: re.sub(r"#\d+L?", "", v) if isinstance(v, str) else v for k, v in info["operationParameters"].items()},
            "metrics": {k: v for k, v in info.get("operationMetrics", {}).items() if not k.endswith("Ms") and "Bytes" not in k},
            "blind": info["isBlindAppend"], "kinds": [next(iter(action)) for action in actions]}


def run(spark, directory_of, answers, keep=lambda: None):
    """Adds the answers of those cases that are not there yet."""
    for name, setup, statements in CASES:
        if name in answers:
            continue
        for table in ("t", "s"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
        spark.catalog.dropTempView("w")
        for statement in setup:
            spark.sql(statement)
        delta = os.path.isdir(os.path.join(directory_of("t"), "_delta_log"))
        versions = lambda: len([f for f in os.listdir(os.path.join(directory_of("t"), "_delta_log")) if re.fullmatch(r"\d{20}\.json", f)]) if delta else 0
        steps = []
        for statement in statements:
            before = versions()
            step = {"statement": statement}
            try:
                answer = spark.sql(statement)
                step["schema"] = answer.schema.simpleString()
                step["rows"] = [plain(row) for row in answer.collect()]
            except Exception as error:  # noqa: BLE001: what it answers is recorded
                step["error"] = error_of(error)
            step["table"] = sorted((plain(row) for row in spark.table("t").collect()), key=lambda row: json.dumps(row, sort_keys=True))
            step["table_schema"] = spark.table("t").schema.simpleString()
            step["commits"] = [commit_of(directory_of("t"), version) for version in range(before, versions())]
            steps.append(step)
        answers[name] = steps
        keep()
    return answers


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").config("spark.databricks.delta.properties.defaults.enableDeletionVectors", "false").getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    warehouse = session.conf.get("spark.sql.warehouse.dir").replace("file:", "")
    answers = json.load(open(sys.argv[1])) if os.path.exists(sys.argv[1]) else {}

    def keep():
        with open(sys.argv[1], "w") as out:
            json.dump(answers, out, indent=0, sort_keys=True, ensure_ascii=False)
            out.write("\n")
        print(len(answers), flush=True)

    run(session, lambda table: os.path.join(warehouse, table), answers, keep)
