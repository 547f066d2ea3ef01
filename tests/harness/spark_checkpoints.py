"""Checkpoints that Spark wrote, made ready to be continued in another place."""
import os
import pathlib
import shutil

GOLDENS = pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "tests" / "checkpoints" / "spark-4.2.0"
PLACE = "@PLACE@"  # in recorded file logs, for the folder of a run


def copy_checkpoint(golden, place):
    """Copies golden/* into `place`, puts its paths right and returns (checkpoint, input folder)."""
    place = pathlib.Path(place)
    shutil.copytree(golden, place, dirs_exist_ok=True)
    for path in (place / "checkpoint" / "sources").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            path.write_text(path.read_text().replace(PLACE, str(place)))
    for path in sorted((place / "in").glob("*")):
        seconds = 1_700_000_000 + sorted((place / "in").glob("*")).index(path)
        os.utime(path, (seconds, seconds))
    return place / "checkpoint", place / "in"
