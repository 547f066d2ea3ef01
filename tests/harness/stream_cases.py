"""What tests of streaming queries share: input files in order, one run to the end, results as plain values."""
import datetime
import os
import pathlib

from harness.waiting import patience

END_TIMEOUT_S = patience(60)
EPOCH = datetime.datetime(1970, 1, 1)


class InputFolder:
    """A folder of input files. Files appear whole, with modification times one second apart in the order of put()."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._seconds = 1_700_000_000

    def put(self, name, *lines):
        self._seconds += 1
        staged = self.path.parent / f"stage-{self.path.name}-{name}"
        staged.write_text("".join(line + "\n" for line in lines))
        os.utime(staged, (self._seconds, self._seconds))
        os.replace(staged, self.path / name)
        return self


def read_files(spark, folder, schema, file_format="json", per_trigger=1, **options):
    """A stream of `folder`, `per_trigger` files in one micro-batch."""
    return (spark.readStream.format(file_format).schema(schema).option("maxFilesPerTrigger", per_trigger)
            .options(**options).load(str(getattr(folder, "path", folder))))


def drain(frame, mode, table, checkpoint=None):
    """One availableNow run into memory table `table`; the ended query."""
    writer = frame.writeStream.format("memory").queryName(table).outputMode(mode).trigger(availableNow=True)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    query = writer.start()
    assert query.awaitTermination(END_TIMEOUT_S), "the run did not end"
    return query


def plain(value):
    """Rows as tuples, timestamps (UTC) as text."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(one) for one in value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond:06d}" if value.microsecond else "")
    return value


def rows(frame):
    """The rows of a frame as a sorted list of plain tuples; nulls first."""
    return sorted((plain(row) for row in frame.collect()), key=lambda row: [(one is not None, str(one)) for one in row])


def progress_list(query):
    return list(query.recentProgress)


def written(query):
    """batch id -> rows the sink took, for batches that wrote any."""
    return {p["batchId"]: p["sink"]["numOutputRows"] for p in query.recentProgress if p["sink"]["numOutputRows"]}


def dropped(query):
    """batch id -> input rows that came too late, summed over the operators, for batches that dropped any."""
    late = {p["batchId"]: sum(op["numRowsDroppedByWatermark"] for op in p["stateOperators"]) for p in query.recentProgress}
    return {batch: count for batch, count in late.items() if count}


def watermarks(query):
    """The watermark each micro-batch ran with, in order of the batches."""
    return [p["eventTime"].get("watermark") for p in query.recentProgress]
