"""Delta tables: streaming reads, maintenance statements, and delta.tables.DeltaTable.

`run(spark, root, samples, heard)` calls `heard(label, outcome)` in order. Real Spark 4.2.0 with Delta 4.4.0 and Thalweg must agree:
recorded.jsonl is Spark's answer, written by record.py. `samples`: the tables of tests/delta, written by Spark."""
import glob
import json
import os
import re
import shutil

from delta.tables import DeltaTable
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

CONDITION = re.compile(r"\b((?:DIFFERENT_)?DELTA_[A-Z_]+(?:\.[A-Z_]+)?)\b")
STREAMS = [
    ("plain", {}), ("plain", {"maxFilesPerTrigger": "1"}), ("plain", {"startingVersion": "0"}),
    ("plain", {"startingVersion": "0", "ignoreDeletes": "true"}), ("plain", {"startingVersion": "0", "ignoreChanges": "true"}),
    ("plain", {"startingVersion": "0", "skipChangeCommits": "true"}),
    ("plain", {"startingVersion": "0", "ignoreChanges": "true", "maxFilesPerTrigger": "1"}),
    ("plain", {"startingVersion": "3", "ignoreChanges": "true"}), ("plain", {"startingVersion": "latest"}),
    ("plain", {"startingVersion": "999"}), ("plain", {"startingTimestamp": "2100-01-01"}),
    ("plain", {"startingTimestamp": "2000-01-01", "ignoreChanges": "true"}),
    ("plain", {"startingVersion": "0", "startingTimestamp": "2000-01-01"}), ("plain", {"maxFilesPerTrigger": "0"}),
    ("plain", {"maxBytesPerTrigger": "x"}), ("plain", {"ignoreDeletes": "perhaps"}), ("plain", {"startingVersion": "-1"}),
    ("plain", {"excludeRegex": "("}), ("plain", {"versionAsOf": "1"}),
    ("partitioned", {"maxFilesPerTrigger": "2"}), ("partitioned", {"startingVersion": "0", "ignoreChanges": "true"}),
    ("partitioned", {"startingVersion": "0", "ignoreDeletes": "true"}),
    ("dv", {}), ("dv", {"startingVersion": "0", "ignoreChanges": "true"}), ("dv", {"startingVersion": "0", "skipChangeCommits": "true"}),
    ("cdf", {"startingVersion": "0", "skipChangeCommits": "true"}), ("checkpoint_classic", {"maxFilesPerTrigger": "3"}),
    ("checkpoint_classic", {"maxBytesPerTrigger": "1b"}), ("checkpoint_v2", {"maxFilesPerTrigger": "4"}),
    ("colmap_name", {}), ("colmap_name", {"startingVersion": "0", "ignoreChanges": "true"}),
    ("type_widening", {"startingVersion": "0"}), ("void", {}), ("in_commit_timestamps", {"startingVersion": "1", "ignoreChanges": "true"}),
    ("streaming_txn/target", {"startingVersion": "1", "maxFilesPerTrigger": "1"}),
]


def condition_of(error):
    get = getattr(error, "getCondition", None)
    own = get() if get else None
    if own and not own.startswith("STREAM_FAILED"):
        return own
    found = CONDITION.search(str(error))
    return found.group(1) if found else own or type(error).__name__


class Program:
    def __init__(self, spark, root, samples, heard):
        self.spark, self.root, self.samples, self.heard, self.count = spark, str(root), str(samples), heard, 0

    def note(self, label, act):
        try:
            value = act()
        except Exception as error:  # noqa: BLE001 Py4J's own too
            value = {"error": condition_of(error)}
        self.heard(label, json.loads(json.dumps(value, default=str)))

    def folder(self):
        self.count += 1
        return f"{self.root}/d{self.count}"

    # --- streaming reads ---

    def stream(self, sample, options):
        table, place = self.folder(), self.folder()
        shutil.copytree(f"{self.samples}/{sample}", table)
        name = f"s{self.count}"
        rows = self.spark.readStream.format("delta").options(**options).load(table)
        query = (rows.select(F.to_json(F.struct("*")).alias("row")).writeStream.format("parquet").option("path", f"{place}/out")
                 .option("checkpointLocation", f"{place}/checkpoint").queryName(name).trigger(availableNow=True).start())
        outcome = {}
        try:
            query.awaitTermination()
        except Exception as error:  # noqa: BLE001
            outcome["error"] = condition_of(error)
        finally:
            query.stop()
        logs = sorted(glob.glob(f"{place}/checkpoint/offsets/[0-9]*"), key=lambda path: int(os.path.basename(path)))
        ends = []
        for path in logs:
            with open(path, encoding="utf-8") as file:
                offset = json.loads(file.read().splitlines()[2])
            ends.append([offset["sourceVersion"], offset["reservoirVersion"], offset["index"], offset["isStartingVersion"]])
        outcome["offsets"] = ends
        if glob.glob(f"{place}/out/part-*"):
            outcome["rows"] = sorted(row.row for row in self.spark.read.parquet(f"{place}/out").collect())
        return outcome

    def streams(self):
        for sample, options in STREAMS:
            self.note(f"stream {sample} {json.dumps(options)}", lambda s=sample, o=options: self.stream(s, o))

    # --- maintenance ---

    def appended(self, count, partitioned=False):
        path = self.folder()
        for i in range(count):
            frame = self.spark.range(i * 10, i * 10 + 10).select("id", (F.col("id") % 2).alias("p")).coalesce(1)
            writer = frame.write.format("delta").mode("append")
            (writer.partitionBy("p") if partitioned else writer).save(path)
        return path

    def history(self, path):
        rows = self.spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
        return [[r.version, r.operation, dict(sorted(r.operationParameters.items())), r.readVersion, r.isolationLevel, r.isBlindAppend,
                 sorted(r.operationMetrics)] for r in rows]

    def optimized(self, statement):
        row = self.spark.sql(statement).collect()[0]
        m = row.metrics
        return [m.numFilesAdded, m.numFilesRemoved, m.filesAdded.totalFiles, m.filesRemoved.totalFiles, m.partitionsOptimized, m.numBatches,
                m.totalConsideredFiles, m.totalFilesSkipped, m.preserveInsertionOrder, m.numTableColumns, m.numTableColumnsWithStats]

    def rows(self, path, **options):
        return sorted([list(r) for r in self.spark.read.format("delta").options(**options).load(path).collect()])

    def maintenance(self):
        spark, sql = self.spark, self.spark.sql
        table = self.appended(4)
        parts = self.appended(3, partitioned=True)
        self.note("optimize schema", lambda: sql(f"OPTIMIZE delta.`{self.appended(1)}`").schema.simpleString())
        self.note("optimize", lambda: self.optimized(f"OPTIMIZE delta.`{table}`"))
        self.note("optimize again", lambda: self.optimized(f"OPTIMIZE delta.`{table}`"))
        self.note("optimized rows", lambda: self.rows(table))
        self.note("optimize where", lambda: self.optimized(f"OPTIMIZE delta.`{parts}` WHERE p = 1"))
        self.note("optimize partitions", lambda: self.optimized(f"OPTIMIZE '{parts}'"))
        self.note("optimize partitioned rows", lambda: self.rows(parts))
        self.note("optimize by data", lambda: self.optimized(f"OPTIMIZE delta.`{parts}` WHERE id > 1"))
        self.note("optimize full", lambda: self.optimized(f"OPTIMIZE delta.`{table}` FULL"))
        self.note("optimize nothing there", lambda: self.optimized(f"OPTIMIZE delta.`{self.folder()}`"))
        self.note("history", lambda: self.history(table))
        self.note("history of partitions", lambda: self.history(parts))
        self.note("history limit", lambda: [r.version for r in sql(f"DESCRIBE HISTORY delta.`{table}` LIMIT 2").collect()])
        self.note("history schema", lambda: sql(f"DESCRIBE HISTORY delta.`{table}`").schema.simpleString())
        self.note("detail schema", lambda: sql(f"DESCRIBE DETAIL delta.`{table}`").schema.simpleString())
        self.note("detail", lambda: self.detail(parts))
        self.note("vacuum too short", lambda: sql(f"VACUUM delta.`{table}` RETAIN 0 HOURS").collect())
        self.note("vacuum short", lambda: len(sql(f"VACUUM delta.`{table}` RETAIN 1 HOURS").collect()))
        self.note("vacuum dry run", lambda: len(sql(f"VACUUM delta.`{table}` DRY RUN").collect()))
        self.note("vacuum data left", lambda: len(glob.glob(f"{table}/part-*")))
        spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        self.note("vacuum dry run of all", lambda: len(sql(f"VACUUM '{table}' RETAIN 0 HOURS DRY RUN").collect()))
        self.note("vacuum of all", lambda: [r.path.replace(table, "TABLE") for r in sql(f"VACUUM '{table}' RETAIN 0 HOURS").collect()])
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
        self.note("vacuumed data left", lambda: len(glob.glob(f"{table}/part-*")))
        self.note("vacuumed rows", lambda: self.rows(table))
        self.note("vacuum schema", lambda: sql(f"VACUUM delta.`{table}` DRY RUN").schema.simpleString())
        self.note("vacuum history", lambda: self.history(table)[:2])
        self.note("version as of", lambda: self.rows(parts, versionAsOf=0))
        self.note("sql version as of", lambda: sorted(map(list, sql(f"SELECT * FROM delta.`{parts}` VERSION AS OF 1").collect())))
        self.note("sql @v", lambda: sorted(map(list, sql(f"SELECT * FROM delta.`{parts}@v0`").collect())))
        self.note("version not there", lambda: self.rows(parts, versionAsOf=99))
        self.note("timestamp too late", lambda: self.rows(parts, timestampAsOf="2100-01-01"))
        self.note("timestamp too early", lambda: self.rows(parts, timestampAsOf="2001-01-01"))
        self.note("restore", lambda: self.restored(f"RESTORE TABLE delta.`{parts}` TO VERSION AS OF 0"))
        self.note("restored rows", lambda: self.rows(parts))
        self.note("restore back", lambda: self.restored(f"RESTORE delta.`{parts}` TO VERSION AS OF 2"))
        self.note("restore schema", lambda: sql(f"RESTORE delta.`{parts}` TO VERSION AS OF 2").schema.simpleString())
        self.note("restore too far", lambda: self.restored(f"RESTORE TABLE delta.`{parts}` TO VERSION AS OF 999"))
        self.note("restore history", lambda: self.history(parts)[:2])

    def properties(self):
        sql, path = self.spark.sql, self.appended(1)
        self.note("set properties", lambda: sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('mine' = '1', delta.appendOnly = true)").collect())
        self.note("after set", lambda: self.protocol(path))
        self.note("append only", lambda: self.spark.range(1).select("id", F.lit(1).cast("bigint").alias("p")).write.format("delta")
                  .mode("overwrite").save(path))
        self.note("set vectors", lambda: sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')").collect())
        self.note("after vectors", lambda: self.protocol(path))
        self.note("unset", lambda: sql(f"ALTER TABLE delta.`{path}` UNSET TBLPROPERTIES ('mine', 'delta.appendOnly')").collect())
        self.note("after unset", lambda: self.protocol(path))
        self.note("unknown property", lambda: sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.nonsense' = '1')").collect())
        self.note("constraint property", lambda: sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.constraints.c' = 'id > 0')").collect())
        self.note("history of properties", lambda: self.history(path))

    def detail(self, path):
        r = self.spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()[0]
        return [r.format, r.name, r.description, r.partitionColumns, r.clusteringColumns, r.numFiles, r.properties, r.minReaderVersion,
                r.minWriterVersion, r.tableFeatures, r.location.replace(path, "TABLE")]

    def restored(self, statement):
        r = self.spark.sql(statement).collect()[0]
        return [r.num_of_files_after_restore, r.num_removed_files, r.num_restored_files]

    # --- DeltaTable ---

    def schema_of(self, path):
        return json.loads(self.spark.read.format("delta").load(path).schema.json())

    def protocol(self, path):
        r = self.spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()[0]
        return [r.minReaderVersion, r.minWriterVersion, r.tableFeatures, r.properties, r.partitionColumns]

    def builders(self):
        spark = self.spark
        path = self.folder()
        self.note("is no table", lambda: bool(DeltaTable.isDeltaTable(spark, path)))

        def create(builder, at=None):
            (builder.location(at or path).addColumn("id", "BIGINT", nullable=False).addColumn("name", StringType(), comment="it's a \"name\"")
             .addColumn("p", IntegerType()).partitionedBy("p").property("delta.appendOnly", "true").property("mine", "1").execute())

        self.note("create", lambda: create(DeltaTable.create(spark)))
        self.note("is table", lambda: bool(DeltaTable.isDeltaTable(spark, path)))
        self.note("created schema", lambda: self.schema_of(path))
        self.note("created protocol", lambda: self.protocol(path))
        self.note("create again", lambda: create(DeltaTable.create(spark)))
        self.note("create if not exists", lambda: create(DeltaTable.createIfNotExists(spark)))
        self.note("create or replace", lambda: (DeltaTable.createOrReplace(spark).location(path)
                                                .addColumns(StructType([StructField("k", LongType()), StructField("v", StringType())]))
                                                .property("other", "2").execute()) and None)
        self.note("replaced schema", lambda: self.schema_of(path))
        self.note("replaced protocol", lambda: self.protocol(path))
        self.note("replace missing", lambda: create(DeltaTable.replace(spark), self.folder()))
        self.note("builder history", lambda: self.history(path))
        name = "delta_program_table"
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        self.note("create by name", lambda: (DeltaTable.create(spark).tableName(name).addColumn("a", "INT").addColumn("b", "STRING")
                                             .comment("a table").execute()) and None)
        self.note("insert by name", lambda: spark.sql(f"INSERT INTO {name} VALUES (1, 'x'), (2, 'y')").collect())
        self.note("toDF by name", lambda: sorted(map(list, DeltaTable.forName(spark, name).toDF().collect())))
        self.note("stream by name", lambda: self.table_stream(name))
        self.note("detail by name", lambda: DeltaTable.forName(spark, name).detail().select("name", "format", "numFiles").collect()[0].asDict())
        self.note("replace by name", lambda: (DeltaTable.replace(spark).tableName(name).addColumn("c", "DOUBLE").execute()) and None)
        self.note("replaced by name", lambda: spark.table(name).schema.simpleString())
        self.note("history by name", lambda: [[r.version, r.operation] for r in DeltaTable.forName(spark, name).history().collect()])
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        self.note("no such name", lambda: DeltaTable.forName(spark, "no_such_table_at_all").toDF().collect())
        self.note("no such path", lambda: DeltaTable.forPath(spark, self.folder()).toDF().collect())

    def table_stream(self, name):
        place = self.folder()
        query = (self.spark.readStream.table(name).writeStream.format("parquet").option("path", f"{place}/out")
                 .option("checkpointLocation", f"{place}/checkpoint").trigger(availableNow=True).start())
        query.awaitTermination()
        return sorted(map(list, self.spark.read.parquet(f"{place}/out").collect()))

    def tables(self):
        spark = self.spark
        path = self.appended(3)
        table = DeltaTable.forPath(spark, path)
        self.note("alias", lambda: sorted(map(list, table.alias("t").toDF().where("t.id > 27").collect())))
        self.note("api history", lambda: [[r.version, r.operation] for r in table.history().collect()])
        self.note("api history 1", lambda: [[r.version, r.operation] for r in table.history(1).collect()])
        self.note("api compaction", lambda: list(table.optimize().executeCompaction().select("metrics.numFilesAdded", "metrics.numFilesRemoved").collect()[0]))
        self.note("api restore", lambda: list(table.restoreToVersion(1).select("num_removed_files", "num_restored_files").collect()[0]))
        self.note("api restored", lambda: table.toDF().count())
        self.note("api vacuum", lambda: table.vacuum() and None)
        self.note("api vacuum short", lambda: table.vacuum(0.0) and None)
        self.note("api upgrade", lambda: table.upgradeTableProtocol(1, 3))
        self.note("api upgraded", lambda: self.protocol(path))
        self.note("api feature", lambda: table.addFeatureSupport("timestampNtz"))
        self.note("api featured", lambda: self.protocol(path))
        self.note("api unknown feature", lambda: table.addFeatureSupport("noSuchFeature"))
        parts = self.appended(2, partitioned=True)
        self.note("api compaction where", lambda: list(DeltaTable.forPath(spark, parts).optimize().where("p = 0").executeCompaction()
                                                       .select("metrics.numFilesAdded", "metrics.numFilesRemoved").collect()[0]))

    def changes(self):
        spark = self.spark
        path = self.appended(2)
        table = DeltaTable.forPath(spark, path)
        self.note("delete", lambda: table.delete("id = 3") and None)
        self.note("delete by column", lambda: table.delete(F.col("id") > 17) and None)
        self.note("after delete", lambda: self.rows(path))
        self.note("update", lambda: table.update("id = 4", {"p": "p + 10"}) and None)
        self.note("update by column", lambda: table.update(condition=F.col("id") == 5, set={"p": F.lit(50)}) and None)
        self.note("update all", lambda: table.update(set={"p": "p + 1"}) and None)
        self.note("after update", lambda: self.rows(path))
        source = spark.createDataFrame([(4, 400), (6, None), (100, 7), (101, 8)], "id BIGINT, p BIGINT")
        self.note("merge", lambda: (table.alias("t").merge(source.alias("s"), "t.id = s.id").whenMatchedDelete("s.p IS NULL")
                                    .whenMatchedUpdate(set={"p": "s.p"}).whenNotMatchedInsert("s.id = 100", {"id": "s.id", "p": "s.p * 2"})
                                    .whenNotMatchedInsertAll().whenNotMatchedBySourceUpdate("t.id = 0", {"p": F.lit(-1)})
                                    .whenNotMatchedBySourceDelete("t.id = 1").execute()) and None)
        self.note("after merge", lambda: self.rows(path))
        self.note("merge all", lambda: table.alias("t").merge(source.alias("s"), F.expr("t.id = s.id")).whenMatchedUpdateAll()
                  .whenNotMatchedInsertAll().execute() and None)
        self.note("after merge all", lambda: self.rows(path))
        self.note("merge twice", lambda: table.alias("t").merge(source.union(source).alias("s"), "t.id = s.id").whenMatchedUpdateAll().execute() and None)
        self.note("operations", lambda: [h[1] for h in self.history(path)])


PARTS = ("builders", "tables", "maintenance", "properties", "streams", "changes")


def run(spark, root, samples, heard):
    program = Program(spark, root, samples, heard)
    for part in PARTS:
        getattr(program, part)()
