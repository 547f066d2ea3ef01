"""Records what Spark's readers of CSV, JSON and text files answer: run with real Spark, output to src/connectors/file/testdata/files.jsonl.
One line a case: format, options, schema (DDL, absent: inferred), content (bytes as Latin-1), and rows as to_json(struct(*)) with null
fields kept, with the schema Spark reports; or the condition of the error and those of its causes."""
import datetime
import json
import os
import sys
import tempfile

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ABC = "a STRING, b STRING, c STRING"
NUM = "id INT, name STRING, amt DOUBLE"
COR = "a INT, b STRING, _corrupt_record STRING"
CASES = []


def csv(content, schema, **options):
    CASES.append(("csv", options, schema, content))


def js(content, schema, **options):
    CASES.append(("json", options, schema, content))


for text in ['a,b,c', 'a,,c', ',,', 'a,b', 'a,b,c,d', '"a","b","c"', '"a,x",b,c', '"a"b,c,d', '"a" ,b,c', '"a" b,c,d', '"a" "b",c,d', 'a"b,c,d', '"a""b",c,d', '"a\\"b",c,d',
             '"a\\\\",b,c', '"a\\x",b,c', '"a,b,c', '"', '""', '"",b,c', 'a,"",c', '"a"",b",c', '"x""y",1,2', 'a,"b', 'a,"b"', '"a""",b,c', '"a\\",b,c', "'a',b,c", ' a , b , c ',
             '" a ",b,c', 'a\\,b,c', 'a,b\\"c,d', '"a"\t,b,c', '"a\\\\"b",c,d', '\\"a,b,c', '"a"",b', '""a"",b,c', '"""a""",b,c', '"a\\\\\\"b",c,d', 'a,b,"c"x', '"a"x"y",b,c', 'a,"b" x "c",d']:
    csv(text + "\n", ABC)
    csv(text + "\n", ABC, escape='"')
for text in ['"a"b,c,d', '"a" "b",c,d', '"a""b",c,d', '"a"x"y",b,c', '"x""y",1,2', 'a,"b"c"d",e']:
    for how in ["STOP_AT_CLOSING_QUOTE", "SKIP_VALUE", "RAISE_ERROR"]:
        csv(text + "\n", ABC, unescapedQuoteHandling=how)
for text in [' a , b , c ', '" a " , " b " ,c', ' "a" ,b,c', '"a"  ,b', 'a,b  ', '\ta,b\t,c']:
    csv(text + "\n", ABC, ignoreLeadingWhiteSpace="true")
    csv(text + "\n", ABC, ignoreTrailingWhiteSpace="true")
    csv(text + "\n", ABC, ignoreLeadingWhiteSpace="true", ignoreTrailingWhiteSpace="true")
csv("a|b|c\n", ABC, sep="|")
csv("a\tb\tc\n", ABC, sep="\\t")
csv("a||b||c\n\"x||y\"||z|w||\n", ABC, sep="||")
csv("a;b,c;d\n", ABC, delimiter=";")
csv("a,b,c\n", ABC, sep="")
csv("a,b,c\n", ABC, sep="\\")
csv("'a,b',c,d\n\"x\",y,z\n", ABC, quote="'")
csv("\"a,b\",c\n", ABC, quote="")
csv("#x,y,z\na,b,c\n #d,e,f\n", ABC, comment="#")
csv("NA,b,\n\"NA\",\"\",c\n", ABC, nullValue="NA")
csv("NA,b,\n\"NA\",\"\",c\n", ABC, nullValue="NA", emptyValue="EMPTY")
csv(",\"\",c\n", ABC, emptyValue="E")
csv("\xef\xbb\xbfid,name,amt\r\n1,\"Ann, B\",2.5\r\n\r\n2,,\r\n   \r\n3,Cy,4\r\n", NUM, header="true")
csv("\xef\xbb\xbfid,name,amt\r\n1,\"Ann, B\",2.5\r\n\r\n2,,\r\n   \r\n3,Cy,4\r\n", NUM, header="true", enforceSchema="false")
csv("name,id,amt\n1,x,2.5\n", NUM, header="true", enforceSchema="false")
csv("id,name\n1,x\n", NUM, header="true", enforceSchema="false")
csv("ID,Name,AMT\n1,x,2\n", NUM, header="true", enforceSchema="false")
for mode in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST", "bogus"]:
    csv('id,note\n1,"hello\nworld"\n2,ok\n', "id INT, note STRING", header="true", mode=mode)
    csv('1,x\nbad,y\n3\n4,z,w\n', "a INT, b STRING", mode=mode)
    csv('1,x\nbad,y\n3\n4,z,w\n', COR, mode=mode)
csv('id,note\n1,"hello\nworld"\n2,ok\n', "id INT, note STRING", header="true", multiLine="true")
csv('1,"a\r\nb"\r\n2,c\r\n', "a INT, b STRING", multiLine="true")
csv('1,"a\r\nb"\r2,c\r', "a INT, b STRING", multiLine="true")
csv('1,"a\n\n2,c\n', "a INT, b STRING", multiLine="true")
csv('\n\n1,a\n\n#x\n2,b\n', "a INT, b STRING", multiLine="true", comment="#")
csv('1,"a\nb",x\nbad,c\n', COR, multiLine="true")
csv('1,a;2,b;', "a INT, b STRING", lineSep=";")
csv('1,a\n2,b;3,c', "a INT, b STRING", lineSep=";")
csv('1,a;;2,b', "a INT, b STRING", lineSep="abc")
csv('1,a', "a INT, b STRING", lineSep="")
csv("1,caf\xe9\n2,na\xc3\xafve\n", "i INT, s STRING")
csv("1,caf\xe9\n2,na\xc3\xafve\n", "i INT, s STRING", encoding="ISO-8859-1")
csv("\xff\xfe1\x00,\x00a\x00\n\x002\x00,\x00b\x00\n\x00", "i INT, s STRING", encoding="UTF-16", multiLine="true")
csv("1,a\n", "i INT, s STRING", encoding="no-such")
for value in ['1', ' 1', '+1', '-1', '1.0', '2147483648', '0x1', '1e3', '', 'null', 'x1']:
    csv(value + ",x\n", "a INT, b STRING")
for value in ['1', '1.5', ' 1.5 ', 'NaN', 'nan', 'Inf', '-Inf', 'Infinity', '-Infinity', '1e400', '1d', '1,5', '.5', '5.', '0x1p3', '+1']:
    csv('"' + value + '",x\n', "a DOUBLE, b STRING")
    csv('"' + value + '",x\n', "a FLOAT, b STRING")
for value in ['true', 'TRUE', 'True', 'false', '1', 't', 'yes', ' true']:
    csv(value + ",x\n", "a BOOLEAN, b STRING")
for value in ['1', '1.005', '1.004', '1234.5', '"1,234.5"', '1e2', ' 1', '-.5', '99999.99', '999999']:
    csv(value + ",x\n", "a DECIMAL(7,2), b STRING")
for value in ['2024-01-02', '2024-1-2', '2024', '2024-01', '2024-01-02 10:00:00', '2024-01-02T10:00:00Z', '01/02/2024', ' 2024-01-02 ', '10:00', '1700000000', '2024-13-01', '9999-12-31', '2024-01-02 10:00:00.123456789', '2024-01-02T10:00:00+02:00', 'x']:
    csv(value + "," + value + "," + value + "\n", "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ")
csv("01/02/2024,02.01.2024 10:11,2024\n2024-01-02,x,y\n", "d DATE, t TIMESTAMP, s STRING", dateFormat="MM/dd/yyyy", timestampFormat="dd.MM.yyyy HH:mm")
csv("1,2\n", "a TINYINT, b SMALLINT")
csv("200,40000\n", "a TINYINT, b SMALLINT")
csv("N/A,inf,x\n", "a DOUBLE, b DOUBLE, c STRING", nanValue="N/A", positiveInf="inf")
csv("1-2,1 02:03:04\n", "y INTERVAL YEAR TO MONTH, d INTERVAL DAY TO SECOND")
csv("a,b,c,d\n", ABC, maxColumns="3")
csv("1,2\n", "a INT, b BINARY")
csv("1,2\n", "a INT, b ARRAY<INT>")
csv("1\n", "_corrupt_record STRING")
# Inference.
csv("1,x,2.5\n2,y,3\n", None)
csv("id,name,amt\n1,x,2.5\n2,y,3\n", None, header="true")
csv("id,name,amt\n1,x,2.5\n2,y,3\n", None, header="true", inferSchema="true")
csv("a,A,a,,b\n1,2,3,4,5\n", None, header="true")
csv("a,b\n1,2,3\n4\n", None, header="true", inferSchema="true")
for values in [["1", "2147483648"], ["1", "1.5"], ["1", "x"], ["12345678901234567890", "1"], ["12345678901234567890", "1.5"], ["1.5", "12345678901234567890"], ["true", "false"], ["true", "1"], ["1", "true"],
               ["2024-01-02", "2024-01-03"], ["2024-01-02", "2024-01-02 10:00:00"], ["2024-01-02 10:00:00", "2024-01-02"], ["2024-01-02", "x"], ["2024-01-02", "1"], ["2024-1-2", "2024-1-3"],
               ["10:00", "11:00"], ["NaN", "1"], ["Inf", "-Inf"], ["", "1"], ["", ""], ["1e10", "1"], ["1e3", "2"], ["2024-01-02T10:00:00Z", "2024-01-02T10:00:00"], ["0", "00"], ["-0", "1"], ["1d", "1"], [" 1", "2"],
               ["123456789012345678901234567890123456789", "1"], ["1,5", "2"], ["\"1,5\"", "2"], ["null", "1"], ["2024", "2025"], ["202401", "2024-01"]]:
    csv("\n".join(v + ",z" for v in values) + "\n", None, inferSchema="true")
csv("2024-01-02,z\n", None, inferSchema="true", preferDate="false")
csv("01/02/2024,z\n", None, inferSchema="true", dateFormat="MM/dd/yyyy")
csv("01/02/2024 10:00,z\n", None, inferSchema="true", timestampFormat="MM/dd/yyyy HH:mm")
csv("NA,1\n2,NA\n", None, inferSchema="true", nullValue="NA")
csv("a,b\n\"x\ny\",1\n", None, header="true", inferSchema="true", multiLine="true")
csv("# c\na,b\n1,2\n", None, header="true", comment="#", inferSchema="true")
csv("", None, header="true")
csv("\n\n", None)

# JSON.
P32 = '{"a":1,"b":"x"}\n{"a":"oops","b":"y"}\n{"a":2,"b":\n\n{"a":3}\n'
for mode in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]:
    js(P32, "a INT, b STRING, _corrupt_record STRING", mode=mode)
    js(P32, "a INT, b STRING", mode=mode)
    js('[{"a":1},{"a":"x"},5]\n{"a":2}\n', "a INT", mode=mode)
    js('{"a":1}\nbad\n[1]\n5\n"x"\nnull\n[]\n{"a":{}}\n', "a INT, _corrupt_record STRING", mode=mode)
    js('{"a":1}\nbad\n5\n', None, mode=mode)
js('{"i":1,"n":7}\n{"i":2,"n":3000000000}\n{"i":3,"n":3.0}\n{"i":4,"n":"7"}\n{"i":5,"n":true}\n{"i":6,"n":-2147483648}\n{"i":7,"n":null}\n', "i INT, n INT, _corrupt_record STRING")
js('[{"v":1},{"v":2}]\r\n{"v":3}\r{"v":4}', "v INT")
js('[\n {"v":\n 1},\n {"v": 2}\n]\n', "v INT", multiLine="true")
js('{"v":1}\n{"v":2}\n', "v INT", multiLine="true")
js('{"v":1', "v INT, _corrupt_record STRING", multiLine="true")
js('{"v":1}|{"v":2}|', "v INT", lineSep="|")
js('\xef\xbb\xbf{"v":1}\n{"v":2}', "v INT")
js('\xef\xbb\xbf{"v":1}', "v INT", multiLine="true")
js('\xff\xfe{\x00"\x00v\x00"\x00:\x001\x00}\x00', "v INT", multiLine="true")
js('\xff\xfe{\x00"\x00v\x00"\x00:\x001\x00}\x00\n\x00', "v INT", encoding="UTF-16", lineSep="\n")
js('{"v":1}\n', "v INT", encoding="UTF-16")
js('{"v":"\xe9"}\n', "v STRING", encoding="ISO-8859-1")
js('{"v":1 /* c */}\n{v:2}\n{"v":01}\n', "v INT", allowComments="true", allowUnquotedFieldNames="true", allowNumericLeadingZeros="true")
js("{'v':1}\n", "v INT", allowSingleQuotes="false")
js('{"v":NaN}\n', "v DOUBLE", allowNonNumericNumbers="false")
js('{"v":"01/02/2024","t":"02.01.2024 10:11"}\n', "v DATE, t TIMESTAMP", dateFormat="MM/dd/yyyy", timestampFormat="dd.MM.yyyy HH:mm")
js('{"v":"2024-01-02 10:00","t":"2024-01-02 10:00"}\n', "v STRING, t TIMESTAMP", timeZone="Europe/Berlin")
js('{"a":1}\n', "a INT, _bad STRING", columnNameOfCorruptRecord="_bad")
js('{"a":"x"}\n', "a INT, _bad STRING", columnNameOfCorruptRecord="_bad")
js('{"_corrupt_record":"mine","a":1}\n', "a INT, _corrupt_record STRING")
js('{"v":1}\n', "_corrupt_record STRING")
js('\n  \n', "v INT")
js('{"v":1}\n{"v":"\\ud83d\\ude00 \\u00e9 \\n","w":"a\\/b"}\n{"v":"\xc3\xa9 text that is longer"}\n', "v STRING, w STRING")
for text in ['{"a":1}', '{"a":1.5}', '{"a":"x"}', '{"a":null}', '{"a":""}', '{"a":true}', '{"a":[1,2.5]}', '{"a":[]}', '{"a":{}}', '{"a":{"b":1,"a":2}}', '{"b":1,"a":2}', '{"a":12345678901234567890}', '{"a":1e400}',
             '{"a":[{"x":1},{"y":2}]}', '{"a":[[1],["x"]]}', '[{"a":1},{"b":2}]', '{"a":"2024-01-02T10:00:00"}', '{"":1,"a":2}', '{"a":1}\n{"a":"x"}', '{"a":1}\n{"a":1.5}', '{"a":1}\n{"a":{"x":1}}', '{"a":[1]}\n{"a":["x"]}',
             '{"a":1}\n{"a":12345678901234567890}', '{"a":1.5}\n{"a":12345678901234567890}', '{"a":null}\n{"a":[1]}', '{"a":{"x":null}}\n{"a":{"x":1,"y":"s"}}', '{"a":true}\n{"a":1}', '{"A":1}\n{"a":2}', '5', '', '{"a":NaN}']:
    js(text + "\n", None)
js('{"a":null,"b":{"c":null},"d":[]}\n', None, dropFieldIfAllNull="true")
js('{"a":1.5,"b":true,"c":"1.5"}\n', None, primitivesAsString="true")
js('{"a":1.5,"b":"1.50","d":123456789012345678901234567890.5}\n{"a":100.25}\n', None, prefersDecimal="true")
js('{"a":"2024-01-02T10:00:00","b":"2024-01-02","c":"x"}\n', None, inferTimestamp="true")
js('[{"a":1},\n{"a":2,"b":[1]}]', None, multiLine="true")

for options in [{}, {"wholetext": "true"}, {"lineSep": "b"}]:
    CASES.append(("text", options, None, "one\r\ntwo\rthree\n\nfour b five"))
CASES.append(("text", {}, None, ""))

# Strings take other values as they are written.
for text in ['{"a":1e3}', '{"a":1.50}', '{"a":-0}', '{"a":1E400}', '{"a":0.10}', '{"a":NaN}', '{"a":true}', '{"a":{"x" : 1.50, "y":[ 1,2 ]}}', '{"a":[ 1.0 , "q\\u0041"]}',
             '{"a":12345678901234567890123}', "{'a':{'x' : 1.50}}", "{'a':[ 1.50, {}]}", "{'a':1.50}"]:
    js(text + "\n", "a STRING")
js('{"a":{"x":1.50,"y":{"z" : 1e2}}}\n', "a MAP<STRING, STRING>")
js('{"a":[1.50, 1e2, {"z" : 1}]}\n', "a ARRAY<STRING>")
js('{"a":1.50}\n', None, primitivesAsString="true")
js('{\n"a":{"x" :\n1.50}}', "a STRING", multiLine="true")


def conditions(error):
    """The condition of an error and, from the text, those it was caused by."""
    name = error.getCondition() if isinstance(error, PySparkException) else None
    return name or type(error).__name__


spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
print(json.dumps({"spark": spark.version, "zone": "UTC", "today": str(datetime.datetime.now(datetime.timezone.utc).date())}))
for number, (name, options, schema, content) in enumerate(CASES):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "f." + name), "wb") as file:
            file.write(content.encode("latin-1"))
        case = {"format": name, "options": options, "content": content}
        if schema is not None:
            case["schema"] = schema
        try:
            reader = spark.read.format(name).options(**options)
            frame = (reader.schema(schema) if schema is not None else reader).load(folder)
            case["found"] = frame.schema.toDDL() if hasattr(frame.schema, "toDDL") else spark.createDataFrame([], frame.schema)._jdf.schema().toDDL()
            case["rows"] = [row.r for row in frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("r")).collect()] if frame.columns else []
        except Exception as error:  # what Spark refuses is recorded too
            case["error"] = conditions(error)
        print(json.dumps(case))
        sys.stdout.flush()
