"""The queries that change hands, their input and their right answers. Runs on Spark (any Python with pyspark) and on Thalweg alike."""
import collections
import datetime
import json
import os
import pathlib
import random

from harness.waiting import patience

EPOCH = datetime.datetime(2024, 3, 1, 10)
LOTS = 4
GOLDEN_LOTS = 3
GOLDEN_CASES = ("append-file", "append-kafka", "complete-file", "complete-kafka", "update-file", "update-kafka",
                "join-file", "join-inner-file", "dedup-file", "within-file", "limit-file",
                "append-file-rocksdb", "update-file-rocksdb", "join-file-rocksdb", "join-inner-file-rocksdb", "dedup-file-rocksdb",
                "within-file-rocksdb")
PAGES = ("home", "cart", "search", "help", "état")  # not all of them ASCII
SCHEMA = "page STRING, user STRING, n BIGINT, ts TIMESTAMP"
MALFORMED = ("not json", '{"page": 1', "null")
TOPIC_PARTITIONS = 2
END_TIMEOUT_S = patience(300)

# store: "hdfs", "rocksdb" (a snapshot each micro-batch, Spark's default with RocksDB) or "changelog" (RocksDB with changelogs).
Case = collections.namedtuple("Case", "name mode source sink partitions store", defaults=["hdfs"])
CASES = {case.name: case for case in (
    Case("append-kafka", "append", "kafka", "delta", 3),   # the worked example
    Case("append-file", "append", "file", "delta", 2),
    Case("update-kafka", "update", "kafka", "kafka", 2),
    Case("update-file", "update", "file", "console", 3),
    Case("complete-kafka", "complete", "kafka", "memory", 2),
    Case("complete-file", "complete", "file", "memory", 2),
    Case("join-file", "append", "file", "delta", 3),       # left outer, of two reads of one folder
    Case("join-inner-file", "append", "file", "delta", 3),
    Case("dedup-file", "append", "file", "delta", 3),
    Case("within-file", "append", "file", "delta", 2),     # deduplication within the watermark
    Case("limit-file", "append", "file", "delta", 2),
    Case("update-file-rocksdb", "update", "file", "console", 2, "rocksdb"),
    Case("append-file-rocksdb", "append", "file", "delta", 2, "changelog"),
    Case("complete-file-rocksdb", "complete", "file", "memory", 2, "changelog"),
    Case("join-file-rocksdb", "append", "file", "delta", 2, "changelog"),
    Case("join-inner-file-rocksdb", "append", "file", "delta", 2, "rocksdb"),
    Case("dedup-file-rocksdb", "append", "file", "delta", 2, "rocksdb"),
    Case("within-file-rocksdb", "append", "file", "delta", 2, "changelog"),
    Case("limit-file-rocksdb", "append", "file", "delta", 2, "rocksdb"),
)}
PASSING = tuple(name for name in CASES if name.startswith(("dedup", "within", "limit")))  # rows go through or do not
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
LIMIT = 25
JOIN_MINUTES = 6  # how long a left row waits for a right one


def events(lot):
    """(page, user, n, ts) in order of sending. Disorder of up to 8 minutes; from the second lot on, two events 90 minutes late."""
    chance = random.Random(lot)
    start = EPOCH + datetime.timedelta(hours=lot)
    found = []
    for i in range(20):
        when = start + datetime.timedelta(seconds=120 * i - (chance.randrange(480) if chance.random() < 0.3 else 0))
        user = None if chance.random() < 0.1 else f"user-{chance.randrange(30)}"
        found.append((chance.choice(PAGES), user, chance.randrange(100), when))
    if lot > 0:
        found[3:3] = [("home", "late", 1, start - datetime.timedelta(minutes=90)), ("cart", "late", 2, start - datetime.timedelta(minutes=88))]
    return found


def message(event):
    page, user, n, when = event
    return json.dumps({"page": page, "user": user, "n": n, "ts": when.strftime("%Y-%m-%dT%H:%M:%SZ")}, ensure_ascii=False)


def messages(lot):
    """The texts of one lot, malformed ones among them."""
    texts = [message(event) for event in events(lot)]
    texts.insert(5, MALFORMED[lot % len(MALFORMED)])
    return texts


def records(lot):
    return [{"value": text, "partition": i % TOPIC_PARTITIONS} for i, text in enumerate(messages(lot))]


def put_files(folder, lot):
    """Two files for one lot, with modification times in their order."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = messages(lot)
    for part, lines in enumerate((texts[:9], texts[9:])):
        staged = folder.parent / f"stage-{lot}-{part}.json"
        staged.write_text("".join(line + "\n" for line in lines))
        seconds = 1_700_000_000 + 2 * lot + part
        os.utime(staged, (seconds, seconds))
        os.replace(staged, folder / f"{lot}-{part}.json")


def start(spark, case, place, settings):
    """Starts the case's query. place: folder with `in`, `table`, `checkpoint`. settings: bootstrap, topic, out_topic, limit."""
    from pyspark.sql import functions as F
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", str(case.partitions))
    if case.store == "hdfs":
        spark.conf.unset("spark.sql.streaming.stateStore.providerClass")
    else:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", str(case.store == "changelog").lower())
    if case.source == "kafka":
        stream = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", settings["bootstrap"])
                  .option("subscribe", settings["topic"]).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 8).load()
                  .select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("e")).select("e.*"))
    else:
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(f"{place}/in")
    if case.name.startswith("limit"):
        out = stream.limit(LIMIT)
    elif case.name.startswith("dedup"):
        out = stream.withWatermark("ts", "10 minutes").dropDuplicates(["page", "user"])
    elif case.name.startswith("within"):
        out = stream.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["page"])
    elif case.name.startswith("join"):
        right = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(f"{place}/in").filter("n < 60")
        out = (stream.withWatermark("ts", "10 minutes").alias("l")
               .join(right.withWatermark("ts", "10 minutes").alias("r"),
                     F.expr(f"l.page = r.page AND r.ts > l.ts AND r.ts <= l.ts + INTERVAL {JOIN_MINUTES} MINUTES"), join_type(case))
               .selectExpr("l.page", "l.user", "l.n", "l.ts", "r.user AS next_user", "r.n AS next_n"))
    elif case.mode == "append":
        out = (stream.withWatermark("ts", "10 minutes").groupBy(F.window("ts", "5 minutes"), "page")
               .agg(F.count("*").alias("views"), F.max("user").alias("last_user"), F.avg("n").alias("mean"))
               .select("window.start", "window.end", "page", "views", "last_user", "mean"))
    elif case.mode == "update":
        out = stream.groupBy("page").agg(F.count("*").alias("views"), F.sum("n").alias("total"), F.min("user").alias("first_user"))
    else:
        out = stream.groupBy("page").count()
    if case.sink == "kafka":
        out = out.select(F.col("page").alias("key"), F.to_json(F.struct("page", "views", "total", "first_user")).alias("value"))
    writer = out.writeStream.format(case.sink).outputMode(case.mode).option("checkpointLocation", f"{place}/checkpoint").trigger(availableNow=True)
    if case.sink == "kafka":
        return writer.option("kafka.bootstrap.servers", settings["bootstrap"]).option("topic", settings["out_topic"]).start()
    if case.sink == "delta":
        return writer.start(f"{place}/table")
    if case.sink == "memory":
        return writer.queryName(settings["table"]).start()
    return writer.start()


def run(spark, case, place, settings):
    """One run over what is there, to its end; the progress of its micro-batches as plain objects."""
    query = start(spark, case, place, settings)
    if not query.awaitTermination(END_TIMEOUT_S):
        raise RuntimeError("the run did not end")
    return [json.loads(text) for text in progress_texts(query)]


def progress_texts(query):
    """The JSON of each micro-batch as the engine wrote it: the Connect client would put it in a form of its own."""
    if not hasattr(query, "_execute_streaming_query_cmd"):
        return [progress.json for progress in query.recentProgress]
    from pyspark.sql.connect.proto import StreamingQueryCommand
    command = StreamingQueryCommand()
    command.recent_progress = True
    return list(query._execute_streaming_query_cmd(command).recent_progress.recent_progress_json)


def answer(spark, case, place, settings):
    """What the sink holds, as sorted lists of plain values; None where the sink cannot be read by the engine."""
    if case.sink == "delta":
        columns = ["cast(start as string)", "cast(end as string)", "page", "views", "last_user", "mean"]
        if case.name.startswith("join"):
            columns = ["page", "user", "n", "cast(ts as string)", "next_user", "next_n"]
        if case.name in PASSING:
            columns = ["page", "user", "n", "cast(ts as string)"]
        frame = spark.read.format("delta").load(f"{place}/table").selectExpr(*columns)
    elif case.sink == "memory":
        frame = spark.table(settings["table"])
    else:
        return None
    return sort_rows(list(row) for row in frame.collect())


def sort_rows(rows):
    return sorted((list(row) for row in rows), key=lambda row: [(value is not None, str(value)) for value in row])


def last_rows(broker, topic):
    """Kafka sink, update mode: the last row of every key."""
    found = {message.key(): json.loads(message.value()) for message in broker.consume_all(topic)}
    return sort_rows([row.get("page"), row["views"], row.get("total"), row.get("first_user")] for row in found.values())


def join_type(case):
    return "inner" if "inner" in case.name else "left_outer"


def joined(lots, how):
    """Every pair of the join; left outer: and the left rows without one that the watermark has passed by more than they wait."""
    kept = [event for lot in range(lots) for event in events(lot) if event[1] != "late"]
    # The filter of the right side goes below its watermark: rows that fail it do not move it.
    watermark = min(max(when for *_, when in kept), max(when for _, _, n, when in kept if n < 60)) - datetime.timedelta(minutes=10)
    wait = datetime.timedelta(minutes=JOIN_MINUTES)
    rows = []
    for page, user, n, when in kept:
        found = [(r_user, r_n) for r_page, r_user, r_n, r_when in kept if r_page == page and r_n < 60 and when < r_when <= when + wait]
        if how == "left_outer" and not found and when + wait < watermark:
            found = [(None, None)]
        rows += [[page, user, n, str(when), next_user, next_n] for next_user, next_n in found]
    return sort_rows(rows)


def file_rows(lot):
    """The rows of a lot's two files; a malformed text is a row of nulls."""
    rows = [(None, None, None, None) if text in MALFORMED else event for text, event in zip(messages(lot), events(lot)[:5] + [None] + events(lot)[5:])]
    return rows[:9], rows[9:]


def passed_rows(case, lots):
    """What deduplication or a limit lets through, row by row: a micro-batch per file, one more when the watermark has moved."""
    late = evict = watermark = 0
    seen, out = {}, []
    delay = datetime.timedelta(minutes=10).total_seconds()
    for lot in range(lots):
        for rows in [*file_rows(lot), None]:
            if rows is None and watermark <= evict:
                continue
            late, evict = evict, watermark
            for row in rows or ():
                page, user, _, when = row
                if case.name.startswith("limit"):
                    out += [row] if len(out) < LIMIT else []
                    continue
                time = (when - datetime.datetime(1970, 1, 1)).total_seconds() if when else 0
                watermark = max(watermark, time - delay)
                if when and time <= late:
                    continue
                key, until = ((page, user), None) if case.name.startswith("dedup") else (page, time + delay)
                if key not in seen:
                    seen[key] = until
                    out.append(row)
            seen = {key: until for key, until in seen.items() if until is None or until > evict}
    return sort_rows([page, user, n, when and str(when)] for page, user, n, when in out)


def right_answer(case, lots):
    """The answer after lots 0 .. lots-1, counted one by one."""
    if case.name in PASSING:
        return passed_rows(case, lots)
    if case.name.startswith("join"):
        return joined(lots, join_type(case))
    groups = collections.defaultdict(list)
    if case.mode == "append":
        watermark = max(when for lot in range(lots) for *_, when in events(lot)) - datetime.timedelta(minutes=10)
        for lot in range(lots):
            for page, user, n, when in events(lot):
                if user != "late":
                    begin = when - datetime.timedelta(minutes=when.minute % 5, seconds=when.second)
                    groups[begin, page].append((user, n))
        length = datetime.timedelta(minutes=5)
        return sort_rows([str(begin), str(begin + length), page, len(group), max((u for u, _ in group if u), default=None),
                          sum(n for _, n in group) / len(group)]
                         for (begin, page), group in groups.items() if begin + length <= watermark)
    for lot in range(lots):
        for page, user, n, _ in events(lot):
            groups[page].append((user, n))
        groups[None].append((None, None))  # the malformed text
    if case.mode == "complete":
        return sort_rows([page, len(group)] for page, group in groups.items() if group)
    return sort_rows([page, len(group), sum(n for _, n in group) if page else None, min((u for u, _ in group if u), default=None)]
                     for page, group in groups.items() if group)


def damage_base(spark, place):
    """Micro-batch 0 of the checkpoint that damage_test.py damages."""
    from pyspark.sql import functions as F
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    frame = spark.readStream.schema("k STRING, v INT").option("maxFilesPerTrigger", 1).json(f"{place}/in").groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))
    query = (frame.writeStream.format("memory").queryName("damage_base").outputMode("complete").option("checkpointLocation", f"{place}/checkpoint")
             .trigger(availableNow=True).start())
    assert query.awaitTermination(END_TIMEOUT_S)
