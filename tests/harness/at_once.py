"""Calls that run at the same time."""
import threading

from pyspark.errors import PySparkException


def at_once(calls):
    """The conditions of calls that run at the same time, "" for success."""
    barrier, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(i):
        barrier.wait()
        try:
            calls[i]()
            answers[i] = ""
        except PySparkException as error:
            answers[i] = error.getCondition()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
