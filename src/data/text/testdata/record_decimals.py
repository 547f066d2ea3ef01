# Records decimal arithmetic and conversions of Spark. Run with the oracle: spark-run record_decimals.py FOLDER
import json
import random
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
out = sys.argv[1]
rnd = random.Random(5)


def save(name, rows):
    with open(f"{out}/{name}.jsonl", "w", encoding="utf-8") as f:
        f.write(json.dumps({"spark": spark.version}) + "\n")
        for r in rows:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")


def number(p, s):
    n = rnd.choice([1, 2, p // 2, p - 1, p, rnd.randint(1, p)])
    kind = rnd.randint(0, 5)
    digits = "9" * n if kind == 0 else "1" + "0" * (n - 1) if kind == 1 else "5" * n if kind == 2 else "".join(rnd.choice("0123456789") for _ in range(n))
    v = int(digits or "0")
    text = str(v).rjust(s + 1, "0")
    return ("-" if rnd.random() < 0.4 else "") + (text[:-s] + "." + text[-s:] if s else text)


TYPES = [(38, 18), (38, 0), (38, 38), (10, 2), (5, 5), (18, 6), (19, 0), (38, 10), (3, 0), (38, 6), (28, 20), (20, 0)]
rows = []
for pa, sa in TYPES:
    for pb, sb in TYPES:
        pairs = [(number(pa, sa), number(pb, sb)) for _ in range(10)]
        df = spark.createDataFrame(pairs, "a string, b string").coalesce(1).selectExpr(
            f"cast(a as decimal({pa},{sa})) a", f"cast(b as decimal({pb},{sb})) b")
        df = df.selectExpr("cast(a as string)", "cast(b as string)", "try_add(a, b) p", "try_subtract(a, b) m", "try_multiply(a, b) t",
                           "try_divide(a, b) d",
                           "if(abs(cast(a as double)) < abs(cast(b as double)) * 1e36, try_mod(a, b), null) r", "cast(if(b = 0, null, try_divide(a, b)) as double) q", "a < b lt", "a = b eq",
                           "abs(cast(a as double)) < abs(cast(b as double)) * 1e36 asked")
        ops = [("+", 2), ("-", 3), ("*", 4), ("/", 5), ("%", 6)]
        fields = df.schema.fields
        for row in df.collect():
            rows.append([row[0], sa, row[1], sb] + [[o, fields[i].dataType.precision, fields[i].dataType.scale, None if row[i] is None else format(row[i], "f")] for o, i in ops if o != "%" or row[10]] + [-1 if row[8] else 0 if row[9] else 1])
save("decimal_arithmetic", rows)

texts = [number(p, s) for p, s in TYPES for _ in range(30)]
df = spark.createDataFrame([(t,) for t in texts], "s string").coalesce(1)
spark.conf.set("spark.sql.ansi.enabled", "false")
cols = []
for p, s in [(38, 18), (38, 38), (38, 0), (10, 2), (20, 7)]:
    d = f"cast(s as decimal({p},{s}))"
    cols += [f"cast(cast({d} as double) as string)", f"cast(cast({d} as float) as string)", f"cast({d} as string)", f"cast(cast({d} as bigint) as string)", f"cast(cast({d} as decimal(12,3)) as string)"]
save("decimal_casts", [["kinds", [38, 18], [38, 38], [38, 0], [10, 2], [20, 7]]] + [list(r) for r in df.selectExpr("s", *cols).collect()])

doubles = [rnd.uniform(-1, 1) * 10 ** rnd.randint(-12, 22) for _ in range(300)] + [0.1, 1.5, 2.5, 0.5, 1e23, 8.41e21, 1e-7, 123456789.125, -0.0, 1.005, 1.115, 4.35, float("nan"), float("inf")]
df = spark.createDataFrame([(d,) for d in doubles], "d double").coalesce(1)
kinds = [(38, 18), (10, 2), (38, 0), (20, 15), (38, 30)]
save("decimal_from_double", [["kinds"] + [list(k) for k in kinds]] + [[r[0]] + list(r[1:]) for r in df.selectExpr(
    "cast(d as string)", *[f"cast(cast(d as decimal({p},{s})) as string)" for p, s in kinds],
    *[f"cast(cast(cast(d as float) as decimal({p},{s})) as string)" for p, s in kinds]).collect()])
