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
