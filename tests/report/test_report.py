from __future__ import annotations

import errno
import json
import logging
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from tests.report.runs import ODD, SCRIPT, branching, embedded, odd, plain, run_of, wide

from hidim import Choice, Float, HidimError, Int, Result, Space, Vector, _files
from hidim.report import page, write_report
from hidim.report.findings import Known
from hidim.report.limits import LARGEST, Limits
from hidim.trial import History, Trial


def data_of(path: Path) -> dict:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S
    )
    return json.loads(found[1])


def hasty(result: Result, folder: Path, **more) -> Path:
    """A page without what takes long."""
    return write_report(result, folder / "run.html", patience=0.0, **more)


def test_a_page_tells_of_all_trials(tmp_path):
    result = plain(n=30, failing=10, running=2, noisy=True, seed=3)
    path = result.report(tmp_path / "run.html", title="Mine", command=["prog", "--x", "a b"])
    assert path == tmp_path / "run.html"
    data = data_of(path)
    head = data["head"]
    assert (head["complete"], head["failed"], head["running"]) == (27, 3, 2)
    assert (head["value"], head["number"]) == (result.best.value, result.best.number)
    assert data["title"] == "Mine"
    assert ["Command", "prog --x 'a b'"] in data["run"]
    assert data["trials"]["value"] == [trial.value for trial in result.history]
    assert [f["count"] for f in data["failures"]] == [3]  # reasons that differ in numbers are one
    assert {p["name"] for p in data["params"]} == {"x", "rate", "n", "kind"}
    assert sum(p["share"] for p in data["params"]) == pytest.approx(1.0, abs=1e-3)
    assert list(tmp_path.iterdir()) == [path]


def test_values_in_the_table_are_those_of_the_trials(tmp_path):
    result = branching()
    data = data_of(hasty(result, tmp_path))
    for param in data["params"]:
        name = param.get("leaf", param["name"])
        column = data["trials"]["columns"][param["column"]]
        for trial, value in zip(result.history, column, strict=True):
            under = param.get("under", "").removeprefix("model=")
            if name not in trial.params or (under and trial.params["model"] != under):
                assert value is None
            elif param["kind"] == "choice":
                assert param["labels"][value] == trial.params[name]
            else:
                assert value == pytest.approx(trial.params[name], rel=1e-4)


def test_the_tree_counts_its_branches(tmp_path):
    result = branching()
    rows = data_of(result.report(tmp_path / "run.html"))["tree"]["rows"]
    told = {row["label"]: (row["complete"], row["failed"]) for row in rows if row["fork"] == "model"}
    for label in ("none", SCRIPT, "svm"):
        own = [t for t in result.history.finished if t.params["model"] == label]
        assert told[label] == (sum(t.reason is None for t in own), sum(t.reason is not None for t in own))
    assert [row["label"] for row in rows].count("rate") == 1
    assert any(row["leads"] for row in rows if row["label"] == result.best.params["model"])


def test_maximised_and_noisy_runs_say_so(tmp_path):
    result = plain(n=6, maximize=True, noisy=True)
    chosen = Result(result.history[4], result.history, result.space, maximize=True, noisy=True, by_model=True)
    head = data_of(hasty(chosen, tmp_path))["head"]
    assert (head["maximize"], head["noisy"], head["byModel"], head["number"]) == (True, True, True, 4)
    assert head["single"] == max(trial.value for trial in result.history)


def test_nothing_of_users_is_markup(tmp_path):
    path = hasty(odd(), tmp_path, title=SCRIPT, command=[SCRIPT, "</script>"])
    text = path.read_text(encoding="utf-8")
    scripts = re.findall(r"<script.*?>", text)
    assert scripts == ['<script type="application/json" id="data">', "<script>"]
    assert text.count("</script") == 2
    assert len(text) < 1_000_000  # ten thousand characters are cut
    data = data_of(path)
    assert any(SCRIPT in p["name"] for p in data["params"])
    labels = next(p["labels"] for p in data["params"] if p["kind"] == "choice")
    assert labels[-4:] == ["None", "True", "1.5", "('t', 2)"]
    assert all(c.isprintable() for p in data["params"] for c in p["name"])


def test_a_page_may_run_its_own_script_and_nothing_else(tmp_path):
    text = hasty(plain(n=4), tmp_path).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//|@import|url\(", text.replace("url(#", ""))
    script = "\n".join(map(page.asset, page.SCRIPTS))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def test_every_asset_ships():
    for name in (*page.SCRIPTS, "page.css", "page.html"):
        assert resources.files("hidim.report").joinpath("assets", name).is_file()


def test_the_best_configuration_can_be_copied(tmp_path):
    space = Space({"x": Float(0, 1), "w": Vector(5), "choice": Choice(("t", 2), None), ODD[3]: Int(1, 3)})
    result = run_of(space, lambda p: p["x"], 4)
    config = data_of(hasty(result, tmp_path))["config"]
    best = result.best.params
    for found in (json.loads(config["json"]), eval(config["python"])):
        assert found["w"] == best["w"].tolist()
        assert found["x"] == best["x"]
        assert found[ODD[3]] == best[ODD[3]]
    assert eval(config["python"])["choice"] == best["choice"]
    assert config["json"].replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("values", "why"),
    [([3.0], "at least 5 complete trials"), ([2.0] * 9, "all 9 values are 2")],
    ids=["one", "equal"],
)
def test_a_run_without_a_model_has_a_page_that_says_why(tmp_path, values, why):
    space = Space(x=Float(0, 1))
    trials = [Trial({"x": 0.1 * i}, i).completed(v, i) for i, v in enumerate(values)]
    data = data_of(hasty(Result(trials[0], History(trials), space), tmp_path))
    assert why in data["importance"]["why"]
    assert why in data["slicesWhy"]
    assert "Best value" in data["words"]


def test_a_part_that_breaks_does_not_take_the_page_with_it(tmp_path, monkeypatch, caplog):
    def broken(*_, **__):
        raise FloatingPointError("no luck")

    monkeypatch.setattr("hidim.insight.insight.interactions", broken)
    with caplog.at_level(logging.WARNING, "hidim"):
        data = data_of(plain().report(tmp_path / "run.html"))
    assert data["interactions"]["why"] == "FloatingPointError: no luck"
    assert "goes without interactions" in caplog.text
    assert data["params"][0]["slice"]["mid"]


def test_what_takes_too_long_is_left_out_and_said(tmp_path):
    data = data_of(write_report(branching(), tmp_path / "run.html", patience=0.0))
    assert "result.interactions() has it" in data["interactions"]["why"]
    assert "result.branches() has it" in data["tree"]["why"]
    assert data["params"][0]["slice"]["mid"]


@pytest.mark.parametrize("factor", [1e308, 1e-310, 0.0])
def test_values_of_any_size(tmp_path, factor):
    space = Space(c=Choice("a", "b", "c"), d=Choice("a", "b"))
    result = run_of(space, lambda p: factor * (p["c"] == "a") - factor * (p["d"] == "b"), 12)
    data = data_of(hasty(result, tmp_path))
    assert data["head"]["value"] == result.best.value


def test_a_billion_coordinates_are_not_written_down(tmp_path):
    result = embedded()
    path = hasty(result, tmp_path)
    data = data_of(path)
    assert path.stat().st_size < 300_000
    assert [p["kind"] for p in data["params"]] == ["vector"]
    assert "vector of 1,000,000,000 coordinates" in data["config"]["notes"][0]
    assert "result.best.params['w']" in data["config"]["notes"][0]
    assert any("1,000,000,000" in text for text in data["left"])
    assert "for at most 5000" in data["interactions"]["why"]
    assert sum(each["trials"] for each in data["embedding"]["all"]) == 6
    assert data["embedding"]["y"] == pytest.approx(result.best.meta["y"], rel=1e-4)


def test_a_large_run_is_cut_down_and_says_so(tmp_path):
    result = wide(400, 1000)
    data = data_of(hasty(result, tmp_path))
    assert (tmp_path / "run.html").stat().st_size < LARGEST
    assert "left out, for it takes about 2 s: result.importance() has it" in data["importance"]["why"]
    assert "result.importance() has it" in data["words"]
    assert len(data["trials"]["columns"]) == 625
    assert any("625 of 1,000 parameters" in text for text in data["left"])
    small = Limits(trials=50).smaller().smaller()
    known = Known(result.insight(), 0, 0.0)
    told = page.rendered(result, known, small, title=None, command=None, refresh=None)
    assert len(told) < 250_000
    assert b"Of 400 trials, 6 are on this page" in told


def test_the_kept_trials_have_every_best_of_its_time():
    from hidim.report.trials import chosen_rows

    rng = np.random.default_rng(0)
    values = rng.random(2000)
    failed = Trial({}, 0).failed("no luck", 0)
    complete = [Trial({}, i).completed(float(v), i) for i, v in enumerate(values, 1)]
    history = History([failed, *complete])
    best = complete[int(np.argmin(values))]
    rows = chosen_rows(history, best, 100, maximize=False)
    assert len(rows) <= 100
    records = 1 + np.flatnonzero(np.diff(np.minimum.accumulate(values), prepend=np.inf) < 0)
    assert set(records) <= set(rows.tolist())


def test_a_page_beyond_the_limit_is_made_smaller(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "LARGEST", 150_000)
    result = run_of(Space(w=Vector(90)), lambda p: p["w"][0], 100)
    assert write_report(result, tmp_path / "run.html", patience=0.0).stat().st_size < 150_000


def test_an_old_page_stays_where_a_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "run.html"
    hasty(plain(n=4), tmp_path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files.os, "fsync", full)
    with pytest.raises(HidimError, match=r"run.html cannot be written: No space left on device"):
        hasty(plain(n=4), tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_bad_wishes_are_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(HidimError, match="Is a directory"):
        plain().report(tmp_path)
    with pytest.raises(HidimError, match="there is no folder"):
        plain().report(tmp_path / "missing" / "run.html")
    with pytest.raises(HidimError, match="refresh is a number of seconds"):
        plain().report(tmp_path / "run.html", refresh=-1)


def test_a_page_that_follows_a_run_loads_itself_anew(tmp_path):
    text = hasty(plain(n=4, running=1), tmp_path, refresh=5).read_text(encoding="utf-8")
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in text
    assert data_of(tmp_path / "run.html")["refresh"] == 5
