"""Writes of files and of tables over files, and what comes of them: names, bytes, rows, conditions of errors.

`run(spark, root)` gives (label, outcome) pairs in order. Random parts of names and checksum files are left out, so that real
Spark and Thalweg must agree to the letter: recorded.jsonl is Spark's answer, written by tools/goldens/record_write_program.py."""
import os
import re

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FORMATS = ("csv", "json", "parquet", "text")
CODECS = ("none", "uncompressed", "gzip", "deflate", "bzip2", "zstd", "snappy", "lz4", "xz", "GZIP")


def tree(path):
    """Files below a directory, without checksum files."""
    names = [os.path.relpath(os.path.join(d, f), path) for d, _, files in os.walk(path) for f in files if not f.endswith(".crc")]
    return sorted(UUID.sub("U", name) for name in names)


def content(path):
    """The bytes of the only data file, as Latin-1."""
    for directory, _, files in os.walk(path):
        for name in sorted(files):
            if name.startswith("part-"):
                with open(os.path.join(directory, name), "rb") as file:
                    return file.read().decode("latin-1")
    return None


class Program:
    def __init__(self, spark, root):
        self.spark, self.root, self.outcomes, self.paths = spark, str(root), [], 0

    def path(self):
        self.paths += 1
        return f"{self.root}/o{self.paths}"

    def note(self, label, act):
        try:
            value = act()
        except PySparkException as error:
            value = {"error": error.getCondition()}
        except Exception as error:  # Py4J's own
            value = {"error": type(error).__name__}
        self.outcomes.append((label, value))

    def write(self, frame, file_format, parts=(), mode=None, path=None, show=content, **options):
        path = path or self.path()
        writer = frame.coalesce(1).write.format(file_format).options(**options)
        if mode:
            writer = writer.mode(mode)
        if parts:
            writer = writer.partitionBy(*parts)
        writer.save(path)
        return show(path)

    def csv_and_json(self):
        sql, write = self.spark.sql, self.write
        odd = sql("select * from values ('a|b','#a'),('#a','x'),(';a','x'),('x\\n','y'),('\\t','y'),('a\\u0001b','y') as t(a,b)")
        for name, options in (("lineSep", {"lineSep": "|"}), ("comment", {"comment": ";"}), ("default", {}),
                              ("no trim", {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False})):
            self.note(f"csv {name}", lambda: write(odd, "csv", **options))
        self.note("csv sep", lambda: write(sql("select -5 as a, 1.5D as b, date'2020-01-01' as c"), "csv", sep="-"))
        nothing = sql("select cast(null as string) a, '' b, 'x' c")
        self.note("csv null value", lambda: write(nothing, "csv", nullValue=" N,A ", emptyValue=" e "))
        self.note("csv null value quoted", lambda: write(nothing, "csv", nullValue='"n"', emptyValue='"'))
        self.note("csv null value, all quoted", lambda: write(nothing, "csv", nullValue='"n"', emptyValue="EM", quoteAll=True))
        self.note("csv one null", lambda: write(sql("select cast(null as string) a"), "csv"))
        self.note("csv one null, all quoted", lambda: write(sql("select cast(null as string) a"), "csv", quoteAll=True))
        self.note("csv header", lambda: write(sql("select 1 as `#a`, 2 as ` b `, 3 as `#c`"), "csv", header=True))
        self.note("csv header twice", lambda: write(sql("select 1 a, 2 A"), "csv", header=True))
        decimals = sql("select cast(1e-10 as decimal(38,18)) a, cast(0 as decimal(38,18)) b, cast(1e-3 as decimal(38,18)) c, cast(0 as decimal(10,2)) d")
        intervals = sql("select interval '1' month a, interval '1 2' day to hour b, interval -5 second c")
        for name in ("csv", "json"):
            self.note(f"{name} decimals", lambda: write(decimals, name))
            self.note(f"{name} intervals", lambda: write(intervals, name))
        self.note("to_json decimals", lambda: sql("select to_json(named_struct('a',cast(1e-10 as decimal(38,18)), 'm', map(cast(1e-10 as decimal(38,18)), null)))").collect()[0][0])
        self.note("to_json keys", lambda: sql("select to_json(named_struct('m', map(timestamp'2020-01-01 00:00:00', 1), 'n', map(date'2020-01-01', 1), 'o', map(1.5D, 1), 'p', map(array(1),2), 'r', map(interval 1 day,2)))").collect()[0][0])
        times = sql("select timestamp'0001-01-01 00:00:00' a, timestamp'2020-06-01 00:00:00' b")
        self.note("csv zone", lambda: write(times, "csv", timeZone="Europe/Berlin"))
        self.note("csv zone by pattern", lambda: write(times, "csv", timeZone="Europe/Berlin", timestampFormat="yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]"))
        self.note("json utf-16", lambda: write(sql("select 'é' a"), "json", encoding="UTF-16"))
        self.note("json utf-32", lambda: write(sql("select 'é' a"), "json", encoding="UTF-32"))
        self.note("text separator", lambda: write(sql("select 'é' a"), "text", encoding="ISO-8859-1", lineSep="é"))

    def every_format(self):
        sql, write = self.spark.sql, self.write
        for name in FORMATS:
            self.note(f"{name} void", lambda: write(sql("select null a"), name, show=tree))
            self.note(f"{name} interval", lambda: write(sql("select make_interval(1,2) a"), name))
            self.note(f"{name} no columns", lambda: write(sql("select 1 a").select(), name))
            self.note(f"{name} struct of nothing", lambda: write(self.spark.createDataFrame([], "a struct<>"), name))
            self.note(f"{name} unknown codec", lambda: write(sql("select 'x' a"), name, compression="nope"))
            self.note(f"{name} name twice", lambda: write(sql("select 'x' a, 'y' a"), name, show=tree))
            for codec in CODECS:
                self.note(f"{name} {codec}", lambda: write(sql("select 'x' a"), name, compression=codec, show=tree))
            self.note(f"{name} partitions", lambda: write(sql("select 'x' a, 1 p union all select 'y', null"), name, parts=["p"], show=tree))
            self.note(f"{name} no rows", lambda: write(sql("select 'x' a where false"), name, show=tree))
            self.note(f"{name} no rows, partitions", lambda: write(sql("select 'x' a, 1 p where false"), name, parts=["p"], show=tree))
            five = self.spark.range(5).selectExpr("'x' a", "id%2 p")
            self.note(f"{name} two rows a file", lambda: write(five.select("a"), name, maxRecordsPerFile=2, show=tree))
            self.note(f"{name} two rows a file, partitions", lambda: write(five.sort("p"), name, parts=["p"], maxRecordsPerFile=2, show=tree))

    def partitions_and_modes(self):
        sql, write, root = self.spark.sql, self.write, self.root
        odd = sql("select 'x' a, * from values ('a/b=c:d%e é', timestamp'2020-01-01 01:02:03.5', date'2020-01-01', true, 1.50BD, 1.5D, X'4142'),"
                  "('', null,null,null,null,null,null), ('{}[]^ .\\\\', timestamp'2020-01-01 00:00:00', date'2020-01-01', false, 0.00BD, 1e20D, X'FF') as t(s,ts,d,b,dec,dbl,bin)")
        self.note("names of partitions", lambda: write(odd, "json", parts=["s", "ts", "d", "b", "dec", "dbl", "bin"], show=tree))
        two = sql("select 1 a, 2 b")
        self.note("unknown partition column", lambda: write(two, "json", parts=["zz"]))
        self.note("nothing but partition columns", lambda: write(two, "json", parts=["a", "b"]))
        self.note("partitions of arrays", lambda: write(sql("select 1 a, array(1) b"), "json", parts=["b"]))
        self.note("partition column in another case", lambda: write(sql("select 1 a, 2 B"), "json", parts=["b"], show=tree))
        self.note("partition column twice", lambda: write(sql("select 1 a, 2 b, 3 c"), "json", parts=["b", "b"]))
        self.note("text of two columns", lambda: write(sql("select 'x' a, 'y' b"), "text"))
        self.note("text of numbers", lambda: write(sql("select 1 a"), "text"))
        one, path = sql("select 1 a"), self.path()
        write(one, "json", path=path)
        os.mkdir(f"{root}/empty")
        with open(f"{root}/file", "w", encoding="utf-8") as file:
            file.write("x")
        for place in (path, f"{root}/empty", f"{root}/file"):
            self.note("there already", lambda: write(one, "json", path=place))
            self.note("ignored", lambda: write(one, "json", path=place, mode="ignore", show=lambda p: None))
        self.note("a file overwritten", lambda: write(one, "json", path=f"{root}/file", mode="overwrite", show=tree))
        self.note("appended", lambda: write(one, "json", path=path, mode="append", show=tree))
        self.note("overwritten", lambda: write(one, "json", path=path, mode="overwrite", show=tree))
        self.note("no path", lambda: one.write.format("json").save())
        parts = self.path()
        write(sql("select 1 a, 1 p union all select 2, 2"), "json", path=parts, parts=["p"])
        self.note("partitions that get rows", lambda: write(sql("select 9 a, 1 p"), "json", path=parts, parts=["p"], mode="overwrite",
                                                            partitionOverwriteMode="dynamic", show=tree))
        self.note("rows after that", lambda: self.rows(self.spark.read.json(parts).sort("p")))
        self.note("all partitions", lambda: write(sql("select 9 a, 1 p"), "json", path=parts, parts=["p"], mode="overwrite", show=tree))

    @staticmethod
    def rows(frame):
        return [str(row) for row in frame.collect()]

    def statement(self, text):
        self.note(text.replace(self.root, "ROOT"), lambda: self.rows(self.spark.sql(text)))

    def tables(self, warehouse):
        run, root = self.statement, self.root
        run("create table t1 using json as select 1 a, 'x' b")
        run("select * from t1")
        self.note("files of t1", lambda: tree(f"{warehouse}/t1"))
        run("insert into t1 values (1)")
        run("insert into t1 values (2,'y'),(3,null)")
        run("insert into t1 (b, a) values ('z', 4)")
        run("select * from t1 order by a")
        run("insert into t1 values ('z', 'y')")
        run("insert overwrite t1 select 7, 'q'")
        run("select * from t1 order by a")
        run("create table t2 (a int, p string, b string) using parquet partitioned by (p)")
        run("select * from t2")
        run("insert into t2 values (1, 'b', 'pp'),(2,'c',null)")
        run("select * from t2 order by a, b")
        run("insert overwrite t2 values (9,'x','only')")
        run("select * from t2 order by a, b")
        run("describe t2")
        run(f"create table t3 (a int, b string) using csv options (sep=';', header='true') location '{root}/ext3'")
        self.note("an external place is not made", lambda: os.path.exists(f"{root}/ext3"))
        run("select * from t3")
        run("insert into t3 values (1,'x;y')")
        self.note("bytes of t3", lambda: content(f"{root}/ext3"))
        run("select * from t3")
        run("drop table t3")
        self.note("files of t3 afterwards", lambda: tree(f"{root}/ext3"))
        run("drop table t1")
        self.note("t1 afterwards", lambda: os.path.exists(f"{warehouse}/t1"))
        run(f"create table t4 using csv options(header=true, sep=';', inferSchema=true) location '{root}/ext3'")
        run("select * from t4")
        run("create table t4 using json as select 1")
        run("create table if not exists t4 using json as select 1")
        run(f"create table t5 using csv location '{root}/ext3' as select 1 a")

    def save_as_table(self, warehouse):
        spark, sql = self.spark, self.spark.sql
        frame, turned = sql("select 1 a, 'x' b"), sql("select 'y' b, 2 a")
        writer = frame.write.format("json")
        self.note("saveAsTable", lambda: writer.saveAsTable("s1"))
        self.note("saveAsTable again", lambda: writer.saveAsTable("s1"))
        self.note("saveAsTable, ignored", lambda: frame.write.format("json").mode("ignore").saveAsTable("s1"))
        self.note("another format", lambda: frame.write.format("csv").mode("append").saveAsTable("s1"))
        self.note("the default format", lambda: frame.write.mode("append").saveAsTable("s1"))
        self.note("by name", lambda: turned.write.format("json").mode("append").saveAsTable("s1"))
        self.note("rows of s1", lambda: self.rows(spark.table("s1").sort("a")))
        self.note("one column more", lambda: sql("select 'y' b, 2 a, 3 c").write.format("json").mode("append").saveAsTable("s1"))
        self.note("other partitions", lambda: turned.write.format("json").partitionBy("b").mode("append").saveAsTable("s1"))
        self.note("insertInto with partitionBy", lambda: frame.write.partitionBy("a").insertInto("s1"))
        self.note("insertInto", lambda: frame.write.insertInto("s1"))
        self.note("rows of s1 then", lambda: self.rows(spark.table("s1").sort("a")))
        self.note("insertInto, overwriting", lambda: frame.write.insertInto("s1", overwrite=True))
        self.note("rows of s1 at last", lambda: self.rows(spark.table("s1")))
        self.note("insertInto nothing", lambda: frame.write.insertInto("nope"))
        self.note("insertInto, one column", lambda: sql("select 1").write.insertInto("s1"))
        self.note("saveAsTable overwriting", lambda: sql("select 5 c").write.format("csv").mode("overwrite").saveAsTable("s1"))
        self.note("rows of the new s1", lambda: self.rows(spark.table("s1")))
        self.note("default format, partitions", lambda: sql("select 1 a, 'x' p, 2 c").write.partitionBy("p").saveAsTable("s2"))
        self.note("s2", lambda: [spark.table("s2").schema.simpleString(), tree(f"{warehouse}/s2"), self.rows(spark.table("s2"))])
        self.note("options stay with a table", lambda: frame.write.format("csv").options(sep="|", header=True).saveAsTable("s3"))
        self.note("s3", lambda: [content(f"{warehouse}/s3"), self.rows(spark.table("s3"))])
        self.note("writeTo", lambda: frame.writeTo("w1").using("parquet").create())
        self.note("rows of w1", lambda: self.rows(spark.table("w1")))
        self.note("a place of its own", lambda: frame.write.format("json").option("path", f"{self.root}/own").saveAsTable("s4"))
        self.note("its rows", lambda: self.rows(spark.table("s4")))
        self.note("sortBy", lambda: frame.write.sortBy("a").save(self.path()))
        self.note("bucketBy", lambda: frame.write.bucketBy(2, "a").save(self.path()))
        self.note("condition as overwrite", lambda: frame.writeTo("nope").overwrite(F.lit(True)))


def run(spark, root, warehouse):
    program = Program(spark, root)
    program.csv_and_json()
    program.every_format()
    program.partitions_and_modes()
    program.tables(str(warehouse))
    program.save_as_table(str(warehouse))
    return program.outcomes
