"""The Yahoo streaming benchmark from JSON files, one availableNow run: parse, filter, join with 1,000 ads, count per window.

The answer is checked against the generator. Per CPU second of the server, all its threads counted.
"""
import pathlib
import random
import sys
import time

from pyspark.sql import functions as F

from kit.engine import fresh_server, scratch
from kit.outside import cpu_seconds

SCHEMA = ("user_id STRING, page_id STRING, ad_id STRING, ad_type STRING, event_type STRING, event_time BIGINT, "
          "ip_address STRING")
SEED = 7


def make_events(folder, events, files):
    """Files of events, the ads and their campaigns; returns how many are views. 10,000 events make a second of event time."""
    rnd = random.Random(SEED)
    ids = [f"{rnd.getrandbits(128):032x}" for _ in range(3100)]
    ads, campaigns, users, pages = ids[:1000], ids[1000:1100], ids[1100:2100], ids[2100:]
    (folder / "ads").mkdir(parents=True)
    (folder / "events").mkdir()
    (folder / "ads" / "ads.csv").write_text("".join(f"{ad},{campaigns[i // 10]}\n" for i, ad in enumerate(ads)))
    types, kinds = ("view", "click", "purchase"), ("banner", "modal", "sponsored-search", "mail", "mobile")
    n = views = 0
    for number in range(files):
        with open(folder / "events" / f"{number:03}.json", "w", buffering=1 << 20) as file:
            for _ in range(events // files):
                r = rnd.getrandbits(60)
                kind = types[(r >> 40) % 3]
                views += kind == "view"
                file.write(f'{{"user_id":"{users[r % 1000]}","page_id":"{pages[(r >> 10) % 1000]}","ad_id":"{ads[(r >> 20) % 1000]}",'
                           f'"ad_type":"{kinds[(r >> 30) % 5]}","event_type":"{kind}","event_time":{1_700_000_000_000 + n // 10},'
                           '"ip_address":"1.2.3.4"}\n')
                n += 1
    return n, views


def ysb(lines, quick):
    with scratch() as folder:
        events, views = make_events(folder, 500_000 if quick else 4_000_000, 10)
        with fresh_server(folder / "server") as server:
            spark = server.session()

            def once(number):
                ads = spark.read.csv(str(folder / "ads"), schema="ad_id STRING, campaign_id STRING")
                counts = (spark.readStream.format("json").schema(SCHEMA).load(str(folder / "events")).filter("event_type = 'view'")
                          .select("ad_id", F.timestamp_millis("event_time").alias("ts")).join(ads, "ad_id")
                          .withWatermark("ts", "10 seconds").groupBy(F.window("ts", "10 seconds"), "campaign_id").count())
                before, start = cpu_seconds(server.process.pid), time.monotonic()
                query = (counts.writeStream.format("memory").queryName(f"t{number}").outputMode("complete")
                         .option("checkpointLocation", str(folder / f"cp{number}")).trigger(availableNow=True).start())
                query.awaitTermination()
                used, seconds = cpu_seconds(server.process.pid) - before, time.monotonic() - start
                found = spark.sql(f"SELECT sum(count) FROM t{number}").collect()[0][0]
                assert found == views, (found, views)
                return events / used / 1e6, events / seconds / 1e6

            once(0)
            runs = [once(n) for n in range(1, 4 if quick else 6)]
    lines.add("YSB from JSON files", None, "M rows/CPU s", better="higher", bar=3, runs=[run[0] for run in runs], seed=SEED, events=events,
              m_rows_per_second=round(max(run[1] for run in runs), 2))


ROWS = [ysb]
