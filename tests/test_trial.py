from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hidim import History, Trial, TrialState
from hidim.errors import TrialError


def trial(number: int, **changes) -> Trial:
    return dataclasses.replace(Trial({"x": float(number)}, number), **changes)


def test_a_trial_starts_running_without_a_value():
    fresh = Trial({"x": 1.0}, 0)
    assert fresh.state is TrialState.RUNNING
    assert (fresh.value, fresh.rank, fresh.reason, fresh.meta) == (None, None, None, {})


def test_finishing_makes_a_new_trial():
    fresh = trial(3, meta={"way": "design"})
    done, lost = fresh.completed(2.5, rank=1), fresh.failed("crashed", rank=2)
    assert (done.state, done.value, done.rank, done.meta) == (TrialState.COMPLETE, 2.5, 1, {"way": "design"})
    assert (lost.state, lost.value, lost.rank, lost.reason) == (TrialState.FAILED, None, 2, "crashed")
    assert fresh.state is TrialState.RUNNING


def test_a_trial_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        trial(0).value = 3.0


def test_trials_with_arrays_can_be_compared():
    one, same, other = (Trial({"w": np.array(w)}, 0) for w in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0]))
    assert one == same
    assert one != other


def test_states_read_like_words():
    assert [str(state) for state in TrialState] == ["running", "complete", "failed"]


def test_a_trial_is_told_in_a_line_without_what_the_method_remembers():
    begun = Trial({"x": 0.5, "m": "a"}, 3, meta={"way": "all"})
    assert str(begun) == "trial 3 is running at {'x': 0.5, 'm': 'a'}"
    assert str(begun.completed(2.0, 0).frozen()) == "trial 3: 2.0 at {'x': 0.5, 'm': 'a'}"
    assert str(begun.failed("no memory", 0)) == "trial 3 failed (no memory) at {'x': 0.5, 'm': 'a'}"
    assert repr(begun) == str(begun)
    wide = Trial({"w": np.linspace(0, 1, 40), "v": np.full(12, 1 / 3), "x": 0.1}, 3)
    lines = [str(wide.completed(2.0, 0)), str(wide.failed("Traceback\n  line 2\nno memory", 0))]
    assert not any("\n" in line for line in lines)
    assert len(lines[0]) < 300
    assert lines[1].startswith("trial 3 failed (Traceback line 2 no memory) at ")


@pytest.fixture
def history() -> History:
    return History(
        [
            trial(0).completed(5.0, rank=2),
            trial(1).failed("no", rank=0),
            trial(2),
            trial(3).completed(4.0, rank=1),
            trial(4),
        ]
    )


def test_a_history_is_a_sequence_in_the_order_of_asking(history):
    assert len(history) == 5
    assert [t.number for t in history] == [0, 1, 2, 3, 4]
    assert history[-1].number == 4
    assert isinstance(history[1:3], History)
    assert [t.number for t in history[1:3]] == [1, 2]
    assert history[3] in history


def test_finished_and_complete_are_in_the_order_of_finishing(history):
    assert [t.number for t in history.finished] == [1, 3, 0]
    assert [t.number for t in history.complete] == [3, 0]
    assert [t.number for t in history.running] == [2, 4]


def test_a_history_keeps_its_own_copy_of_the_list():
    trials = [trial(0)]
    history = History(trials)
    trials.append(trial(1))
    assert len(history) == 1


def test_a_history_is_told_by_its_counts_and_its_best(history):
    assert repr(history) == "History: 2 running, 2 complete, 1 failed; best 4.0, trial 3"
    assert history.best.value == min(t.value for t in history.complete)
    assert History(list(history), maximize=True).best.value == max(t.value for t in history.complete)
    assert repr(History()) == "History: no trial"
    with pytest.raises(TrialError, match="no trial is complete yet"):
        _ = History().best


def test_notebooks_show_a_table_and_a_line(history):
    page = History(list(history), maximize=True)._repr_html_()
    assert page.count("<tr>") == 5
    assert "<polyline" in page  # of the best so far, 4 and then 5
    odd = Trial({"<b>": "<i>"}, 0).completed(1.0, rank=0)._repr_html_()
    assert "<th>&lt;b&gt;</th><td>&lt;i&gt;</td>" in odd
    assert "svg" not in History()._repr_html_()


def test_a_history_becomes_a_table_with_a_column_for_every_parameter_and_coordinate():
    trials = [
        Trial({"w": np.array([1.0, 2.0]), "c": "a"}, 0).completed(3.0, rank=0, seconds=0.5),
        Trial({"w": np.array([4.0, 5.0]), "c": "b", "p": 7}, 1).failed("no license", rank=1),
    ]
    table = History(trials).to_pandas()
    assert table.loc[0, ["value", "w[1]", "c", "state"]].tolist() == [3.0, 2.0, "a", "complete"]
    assert table.loc[1, "reason"] == "no license"
    assert table["p"].isna().tolist() == [True, False]
    kinds = {name: str(table[name].dtype) for name in ("value", "variance", "p", "rank", "w[0]")}
    assert kinds == {
        "value": "float64",
        "variance": "float64",
        "p": "Int64",
        "rank": "Int64",
        "w[0]": "float64",
    }
    assert len(History().to_pandas()) == 0


def test_trials_are_equal_however_long_they_took():
    left = Trial({"x": 1.0}, 0).completed(3.0, rank=0, seconds=0.5)
    assert left == Trial({"x": 1.0}, 0).completed(3.0, rank=0, seconds=0.7)
    assert left != Trial({"x": 1.0}, 0).completed(3.0, rank=0, variance=0.1)


def test_parameters_called_like_columns_do_not_hide_them():
    table = History([Trial({"value": 0.5, "number": 3}, 0).completed(7.0, rank=0)]).to_pandas()
    assert table.loc[0, "value"] == 7.0
    assert table.loc[0, ["params.value", "params.number"]].tolist() == [0.5, 3]
