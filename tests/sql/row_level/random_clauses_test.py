# ctest: TIMEOUT 600
"""MERGE, UPDATE and DELETE with clauses drawn by chance against a naive evaluator; every table is read back by deltalake."""
import os
import random

import pytest
from deltalake import DeltaTable

COLUMNS = ["id", "k", "v", "p"]
SEEDS = range(60)


def sql_value(value):
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def values_sql(rows):
    return ", ".join("(" + ", ".join(sql_value(row[c]) for c in COLUMNS) + ")" for row in rows)


def random_rows(rng, count, ids):
    return [{"id": rng.choice(ids), "k": rng.choice([None, 0, 1, 2, 3, 4]), "v": rng.choice([None, "a", "b", "c"]), "p": rng.choice(["x", "y", "z"])}
            for _ in range(count)]


# Conditions: text and three-valued meaning over the rows t and s.
def compare(left, op, right):
    if left is None or right is None:
        return None
    return {"=": left == right, "<": left < right, ">": left > right, ">=": left >= right}[op]


def conjunction(a, b):
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def random_condition(rng, sides):
    side = rng.choice(sides)
    kind = rng.randrange(4)
    if kind == 0:
        bound, op = rng.randrange(5), rng.choice(["=", "<", ">", ">="])
        return f"{side}.k {op} {bound}", lambda t, s: compare((t if side == "t" else s)["k"], op, bound)
    if kind == 1:
        text = rng.choice(["a", "b"])
        return f"{side}.v = '{text}'", lambda t, s: compare((t if side == "t" else s)["v"], "=", text)
    if kind == 2:
        return f"{side}.k IS NULL", lambda t, s: (t if side == "t" else s)["k"] is None
    first, a = random_condition(rng, sides)
    second, b = random_condition(rng, sides)
    return f"{first} AND {second}", lambda t, s: conjunction(a(t, s), b(t, s))


def random_values(rng, sides):
    """Assignments of some columns: text of the value and its meaning."""
    chosen = {}
    for column in rng.sample(["k", "v", "p"], rng.randint(1, 3)):
        side = rng.choice(sides)
        if column == "k":
            chosen[column] = (f"{side}.k + 1", lambda t, s, side=side: None if (t if side == "t" else s)["k"] is None else (t if side == "t" else s)["k"] + 1)
        elif column == "v":
            chosen[column] = (f"concat({side}.v, '+')", lambda t, s, side=side: None if (t if side == "t" else s)["v"] is None else (t if side == "t" else s)["v"] + "+")
        else:
            chosen[column] = (f"{side}.p", lambda t, s, side=side: (t if side == "t" else s)["p"])
    return chosen


def random_clauses(rng):
    clauses = {"matched": [], "not_matched": [], "by_source": []}
    while not any(clauses.values()):
        for kind, sides in (("matched", ["t", "s"]), ("not_matched", ["s"]), ("by_source", ["t"])):
            count = rng.choice([0, 1, 1, 2])
            for i in range(count):
                condition = random_condition(rng, sides) if i < count - 1 or rng.random() < 0.5 else None
                if kind == "not_matched":
                    action = ("insert", rng.choice([None, random_values(rng, ["s"])]))
                else:
                    action = rng.choice([("delete", None), ("update", random_values(rng, sides))])
                    if kind == "matched" and rng.random() < 0.2:
                        action = ("update_all", None)
                clauses[kind].append((condition, action))
    return clauses


def clause_sql(kind, condition, action):
    text = {"matched": "WHEN MATCHED", "not_matched": "WHEN NOT MATCHED", "by_source": "WHEN NOT MATCHED BY SOURCE"}[kind]
    text += f" AND {condition[0]}" if condition else ""
    name, values = action
    if name == "delete":
        return text + " THEN DELETE"
    if name == "update_all":
        return text + " THEN UPDATE SET *"
    if name == "update":
        return text + " THEN UPDATE SET " + ", ".join(f"{c} = {v[0]}" for c, v in values.items())
    if values is None:
        return text + " THEN INSERT *"
    return text + f" THEN INSERT (id, {', '.join(values)}) VALUES (s.id, {', '.join(v[0] for v in values.values())})"


def take(clauses, t, s):
    for condition, action in clauses:
        if condition is None or condition[1](t, s) is True:
            return action
    return None


class Multiple(Exception):
    pass


def naive_merge(target, source, on, clauses):
    counts = {"updated": 0, "deleted": 0, "inserted": 0}
    out, matched_source = [], set()
    deletes_only = len(clauses["matched"]) == 1 and clauses["matched"][0] == (None, ("delete", None))
    insert_only = not clauses["matched"] and not clauses["by_source"]
    for t in target:
        matches = [i for i, s in enumerate(source) if on(t, s) is True]
        matched_source.update(matches)
        if len(matches) > 1 and not deletes_only and not insert_only:
            raise Multiple
        s = source[matches[0]] if matches else None
        action = take(clauses["matched" if matches else "by_source"], t, s)
        if action is None:
            out.append(t)
        elif action[0] == "delete":
            counts["deleted"] += 1
        else:
            counts["updated"] += 1
            out.append(dict(s) if action[0] == "update_all" else {**t, **{c: v[1](t, s) for c, v in action[1].items()}})
    for i, s in enumerate(source):
        action = None if i in matched_source else take(clauses["not_matched"], None, s)
        if action is not None:
            counts["inserted"] += 1
            out.append(dict(s) if action[1] is None else {**dict.fromkeys(COLUMNS), "id": s["id"], **{c: v[1](None, s) for c, v in action[1].items()}})
    return out, counts


def sorted_rows(rows):
    return sorted((tuple(row[c] for c in COLUMNS) for row in rows), key=lambda row: [(value is None, str(value)) for value in row])


def read_back(path):
    return sorted_rows(DeltaTable(path).to_pyarrow_table().to_pylist())


ON = [("t.id = s.id", lambda t, s: compare(t["id"], "=", s["id"])),
      ("t.id = s.id AND t.p = 'x'", lambda t, s: conjunction(compare(t["id"], "=", s["id"]), t["p"] == "x")),
      ("t.id = s.id AND t.k < s.k", lambda t, s: conjunction(compare(t["id"], "=", s["id"]), compare(t["k"], "<", s["k"]))),
      ("t.id + 1 = s.id", lambda t, s: compare(t["id"] + 1, "=", s["id"])),
      ("t.k <=> s.k AND t.p = s.p", lambda t, s: t["k"] == s["k"] and t["p"] == s["p"]),
      ("t.id > s.id AND t.id < s.id + 2", lambda t, s: t["id"] > s["id"] and t["id"] < s["id"] + 2)]


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_do_what_the_naive_evaluator_does(spark, shared_server, seed):
    rng = random.Random(seed)
    path = os.path.join(shared_server.folder, "spark-warehouse", f"t{seed}")
    partitioned = "PARTITIONED BY (p)" if rng.random() < 0.4 else ""
    spark.sql(f"CREATE TABLE t{seed} (id BIGINT, k INT, v STRING, p STRING) USING delta {partitioned}")
    ids = list(range(40))
    target = random_rows(rng, 30, ids)
    for i, row in enumerate(target):  # most ids once
        row["id"] = i if rng.random() < 0.9 else row["id"]
    for begin in range(0, 30, 10):
        spark.sql(f"INSERT INTO t{seed} VALUES {values_sql(target[begin:begin + 10])}")
    for _ in range(4):
        kind = rng.choice(["merge", "merge", "update", "delete"])
        name = rng.choice([f"t{seed}", f"delta.`{path}`"])
        if kind == "merge":
            on, clauses = rng.choice(ON), random_clauses(rng)
            source_ids = rng.sample(ids + [100, 101, 102], 12)
            source = random_rows(rng, 12, ids)
            for row, number in zip(source, source_ids, strict=True):
                row["id"] = number
            if rng.random() < 0.1:
                source.append(dict(source[0]))
            text = (f"MERGE INTO {name} t USING (SELECT CAST(id AS BIGINT) id, CAST(k AS INT) k, CAST(v AS STRING) v, p FROM VALUES {values_sql(source)} "
                    f"AS s(id, k, v, p)) s ON {on[0]} ")
            text += " ".join(clause_sql(kind, *clause) for kind in ("matched", "not_matched", "by_source") for clause in clauses[kind])
            try:
                wanted, counts = naive_merge(target, source, on[1], clauses)
            except Multiple:
                with pytest.raises(Exception, match="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"):
                    spark.sql(text)
                continue
            answer = spark.sql(text).collect()[0].asDict()
            assert answer == {"num_affected_rows": sum(counts.values()), **{f"num_{what}_rows": value for what, value in counts.items()}}, text
        else:
            condition = random_condition(rng, ["t"]) if rng.random() < 0.9 else ("true", lambda t, s: True)
            hit = [condition[1](t, None) is True for t in target]
            if kind == "update":
                values = random_values(rng, ["t"])
                text = f"UPDATE {name} t SET " + ", ".join(f"{c} = {v[0]}" for c, v in values.items()) + f" WHERE {condition[0]}"
                wanted = [{**t, **{c: v[1](t, None) for c, v in values.items()}} if yes else t for t, yes in zip(target, hit, strict=True)]
            else:
                text = f"DELETE FROM {name} t WHERE {condition[0]}"
                wanted = [t for t, yes in zip(target, hit, strict=True) if not yes]
            assert spark.sql(text).collect()[0]["num_affected_rows"] == sum(hit), text
        target = wanted
        assert sorted_rows(row.asDict() for row in spark.sql(f"SELECT * FROM delta.`{path}`").collect()) == sorted_rows(target), text
        assert read_back(path) == sorted_rows(target), text
