from __future__ import annotations

import subprocess
import sys

import pytest
import scipy.linalg  # noqa: F401  (loads the second BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

import hidim.methods
from hidim._threads import single_threaded


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("this BLAS has one thread only")
        yield


def test_one_thread_inside_and_as_many_as_before_afterwards():
    assert set(single_threaded(blas_threads)()) == {1}
    assert set(blas_threads()) == {2}


def test_threads_are_restored_after_an_error():
    @single_threaded
    def broken():
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        broken()
    assert set(blas_threads()) == {2}


def test_a_limited_function_keeps_its_name_arguments_and_result():
    @single_threaded
    def add(a: int, b: int = 2) -> int:
        """Sum."""
        return a + b

    assert add(1, b=4) == 5
    assert (add.__name__, add.__doc__) == ("add", "Sum.")


def test_methods_compute_with_one_thread_and_objectives_with_all():
    seen = []

    class Spy(hidim.methods.RandomSearch):
        def suggest(self, task, history, number):
            seen.append(set(blas_threads()))
            return super().suggest(task, history, number)

    outside = []
    hidim.minimize(
        lambda p: outside.append(set(blas_threads())) or p["x"],
        hidim.Space(x=hidim.Float(0, 1)),
        2,
        method=Spy(),
    )
    assert seen == [{1}, {1}]
    assert outside == [{2}, {2}]


OVERLAP = """
import time
from threading import Thread
import scipy.linalg
from threadpoolctl import threadpool_info
from hidim._threads import single_threaded

def blas():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

@single_threaded
def work(seconds):
    time.sleep(seconds)
    inside.append(blas())

inside, before = [], blas()
threads = [Thread(target=work, args=[seconds]) for seconds in (0.2, 0.4, 0.1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert inside == [{1}] * 3, inside
assert blas() == before, (blas(), before)
"""


def test_threads_that_overlap_all_have_the_limit_and_the_last_one_lifts_it():
    run = subprocess.run([sys.executable, "-c", OVERLAP], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
