"""Sweeps: what is recorded, resumed and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hidim.bench.runner import Job, describe, execute, key, plan, read_records, sweep
from hidim.errors import HidimError, HistoryError


def test_record_holds_every_value_and_own_time() -> None:
    record = execute(Job("levy-6", "random", 0, 5))
    assert record["error"] is None
    assert len(record["values"]) == len(record["ask_seconds"]) == 5
    assert record["own_seconds"] == pytest.approx(sum(record["ask_seconds"]), abs=1e-4)
    assert record["versions"]["numpy"]
    assert "regret" in describe(record)
    assert record["values"] == execute(Job("levy-6", "random", 0, 5))["values"]


def test_exception_is_recorded_with_the_values_before_it(breaking_peer: str) -> None:
    record = execute(Job("levy-6", breaking_peer, 0, 5))
    assert len(record["values"]) == 3
    assert "broken on purpose" in record["error"]
    assert "broken on purpose" in describe(record)


def test_sweep_resumes_and_tries_failures_again(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    jobs = plan(["levy-6"], ["random"], range(2), 4)
    failed = execute(jobs[0]) | {"error": "it broke"}
    out.write_text(json.dumps(failed) + "\n" + '{"problem": "levy-6", "torn')
    assert {key(record) for record in sweep(jobs, out)} == {key(vars(job)) for job in jobs}
    assert sweep(jobs, out) == []
    records = read_records(out)
    assert len(out.read_text().splitlines()) == 3
    assert [record["error"] for record in records] == [None, None]


def test_plan_checks_names_and_goes_seed_by_seed() -> None:
    jobs = plan(["levy-6", "branin-rotated-5"], ["random"], range(2), 4)
    assert [(job.seed, job.problem) for job in jobs] == [
        (0, "levy-6"),
        (0, "branin-5-rotated"),
        (1, "levy-6"),
        (1, "branin-5-rotated"),
    ]
    for problems, methods in ((["nope-3"], ["random"]), (["levy-6"], ["nope"])):
        with pytest.raises(HidimError, match="nope"):
            plan(problems, methods, range(1), 4)


def test_damaged_results_are_named_by_line(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text("not json\n")
    with pytest.raises(HistoryError, match=r"results.jsonl:1"):
        read_records(out)


def test_noise_is_the_same_for_every_method_and_not_in_the_values() -> None:
    told: list[list[float]] = []
    for method in ("random", "hidim:random"):
        record = execute(Job("levy-6-noisy", method, 3, 8))
        assert record["error"] is None
        assert record["recommended"] in record["values"]
        told.append(record["values"])
    quiet = execute(Job("levy-6", "random", 3, 8))
    assert told[0] == quiet["values"]
    assert quiet["recommended"] is None


def test_crashes_have_no_value_and_the_run_goes_on() -> None:
    record = execute(Job("levy-6-crashing", "hidim:random", 0, 40))
    assert record["error"] is None
    assert 4 <= sum(value is None for value in record["values"]) <= 20
    assert "regret" in describe(record)
