# Records how Spark formats and parses by datetime patterns. Run with the oracle: spark-run record_patterns.py FOLDER
import json
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.sql.timeType.enabled", "true").getOrCreate()
out = sys.argv[1]


def save(name, rows):
    with open(f"{out}/{name}.jsonl", "w", encoding="utf-8") as f:
        f.write(json.dumps({"spark": spark.version}) + "\n")
        for r in rows:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")


def condition(e):
    try:
        return "!" + (e.getCondition() or "")
    except Exception:
        j = getattr(e, "java_exception", None)
        return "!" + (j.getClass().getName() if j is not None else type(e).__name__)


MICROS = [0, 1, 1577882096789012, 1593606896500000, -1, 1583635800000000, 1604219400000000, -62135596800000000, -62167219200000000, -125912275200000000, 253402300799999999, 317147356800000000, 1609459200000000, 1609372800123000, 951782400000000, 1700000000000000]
FORMATS = ["y", "yy", "yyy", "yyyy", "yyyyy", "yyyyyy", "yyyyyyy", "u", "G", "GG", "GGG", "GGGG", "GGGGG", "M", "MM", "MMM", "MMMM", "MMMMM", "L", "LL", "LLL", "LLLL", "LLLLL", "d", "dd", "ddd", "D", "DD", "DDD", "DDDD", "Q", "QQ", "QQQ", "QQQQ", "QQQQQ", "q", "qq", "qqq", "qqqq", "qqqqq",
           "E", "EE", "EEE", "EEEE", "EEEEE", "F", "FF", "a", "aa", "h", "hh", "hhh", "k", "kk", "K", "KK", "H", "HH", "HHH", "m", "mm", "mmm", "s", "ss", "sss", "S", "SS", "SSS", "SSSS", "SSSSS", "SSSSSS", "SSSSSSS", "SSSSSSSS", "SSSSSSSSS", "SSSSSSSSSS",
           "V", "VV", "VVV", "z", "zz", "zzz", "zzzz", "zzzzz", "O", "OO", "OOOO", "OOOOO", "X", "XX", "XXX", "XXXX", "XXXXX", "XXXXXX", "x", "xx", "xxx", "xxxx", "xxxxx", "Z", "ZZ", "ZZZ", "ZZZZ", "ZZZZZ", "ZZZZZZ",
           "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "dd/MM/yyyy", "MM/dd/yy hh:mm a", "EEE, d MMM yyyy HH:mm:ss Z", "EEEE d MMMM y G", "'it''s' y", "''", "'a'", "'", "'unclosed", "[yyyy]", "[[yyyy]]", "[yyyy", "yyyy]", "yyyy{MM}", "#", "yyyy-MM-dd|HH", "yyyy年MM月", "n", "N", "A", "B", "c", "e", "w", "W", "Y", "YYYY", "ww", "p", "g", "b", "C", "i", "I", "j", "J", "l", "o", "P", "r", "R", "t", "T", "U", "v", "yyyyMMddHHmmssSSS", "yyyy-DDD", "h:mm a", "", " ", "yyyy Q", "QQQ-yyyy", "HH:mm:ss.SSSSSS", "s.S", "SSS.ss", "yyyy-MM-dd E F", "d MMM", "LLLL yyyy", "a h", "uuuu-MM-dd", "VV z O", "yyyy-MM-dd'T'HH:mm:ss'Z'", "MMMMM d", "yyyy-MM-dd HH:mm:ss zzz", "EEEEEE", "GGGGGG", "D d", "aaa"]
PARSES = {
    "yyyy-MM-dd HH:mm:ss": ["2020-01-31 12:34:56", "2020-1-31 12:34:56", "2020-01-31 12:34", "2020-01-31 12:34:56 ", " 2020-01-31 12:34:56", "2020-02-30 12:34:56", "2020-01-31 24:00:00", "2020-01-31 23:59:60", "10000-01-01 00:00:00", "+10000-01-01 00:00:00", "-2020-01-01 00:00:00", "20-01-01 00:00:00", "", "abc", "2020-01-31T12:34:56", "0000-01-01 00:00:00", "2020-13-01 00:00:00", "２０２０-01-01 00:00:00"],
    "yyyy-MM-dd": ["2020-01-31", "2020-1-1", "2020-01-31x", "12020-01-01", "+12020-01-01", "2020-04-31", "2021-02-29", "99-01-01", "-0001-01-01"],
    "y-M-d": ["2020-1-1", "2020-01-01", "20-1-1", "2-1-1", "-5-1-1", "+5-1-1", "12345-1-1", "+12345-1-1", "2020-001-01", "2020-11-30"],
    "yyyy": ["2020", "20200", "+20200", "202", "-2020"], "yy": ["20", "99", "00", "2020", "5"], "yyy": ["2020", "020", "20"], "y": ["2020", "20"], "yyyyy": ["02020", "12020", "2020"],
    "dd/MM/yy": ["31/01/20", "01/02/69", "01/02/99", "1/2/20"], "MMM d yyyy": ["Jan 5 2020", "JAN 5 2020", "jan 5 2020", "May 05 2020", "Foo 1 2020", "January 5 2020"], "MMMM d, yyyy": ["January 5, 2020", "may 5, 2020", "Jan 5, 2020"],
    "LLL yyyy": ["Jan 2020", "jan 2020"], "LLLL yyyy": ["January 2020"], "D yyyy": ["60 2020", "366 2020", "366 2021", "1 2020"], "DDD yyyy": ["060 2020", "60 2020"], "yyyyDDD": ["2020060", "2021366"],
    "Q yyyy": ["1 2020", "4 2020", "5 2020"], "QQQ yyyy": ["Q3 2020", "q3 2020"], "QQQQ yyyy": ["3rd quarter 2020"], "qqq yyyy": ["Q2 2020"],
    "HH:mm": ["12:34", "1:34", "24:00"], "H:m:s": ["1:2:3", "01:02:03", "23:59:59"], "hh:mm a": ["12:34 AM", "12:34 PM", "01:34 pm", "13:00 PM", "00:00 AM", "1:00 AM"], "h a": ["12 AM", "12 PM", "3 PM", "3 Am"], "K a": ["0 AM", "11 PM", "12 PM"], "k:mm": ["24:00", "1:00", "0:00"], "hh:mm": ["12:34", "01:00"], "a": ["AM"],
    "HH:mm:ss.SSS": ["12:34:56.789", "12:34:56.7", "12:34:56.7891", "12:34:56"], "HH:mm:ss.SSSSSS": ["12:34:56.123456", "12:34:56.123"], "HH:mm:ss.S": ["12:34:56.7", "12:34:56.78"], "HH:mm:ss.SSSSSSSSS": ["12:34:56.123456789"], "HH:mm:ss[.SSS]": ["12:34:56", "12:34:56.789", "12:34:56.", "12:34:56.78"], "ss.SSS": ["01.500"], "HHmmss": ["123456", "12345"], "HHmmssSSS": ["123456789"], "yyyyMMdd": ["20200131", "2020131", "120200131", "202001311"], "yyyyMMddHHmmss": ["20200131123456"], "yyyyMMddHHmmssSSS": ["20200131123456789"], "yyyyMM": ["202001"], "yMMdd": ["20200131"],
    "yyyy-MM-dd HH:mm:ss XXX": ["2020-01-31 12:34:56 +01:00", "2020-01-31 12:34:56 Z", "2020-01-31 12:34:56 +0100", "2020-01-31 12:34:56 -08:30"], "yyyy-MM-dd HH:mm:ssX": ["2020-01-31 12:34:56+01", "2020-01-31 12:34:56Z", "2020-01-31 12:34:56+0130", "2020-01-31 12:34:56+01:30"], "yyyy-MM-dd HH:mm:ssXX": ["2020-01-31 12:34:56+0100", "2020-01-31 12:34:56+01:00"], "yyyy-MM-dd HH:mm:ssXXXXX": ["2020-01-31 12:34:56+01:02:03", "2020-01-31 12:34:56+01:00"], "yyyy-MM-dd HH:mm:ssx": ["2020-01-31 12:34:56+01", "2020-01-31 12:34:56Z", "2020-01-31 12:34:56+00"], "yyyy-MM-dd HH:mm:ssxxx": ["2020-01-31 12:34:56+00:00", "2020-01-31 12:34:56Z"], "yyyy-MM-dd HH:mm:ss Z": ["2020-01-31 12:34:56 +0100", "2020-01-31 12:34:56 Z", "2020-01-31 12:34:56 +01:00", "2020-01-31 12:34:56 +0000"], "yyyy-MM-dd HH:mm:ss ZZZZ": ["2020-01-31 12:34:56 GMT+01:00", "2020-01-31 12:34:56 GMT", "2020-01-31 12:34:56 +01:00"], "yyyy-MM-dd HH:mm:ss ZZZZZ": ["2020-01-31 12:34:56 +01:00", "2020-01-31 12:34:56 Z"], "yyyy-MM-dd HH:mm:ss O": ["2020-01-31 12:34:56 GMT+1", "2020-01-31 12:34:56 GMT", "2020-01-31 12:34:56 GMT+01:30", "2020-01-31 12:34:56 GMT+1:30", "2020-01-31 12:34:56 UTC+1"], "yyyy-MM-dd HH:mm:ss OOOO": ["2020-01-31 12:34:56 GMT+01:00", "2020-01-31 12:34:56 GMT"],
    "yyyy-MM-dd HH:mm:ss VV": ["2020-07-31 12:34:56 Europe/Berlin", "2020-01-31 12:34:56 UTC", "2020-01-31 12:34:56 +01:00", "2020-01-31 12:34:56 Z", "2020-01-31 12:34:56 UTC+1", "2020-01-31 12:34:56 GMT+01:00", "2020-01-31 12:34:56 Nowhere", "2020-01-31 12:34:56 europe/berlin", "2020-01-31 12:34:56 PST"], "yyyy-MM-dd HH:mm:ss z": ["2020-07-31 12:34:56 PST", "2020-07-31 12:34:56 PDT", "2020-01-31 12:34:56 UTC", "2020-01-31 12:34:56 GMT", "2020-01-31 12:34:56 CET", "2020-01-31 12:34:56 Europe/Berlin", "2020-01-31 12:34:56 EST", "2020-01-31 12:34:56 JST", "2020-01-31 12:34:56 XYZ", "2020-01-31 12:34:56 +01:00", "2020-01-31 12:34:56 Pacific Standard Time"], "yyyy-MM-dd HH:mm:ss zzzz": ["2020-07-31 12:34:56 Pacific Standard Time", "2020-07-31 12:34:56 Coordinated Universal Time"],
    "EEE, d MMM yyyy HH:mm:ss Z": ["Fri, 31 Jan 2020 12:34:56 +0000", "fri, 31 Jan 2020 12:34:56 +0000", "Mon, 31 Jan 2020 12:34:56 +0000"], "EEEE yyyy-MM-dd": ["Friday 2020-01-31", "Monday 2020-01-31"], "E": ["Fri"], "F yyyy-MM": ["1 2020-01"], "G yyyy": ["AD 2020", "BC 2020", "ad 2020"], "yyyy G": ["2020 AD", "2020 BC"], "yyyy-MM-dd G": ["2020-01-01 BC", "0001-01-01 BC"],
    "'at' HH": ["at 12", "AT 12"], "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": ["2020-01-31T12:34:56.789Z", "2020-01-31T12:34:56.789+01:00"], "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]": ["2020-01-31T12:34:56", "2020-01-31T12:34:56Z", "2020-01-31T12:34:56.123", "2020-01-31T12:34:56.123-08:00"], "yyyy-MM-dd['T'HH:mm:ss]": ["2020-01-31", "2020-01-31T12:34:56"], "[yyyy-MM-dd][dd/MM/yyyy]": ["2020-01-31", "31/01/2020"], "d": ["5", "31", "32", "05"], "M": ["1", "12", "13"], "MM": ["02"], "dd MM": ["29 02", "30 01"], "mm:ss": ["05:06"], "s": ["59", "60", "5"], "yyyy-MM-dd hh:mm:ss": ["2020-01-31 11:34:56", "2020-01-31 12:34:56", "2020-01-31 13:00:00"], "yyyy-MM-dd KK:mm": ["2020-01-31 11:34"], "yyyy MM dd HH": ["2020 03 08 02"], "yyyy-MM": ["2020-02"], "yyyy-dd": ["2020-31"],
}

if __name__ == "__main__":
    rows = [["micros"] + MICROS]
    for p in FORMATS:
        row = [p]
        for z in ["UTC", "America/Los_Angeles", "Europe/Berlin", "+05:30"]:
            spark.conf.set("spark.sql.session.timeZone", z)
            try:
                df = spark.createDataFrame([(m,) for m in MICROS], "m long").coalesce(1)
                got = [r[0] for r in df.selectExpr("date_format(timestamp_micros(m), '" + p.replace("\\", "\\\\").replace("'", "\\'") + "')").collect()]
            except Exception as e:
                got = condition(e)
            row.append(got)
        rows.append(row)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    save("pattern_formats", rows)
    rows = []
    for z in ["UTC", "America/Los_Angeles"]:
        spark.conf.set("spark.sql.session.timeZone", z)
        for p, texts in PARSES.items():
            q = p.replace("'", "\\'")
            try:
                df = spark.createDataFrame([(i, t) for i, t in enumerate(texts)], "i int, s string").coalesce(1)
                got = [r[0] for r in df.selectExpr(f"unix_micros(try_to_timestamp(s, '{q}'))").collect()]
            except Exception as e:
                got = condition(e)
            rows.append([z, p, texts, got])
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    save("pattern_parses", rows)
