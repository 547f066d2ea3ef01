"""Records what Spark's from_json and to_json answer: run with real Spark, output to src/data/formats/testdata/from_json.jsonl.
One line: schema (DDL), document, result as to_json(struct(from_json(document, schema) AS v)) with null fields kept."""
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SCALARS = "a INT, b STRING, c DOUBLE, d BOOLEAN, e BIGINT"
CASES = [(SCALARS, d) for d in [
    '{"a":1,"b":"x","c":1.5,"d":true,"e":9223372036854775807}', '{}', '', ' ', 'null', '[]', '[1]', '1', '"x"', '{"a":1', '{"a":1}}', '{"a":1} tail',
    '{"a":1}{"a":2}', '{"a":1.0,"b":1.0}', '{"a":"1","b":1}', '{"a":2147483648,"b":true}', '{"b":{"x":[1, 2.50]},"a":2}', '{"b":[1,"q"],"a":2}',
    '{"b":null,"c":null}', '{"c":1,"e":1.5}', '{"c":"NaN","e":"7"}', '{"c":NaN}', '{"c":Infinity}', '{"c":-INF}', '{"c":"Infinity"}', '{"c":"1.5"}',
    "{'a':1,'b':'y'}", '{"a":1,"a":2}', '{"A":1}', '{"a":01}', '{"a":-0,"b":-0}', '{"b":"\\u00e9\\n\\u0041"}', '{"b":"\\ud83d\\ude00"}', '{"b":1e5}', '{"b":1E+05}',
    '{"b":12345678901234567890123}', '{"e":12345678901234567890123}', '{"c":12345678901234567890123}', '{"a":1,}', '{,}', '{"a" 1}', '{a:1}', '{"a":tru}',
    '{"b":"tab\there"}', '{"d":"true"}', '{"d":1}', '{"a":true}', '\ufeff{"a":1}', '{"a":1 /* c */}', '{"a":""}', '{"b":""}', '{"c":""}', '  {"a":  1  }  ',
    '{"b":"a\\/b"}', '{"b":"\\q"}', '{"a":{"x":1}}', '{"a":[1]}', '{"c":1e400}', '{"e":-9223372036854775808}', '{"e":9223372036854775808}', '{"x":{"a":5},"a":6}']]
CASES += [("t TIMESTAMP, d DATE, n TIMESTAMP_NTZ", d) for d in [
    '{"t":"2024-01-02T03:04:05Z","d":"2024-02-29","n":"2024-01-02T03:04:05"}', '{"t":"2024-01-02 03:04:05.123456+02:00"}', '{"t":1700000000}', '{"t":1700000000.5}',
    '{"t":"1700000000"}', '{"t":"2024-01-02"}', '{"t":"x","d":"x"}', '{"d":"2024-1-2"}', '{"d":19000}', '{"n":"2024-01-02 03:04:05Z"}', '{"t":"2024-13-01"}', '{"t":" 2024-01-02 "}',
    '{"t":"2024-01-02T03:04:05.123456789"}', '{"t":""}', '{"t":"0001-01-01T00:00:00Z","d":"0001-01-01"}', '{"t":"9999-12-31T23:59:59.999999Z"}']]
CASES += [("x DECIMAL(5,2), y TINYINT, z SMALLINT, f FLOAT, b BINARY", d) for d in [
    '{"x":1.235,"y":127,"z":32767,"f":1.1,"b":"AQID"}', '{"x":1234.5}', '{"x":"12.3"}', '{"x":""}', '{"x":1e2}', '{"y":200}', '{"y":256}', '{"y":-129}', '{"z":40000}', '{"f":1e39}',
    '{"f":"NaN"}', '{"b":"!"}', '{"b":""}', '{"x":true}', '{"x":null,"y":null}', '{"f":3.4028235e38}', '{"f":0.1}']]
CASES += [("s STRUCT<p: INT, q: STRING>, l ARRAY<INT>, m MAP<STRING, INT>", d) for d in [
    '{"s":{"p":1,"q":"x"},"l":[1,2],"m":{"k":1}}', '{"s":{"p":"bad","q":"x"},"l":[1,"x",3],"m":{"k":"x","j":2}}', '{"s":[],"l":{},"m":[]}', '{"s":{},"l":[],"m":{}}',
    '{"s":null,"l":[null],"m":{"k":null}}', '{"s":{"p":1},"s":{"q":"z"}}', '{"m":{"k":1,"k":2}}', '{"l":[[1]]}', '{"s":5,"l":[7]}']]
CASES += [("ARRAY<STRUCT<a: INT>>", d) for d in ['[{"a":1},{"a":2}]', '{"a":1}', '[]', '[1]', '[{"a":"x"}]', '[null]', '{"a":"x"}', '"x"']]
CASES += [("ARRAY<INT>", d) for d in ['[1,2,null]', '[1,"x"]', '{"a":1}', '5', '']]
CASES += [("MAP<STRING, INT>", d) for d in ['{"a":1,"b":null}', '{"a":"x"}', '[1]', '{}']]

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
print(json.dumps({"spark": spark.version, "zone": "UTC"}))
for schema, document in CASES:
    row = spark.createDataFrame([(document,)], "j STRING").select(
        F.to_json(F.struct(F.from_json("j", schema).alias("v")), {"ignoreNullFields": "false"}).alias("r")).collect()[0]
    print(json.dumps({"schema": schema, "document": document, "result": row.r}))
    sys.stdout.flush()
