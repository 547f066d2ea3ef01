"""ORC files of Thalweg, read by real Spark.

    python check_orc.py write sc://... DIR     a client of Thalweg writes the folders
    spark-run check_orc.py check DIR [NAME ...]           real Spark reads them and compares with what it computes itself; exit status 1 when they differ
"""
import glob
import os
import sys
import tempfile

from orc_columns import BIG, DECIMALS, FIELDS, MANY, NESTED, NULLS, OLD
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

CODECS = ["none", "snappy", "zlib", "lz4", "zstd"]
MANY_ROWS = 5000000
RANGES = ["id >= 1234567 AND id < 1300000", "ts < TIMESTAMP'1970-01-02'", "w = -77777 * 1000003BD", "text = concat('row 4999999 ', 4999999 * 7919L % 1000003)", "x > 714285", "d BETWEEN 100 AND 200"]
INTERVALS = {"ym": "INTERVAL '1-2' YEAR TO MONTH", "dt": "INTERVAL '1 02:03:04.5' DAY TO SECOND", "d": "INTERVAL '3' DAY", "y": "INTERVAL '-4' YEAR"}
# Fractions of a second before 1970 are not written.
WHOLE_SECONDS = {"t": "TIMESTAMP'1700-01-01 00:00:00Z'", "before": "TIMESTAMP'1969-12-31 23:59:58Z' - make_dt_interval(0, 0, 0, id)"}
# Name of a folder: columns, rows, columns of the folder's partitions.
FOLDERS = {"flat": (FIELDS, 30, []), "nested": (NESTED, 3000, []), "old": ({**OLD, **WHOLE_SECONDS}, 50, []), "intervals": (INTERVALS, 3, []), "no_rows": ({**FIELDS, **NESTED}, 0, []),
           "decimals": (DECIMALS, 60, []), "nulls": (NULLS, 12000, []), "big": (BIG, 20, []), "one_row": ({**FIELDS, **NESTED}, 1, []),
           "no_rows_parts": ({**NESTED, "p": "concat('a', id)"}, 0, ["p"]),
           "null_parts": ({**FIELDS, "p": "IF(id % 3 = 0, NULL, CAST(id % 5 AS DECIMAL(20, 3)))", "q": "IF(id % 2 = 0, TIMESTAMP'2024-03-31 01:30:00Z', NULL)"}, 30, ["p", "q"]),
           "parts": ({**NESTED, "p": "concat('a/b=', id % 3)", "q": "DATE'2024-01-01' + CAST(id % 2 AS INT)"}, 50, ["p", "q"])}

# No file tells the columns, or names of folders tell other types.
WITH_SCHEMA = {"no_rows_parts", "null_parts"}


def frame(spark, name):
    fields, rows, _ = FOLDERS[name]
    return spark.range(0, rows, 1, 1).select(*[F.expr(text).alias(column) for column, text in fields.items()])


def write(spark, root):
    for name, (_, _, parts) in FOLDERS.items():
        for codec in CODECS:
            frame(spark, name).coalesce(1).write.mode("overwrite").partitionBy(*parts).option("compression", codec).orc(f"{root}/{name}-{codec}")
    for codec in CODECS:
        spark.range(0, MANY_ROWS, 1, 1).select(*[F.expr(text).alias(column) for column, text in MANY.items()]).write.mode("overwrite").option("compression", codec).orc(f"{root}/many-{codec}")
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    query = stream.writeStream.format("orc").option("path", f"{root}/stream").option("checkpointLocation", f"{root}/stream-checkpoint").trigger(processingTime="0 seconds").start()
    while query.lastProgress is None or query.lastProgress["batchId"] < 3:
        query.awaitTermination(1)
    query.stop()


def texts(rows):
    return sorted(row.r for row in rows.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("r")).collect())


def summed(rows):
    return [tuple(row) for row in rows.groupBy("few").agg(F.count("*"), F.sum(F.xxhash64(*rows.columns).cast("decimal(38)")), F.min("id"), F.max("text")).orderBy("few").collect()]


def check_many(spark, root):
    """Files of many stripes, too long to be collected: sums of hashes, and ranges that statistics of stripes and row groups answer."""
    whole = spark.range(0, MANY_ROWS, 1, 2).select(*[F.expr(text).alias(column) for column, text in MANY.items()])
    wrong, expected, right = 0, summed(whole), [(text, whole.where(text).count()) for text in RANGES]
    for codec in CODECS:
        got = spark.read.orc(f"{root}/many-{codec}")
        told = [(text, got.where(text).count()) for text in RANGES] if codec in ("none", "zstd") else right
        same = summed(got) == expected
        print("many", codec, "ok" if same and told == right else "DIFFERS", told if told != right else "", flush=True)
        wrong += not (same and told == right)
    return wrong


def check(spark, root, names):
    wrong = 0
    for name in names or FOLDERS:
        expected = frame(spark, name)
        if name == "old":  # days that the calendar of ORC files has not come back as others
            own = tempfile.mkdtemp(prefix="check-orc-")
            expected.write.mode("overwrite").orc(own)
            expected = spark.read.orc(own)
        reader = spark.read.schema(expected.schema) if name in WITH_SCHEMA else spark.read
        for codec in CODECS:
            got = reader.orc(f"{root}/{name}-{codec}").select(*expected.columns)
            same = texts(got) == texts(expected) and got.schema.simpleString() == expected.schema.simpleString()
            # The row reader of Spark's, beside the vectorised one.
            spark.conf.set("spark.sql.orc.enableVectorizedReader", "false")
            same_by_rows = texts(reader.orc(f"{root}/{name}-{codec}").select(*expected.columns)) == texts(expected)
            spark.conf.unset("spark.sql.orc.enableVectorizedReader")
            print(name, codec, "ok" if same and same_by_rows else "DIFFERS", flush=True)
            if not same:
                print(got.schema.simpleString(), expected.schema.simpleString())
                print([pair for pair in zip(texts(got), texts(expected)) if pair[0] != pair[1]][:3])
            wrong += not (same and same_by_rows)
    if names:
        return wrong
    wrong += check_many(spark, root)
    committed = spark.read.orc(f"{root}/stream").select("value").collect()
    values = sorted(row.value for row in committed)
    good = values == list(range(len(values))) and len(values) >= 40 and os.path.isdir(f"{root}/stream/_spark_metadata")
    print("stream", "ok" if good else "DIFFERS", len(values), len(glob.glob(f"{root}/stream/_spark_metadata/*")))
    return wrong + (not good)


if sys.argv[1] == "write":
    write(SparkSession.builder.remote(sys.argv[2]).create(), sys.argv[3])
else:
    sys.exit(1 if check(SparkSession.builder.getOrCreate(), sys.argv[2], sys.argv[3:]) else 0)
