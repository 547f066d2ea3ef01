"""`thalweg checkpoint inspect` and `verify` over checkpoints of Spark 4.2.0: what stands in them, sound ones and damaged ones."""
import shutil

import pytest
from harness.spark_checkpoints import GOLDENS
from harness.thalweg_server import run_thalweg

SOUND = {  # golden: entries of state that the next micro-batch reads
    "count": 3, "window-append": 2, "dedup": 3, "dedup-watermark": 2, "dedup-within-watermark": 1, "limit": 1, "chained-windows": None,
    "join-inner": None, "join-left-outer": None, "session": None, "pandas-with-state": 3,
}


def verify(tmp_path, folder, *arguments):
    return run_thalweg(["checkpoint", "verify", str(folder), *arguments], tmp_path)


@pytest.fixture
def damaged(tmp_path):
    shutil.copytree(GOLDENS / "dedup" / "checkpoint", tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


@pytest.mark.parametrize("name", SOUND)
def test_checkpoints_of_spark_are_sound(tmp_path, name):
    done = verify(tmp_path, GOLDENS / name / "checkpoint", "--versions-back", "5")
    assert done.returncode == 0, done.stdout
    assert "sound: " in done.stdout
    if SOUND[name] is not None:
        assert f" {SOUND[name]} entries of state" in done.stdout


def test_inspect_tells_what_stands_there(tmp_path):
    done = run_thalweg(["checkpoint", "inspect", str(GOLDENS / "dedup-within-watermark" / "checkpoint")], tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "offsets  0 to 2 (3)" in lines and "commits  0 to 2 (3)" in lines
    assert "next     batch 3" in lines
    assert "operator 0: dedupeWithinWatermark" in lines
    assert "    key (k STRING)" in lines and "    value (expiresAtMicros BIGINT)" in lines


def test_inspect_of_a_batch_that_runs_again(tmp_path, damaged):
    (damaged / "commits" / "1").unlink()
    done = run_thalweg(["checkpoint", "inspect", str(damaged)], tmp_path)
    assert "next     batch 1, planned already: runs again" in done.stdout.splitlines()


@pytest.mark.parametrize("path", ["metadata", "offsets/0", "state/0/1/2.delta", "state/0/0/1.delta", "state/0/1"])
def test_what_a_restart_needs_is_missed(tmp_path, damaged, path):
    gone = damaged / path
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    done = verify(tmp_path, damaged)
    assert done.returncode == 1, done.stdout
    assert "DAMAGED" in done.stdout


@pytest.mark.parametrize("name", ["dedup", "join-inner"])
@pytest.mark.parametrize("entry, text", [("0", None), ("1", None), ("0", ""), ("1", "v1\n{not json"), ("1", "v9\n")])
def test_a_log_of_a_source_is_read(tmp_path, name, entry, text):
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(GOLDENS / name / "checkpoint", checkpoint)
    path = checkpoint / "sources" / "0" / entry
    path.unlink() if text is None else path.write_text(text)
    done = verify(tmp_path, checkpoint)
    assert done.returncode == 1, done.stdout
    assert "ERROR   sources/0" in done.stdout and "DAMAGED" in done.stdout


def test_the_logs_of_sources_are_missed(tmp_path, damaged):
    shutil.rmtree(damaged / "sources")
    done = verify(tmp_path, damaged)
    assert done.returncode == 1 and "ERROR   sources/0/1: " in done.stdout, done.stdout


@pytest.mark.parametrize("text", ["", "\0v1\n{not json", "\0"])
def test_the_first_offsets_of_a_kafka_source_are_read(tmp_path, text):
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(GOLDENS / "handover" / "append-kafka" / "checkpoint", checkpoint)
    assert verify(tmp_path, checkpoint).returncode == 0
    (checkpoint / "sources" / "0" / "0").write_text(text)
    done = verify(tmp_path, checkpoint)
    assert done.returncode == 1 and "ERROR   sources/0/0: " in done.stdout, done.stdout


def test_state_that_a_commit_names_is_missed(tmp_path, damaged):
    commit = damaged / "commits" / "1"
    commit.write_text('v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{"0":[["a"],["b"]]}}')
    shutil.rmtree(damaged / "state")
    done = verify(tmp_path, damaged)
    assert done.returncode == 1 and "ERROR   state/0: " in done.stdout, done.stdout


def test_state_that_nothing_names_is_a_note(tmp_path, damaged):
    """A query without state has no such folder either: the logs cannot tell."""
    shutil.rmtree(damaged / "state")
    done = verify(tmp_path, damaged)
    assert done.returncode == 0 and "note    state: no operator has state" in done.stdout, done.stdout


@pytest.mark.parametrize("command", ["inspect", "verify"])
def test_what_is_no_checkpoint_is_named(tmp_path, command):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "other").write_text("x")
    for name, reason in (("absent", "no such directory"), ("file", "it is a file"), ("empty", "has no metadata, offsets, commits or state")):
        done = run_thalweg(["checkpoint", command, str(tmp_path / name)], tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "[CHECKPOINT_NOT_FOUND]" in done.stderr and reason in done.stderr and name in done.stderr


def test_a_delta_that_was_cut_off(tmp_path, damaged):
    delta = damaged / "state/0/0/1.delta"
    delta.write_bytes(delta.read_bytes()[:-9])
    assert verify(tmp_path, damaged).returncode == 1


def test_keys_in_the_wrong_partition(tmp_path, damaged):
    first, second = (damaged / "state/0" / partition / "1.delta" for partition in "01")
    first_bytes, second_bytes = first.read_bytes(), second.read_bytes()
    first.write_bytes(second_bytes)
    second.write_bytes(first_bytes)
    done = verify(tmp_path, damaged)
    assert done.returncode == 1, done.stdout
    assert "belong to other partitions" in done.stdout


def test_nothing_is_written(tmp_path, damaged):
    before = sorted((str(path), path.stat().st_mtime_ns) for path in damaged.rglob("*"))
    verify(tmp_path, damaged)
    run_thalweg(["checkpoint", "inspect", str(damaged)], tmp_path)
    assert sorted((str(path), path.stat().st_mtime_ns) for path in damaged.rglob("*")) == before
