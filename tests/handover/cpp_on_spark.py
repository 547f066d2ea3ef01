"""The live proof that C++ programs move to Spark unchanged: the API's tests and the worked example against a real Spark Connect server.

    python tests/handover/cpp_on_spark.py SERVER [GTEST_FILTER]

SERVER is a program that takes "start DIR" (it prints the address) and "stop DIR": the oracle's spark-connect-server. The environment has
TW_BUILD_DIR and TW_KAFKA_HOME as ctest sets them. Not part of `make test`: it wants Java and Spark.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness.kafka_broker import KafkaBroker  # noqa: E402
from harness.processes import clean_environment  # noqa: E402
from harness.thalweg_server import build_dir  # noqa: E402

# What is ours by name: the engine inside the program, and what this API does not do yet. SQL parameters: Spark 4.2.0 itself loses them
# once Delta's session extension is there, PySpark's too.
OURS = "-EmbeddedTest.*:StreamsTest.FunctionsOfTheProgramAreRefusedByName:FramesTest.SqlTakesParameters"
CLICKS = [("home", 1, 0), ("home", 2, 30), ("cart", 3, 0), ("home", 6, 0), ("home", 30, 0)]
COUNTS = {("2024-03-01 10:00", "home"): 2, ("2024-03-01 10:00", "cart"): 1, ("2024-03-01 10:05", "home"): 1}


def click(page, minute, second):
    return {"value": json.dumps({"user_id": "u", "page": page, "event_time": f"2024-03-01T10:{minute:02d}:{second:02d}Z"})}


def worked_example(url, folder):
    """clicks_by_page against Spark, and what it left in Spark's warehouse."""
    import deltalake
    broker = KafkaBroker(folder / "broker").start()
    try:
        broker.create_topic("clicks", partitions=2)
        broker.produce("clicks", [click(*one) for one in CLICKS])
        for _ in range(2):
            done = subprocess.run([build_dir() / "bin" / "clicks_by_page", url, broker.bootstrap, folder / "checkpoint", "once"], check=False,
                                  timeout=300, env=clean_environment())
            if done.returncode != 0:
                return False
    finally:
        broker.stop()
    table = next((folder / "spark").rglob("clicks_by_page"))
    rows = deltalake.DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    found = {(row["window"]["start"].strftime("%Y-%m-%d %H:%M"), row["page"]): row["count"] for row in rows}
    print("worked example:", "equal" if found == COUNTS else f"{found}, not {COUNTS}")
    return found == COUNTS


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    server = arguments[0]
    with tempfile.TemporaryDirectory(prefix="cpp-on-spark-") as name:
        folder = pathlib.Path(name)
        started = subprocess.run([server, "start", folder / "spark"], check=True, capture_output=True, text=True)
        url = started.stdout.strip().splitlines()[-1]
        try:
            tests = subprocess.run([build_dir() / "bin" / "cpp_api_test", f"--gtest_filter={(arguments[1:] or [OURS])[0]}"], check=False, timeout=1200,
                                   env=clean_environment(SPARK_REMOTE=url, TZ="UTC", TEST_TMPDIR=str(folder)))
            example = arguments[1:] or worked_example(url, folder)
        finally:
            subprocess.run([server, "stop", folder / "spark"], check=True)
    return 0 if tests.returncode == 0 and example else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
