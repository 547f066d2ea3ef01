"""Records ORC files that real Spark wrote, and how it reads them: output to src/connectors/file/testdata/orc.jsonl.

    TW_SPARK_RUN=.../spark-run; $TW_SPARK_RUN record_orc.py OUT

One line a case. "read": the bytes of a file (Latin-1; or the name of the case that has them), the schema asked for (absent: inferred), and what Spark found. "write": options, whether
Spark refuses them and what it adds to file names. "merge": several files, read with options."""
import glob
import json
import os
import sys
import tempfile

from orc_columns import FIELDS, NESTED, OLD
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = (SparkSession.builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
         .getOrCreate())
out = open(sys.argv[1], "w", encoding="utf-8")
KNOWN = {}  # bytes of files and the case that holds them


def emit(case):
    out.write(json.dumps(case) + "\n")
    out.flush()


def condition(error):
    """The condition, or the first of a cause that names one."""
    name = error.getCondition() if isinstance(error, PySparkException) else None
    return name or type(error).__name__


def found(frame):
    return {"found": spark.createDataFrame([], frame.schema)._jdf.schema().toDDL(),
            "rows": [row.r for row in frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("r")).collect()] if frame.columns else []}


def written(frame, folder, **options):
    frame.coalesce(1).write.format("orc").options(**options).mode("overwrite").save(folder)
    return sorted(glob.glob(f"{folder}/*.orc"))


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read().decode("latin-1")


def select(fields, rows=6):
    return spark.range(0, rows, 1, 1).select(*[F.expr(text).alias(name) for name, text in fields.items()])


def read(name, content, schema=None, **options):
    case = {"case": "read", "name": name, "options": options}
    if content in KNOWN:
        case["content_of"] = KNOWN[content]
    else:
        case["content"] = content
        KNOWN.setdefault(content, name)
    if schema is not None:
        case["schema"] = schema
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "f.orc"), "wb") as file:
            file.write(content.encode("latin-1"))
        try:
            reader = spark.read.format("orc").options(**options)
            case.update(found((reader.schema(schema) if schema is not None else reader).load(folder)))
        except Exception as error:  # noqa: BLE001
            case["error"] = condition(error)
    emit(case)


def reads():
    with tempfile.TemporaryDirectory() as folder:
        flat = bytes_of(written(select(FIELDS), folder)[0])
        read("flat", flat)
        nested = bytes_of(written(select(NESTED), folder)[0])
        read("nested", nested)
        read("old days", bytes_of(written(select(OLD), folder)[0]))
        read("intervals", bytes_of(written(spark.sql("SELECT INTERVAL '1-2' YEAR TO MONTH AS ym, INTERVAL '1 02:03:04.5' DAY TO SECOND AS dt, INTERVAL '3' DAY AS d, INTERVAL '4' YEAR AS y"), folder)[0]))
        for codec in ["none", "snappy", "zlib", "lz4", "zstd", "lzo", "brotli"]:
            try:
                read("codec " + codec, bytes_of(written(spark.range(500).select("id", F.expr("repeat('thalweg ', 3)").alias("s")).where("id > 480"), folder, compression=codec)[0]))
            except Exception as error:  # noqa: BLE001
                emit({"case": "write", "options": {"compression": codec}, "error": condition(error)})
        read("no rows", bytes_of(written(select(FIELDS, 0), folder)[0]))
        read("names", bytes_of(written(spark.sql("SELECT 1 AS `a b`, 2 AS `c.d`, 3 AS `é`, 4 AS `_col9`, 5 AS `A`"), folder)[0]))
        positional = bytes_of(written(spark.sql("SELECT 1 AS `_col0`, 'x' AS `_col1`"), folder)[0])
        read("positional", positional, "a INT, b STRING")
        read("positional, more", positional, "a INT, b STRING, c INT")
        read("positional, fewer", positional, "a INT")
        cased = bytes_of(written(spark.sql("SELECT 1 AS Ab, 2 AS cD, named_struct('Xy', 1, 'z', 2) AS s"), folder)[0])
        read("case", cased, "AB INT, CD INT, s STRUCT<xY: INT, z: INT>")
        read("missing", cased, "ab INT, q STRING, s STRUCT<z: INT, k: STRING>")
        read("fewer and other order", flat, "day DATE, big BIGINT, bool BOOLEAN")
        for schema in ["tiny INT", "tiny BIGINT", "int BIGINT", "int DOUBLE", "float DOUBLE", "int STRING", "big INT", "text INT", "dec_small DECIMAL(12, 2)", "dec_small DECIMAL(12, 4)",
                       "dec_mid DECIMAL(9, 1)", "text BINARY", "bin STRING", "day STRING", "day TIMESTAMP", "day TIMESTAMP_NTZ", "ts TIMESTAMP_NTZ", "ntz TIMESTAMP", "ts DATE", "ts STRING", "int DECIMAL(12, 2)", "bool INT",
                       "int BOOLEAN", "double FLOAT", "text VARCHAR(3)", "text CHAR(9)", "int ARRAY<INT>"]:
            read("as " + schema, flat, schema)
        read("as nested", nested, "list ARRAY<INT>, map MAP<STRING, INT>, st STRUCT<b: STRING, a: BIGINT>")
        read("no file", "")
        read("garbage", "this is no ORC file, whatever its name says; it goes on for a while, and then it stops.")
        read("cut", flat[:-10])
        read("cut in half", flat[:len(flat) // 2])
        read("garbage left out", "garbage", ignoreCorruptFiles="true")
        read("garbage left out, schema", "garbage", "a INT", ignoreCorruptFiles="true")
        read("damaged inside", flat[:20] + "\x00\xff" * 40 + flat[100:])


def writes():
    one = spark.sql("SELECT 1 AS a")
    for options in [{}, {"compression": "none"}, {"compression": "uncompressed"}, {"compression": "snappy"}, {"compression": "SNAPPY"}, {"compression": "zlib"}, {"compression": "lzo"},
                    {"compression": "lz4"}, {"compression": "zstd"}, {"compression": "brotli"}, {"compression": "gzip"}, {"compression": ""}, {"compression": "bogus"}, {"orc.compress": "NONE"}, {"orc.compress": "zlib"},
                    {"orc.compress": "bogus"}, {"orc.compress": "zlib", "compression": "none"}]:
        with tempfile.TemporaryDirectory() as folder:
            case = {"case": "write", "options": options}
            try:
                case["suffix"] = os.path.basename(written(one, folder, **options)[0]).split("-c000")[-1]
            except Exception as error:  # noqa: BLE001
                case["error"] = condition(error)
            emit(case)
    for expression in ["NULL AS a", "INTERVAL 3 DAYS 2 HOURS AS a", "make_interval(1, 2, 3) AS a", "parse_json('1') AS a", "array(NULL) AS a", "named_struct('x', NULL) AS a", "TIME'01:02:03' AS a", "named_struct('a', 1, 'A', 2) AS a",
                       "1 AS a, 2 AS A", "1 AS ``"]:
        with tempfile.TemporaryDirectory() as folder:
            case = {"case": "type", "expression": expression}
            try:
                frame = spark.sql("SELECT " + expression)
                case["schema"] = spark.createDataFrame([], frame.schema)._jdf.schema().toDDL()
                written(frame, folder)
                case.update(found(spark.read.orc(folder)))
            except Exception as error:  # noqa: BLE001
                case["error"] = condition(error)
            emit(case)


def merges():
    for name, tables, options in [
            ("first", ["1 AS a, 'x' AS b", "2L AS a, 3 AS c"], {}), ("merged", ["1 AS a, 'x' AS b", "2 AS a, 3 AS c"], {"mergeSchema": "true"}),
            ("other types", ["1 AS a", "'x' AS a"], {"mergeSchema": "true"}), ("wider", ["1 AS a", "2L AS a"], {"mergeSchema": "true"}),
            ("structs", ["named_struct('x', 1) AS s", "named_struct('y', 2) AS s"], {"mergeSchema": "true"}), ("decimals", ["1.5BD AS a", "22.25BD AS a"], {"mergeSchema": "true"}),
            ("option", ["1 AS a"], {"mergeSchema": "perhaps"}), ("cases", ["1 AS a", "2 AS A"], {"mergeSchema": "true"})]:
        with tempfile.TemporaryDirectory() as folder:
            contents = []
            for i, text in enumerate(tables):
                contents.append(bytes_of(written(spark.sql("SELECT " + text), f"{folder}/t{i}")[0]))
                os.makedirs(f"{folder}/all", exist_ok=True)
                with open(f"{folder}/all/f{i}.orc", "wb") as file:
                    file.write(contents[-1].encode("latin-1"))
            case = {"case": "merge", "name": name, "options": options, "contents": contents}
            try:
                case.update(found(spark.read.format("orc").options(**options).load(f"{folder}/all")))
                case["rows"].sort()
            except Exception as error:  # noqa: BLE001
                case["error"] = condition(error)
            emit(case)


emit({"spark": spark.version, "zone": "UTC"})
reads()
writes()
merges()
