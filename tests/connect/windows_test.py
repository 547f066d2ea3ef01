# ctest: TIMEOUT 300
"""Windows that take long or whose results are large: they can be stopped, others run meanwhile, and a piece of the results is held at a time."""
import threading

import pytest
from harness.thalweg_server import ThalwegServer


@pytest.fixture
def server(tmp_path):
    server = ThalwegServer(tmp_path, conf={"thalweg.memory.limit": "1g", "spark.connect.progress.reportInterval": "200ms"}).start()
    yield server
    server.stop()


def test_a_query_in_the_midst_of_a_window_can_be_interrupted(server):
    spark, other = server.session(), server.session()
    begun, outcome = threading.Event(), []
    spark.registerProgressHandler(lambda stages, inflight_tasks, operation_id, done: begun.set() if stages else None)
    # 4.5e10 additions: minutes of work.
    frames = spark.sql("select max(s) from (select sum(id) over (order by id rows between current row and unbounded following) s from range(300000))")

    def run():
        try:
            outcome.append(frames.collect())
        except Exception as error:
            outcome.append(str(error))

    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    assert begun.wait(60)
    assert other.range(10).count() == 10
    spark.interruptAll()
    runner.join(30)
    assert len(outcome) == 1 and "OPERATION_CANCELED" in outcome[0]


def test_lists_of_running_frames_are_made_one_after_the_other(server):
    lists = "(select id, collect_list(id) over (order by id) l from range(12000))"  # 576 MB
    assert server.session().sql(f"select max(size(l)), sum(size(l)), max(l[id] - id) from {lists}").collect() == [(12000, 12000 * 12001 // 2, 0)]
