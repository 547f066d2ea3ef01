"""Restarts after files of a checkpoint were removed, altered or written by someone else: as recorded from Spark (damage.jsonl).

The damaged checkpoint is one that Spark wrote (`handover/damage-base`): micro-batch 0 of a count and sum by key, five state partitions.

# ctest: TIMEOUT 300
"""
import json
import os
import pathlib
import re
import shutil
import struct

import pytest
from harness.spark_checkpoints import GOLDENS, copy_checkpoint
from harness.state_files import MAGIC, decompressed
from harness.stream_cases import drain, progress_list, read_files, rows
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

RECORDED = {one["case"]: one for one in map(json.loads, (GOLDENS / "damage.jsonl").read_text().splitlines())}
BASE = GOLDENS / "handover" / "damage-base"


def edit(name, change):
    def damage(checkpoint):
        path = checkpoint / name
        path.write_bytes(change(path.read_bytes()))
    return damage


def remove(*names):
    def damage(checkpoint):
        for name in names:
            path = checkpoint / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return damage


def stale(name):
    path = pathlib.PurePath(name)
    return edit(str(path.parent / f".{path.name}.crc"), lambda data: data[:-1] + bytes([data[-1] ^ 1]))


def metadata_line(change):
    """Edits the second line of offsets/0 as JSON."""
    def changed(data):
        version, metadata, *offsets = data.decode().split("\n")
        value = json.loads(metadata)
        change(value)
        return "\n".join([version, json.dumps(value, separators=(",", ":")), *offsets]).encode()
    return edit("offsets/0", changed)


def lines(change):
    return edit("offsets/0", lambda data: "\n".join(change(data.decode().split("\n"))).encode())


def nullable(value):
    """Every column of the schema file nullable or not: UTF("v2"), then per schema a count of chunks and the chunks, each a UTF."""
    def changed(data):
        at, out = 2 + struct.unpack_from(">H", data)[0], b""
        head = data[:at]
        while at < len(data):
            chunks, length = struct.unpack_from(">IH", data, at)
            assert chunks == 1
            text = data[at + 6:at + 6 + length]
            for old in (b"true", b"false"):
                text = text.replace(b'"nullable":' + old, b'"nullable":' + value)
            out += struct.pack(">IH", 1, len(text)) + text
            at += 6 + length
        return head + out
    return edit("state/0/0/_metadata/schema", changed)


def add(*files):
    def damage(checkpoint):
        for name, text in files:
            (checkpoint / name).write_text(text)
    return damage


def no_crc(checkpoint):
    for path in checkpoint.rglob(".*.crc"):
        path.unlink()


def gap(checkpoint):
    for log in ("offsets", "commits"):
        shutil.copy(checkpoint / log / "0", checkpoint / log / "2")


# Another writer's state files.

def xxhash32(data, seed=0x9747B28C):
    p1, p2, p3, p4, p5, mask = 2654435761, 2246822519, 3266489917, 668265263, 374761393, 0xFFFFFFFF

    def turn(value, bits):
        return ((value << bits) | (value >> (32 - bits))) & mask

    at = 0
    if len(data) >= 16:
        lanes = [(seed + p1 + p2) & mask, (seed + p2) & mask, seed, (seed - p1) & mask]
        while at + 16 <= len(data):
            for lane, word in enumerate(struct.unpack_from("<4I", data, at)):
                lanes[lane] = turn((lanes[lane] + word * p2) & mask, 13) * p1 & mask
            at += 16
        total = sum(turn(value, bits) for value, bits in zip(lanes, (1, 7, 12, 18))) & mask
    else:
        total = (seed + p5) & mask
    total = (total + len(data)) & mask
    while at + 4 <= len(data):
        total = turn((total + struct.unpack_from("<I", data, at)[0] * p3) & mask, 17) * p4 & mask
        at += 4
    for byte in data[at:]:
        total = turn((total + byte * p5) & mask, 11) * p1 & mask
    total = (total ^ (total >> 15)) * p2 & mask
    total = (total ^ (total >> 13)) * p3 & mask
    return total ^ (total >> 16)


def stored(data, nibble=5, keep=0x0FFFFFFF):
    return MAGIC + struct.pack("<BIII", 0x10 | nibble, len(data), len(data), xxhash32(data) & keep) + data


END = MAGIC + struct.pack("<BIII", 0x15, 0, 0, 0)


def split(data):
    third = len(data) // 3 + 1
    return b"".join(stored(data[at:at + third]) for at in range(0, len(data), third)) + END


def rewrite(writer, cut=0):
    """Every delta of the checkpoint as someone else would write it: writer(records as bytes) -> file."""
    def damage(checkpoint):
        for path in checkpoint.glob("state/0/*/1.delta"):
            data = decompressed(path.read_bytes())
            path.write_bytes(writer(data[:len(data) - cut]))
            (path.parent / ".1.delta.crc").unlink(missing_ok=True)
    return damage


def snapshots_only(checkpoint):
    for path in checkpoint.glob("state/0/*/1.delta"):
        path.rename(path.with_name("1.snapshot"))
        (path.parent / ".1.delta.crc").unlink(missing_ok=True)


def swap_partitions(checkpoint):
    """The file of the partition that holds "b" alone, and an empty one."""
    deltas = {path: decompressed(path.read_bytes()) for path in sorted(checkpoint.glob("state/0/*/1.delta"))}
    one = next(path for path, data in deltas.items() if b"b\0" in data and b"a\0" not in data)
    other = next(path for path, data in deltas.items() if len(data) == 4)
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)


BIG = 40_000


def padded(data):
    """One block above 32 KiB: the same records, the first of them put again and again."""
    if len(data) == 4:
        return stored(data, 6) + END
    first = 4 + struct.unpack_from(">i", data)[0]
    first += 4 + struct.unpack_from(">i", data, first)[0]
    return stored(data[:first] * (BIG // first) + data, 6) + END


DAMAGE = {
    "all .crc side-cars removed": no_crc,
    **{f"stale .crc for {name}": stale(name) for name in (
        "metadata", "offsets/0", "commits/0", "sources/0/0", "state/0/0/1.delta", "state/0/0/_metadata/schema", "state/0/_metadata/metadata")},
    "metadata missing": remove("metadata"),
    "state/ missing": remove("state"),
    "commits/ missing (re-run batch 0)": remove("commits"),
    "offsets/ missing, commits present": remove("offsets"),
    "offsets, commits, metadata missing, state present": remove("offsets", "commits", "metadata"),
    "sources/ missing": remove("sources"),
    "one delta missing": remove("state/0/1/1.delta"),
    "schema file missing": remove("state/0/0/_metadata/schema"),
    "operator metadata missing": remove("state/0/_metadata/metadata"),
    "offsets/0 with trailing newline": edit("offsets/0", lambda data: data + b"\n"),
    "offsets/0 with two trailing newlines": edit("offsets/0", lambda data: data + b"\n\n"),
    "offsets/0 with CRLF": edit("offsets/0", lambda data: data.replace(b"\n", b"\r\n")),
    "offsets/0 bare integer file offset": lines(lambda all_lines: [*all_lines[:2], "0"]),
    "offsets/0 empty metadata line": lines(lambda all_lines: [all_lines[0], "", *all_lines[2:]]),
    "offsets/0 extra unknown JSON field and conf key": metadata_line(lambda value: (value.update(unknown=1), value["conf"].update({"spark.x": "y"}))),
    "offsets/0 conf without shuffle.partitions": metadata_line(lambda value: value["conf"].pop("spark.sql.shuffle.partitions")),
    "offsets/0 v3": lines(lambda all_lines: ["v3", *all_lines[1:]]),
    "offsets/0 no version": lines(lambda all_lines: all_lines[1:]),
    "commits/0 only version line": edit("commits/0", lambda _: b"v1"),
    "commits/0 v2 without ids": edit("commits/0", lambda data: data.replace(b"v1", b"v2")),
    "commits/0 v4": edit("commits/0", lambda data: data.replace(b"v1", b"v4")),
    "stray file offsets/abc and tmp": add(("offsets/abc", "x"), ("offsets/.0.5c0c9f0e.tmp", "x")),
    "stray file in state partition '1.foo' and 'x.delta'": add(("state/0/0/1.foo", "x"), ("state/0/0/x.delta", "x")),
    "gap: offsets 0 and 2 only": gap,
    "schema file: all nullable true (stored nullable, query NN)": nullable(b"true"),
    "schema file: all nullable false (stored NN, query nullable)": nullable(b"false"),
    "foreign delta: stored block + end block": rewrite(lambda data: stored(data) + END),
    "foreign delta: stored block, no end block": rewrite(stored),
    "foreign delta: split in 3 blocks": rewrite(split),
    "foreign delta: end block in the middle (concatenated streams)": rewrite(lambda data: stored(data[:7]) + END + stored(data[7:]) + END if len(data) > 7 else stored(data) + END),
    "foreign delta: one block of 40 kB declared with low nibble 6": rewrite(padded),
    "foreign delta: missing -1 terminator": rewrite(lambda data: (stored(data) if data else b"") + END, cut=4),
    "foreign delta: full 32-bit checksum": rewrite(lambda data: stored(data, keep=0xFFFFFFFF) + END),
    "foreign: only snapshot 1, no delta": snapshots_only,
    "reference": lambda checkpoint: None,
    "partition files swapped": swap_partitions,
}

# Where Spark ends with a bare Java exception and we say what is wrong: case -> what we say.
BETTER_SAID = {
    "offsets/ missing, commits present": "[STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY]",  # Spark: assertion failed
    "offsets/0 empty metadata line": "[CHECKPOINT_ENTRY_WITHOUT_METADATA]",              # Spark: NullPointerException
}


def said(recorded):
    """What of Spark's message ours must hold: the condition, else the text without paths, and without SQLSTATE, which is cut off."""
    condition = recorded.get("condition")
    if condition:
        return f"[{condition}]"
    nested = re.search(r"\[[A-Z_.]+\]", recorded["message"])
    return nested.group() if nested else recorded["message"].split(" SQLSTATE:")[0]

# Recorded with other queries: recorded_runs_test.py.
ELSEWHERE = {
    "once, two file sources maxFilesPerTrigger=1 (2 and 3 files)", "availableNow, two file sources (2 and 3 files)",
    "availableNow, file source (2 files, maxFiles 1) + rate", "availableNow mixed, 2nd run", "availableNow mixed with wrapper enabled",
    "once: uncommitted batch replayed, new data left", "availableNow: window tail batch", "availableNow: rerun without data",
    "same checkpoint twice", "first(map, interval, variant)",
}

# Not in the engine: refused by name, recorded_runs_test.py and tests/compat.
REFUSED_BY_NAME = {
    "availableNow with ProcessingTimeTimeout (12 s limit)", "continuous checkpoint restarted as micro-batch",
}
# With RocksDB's format: recorded_runs_test.py. We read no side-cars, so that stale ones, which Spark refuses, do no harm.
ROCKSDB = {"rocksdb unchanged", "rocksdb stale .zip.crc", "rocksdb stale .sst.crc", "rocksdb all .crc removed"}


def test_every_recorded_case_is_here():
    assert set(RECORDED) == set(DAMAGE) | ELSEWHERE | REFUSED_BY_NAME | ROCKSDB
    assert len(RECORDED) == 60


@pytest.mark.parametrize("case", DAMAGE)
def test_damage(spark, tmp_path, case):
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    checkpoint, folder = copy_checkpoint(BASE, tmp_path)
    DAMAGE[case](checkpoint)
    added = folder / "f001.json"
    added.write_text('{"k":"a","v":4}\n{"k":"c","v":7}\n')
    os.utime(added, (1_700_000_100, 1_700_000_100))
    frame = read_files(spark, folder, "k STRING, v INT").groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))

    recorded = RECORDED[case]
    if recorded["result"] == "accepted":
        query = drain(frame, "complete", "damaged", checkpoint)
        assert [[p["batchId"], p["numInputRows"]] for p in progress_list(query)] == recorded["detail"]["batches"]
        assert str(rows(spark.table("damaged"))) == recorded["detail"].get("state", "[('a', 2, 6), ('b', 1, 2), ('c', 1, 7)]")
    else:
        with pytest.raises(PySparkException) as error:
            drain(frame, "complete", "damaged", checkpoint)
        assert BETTER_SAID.get(case, said(recorded)) in str(error.value)
