# Records how Spark reads and prints types. Run with the oracle: spark-run record_types.py OUTPUT.jsonl
import json
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
jvm = spark._jvm
DataType = getattr(jvm.org.apache.spark.sql.types, "DataType")
StructType = getattr(jvm.org.apache.spark.sql.types, "StructType")

SqlParser = getattr(getattr(jvm.org.apache.spark.sql.catalyst.parser, "CatalystSqlParser$"), "MODULE$")

DDL = [
    "boolean", "tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long", "float", "real", "double",
    "decimal", "dec", "numeric", "decimal(5)", "decimal(10,2)", "decimal( 38 , 38 )", "DEC(4,1)", "NUMERIC(7, 3)",
    "string", "STRING COLLATE UTF8_LCASE", "string collate unicode_ci", "string collate UTF8_BINARY", "char(5)",
    "character(3)", "varchar(10)", "binary", "date", "timestamp", "timestamp_ltz", "timestamp_ntz", "time", "time(0)",
    "time(3)", "time(6)", "time(7)", "time without time zone", "timestamp without time zone", "variant", "void",
    "interval", "interval year", "interval month",
    "interval year to month", "INTERVAL DAY", "interval day to hour", "interval day to minute", "INTERVAL DAY TO SECOND",
    "interval hour", "interval hour to minute", "interval hour to second", "interval minute", "interval minute to second",
    "interval second", "interval second to day", "interval year to day",
    "array<int>", "ARRAY<array<string>>", "map<string,int>", "map<string, array<struct<a:int,b:string>>>",
    "struct<>", "struct<a int>", "struct<a: int, b: string>", "struct<a: int NOT NULL COMMENT 'x', `b c`: array<int>>",
    "struct<`a``b`: int>", "array<array<map<int,map<int,int>>>>", "array<int", "array<>", "map<int>", "decimal(39,1)",
    "decimal(5,6)", "decimal(10,-2)", "decimal(1,2,3)", "varchar", "varchar(0)", "char", "int(3)", "foo", "", "  int  ",
    "int not null", "array<varchar(3)>", "array<string collate UTF8_LCASE>", "map<string collate UNICODE, string>",
    "string collate nope", "struct<a:int,>", "struct<a int,a int>", "struct<a:int default 3>", "timestamp_ntz(3)",
    "datetime", "text", "bytes", "json", "geometry(4326)", "geography(4326)", "array", "struct", "map", "long varchar",
    "struct<1a int>", "struct<a.b int>", "struct<select int>", "struct<from: int, order: string>", "struct<é int>", "struct<1e int>", "struct<1L int>", "struct<a-b int>", "array<array>", "varchar(a)", "interval day to", "a int", "int, int", "array(int)", "struct<a: int not null>", "map<int,string>>", "`int`", "interval days", "select", "decimal(0,0)", "decimal(99999999999)", "struct<a: int, a>", "string collate a.b", "timestamp with local time zone", "timestamp with time zone", "time with time zone", "time(3) without time zone", "timestamp_ltz without time zone",
    "array<int>>", "ARRAY < INT >", "int -- comment", "/* c */ int", "struct<a: int comment \"dq\">", "double precision",
    "bigint unsigned",
]
SCHEMA = [
    "a INT", "a INT, b STRING", "a: int, b: string", "a INT NOT NULL", "a INT COMMENT 'it''s'", "a INT COMMENT 'it\\'s \\n x'",
    "`a b` INT, `c``d` STRING", "a INT NOT NULL COMMENT 'x', b STRING", "a STRUCT<b: INT NOT NULL, c: ARRAY<STRING>>",
    "a VARCHAR(5), b CHAR(3)", "a ARRAY<VARCHAR(5)>", "a STRING COLLATE UTF8_LCASE", "a ARRAY<STRING COLLATE UNICODE>",
    "a MAP<STRING COLLATE UNICODE_CI, STRUCT<b: STRING COLLATE UTF8_LCASE>>", "a INT DEFAULT 3", "a INT, A INT", "", "a",
    "a INT b INT", "a.b INT", "a decimal(10,2), b timestamp_ntz, c time(3), d interval day to second, e variant, f void",
    "timestamp TIMESTAMP, date DATE, value STRING", "a INT GENERATED ALWAYS AS (1)", "a INT,", "a INT NULL", "1 INT", "_1 INT, _2 STRING",
    "select INT", "a-b INT", "é INT", "a STRING COMMENT 'ü'", "a MAP<STRING, ARRAY<STRUCT<x: INT, y: MAP<INT, INT>>>>",
    "a INT COMMENT ''", "a INT COMMENT 'x' NOT NULL", "a INT NOT NULL NOT NULL", "a INT COMMENT r'raw\\n'", "a int comment 'x' 'y'",
    "`` INT", "a INT COMMENT \"double\"", "key STRING, value BINARY, topic STRING, partition INT, offset LONG, timestamp TIMESTAMP, timestampType INT",
    "a STRUCT<b: STRUCT<c: STRUCT<d: INT>>>", "`a\nb` INT",
]
JSON = [
    '"integer"', '"null"', '"void"', '"decimal"', '"decimal(5,2)"', '"decimal( 5 , 2 )"', '"timestamp_ltz"', '"char(3)"', '"varchar(4)"', '"time(6)"',
    '"interval day to second"', '"interval year"', '"interval"', '"calendarinterval"', '"string collate UTF8_LCASE"', '"foo"', '5', '{"type":"array"}', '"time"', '"int"', '"variant"',
    '{"type":"array","elementType":"integer","containsNull":false}',
    '{"containsNull":true,"elementType":{"type":"map","keyType":"string","valueType":"long","valueContainsNull":true},"type":"array"}',
    '{"type":"struct","fields":[]}',
    '{"type":"struct","fields":[{"name":"a","type":"integer"}]}',
    '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":false}]}',
    '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{"comment":"x","n":1,"d":1.5,"b":true,"z":null,"o":{"k":[1,2]},"e":[],"s":["a"],"big":12345678901,"neg":-1.0,"exp":1e10}}]}',
    '{"type":"struct","fields":[{"name":"a \\"q\\" \\u00e9 \\n \\u0001 /","type":"string","nullable":true,"metadata":{"comment":"\\u20ac \\\\ \\t"}}]}',
    '{"type":"struct","fields":[{"name":"a","type":"string","nullable":true,"metadata":{"__COLLATIONS":{"a":"spark.UTF8_LCASE"}}}]}',
    '{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"string","containsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"a.element":"icu.UNICODE_CI"}}}]}',
    '{"type":"struct","fields":[{"name":"a","type":{"type":"map","keyType":"string","valueType":"string","valueContainsNull":true},"nullable":true,"metadata":{"x":1,"__COLLATIONS":{"a.key":"icu.UNICODE_CI","a.value":"spark.UTF8_LCASE"}}}]}',
    '{"type":"struct","fields":[{"name":"a","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}}]}',
    '{"type":"struct","fields":[{"name":"v","type":{"type":"udt","class":"org.apache.spark.ml.linalg.VectorUDT","pyClass":"pyspark.ml.linalg.VectorUDT","sqlType":{"type":"struct","fields":[{"name":"type","type":"byte","nullable":false,"metadata":{}}]}},"nullable":true,"metadata":{}}]}',
    '{"type":"udt","pyClass":"a.B","serializedClass":"abc","sqlType":"integer"}',
    '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{},"extra":1}]}',
    '{"type":"array","elementType":"string collate UNICODE","containsNull":true}', '{', '',
]


def describe(t):
    out = {"json": t.json(), "sql": t.sql(), "simple": t.simpleString(), "catalog": t.catalogString(), "name": t.typeName()}
    if t.getClass().getSimpleName() == "StructType":
        out["tree"] = t.treeString()
        out["tree1"] = t.treeString(1)
        out["tree2"] = t.treeString(2)
        out["ddl"] = t.toDDL()
    return out


def attempt(kind, text, make):
    row = {"kind": kind, "text": text}
    try:
        row.update(describe(make(text)))
    except Exception as e:  # noqa: BLE001 - whatever Spark answers is recorded
        j = getattr(e, "java_exception", None)
        try:
            row["error"] = e.getCondition() or j.getClass().getName()
        except Exception:
            row["error"] = j.getClass().getName() if j is not None else type(e).__name__
        try:
            row["error"] = j.getCondition()
            row["parameters"] = dict(j.getMessageParameters())
        except Exception:
            pass
    return row


with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write(json.dumps({"spark": spark.version}) + "\n")
    for kind, texts, make in [("type", DDL, SqlParser.parseDataType),
                              ("schema", SCHEMA, StructType.fromDDL), ("json", JSON, DataType.fromJson)]:
        for text in texts:
            f.write(json.dumps(attempt(kind, text, make), ensure_ascii=False) + "\n")
