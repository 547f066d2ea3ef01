"""The program: what server and submit print, take and answer."""
import signal
import sys
import textwrap
import uuid

import grpc
import pytest
from harness.certificates import make_certificates
from harness.processes import Process, clean_environment
from harness.thalweg_server import ThalwegServer, run_thalweg, thalweg_program
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc
from pyspark.sql.connect.session import SparkSession


def write(path, text):
    path.write_text(textwrap.dedent(text))
    return path


def python_environment():
    return {"PYSPARK_PYTHON": sys.executable}


def test_version(tmp_path):
    run = run_thalweg(["version"], tmp_path)
    assert run.returncode == 0
    assert run.stdout.startswith("thalweg ") and "(Spark 4.2.0)" in run.stdout


def test_a_token_is_asked_of_every_call(tmp_path):
    server = ThalwegServer(tmp_path, ["--token", "secret"]).start()
    try:
        assert SparkSession.builder.remote(f"{server.url}/;token=secret").create().range(2).count() == 2
        for url in (server.url, f"{server.url}/;token=wrong"):
            with pytest.raises(SparkConnectGrpcException) as error:
                SparkSession.builder.remote(url).create().range(2).count()
            assert "authentication token" in str(error.value)
    finally:
        server.stop()


def test_an_open_address_needs_token_and_tls(tmp_path):
    run = run_thalweg(["server", "--host", "0.0.0.0", "--port", "0"], tmp_path)
    assert run.returncode == 1 and "token" in run.stderr
    run = run_thalweg(["server", "--host", "0.0.0.0", "--port", "0", "--token", "t"], tmp_path)
    assert run.returncode == 1 and "TLS" in run.stderr


def test_tls(tmp_path):
    certificates = make_certificates(tmp_path / "certificates")
    server = ThalwegServer(tmp_path / "server", ["--tls-cert", certificates.client_certificate,
                                                 "--tls-key", certificates.client_key]).start()
    try:
        port = server.url.rsplit(":", 1)[1]
        request = base_pb2.AnalyzePlanRequest(session_id=str(uuid.uuid4()), spark_version={})
        for authority, fits in ((certificates.ca, True), (certificates.stranger_ca, False)):
            credentials = grpc.ssl_channel_credentials(authority.read_bytes())
            with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
                stub = base_pb2_grpc.SparkConnectServiceStub(channel)
                if fits:
                    assert stub.AnalyzePlan(request).spark_version.version == "4.2.0"
                    continue
                with pytest.raises(grpc.RpcError):
                    stub.AnalyzePlan(request)
    finally:
        server.stop()


def test_a_taken_port_is_refused(server, tmp_path):
    run = run_thalweg(["server", "--port", server.url.rsplit(":", 1)[1]], tmp_path)
    assert run.returncode == 1 and "listen on" in run.stderr


def test_settings_from_file_and_command_line(tmp_path):
    write(tmp_path / "defaults.conf", """
        # a comment
        spark.sql.session.timeZone  Asia/Tokyo
        spark.my.key=from file
        other.key ignored
        """)
    server = ThalwegServer(tmp_path / "server", ["--properties-file", tmp_path / "defaults.conf", "--conf", "spark.my.key=given"]).start()
    try:
        spark = server.session()
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert spark.conf.get("spark.my.key") == "given"
        assert spark.conf.get("other.key", None) is None
    finally:
        server.stop()


def test_sigterm_ends_a_server_with_queries(server):
    spark = server.session()
    spark.readStream.format("rate").load().writeStream.format("noop").start()
    assert server.process.running()
    server._sessions = []
    assert server.process.stop() == 0


def test_submit_runs_a_program(tmp_path):
    program = write(tmp_path / "program.py", """
        import os, sys
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.appName("x").getOrCreate()
        print(spark.range(3).count(), spark.conf.get("spark.my.key"), sys.argv[1:], "token=" in os.environ["SPARK_REMOTE"])
        sys.exit(7)
        """)
    run = run_thalweg(["submit", "--conf", "spark.my.key=v", "--master", "local[2]", program, "--first", "second"], tmp_path,
                      environment=python_environment())
    assert run.returncode == 7, run.stderr
    assert run.stdout == "3 v ['--first', 'second'] True\n"
    assert run.stderr == ("thalweg submit: --master has no effect: everything runs in this process; "
                          "use --remote to send the program to a Spark cluster\n")


def test_submit_finds_modules(tmp_path):
    (tmp_path / "lib").mkdir()
    write(tmp_path / "lib" / "mine.py", "VALUE = 5\n")
    program = write(tmp_path / "program.py", "import mine\nprint(mine.VALUE)\n")
    run = run_thalweg(["submit", "--py-files", tmp_path / "lib", program], tmp_path, environment=python_environment())
    assert (run.returncode, run.stdout) == (0, "5\n"), run.stderr


def test_submit_sigterm_ends_a_stream(tmp_path):
    program = write(tmp_path / "program.py", """
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.getOrCreate()
        query = spark.readStream.format("rate").load().writeStream.format("noop").start()
        print("started", flush=True)
        query.awaitTermination()
        """)
    process = Process([thalweg_program(), "submit", program], tmp_path, "submit", clean_environment(**python_environment()))
    assert process.next_line(30) == "started"
    process.signal(signal.SIGTERM)
    assert process.wait(15) == 128 + signal.SIGTERM


def test_submit_hands_the_interrupt_on(tmp_path):
    program = write(tmp_path / "program.py", """
        import os
        import signal
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.getOrCreate()
        query = spark.readStream.format("rate").load().writeStream.format("noop").start()
        end, begin = os.pipe()
        os.set_blocking(begin, False)
        signal.set_wakeup_fd(begin)  # the read below ends, however early the signal comes
        try:
            print("started", flush=True)
            os.read(end, 1)  # an interrupt within a call would meet the client's own gRPC race
        except KeyboardInterrupt:
            os._exit(3)  # no clean-up: the client's own may wait for minutes after an interrupt
        """)
    process = Process([thalweg_program(), "submit", program], tmp_path, "submit", clean_environment(**python_environment()))
    assert process.next_line(30) == "started"
    process.signal(signal.SIGINT)
    assert process.wait(15) == 3


def test_forgetting_models_is_refused(spark):
    """Clients ask for it when the interpreter ends and swallow the answer; one that succeeds can hang them there."""
    from pyspark.sql.connect.proto import Command
    command = Command()
    command.ml_command.clean_cache.SetInParent()
    with pytest.raises(Exception, match="UNSUPPORTED_FEATURE.THALWEG"):
        spark.client.execute_command(command)
