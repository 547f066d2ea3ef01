"""The tables of tests/delta, written by Spark, changed by statements: what each statement comes to.

`change(spark, samples, name, path, heard)` calls `heard(name, statement, outcome)`; an outcome is rows, or the condition of the error.

    spark-run samples_changed.py record TESTS_DELTA OUT      what real Spark comes to
    spark-run samples_changed.py read FOLDER                 reads tables that Thalweg changed (FOLDER/<sample>, FOLDER/rows.json); exit status 1 for other rows
"""
import json
import os
import re
import shutil
import sys
import tempfile

CONDITION = re.compile(r"\b((?:DIFFERENT_)?DELTA_[A-Z_]+(?:\.[A-Z_]+)?)\b")
STATEMENTS = [
    ("insert", "INSERT INTO delta.`{t}` SELECT * FROM delta.`{t}`"),
    ("delete", "DELETE FROM delta.`{t}` WHERE {k} % 3 = 0"),
    ("update", "UPDATE delta.`{t}` SET {k} = {k} + 100 WHERE {k} % 3 = 1"),
    ("merge", "MERGE INTO delta.`{t}` t USING (SELECT CAST(2 AS BIGINT) k UNION ALL SELECT 101 UNION ALL SELECT 999) s ON t.{k} = s.k "
              "WHEN MATCHED AND s.k = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET t.{k} = s.k + 1000 WHEN NOT MATCHED THEN INSERT ({k}) VALUES (s.k)"),
    ("optimize", "OPTIMIZE delta.`{t}`"),
    ("restore", "RESTORE delta.`{t}` TO VERSION AS OF {last}"),
    ("delete again", "DELETE FROM delta.`{t}` WHERE {k} < 3"),
]


def samples_of(folder):
    """Names of the samples that are single tables."""
    return sorted(name for name in os.listdir(folder) if os.path.isdir(f"{folder}/{name}/_delta_log"))


def condition_of(error):
    get = getattr(error, "getCondition", None)
    own = get() if get else None
    found = CONDITION.search(str(error))
    return own or (found.group(1) if found else type(error).__name__)


def rows_of(spark, path):
    from pyspark.sql import functions as F
    frame = spark.read.format("delta").load(path)
    return sorted(row.r for row in frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("r")).collect())


def outcome(act):
    try:
        return act()
    except Exception as error:  # noqa: BLE001
        return {"error": condition_of(error)}


def change(spark, samples, name, path, heard):
    shutil.copytree(f"{samples}/{name}", path, dirs_exist_ok=True)
    rows = outcome(lambda: rows_of(spark, path))
    heard(name, "read", rows)
    if isinstance(rows, dict):
        return
    key = spark.read.format("delta").load(path).columns[0]
    last = max(int(file[:20]) for file in os.listdir(f"{path}/_delta_log") if re.fullmatch(r"\d{20}\.json", file))
    for label, statement in STATEMENTS:
        done = outcome(lambda: spark.sql(statement.format(t=path, k=f"`{key}`", last=last)).collect() and None)
        heard(name, label, done or outcome(lambda: rows_of(spark, path)))


def run(spark, samples, root, heard):
    for name in samples_of(samples):
        change(spark, samples, name, f"{root}/{name}", heard)


if __name__ == "__main__":
    from pyspark.sql import SparkSession
    session = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    if sys.argv[1] == "record":
        with open(sys.argv[3], "w", encoding="utf-8") as out:
            out.write(json.dumps({"spark": session.version, "delta": "4.4.0"}) + "\n")

            def write(*what):
                out.write(json.dumps(what) + "\n")
                out.flush()

            run(session, sys.argv[2], tempfile.mkdtemp(prefix="samples-changed-"), write)
    else:
        expected = json.load(open(f"{sys.argv[2]}/rows.json", encoding="utf-8"))
        wrong = [name for name, rows in expected.items() if outcome(lambda n=name: rows_of(session, f"{sys.argv[2]}/{n}")) != rows]
        print("read", len(expected), "tables; other rows in", wrong)
        sys.exit(1 if wrong else 0)
