"""Two checkpoints of one query over one input: what must be equal, and what a run may choose (times, ids)."""
import json
import pathlib
import re

from harness.state_files import changes


def _log(path, rename=None):
    """A log file as comparable lines: JSON as objects, without the batch's time."""
    lines = []
    text = pathlib.Path(path).read_text()
    for old, new in (rename or {}).items():
        text = text.replace(old, new)
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            value = line
        if isinstance(value, dict):
            value.pop("batchTimestampMs", None)
            if "path" in value:
                value["path"] = re.sub(r".*/in/", "", value["path"])
        lines.append(value)
    return lines


def _names(root):
    """Files but what an engine may choose: when it makes snapshots of changes, and how it names and merges RocksDB's tables."""
    names = {str(path.relative_to(root)) for path in root.rglob("*")
             if path.is_file() and not path.name.startswith(".") and path.suffix not in (".snapshot", ".sst")}
    changelogs = any(name.endswith(".changelog") for name in names)
    return {name for name in names if not (changelogs and name.endswith(".zip"))}


def num_compared(left, right):
    """How many files differences() compares."""
    return len(_names(pathlib.Path(left)) & _names(pathlib.Path(right)))


def differences(left, right, rename=None):
    """A list of sentences; empty when equal. left, right: checkpoint folders. rename: text -> text of right, for names in the logs of left."""
    left, right = pathlib.Path(left), pathlib.Path(right)
    found = []
    names_left, names_right = _names(left), _names(right)
    for name in sorted(names_left ^ names_right):
        found.append(f"{name}: only in {left if name in names_left else right}")
    for name in sorted(names_left & names_right):
        if name.endswith((".delta", ".changelog", ".zip")) or name == "metadata":
            continue
        a, b = (root / name for root in (left, right))
        if name.endswith("schema") or "/_metadata/" in name:
            if a.read_bytes() != b.read_bytes():
                found.append(f"{name}: {a.read_bytes()!r} is not {b.read_bytes()!r}")
        elif (one := _log(a, rename)) != (other := _log(b)):
            found.append(f"{name}: {one} is not {other}")
    state_left, state_right = changes(left), changes(right)
    for name in sorted(set(state_left) & set(state_right)):
        one, other = state_left[name], state_right[name]
        if one != other:
            found.append(f"state/{name}: {len(one)} and {len(other)} records; only left {_short(one, other)}, only right {_short(other, one)}")
    return found


def _short(one, other):
    return [(key.hex(), value.hex() if value is not None else None) for key, value in one.items() if other.get(key, b"?") != value][:3]


def progress_shape(progress):
    """The form of a progress object: field names in order and kinds of values, with map keys of measures left out."""
    def shape(value, name=""):
        if isinstance(value, dict):
            if name in ("durationMs", "customMetrics", "metrics"):
                # Which five of a join's stores are named is Spark's hash order.
                return {"...": sorted(re.sub(r"partition_\d+_(left|right)-.*", "of a join", key) for key in value)}
            return {key: shape(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [shape(one, name) for one in value]
        return type(value).__name__
    return shape(progress)


def progress_figures(progress):
    """What of a progress object is the same in every run: no times, rates, ids, memory."""
    figures = {"batchId": progress["batchId"], "eventTime": progress.get("eventTime"), "sink": progress["sink"].get("numOutputRows"), "operators": [
        {key: operator[key] for key in ("operatorName", "numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numRowsDroppedByWatermark",
                                        "numShufflePartitions", "numStateStoreInstances")} for operator in progress["stateOperators"]]}
    figures["sources"] = [{key: source.get(key) for key in ("startOffset", "endOffset", "latestOffset", "numInputRows")}
                          for source in progress["sources"]]
    return figures
