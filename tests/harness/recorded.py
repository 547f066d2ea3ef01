"""Programs whose outcomes real Spark gave before: recorded.jsonl beside a test has a line of what answered, then a line [label, outcome] each.

Where we answer otherwise a reason is written down: other.json maps a label to {"why": ..., "ours": outcome}, or the test gives a dictionary of
labels and our outcomes with its reasons as comments. A label that comes again is known as "label #2", "label #3".
"""
import importlib.util
import json
import pathlib
import sys

SPARK = "4.2.0"


def numbered(pairs):
    """Labels that come again told apart."""
    times = {}
    for label, outcome in pairs:
        times[label] = times.get(label, 0) + 1
        yield (label if times[label] == 1 else f"{label} #{times[label]}"), outcome


def load_beside(test_file, name):
    """A module of a test's own folder, whatever other folders call theirs; it finds its neighbours."""
    folder = pathlib.Path(test_file).parent
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    spec.loader.exec_module(module)
    sys.path.remove(str(folder))
    return module


class Recording:
    """What was recorded for the test of a folder: Recording(__file__)."""

    def __init__(self, test_file, ours=None):
        folder = pathlib.Path(test_file).parent
        header, *lines = [json.loads(line) for line in (folder / "recorded.jsonl").read_text(encoding="utf-8").splitlines()]
        assert header["spark"] == SPARK, header
        self.lines = [tuple(line) for line in lines]  # as they stand there
        self.outcomes = list(numbered(self.lines))
        told = json.loads((folder / "other.json").read_text(encoding="utf-8")) if ours is None and (folder / "other.json").exists() else {}
        self.reasons = {label: entry["why"] for label, entry in told.items()}
        self.ours = ours if ours is not None else {label: entry["ours"] for label, entry in told.items()}

    def labels(self):
        """For parametrize("index, label", ...)."""
        return [(index, label) for index, (label, _) in enumerate(self.outcomes)]

    def expected(self, label):
        return self.ours[label] if label in self.ours else dict(self.outcomes)[label]

    def check(self, got, index):
        """The outcome of a program that tells its outcomes in the recorded order; `got`: all of them, numbered."""
        label = self.outcomes[index][0]
        assert got[index][0] == label
        assert got[index][1] == self.expected(label)

    def check_others(self):
        """Nothing is said to differ that does not, or without a reason."""
        recorded = dict(self.outcomes)
        for label, outcome in self.ours.items():
            assert recorded[label] != outcome, label
            assert self.reasons.get(label, True), label


class Listener:
    """Keeps what a program tells, as JSON has it; `folder` is ROOT in it."""

    def __init__(self, folder=None):
        self.folder = folder
        self.told = []

    def __call__(self, label, outcome):
        text = json.dumps(outcome)
        self.told.append((label, json.loads(text if self.folder is None else text.replace(str(self.folder), "ROOT"))))

    def outcomes(self):
        return list(numbered(self.told))


def utc_session(server):
    """A session as the recording one was."""
    spark = server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark
