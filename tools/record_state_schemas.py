#!/usr/bin/env python3
"""Records the operator metadata and state schemas that real Spark writes for streaming queries.

usage: spark-run record_state_schemas.py OUTPUT.jsonl

Each line: the query (SQL over the streams s, s2 and the watermarked w, w2; all have the columns COLUMNS), its output mode,
and per operator its name and the key and value schema of each store. sql/stateful_shape compares its layouts with them.
"""

import json
import os
import struct
import sys
import tempfile

from pyspark.sql import SparkSession

COLUMNS = "k STRING, v INT, ts TIMESTAMP, n BIGINT, x DOUBLE, d8 DECIMAL(8,2), d12 DECIMAL(12,2), b BOOLEAN, st STRUCT<a: INT, c: STRING>"
QUERIES = [
    ("update", "SELECT k, count(*) FROM s GROUP BY k"),
    ("update", "SELECT k, avg(v) AS a, count(*) AS c FROM s GROUP BY k"),
    ("update", "SELECT c, a FROM (SELECT k, avg(v) AS a, count(*) AS c FROM s GROUP BY k)"),
    ("update", "SELECT k, m FROM (SELECT k, avg(v) AS a, max(x) AS m, sum(v) AS t FROM s GROUP BY k)"),
    ("update", "SELECT k, a FROM (SELECT k, avg(v) AS a, count(*) AS c FROM s GROUP BY k) WHERE c > 1"),
    ("update", "SELECT k, sum(d8), sum(d12), avg(d8), avg(d12) FROM s GROUP BY k"),
    ("update", "SELECT v % 3 AS m, count(*) FROM s GROUP BY v % 3"),
    ("update", "SELECT v % 3, upper(k), count(*) FROM s GROUP BY v % 3, upper(k)"),
    ("update", "SELECT k, count(*), count(1), count('x'), count(v) FROM s GROUP BY k"),
    ("update", "SELECT count(*), sum(v) FROM s"),
    ("update", "SELECT 'a', k, count(*) FROM s GROUP BY 'a', k, k"),
    ("update", "SELECT DISTINCT k, v FROM s"),
    ("append", "SELECT DISTINCT k, ts FROM w"),
    ("update", "SELECT st.a, count(*) FROM s GROUP BY st.a"),
    ("update", "SELECT tag, count(*) FROM (SELECT 'l' AS tag, k FROM s UNION ALL SELECT 'r' AS tag, k FROM s2) GROUP BY tag"),
    ("update", "SELECT k, sum(v + 1), max(k), min(ts), sum(v + 1) + 1 FROM s WHERE v > 0 GROUP BY k HAVING max(k) IS NOT NULL"),
    ("append", "SELECT window.start, k, count(*) AS c FROM w GROUP BY window(ts, '10 seconds'), k"),
    ("append", "SELECT window, sum(v) FROM w GROUP BY window(ts, '10 seconds', '5 seconds')"),
    ("append", "SELECT window, k, sum(v) FROM w WHERE k = 'a' AND ts IS NOT NULL GROUP BY k, window(ts, '10 seconds')"),
    ("append", "SELECT session_window, k, count(*), sum(x) FROM w GROUP BY k, session_window(ts, '5 seconds')"),
    ("append", "SELECT sum(c) FROM (SELECT window, k, count(*) AS c FROM w GROUP BY window(ts, '5 seconds'), k) "
               "GROUP BY window(window_time(window), '10 seconds')"),
    ("append", "SELECT l.k, r.v FROM w l JOIN w2 r ON l.k = r.k AND l.ts = r.ts"),
    ("append", "SELECT l.k, l.v, r.v AS rv FROM w l LEFT JOIN w2 r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"),
    ("append", "SELECT l.k, l.x FROM w l LEFT SEMI JOIN w2 r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"),
    ("append", "SELECT count(*) FROM (SELECT l.ts AS t FROM w l JOIN w2 r ON l.k = r.k AND l.ts = r.ts) GROUP BY window(t, '10 seconds')"),
    ("append", "SELECT k, v FROM s LIMIT 3"),
    ("complete", "SELECT k, count(*) FROM (SELECT k FROM s LIMIT 3) GROUP BY k"),
    ("complete", "SELECT k, v, count(*) FROM s GROUP BY ROLLUP(k, v)"),
    ("update", "SELECT k, try_sum(v), bool_and(b), count_if(v > 1), first(v), last(v), any_value(v) FROM s GROUP BY k"),
    ("update", "SELECT k, stddev(x), var_pop(x), collect_list(v), mean(x), avg(x), min(b), bool_and(b) FROM s GROUP BY k"),
    ("update", "SELECT k, sum(v) + sum(v), sum(CASE WHEN v > 1 THEN 1 ELSE 0 END), sum(n), sum(x) FROM s GROUP BY k"),
    ("update", "SELECT coalesce(k, 'x'), count(*) FROM s GROUP BY coalesce(k, 'x')"),
    ("update", "SELECT CAST(v AS STRING) AS vs, max(st) FROM s GROUP BY CAST(v AS STRING)"),
    ("update", "SELECT t, c FROM (SELECT k, sum(v) AS t, count(*) AS c, max(x) AS m FROM s GROUP BY k) WHERE k = 'a' AND t > 1"),
    ("update", "SELECT b2, c2 FROM (SELECT k, sum(v) AS a2, min(v) AS b2, max(v) AS c2 FROM s GROUP BY k HAVING sum(x) > 1)"),
    ("append", "SELECT count(*) FROM (SELECT DISTINCT k, ts FROM w) GROUP BY window(ts, '10 seconds')"),
    ("append", "SELECT a.c, b.m FROM (SELECT window AS wa, count(*) AS c FROM w GROUP BY window(ts, '10 seconds')) a "
               "JOIN (SELECT window AS wb, max(v) AS m FROM w2 GROUP BY window(ts, '10 seconds')) b ON a.wa = b.wb"),
    ("append", "SELECT l.v + r.v AS z FROM w l JOIN w2 r ON l.k = r.k AND l.ts = r.ts WHERE l.v > 1 AND r.x < 3"),
    ("append", "SELECT l.k, r.x FROM w l JOIN w2 r ON l.k = upper(r.k) AND l.ts <= r.ts AND r.ts <= l.ts + INTERVAL 1 MINUTE"),
    ("append", "SELECT l.k, r.v FROM w l LEFT JOIN w2 r ON l.k = r.k AND l.ts = r.ts WHERE r.v > 1"),
    ("append", "SELECT l.k, r.st.c FROM w l JOIN w2 r ON l.n = r.n AND l.ts = r.ts AND l.k = 'a'"),
    ("append", "SELECT k, c FROM (SELECT k, v AS c FROM s UNION ALL SELECT k, n AS c FROM s2) LIMIT 2"),
    ("append", "SELECT l.k FROM (SELECT k, ts, v * 2 AS d FROM w) l JOIN w2 r ON l.k = r.k AND l.ts = r.ts AND l.d = r.v"),
    ("append", "SELECT l.k, r.v FROM w l FULL JOIN w2 r ON l.k = r.k AND l.ts = r.ts"),
    ("append", "SELECT l.k, r.v FROM w l RIGHT JOIN w2 r ON l.k <=> r.k AND l.ts = r.ts"),
]


def utf(data, at):
    size = struct.unpack_from(">H", data, at)[0]
    return data[at + 2:at + 2 + size].decode(), at + 2 + size


def schemas(path):
    data = open(path, "rb").read()
    version, at = utf(data, 0)
    assert version == "v2", version
    out = []
    for _ in range(2):
        chunks = struct.unpack_from(">i", data, at)[0]
        at += 4
        text = ""
        for _ in range(chunks):
            part, at = utf(data, at)
            text += part
        out.append(text)
    return out


def operators(checkpoint):
    out = []
    for op in sorted(int(name) for name in os.listdir(f"{checkpoint}/state")):
        folder = f"{checkpoint}/state/{op}"
        info = json.loads(open(f"{folder}/_metadata/metadata").read().split("\n")[1])
        stores = []
        for store in info["stateStoreInfo"]:
            middle = "" if store["storeName"] == "default" else store["storeName"] + "/"
            key, value = schemas(f"{folder}/0/{middle}_metadata/schema")
            stores.append({"name": store["storeName"], "prefix": store["numColsPrefixKey"], "key": key, "value": value})
        out.append({"id": op, "name": info["operatorInfo"]["operatorName"], "stores": stores})
    return out


def main():
    base = tempfile.mkdtemp()
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.sparkContext.setLogLevel("ERROR")
    for name in ("s", "s2"):
        os.makedirs(f"{base}/{name}")
        with open(f"{base}/{name}/a.json", "w", encoding="utf-8") as file:
            file.write('{"k":"a","v":1,"ts":"2024-03-01T10:00:01Z","n":1,"x":1.5,"d8":1.25,"d12":2.5,"b":true,"st":{"a":1,"c":"x"}}\n')
        stream = spark.readStream.schema(COLUMNS).json(f"{base}/{name}")
        stream.createOrReplaceTempView(name)
        stream.withWatermark("ts", "10 seconds").createOrReplaceTempView("w" + name[1:])
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for i, (mode, sql) in enumerate(QUERIES):
            record = {"mode": mode, "sql": sql}
            try:
                query = (spark.sql(sql).writeStream.format("noop").outputMode(mode).trigger(availableNow=True)
                         .option("checkpointLocation", f"{base}/c{i}").start())
                query.awaitTermination(120)
                record["operators"] = operators(f"{base}/c{i}")
            except Exception as error:  # recorded as it is; nothing is compared then
                record["error"] = str(error).split("\n")[0][:200]
                print(sql, record["error"], flush=True)
            out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
