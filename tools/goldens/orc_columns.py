"""Columns of every type that ORC files hold, as expressions over `id`: record_orc.py, check_orc.py."""
FIELDS = {
    "bool": "IF(id % 3 = 0, NULL, id % 2 = 0)", "tiny": "CAST(id - 3 AS TINYINT)", "small": "CAST(id * 1000 AS SMALLINT)", "int": "CAST(id * -70000 AS INT)",
    "big": "IF(id = 2, NULL, id * 5000000000)", "float": "CAST(id / 3 AS FLOAT)", "double": "IF(id = 4, double('NaN'), id / 7D)",
    "text": "IF(id = 1, NULL, concat('x', repeat('é', CAST(id AS INT))))", "bin": "IF(id = 5, NULL, CAST(concat('b', id) AS BINARY))",
    "dec_small": "CAST(id * 1.25 - 3 AS DECIMAL(9, 2))", "dec_mid": "CAST(-id * 12345678.1234 AS DECIMAL(18, 4))",
    "dec_big": "CAST(id AS DECIMAL(38, 10)) * -1234567890123456",
    "day": "DATE'2024-02-29' + CAST(id * 100 AS INT)", "ts": "TIMESTAMP'2024-03-31 01:30:00.123456Z' + make_interval(0, 0, 0, CAST(id AS INT))",
    "ntz": "TIMESTAMP_NTZ'2024-10-27 02:30:00.000001' + make_interval(0, CAST(id AS INT))",
}
NESTED = {
    "list": "IF(id = 1, NULL, array(id, NULL, id + 1))", "map": "map(concat('k', id), IF(id = 2, NULL, id))", "st": "named_struct('a', id, 'b', IF(id = 3, NULL, concat('s', id)))",
    "deep": "IF(id = 4, NULL, array(named_struct('m', map(id, array(DATE'2020-01-01', NULL)), 'n', IF(id = 0, NULL, named_struct('x', id)))))",
    "empty": "CAST(array() AS ARRAY<STRING>)", "times": "array(TIMESTAMP_NTZ'2020-01-01 00:00:00', NULL)",
}
OLD = {
    "d": "DATE'1582-10-14' + CAST((id - 2) * 4 AS INT)", "older": "add_months(DATE'1000-02-28', CAST(id AS INT))", "first": "DATE'0001-01-01' + CAST(id AS INT)", "last": "DATE'9999-12-31'",
    "t": "TIMESTAMP'1700-01-01 00:00:00.000001Z'", "before": "TIMESTAMP'1969-12-31 23:59:59.999999Z' - make_dt_interval(0, 0, 0, id * 0.25)", "n": "TIMESTAMP_NTZ'1969-12-31 23:59:58.5'",
}
# Every width of a decimal: up to 18 digits is a number in the file's reader, beyond it is bytes.
DECIMALS = {f"d{p}_{s}": f"IF(id % 7 = {p % 7}, NULL, CAST(concat(IF(id % 2 = 0, '-', ''), substr(repeat('9{p % 9}', 19), 1 + CAST(id % 3 AS INT), {p - s}), '.', repeat('{s % 10}', {s})) AS DECIMAL({p}, {s})))"
            for p in range(1, 39) for s in sorted({0, p // 2, p})}
NULLS = {name: f"CAST(NULL AS {type})" for name, type in {
    "bool": "BOOLEAN", "tiny": "TINYINT", "big": "BIGINT", "double": "DOUBLE", "text": "STRING", "bin": "BINARY", "dec": "DECIMAL(9, 2)", "wide": "DECIMAL(38, 5)", "day": "DATE", "ts": "TIMESTAMP",
    "ntz": "TIMESTAMP_NTZ", "list": "ARRAY<INT>", "map": "MAP<STRING, DATE>", "st": "STRUCT<a: INT, b: ARRAY<STRING>>"}.items()}
NULLS.update({"inner": "array(CAST(NULL AS STRUCT<a: INT>), named_struct('a', CAST(NULL AS INT)))", "late": "IF(id < 11000, NULL, id)", "early": "IF(id < 11000, concat('t', id), NULL)"})
BIG = {"text": "repeat(chr(CAST(65 + id AS INT)), CAST(id * id * 40000 AS INT))", "bin": "CAST(repeat('é', CAST((20 - id) * 100000 AS INT)) AS BINARY)", "same": "repeat('x', 100000)"}
MANY = {"id": "id", "text": "concat('row ', id, ' ', id * 7919 % 1000003)", "few": "concat('k', id % 50)", "x": "id / 7D", "d": "CAST(id * 1.25 AS DECIMAL(18, 2))", "w": "CAST(-id AS DECIMAL(30, 3)) * 1000003",
        "ts": "timestamp_micros(id * 1000003)", "n": "IF(id % 3 = 0, NULL, array(id, id + 1))", "b": "id % 5 = 1"}
