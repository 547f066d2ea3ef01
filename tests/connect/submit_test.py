"""thalweg submit: the flags of spark-submit, signals, and what is printed.

# ctest: TIMEOUT 300
"""
import pathlib
import signal
import sys
import textwrap
import time
import zipfile

import pytest
from harness.processes import Process, clean_environment
from harness.thalweg_server import run_thalweg, thalweg_program
from harness.waiting import patience, wait_until

PYTHON = {"PYSPARK_PYTHON": sys.executable}
BEGIN = """
import os, signal, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
"""


def write(path, text):
    path.write_text(textwrap.dedent(text))
    return path


def submit(tmp_path, body, *arguments, environment=None):
    """Runs a program to its end."""
    program = write(tmp_path / "program.py", BEGIN + textwrap.dedent(body))
    return run_thalweg(["submit", *arguments, program], tmp_path, environment={**PYTHON, **(environment or {})})


@pytest.fixture
def started(tmp_path):
    """started(parts of a program) starts a program that prints a line when it is ready."""
    running = []

    def start(*parts):
        program = write(tmp_path / "program.py", BEGIN + "".join(textwrap.dedent(part) for part in parts))
        process = Process([thalweg_program(), "submit", program], tmp_path / "run", "submit", clean_environment(**PYTHON))
        running.append(process)
        assert process.next_line(60).strip() == "ready"
        return process

    yield start
    for process in running:
        process.kill()


STREAM = """
query = spark.readStream.format("rate").load().writeStream.format("noop").start()
print("ready", flush=True)
"""
# A signal that comes just before signal.pause() would not be seen.
WAIT = """
import threading
while True: threading.Event().wait(0.05)
"""


def test_settings_have_their_order(tmp_path):
    """The command line beats the file, the file is the default one only when none is named, the program beats all."""
    write(tmp_path / "given.conf", "spark.a given\nspark.b given\nspark.app.name given\n")
    (tmp_path / "conf").mkdir()
    write(tmp_path / "conf" / "spark-defaults.conf", "spark.a defaults\nspark.c defaults\n")
    body = """
        spark.conf.set("spark.d", "program")
        print([spark.conf.get(key, None) for key in ("spark.a", "spark.b", "spark.c", "spark.d", "spark.app.name")])
        """
    conf_dir = {"SPARK_CONF_DIR": str(tmp_path / "conf")}
    run = submit(tmp_path, body, "--conf", "spark.a=line", "-c", "spark.d=line", "--properties-file", tmp_path / "given.conf", "--name", "mine",
                 environment=conf_dir)
    assert (run.stdout, run.stderr) == ("['line', 'given', None, 'program', 'mine']\n", "")
    run = submit(tmp_path, body, environment=conf_dir)
    assert run.stdout.startswith("['defaults', None, 'defaults', 'program', ")


def test_flags_of_a_cluster_are_taken_with_a_line_each(tmp_path):
    run = submit(tmp_path, "print(spark.range(2).count())", "--master", "yarn", "--deploy-mode", "client", "--packages", "io.delta:delta-spark_2.13:4.0.0",
                 "--jars", "a.jar,b.jar", "--executor-memory", "4g", "--driver-memory=2g")
    assert (run.returncode, run.stdout) == (0, "2\n")
    lines = run.stderr.splitlines()
    assert sorted(line.split(": ")[1].split(" ")[0] for line in lines) == [
        "--deploy-mode", "--driver-memory", "--executor-memory", "--jars", "--master", "--packages"]
    assert all("has no effect: " in line for line in lines)


def test_py_files_of_all_kinds(tmp_path):
    write(tmp_path / "single.py", "VALUE = 'module'\n")
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "inside.py", "VALUE = 'folder'\n")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", "VALUE = 'zip'\n")
    (tmp_path / "many").mkdir()
    write(tmp_path / "many" / "one_of.py", "VALUE = 'pattern'\n")
    body = "import single, inside, zipped, one_of\nprint(single.VALUE, inside.VALUE, zipped.VALUE, one_of.VALUE)\n"
    files = f"{tmp_path}/single.py, {tmp_path}/folder,file://{tmp_path}/packed.zip,{tmp_path}/many/*.py"
    run = submit(tmp_path, body, "--py-files", files)
    assert (run.returncode, run.stdout) == (0, "module folder zip pattern\n"), run.stderr
    run = submit(tmp_path, body, "--conf", f"spark.submit.pyFiles={files}")
    assert (run.returncode, run.stdout) == (0, "module folder zip pattern\n"), run.stderr


def test_files_that_are_not_there_are_refused(tmp_path):
    for flag in ("--files", "--py-files"):
        run = submit(tmp_path, "print('ran')", flag, tmp_path / "absent")
        assert run.returncode == 1 and run.stdout == ""
        assert "PATH_NOT_FOUND" in run.stderr and "absent" in run.stderr
    run = submit(tmp_path, "print('ran')", "--files", "s3://bucket/a.txt")
    assert run.returncode == 1 and "UNSUPPORTED_FEATURE" in run.stderr


def test_files_are_known_to_the_server(tmp_path):
    write(tmp_path / "lookup.txt", "x\n")
    run = submit(tmp_path, "print(spark.conf.get('spark.files'))", "--files", "lookup.txt#alias")
    assert (run.returncode, run.stdout) == (0, f"{tmp_path}/lookup.txt\n"), run.stderr


def test_the_server_asks_for_its_token(tmp_path):
    run = submit(tmp_path, """
        address, parameters = os.environ["SPARK_REMOTE"].split("/;")
        token = dict(one.split("=") for one in parameters.split(";"))["token"]
        assert len(token) > 30
        try:
            SparkSession.builder.remote(address.replace("localhost", "127.0.0.1")).create().range(1).count()
        except Exception as error:
            print("authentication token" in str(error))
        os._exit(0)
        """)
    assert run.stdout == "True\n", run.stderr


def test_console_rows_are_printed_and_logs_are_not(tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.txt", "one line\n")
    run = submit(tmp_path, f"""
        query = spark.readStream.text("{tmp_path}/in").writeStream.format("console").trigger(availableNow=True).start()
        query.awaitTermination()
        """)
    assert run.returncode == 0 and run.stderr == ""
    assert "Batch: 0" in run.stdout and "|one line|" in run.stdout


def test_the_programs_status_is_the_status(tmp_path):
    assert submit(tmp_path, "sys.exit(3)").returncode == 3
    assert submit(tmp_path, "raise RuntimeError('mine')").returncode == 1
    assert submit(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)").returncode == 128 + 9


def test_a_program_that_never_stops_its_session_ends_at_once(tmp_path):
    """The client calls the server while the interpreter ends: it is there until the program has gone."""
    begin = time.monotonic()
    run = submit(tmp_path, """
        query = spark.readStream.format("rate").load().writeStream.format("noop").start()
        frame = spark.range(3).cache()
        print(frame.count())
        """)
    assert (run.returncode, run.stdout, run.stderr) == (0, "3\n", "")
    assert time.monotonic() - begin < patience(30)


def test_sigterm_ends_a_stream_within_ten_seconds(started):
    process = started(STREAM, "query.awaitTermination()\n")
    begin = time.monotonic()
    process.signal(signal.SIGTERM)
    assert process.wait(15) == 128 + signal.SIGTERM
    assert time.monotonic() - begin < patience(10)


# What a batch may be in the midst of: a join that takes minutes, a function that never returns, a broker that is not there.
LONG_BATCHES = {
    "join": "lines.crossJoin(spark.range(4_000_000_000)).where('length(value) + id = -1').writeStream.format('noop')",
    "function": "lines.writeStream.foreachBatch(lambda rows, number: __import__('threading').Event().wait())",
    "sink": "lines.writeStream.format('kafka').option('kafka.bootstrap.servers', '127.0.0.1:1').option('topic', 't')",
}


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("batch", LONG_BATCHES)
def test_sigterm_in_mid_batch_aborts_it(started, tmp_path, batch, signals):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.txt", "one line\n")
    process = started(f"""
        lines = spark.readStream.text("{tmp_path}/in")
        writer = {LONG_BATCHES[batch]}
        query = writer.option("checkpointLocation", "{tmp_path}/ck").start()
        print("ready", flush=True)
        query.awaitTermination()
        """)
    wait_until((tmp_path / "ck" / "offsets" / "0").exists, "a batch begins", alive=process.check_alive)
    begin = time.monotonic()
    for _ in range(signals):
        process.signal(signal.SIGTERM)
    # A second signal may find the program still there, and kills it.
    assert process.wait(15) in [128 + signal.SIGTERM, 128 + signal.SIGKILL][:signals]
    assert time.monotonic() - begin < patience(10)
    assert not (tmp_path / "ck" / "commits" / "0").exists()


def test_a_program_cleans_up_while_its_calls_are_answered(started):
    process = started("""
        def end(number, frame):
            query.stop()
            print("stopped, active:", len(spark.streams.active), flush=True)
            os._exit(0)
        signal.signal(signal.SIGTERM, end)
        """, STREAM, WAIT)
    process.signal(signal.SIGTERM)
    assert process.wait(15) == 0
    assert process.next_line(1).strip() == "stopped, active: 0"


def test_the_status_of_a_program_that_handles_sigterm_is_the_status(started):
    process = started("signal.signal(signal.SIGTERM, lambda *_: os._exit(5))\n", STREAM, WAIT)
    process.signal(signal.SIGTERM)
    assert process.wait(15) == 5


def test_a_program_ends_with_its_engine(started):
    process = started("print('ready', flush=True)\nprint(os.getpid(), flush=True)\n", STREAM, WAIT)
    program = int(process.next_line(60))
    process.kill()

    def ended():
        try:
            return pathlib.Path(f"/proc/{program}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True
    wait_until(ended, "the program to end")


def test_a_program_that_does_not_end_is_killed(started):
    process = started("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n", STREAM, WAIT)
    begin = time.monotonic()
    process.signal(signal.SIGTERM)
    assert process.wait(15) == 128 + signal.SIGKILL
    assert time.monotonic() - begin < patience(11)


def test_a_second_sigterm_ends_it_at_once(started):
    process = started("signal.signal(signal.SIGTERM, lambda *_: print('again', flush=True))\n", STREAM, WAIT)
    process.signal(signal.SIGTERM)
    assert process.next_line(5).strip() == "again"
    begin = time.monotonic()
    process.signal(signal.SIGTERM)
    assert process.wait(5) == 128 + signal.SIGKILL
    assert time.monotonic() - begin < patience(2)


def test_a_file_of_another_program_is_refused(tmp_path):
    run = run_thalweg(["submit"], tmp_path, environment=PYTHON)
    assert run.returncode == 1 and "give the program" in run.stderr
    run = run_thalweg(["submit", "--conf", "novalue", "x.py"], tmp_path, environment=PYTHON)
    assert run.returncode == 1 and "key=value" in run.stderr
