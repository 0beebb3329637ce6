from __future__ import annotations

import threading
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from hidim.errors import MethodError
from hidim.run.executors import Inline, Threads, count_workers


def test_inline_evaluates_in_the_callers_thread():
    future = Inline().submit(threading.current_thread)
    assert future.done()
    assert future.result() is threading.current_thread()


def test_inline_lets_an_interrupt_through():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Inline().submit(interrupted)


def test_threads_are_daemons_of_their_own_and_do_not_hold_up_the_exit():
    executor = Threads()
    threads = [executor.submit(threading.current_thread).result() for _ in range(2)]
    assert all(thread.daemon and thread.name == "hidim-trial" for thread in threads)
    assert threads[0] is not threads[1]


def test_threads_pass_errors_on():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(ZeroDivisionError):
        Threads().submit(lambda: 1 / 0).result()
    with pytest.raises(KeyboardInterrupt):
        Threads().submit(interrupted).result()


def test_thread_pools_know_their_workers():
    with ThreadPoolExecutor(3) as pool:
        assert count_workers(pool, None) == 3
        assert count_workers(pool, 2) == 2
        assert count_workers(pool, 9) == 3, "trials that wait in a queue would run out of time there"


def test_executors_that_do_not_know_must_be_told():
    class Cluster(Executor):
        pass

    assert count_workers(Cluster(), 16) == 16
    with pytest.raises(MethodError, match="how many trials Cluster may run at once, as in workers=16"):
        count_workers(Cluster(), None)
