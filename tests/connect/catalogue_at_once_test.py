"""Several sessions, and several programs, that change one catalogue at the same time.

# ctest: TIMEOUT 180
"""
from harness.at_once import at_once
from harness.thalweg_server import run_thalweg

SESSIONS, TURNS = 4, 12


def set_at_once(sessions, alter):
    """Every session sets properties of its own, TURNS times; the names of all."""
    def change(i):
        for turn in range(TURNS):
            sessions[i].sql(f"{alter} ('p{i}_{turn}' = '1')")
    assert at_once([lambda i=i: change(i) for i in range(SESSIONS)]) == [""] * SESSIONS
    return {f"p{i}_{turn}" for i in range(SESSIONS) for turn in range(TURNS)}


def test_no_change_of_a_table_is_lost(server):
    sessions = [server.session() for _ in range(SESSIONS)]
    sessions[0].sql("CREATE TABLE t (a INT) USING parquet")
    names = set_at_once(sessions, "ALTER TABLE t SET TBLPROPERTIES")
    assert names <= {row.key for row in sessions[0].sql("SHOW TBLPROPERTIES t").collect()}


def test_no_change_of_a_database_is_lost(server):
    sessions = [server.session() for _ in range(SESSIONS)]
    sessions[0].sql("CREATE DATABASE d")
    names = set_at_once(sessions, "ALTER DATABASE d SET DBPROPERTIES")
    text = {row.info_name: row.info_value for row in sessions[0].sql("DESCRIBE DATABASE EXTENDED d").collect()}["Properties"]
    assert [name for name in names if f"({name},1)" not in text] == []


def test_a_dropped_table_does_not_come_back(server):
    first, second = server.session(), server.session()
    for turn in range(40):
        first.sql(f"CREATE VIEW v{turn} AS SELECT 1 AS a")
        altered, dropped = at_once([
            lambda: first.sql(f"ALTER VIEW v{turn} SET TBLPROPERTIES ('p' = '1')"), lambda: second.sql(f"DROP VIEW v{turn}")])
        assert altered in ("", "TABLE_OR_VIEW_NOT_FOUND") and dropped == ""
    assert first.sql("SHOW VIEWS").collect() == []


def test_a_function_is_made_once(server):
    sessions = [server.session() for _ in range(SESSIONS)]
    for turn in range(20):
        answers = at_once([lambda s=s: s.sql(f"CREATE FUNCTION f{turn} AS 'a.B'") for s in sessions])
        assert sorted(answers) == sorted(["", *["ROUTINE_ALREADY_EXISTS"] * (SESSIONS - 1)])
        answers = at_once([lambda s=s: s.sql(f"DROP FUNCTION f{turn}") for s in sessions])
        assert sorted(answers) == sorted(["", *["ROUTINE_NOT_FOUND"] * (SESSIONS - 1)])


def test_a_view_and_a_table_of_one_name_do_not_replace_each_other(server):
    first, second = server.session(), server.session()
    for turn in range(20):
        made, replaced = at_once([
            lambda: first.sql(f"CREATE TABLE n{turn} (a INT) USING parquet"),
            lambda: second.sql(f"CREATE OR REPLACE VIEW n{turn} AS SELECT 1 AS a")])
        assert (made, replaced) in (("", "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE"), ("TABLE_OR_VIEW_ALREADY_EXISTS", "")), turn


def test_programs_change_one_table_together(tmp_path):
    assert run_thalweg(["sql", "-e", "CREATE TABLE t (a INT) USING parquet"], tmp_path).returncode == 0
    runs = []

    def change(i):
        text = ";".join(f"ALTER TABLE t SET TBLPROPERTIES ('p{i}_{turn}' = '1')" for turn in range(TURNS))
        runs.append(run_thalweg(["sql", "-e", text], tmp_path))
    at_once([lambda i=i: change(i) for i in range(SESSIONS)])
    assert [run.returncode for run in runs] == [0] * SESSIONS, [run.stderr for run in runs]
    shown = run_thalweg(["sql", "-e", "SHOW TBLPROPERTIES t"], tmp_path).stdout
    assert [f"p{i}_{turn}" for i in range(SESSIONS) for turn in range(TURNS) if f"p{i}_{turn} " not in shown.replace("|", " ").replace("\t", " ")] == []
