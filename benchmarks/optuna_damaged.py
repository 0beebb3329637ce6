"""Studies of Optuna in which something is wrong: does the sampler go on?

Parameters of one name that are linear here and logarithmic there, integers and floats, categories that
change; attributes, notes and rows that somebody has changed or deleted; enqueued, failed, pruned and running
trials with odd values. Every study has a dozen trials, of which some are damaged, and is gone on with by each
method, in memory and in SQLite. Objectives raise nothing: whatever is raised is an error of the sampler, or
of Optuna itself, where `TPESampler` raises in the same ask of the same study, too.

python benchmarks/optuna_damaged.py --out results/optuna-damaged.md

With `--json before.json` by an earlier hidim, and `--before before.json` by this one, both are in the table.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import platform
import signal
import sqlite3
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

import hidim
from hidim.bench.tables import render
from hidim.integrations.optuna import turns
from hidim.studies.notes import FIRST, Note

METHODS = ("auto", "gp", "addtree", "baxus", "rembo")

#: Trials of a study before the asks, and asks of each method.
TRIALS, ASKS = 12, 4

#: What an ask came to of which nothing could be read.
RANDOM = "at random"

#: Seconds after which an ask will not be answered.
PATIENCE = 10

Rng = np.random.Generator
Objective = Callable[[optuna.Trial], float]

#: What stands in the place of something else.
JUNK: list[Any] = [
    *json.loads('[null, true, -1, 0, 3, 1e400, 0.5, NaN, "", "abc", "1", [], [null], [[1, 2]], [0.5], {}]'),
    *json.loads('[{"a": 1}, {"x": null}, {"x": [1]}, {"x": 0.5}, {"x": 9.0, "kind": "z"}]'),
    *(10**30, [0.5] * 20, ["x"] * 1000, json.loads("[" * 300 + "]" * 300)),
]

LINEAR = FloatDistribution(0, 1)
LOG = FloatDistribution(1e-3, 1, log=True)
KIND = CategoricalDistribution(("a", "b"))

#: Distributions of one name that do not go together, and what the objective may ask for now.
MIXES: dict[str, list[Any]] = {
    "linear and logarithmic": [LINEAR, LOG],
    "linear and logarithmic integers": [IntDistribution(0, 9), IntDistribution(1, 9, log=True)],
    "integers and floats": [IntDistribution(0, 9), FloatDistribution(0, 9), IntDistribution(0, 8, step=2)],
    "categories that change": [
        KIND,
        CategoricalDistribution(("a", "b", "c")),
        CategoricalDistribution(("d", 1)),
    ],
    "numbers and categories": [LINEAR, CategoricalDistribution((0.5, "a", None)), IntDistribution(0, 3)],
    "ranges without ends": [LINEAR, FloatDistribution(-math.inf, math.inf), FloatDistribution(-1e308, 1e308)],
}


def junk(rng: Rng) -> Any:
    return JUNK[rng.integers(len(JUNK))]


def drawn(distribution: Any, rng: Rng) -> Any:
    """A value, at an end of the range now and then."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[rng.integers(len(distribution.choices))]
    low, high = max(distribution.low, -1e300), min(distribution.high, 1e300)
    share = rng.choice([0.0, 1.0, rng.random(), rng.random()])
    if isinstance(distribution, IntDistribution):
        return low + int(share * ((high - low) // distribution.step)) * distribution.step
    return float(low * (1.0 - share) + high * share)


def asks(x: Any, name: str = "x") -> Objective:
    """An objective with that distribution of x, besides two others and a branch."""

    def objective(trial: optuna.Trial) -> float:
        value = trial._suggest(name, x)
        found = value if isinstance(value, int | float) else len(str(value))
        found = min(abs(found), 1e9) + (trial.suggest_float("y", 0, 1) - 0.3) ** 2
        if trial.suggest_categorical("kind", ["a", "b"]) == "b":
            found += trial.suggest_int("n", 1, 9, log=True) / 9
        return found

    return objective


def trials(xs: list[Any], rng: Rng, name: str = "x") -> list[FrozenTrial]:
    """Finished trials of such objectives, whose x was of these kinds."""
    found = []
    for place in range(TRIALS):
        known = {name: xs[place % len(xs)], "y": LINEAR, "kind": KIND}
        params = {each: drawn(distribution, rng) for each, distribution in known.items()}
        if params["kind"] == "b":
            known["n"] = IntDistribution(1, 9, log=True)
            params["n"] = drawn(known["n"], rng)
        found.append(create_trial(params=params, distributions=known, value=float(rng.random())))
    return found


def add(study: optuna.Study, every: list[FrozenTrial]) -> None:
    """Add them all: what Optuna refuses in one process, two that start together may both have written."""
    with patch("optuna.distributions.check_distribution_compatibility", lambda *_: None):
        for trial in every:
            study.add_trial(trial)


# -- what is wrong -----------------------------------------------------------------------------------------


def mixed(kinds: list[Any], name: str = "x") -> Callable[[optuna.Study, Rng], Objective]:
    def damage(study: optuna.Study, rng: Rng) -> Objective:
        order = [kinds[place] for place in rng.permutation(len(kinds))]
        now = order[int(np.argmin([getattr(kind, "high", 1) > 10 for kind in order]))]  # can be searched
        if not isinstance(study._storage, optuna.storages.InMemoryStorage):
            order = [now, *(kind for kind in order if kind is not now)]  # others compare with the first
        add(study, trials(order, rng, name))
        return asks(now, name)

    return damage


def plain(study: optuna.Study, rng: Rng) -> Objective:
    add(study, trials([LINEAR], rng))
    return asks(LINEAR)


def attributes(study: optuna.Study, rng: Rng) -> Objective:
    """Those of Optuna, and those of hidim but for notes."""
    keys = ("retry_history", "fixed_params", "failed_trial", "fail_reason", turns.TURN, "hidim:failed")
    known = {"x": LINEAR, "y": LINEAR, "kind": KIND}
    for trial in trials([LINEAR], rng):
        wrong = {keys[place]: junk(rng) for place in rng.integers(len(keys), size=2)}
        states = [TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED, TrialState.RUNNING]
        state = states[rng.integers(len(states))]
        if state is TrialState.RUNNING:
            known = {}
        study.add_trial(
            create_trial(
                state=state,
                params={name: trial.params[name] for name in known},
                distributions=known,
                value=trial.value if state is TrialState.COMPLETE else None,
                system_attrs=wrong,
            )
        )
    return asks(LINEAR)


def states(study: optuna.Study, rng: Rng) -> Objective:
    """Values that are none, by every end that a trial can have."""
    for trial in trials([LINEAR], rng):
        value = [math.nan, math.inf, -math.inf, 1e308, 10**40, 0.5][rng.integers(6)]
        state = [TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.RUNNING][rng.integers(4)]
        settings: dict[str, Any] = {"state": state}
        if state is TrialState.COMPLETE:
            settings["value"] = 0.25 if math.isnan(value) else value
        elif state is TrialState.PRUNED:
            settings["intermediate_values"] = {1: 0.5, 2: value} if rng.random() < 0.7 else {}
        params, known = ({}, {}) if rng.random() < 0.2 else (trial.params, trial.distributions)
        study.add_trial(create_trial(params=params, distributions=known, **settings))
    return asks(LINEAR)


def enqueued(study: optuna.Study, rng: Rng) -> Objective:
    """Trials that wait, with all parameters, some, or nonsense; at once, or behind others."""
    add(study, trials([LINEAR], rng)[: int(rng.integers(3))])
    for _ in range(8):
        params = {"x": float(rng.random()), "y": float(rng.random()), "kind": "a"}
        for name in list(params):
            if rng.random() < 0.3:
                del params[name]
        if rng.random() < 0.2:
            params["z"] = junk(rng)
        study.enqueue_trial(params)
    return asks(LINEAR)


def replaced(data: Any, rng: Rng) -> Any:
    """The same with junk in one place."""
    if isinstance(data, dict) and data and rng.random() < 0.9:
        name = list(data)[rng.integers(len(data))]
        if rng.random() < 0.15:
            return {key: value for key, value in data.items() if key != name}
        return data | {name: replaced(data[name], rng)}
    if isinstance(data, list) and data and rng.random() < 0.7:
        place = int(rng.integers(len(data)))
        return [*data[:place], replaced(data[place], rng), *data[place + 1 :]]
    return junk(rng)


def forged(first: Any, rng: Rng) -> Any:
    """A note in which something is wrong; the checksum is right for the most part."""
    if rng.random() < 0.3:
        return junk(rng) if rng.random() < 0.5 else replaced(first, rng)
    text = json.dumps(replaced(json.loads(first["text"]), rng))
    if rng.random() < 0.1:
        text = text[: int(rng.integers(len(text)))]
    return {"pieces": 1, "crc": zlib.crc32(text.encode()), "text": text}


def notes(method: str) -> Callable[[optuna.Study, Rng], Objective]:
    def damage(study: optuna.Study, rng: Rng) -> Objective:
        """Trials of the sampler itself, whose notes are of anybody."""
        memory = optuna.create_study(sampler=hidim.OptunaSampler(method, seed=0))
        memory.optimize(asks(LINEAR), n_trials=TRIALS)
        for trial in memory.trials:
            if rng.random() < 0.5:
                trial.system_attrs[FIRST] = forged(trial.system_attrs[FIRST], rng)
            if rng.random() < 0.2:  # still running, and nothing but the note says where
                trial.state, trial.datetime_complete, trial.values = TrialState.RUNNING, None, None
                trial.params, trial.distributions = {}, {}
            study.add_trial(trial)
        return asks(LINEAR)

    return damage


#: What is done to the tables of a study in SQLite, with a number of a trial in it.
STATEMENTS = (
    "DELETE FROM trial_values WHERE trial_id = {}",
    "DELETE FROM trial_params WHERE trial_id = {}",
    "DELETE FROM trial_params WHERE trial_id = {} AND param_name = 'x'",
    "DELETE FROM trial_system_attributes WHERE trial_id = {}",
    "UPDATE trial_params SET param_name = NULL WHERE trial_id = {} AND param_name = 'y'",
    "UPDATE trial_params SET param_value = NULL WHERE trial_id = {} AND param_name = 'x'",
    "UPDATE trial_params SET param_value = 'abc' WHERE trial_id = {} AND param_name = 'x'",
    "UPDATE trial_params SET param_value = 1e300 WHERE trial_id = {} AND param_name = 'x'",
    "UPDATE trial_params SET distribution_json = replace(distribution_json, '0.0', '-Infinity') "
    "WHERE trial_id = {} AND param_name = 'y'",
    "UPDATE trial_params SET distribution_json = replace(distribution_json, '1.0', 'NaN') "
    "WHERE trial_id = {} AND param_name = 'y'",
    "UPDATE trial_values SET value = 'abc' WHERE trial_id = {}",
    "UPDATE trials SET datetime_complete = NULL WHERE trial_id = {}",
    "UPDATE trials SET datetime_start = NULL WHERE trial_id = {}",
    "UPDATE trials SET number = -5 WHERE trial_id = {}",
    "UPDATE trials SET state = 'RUNNING' WHERE trial_id = {}",
)

#: The same, after which Optuna cannot read the study.
BEYOND = (
    "UPDATE trial_params SET distribution_json = '{{' WHERE trial_id = {}",
    "UPDATE trial_values SET value = NULL WHERE trial_id = {}",
    "INSERT INTO trial_system_attributes (trial_id, key, value_json) VALUES ({}, 'k', '{{')",
    "UPDATE trials SET number = NULL WHERE trial_id = {}",
)


def rows(statements: tuple[str, ...]) -> Callable[[optuna.Study, Rng], Objective]:
    def damage(study: optuna.Study, rng: Rng) -> Objective:
        add(study, trials([LINEAR], rng))
        with sqlite3.connect(study.user_attrs["path"]) as tables:
            for _ in range(3):
                statement = statements[rng.integers(len(statements))]
                tables.execute(statement.format(int(rng.integers(2, TRIALS + 1))))
        tables.close()
        return asks(LINEAR)

    return damage


#: What is wrong, how it is brought about, and whether only SQLite has it.
CASES: dict[str, tuple[Callable[[str], Callable[[optuna.Study, Rng], Objective]], bool]] = {
    "nothing": (lambda method: plain, False),
    **{name: (lambda method, kinds=kinds: mixed(kinds), False) for name, kinds in MIXES.items()},
    "a name that is empty": (lambda method: mixed([LINEAR], ""), False),
    "attributes": (lambda method: attributes, False),
    "values, and ends of trials": (lambda method: states, False),
    "enqueued trials": (lambda method: enqueued, False),
    "forged notes": (notes, False),
    "rows that are gone or changed": (lambda method: rows(STATEMENTS), True),
    "what Optuna cannot read": (lambda method: rows(BEYOND), True),
}


# -- asks --------------------------------------------------------------------------------------------------


def give_up(*_: object) -> None:
    raise TimeoutError(f"no answer in {PATIENCE} seconds")


def raised(study: optuna.Study, objective: Objective) -> list[str]:
    """What each ask came to: an error as "kind: text", or whether it was at random."""
    found = []
    for _ in range(ASKS):
        signal.alarm(PATIENCE)
        try:
            study.optimize(objective, n_trials=1)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
            continue
        finally:
            signal.alarm(0)
        last = max(study._storage.get_all_trials(study._study_id), key=lambda trial: trial._trial_id)
        note = Note.read(last.system_attrs, last.number)
        found.append(RANDOM if note is not None and not len(note.point) else "")
    return found


def damaged(
    case: str, method: str, stored: bool, seed: int, folder: Path
) -> tuple[Callable[[Any], optuna.Study], Objective]:
    """How a sampler opens a study in which that is wrong, and what is asked of it."""
    path = folder / "study.db"
    path.unlink(missing_ok=True)
    storage = f"sqlite:///{path}" if stored else None
    study = optuna.create_study(study_name="study", storage=storage)
    study.set_user_attr("path", str(path))
    rng = np.random.default_rng([seed, zlib.crc32(f"{case} {method}".encode())])
    objective = CASES[case][0](method)(study, rng)

    def opened(sampler: Any) -> optuna.Study:
        if stored:
            return optuna.load_study(study_name="study", storage=storage, sampler=sampler)
        study.sampler = sampler
        return study

    return opened, objective


def counted(case: str, rounds: int, folder: Path) -> Counter[str]:
    """What asks of studies with that kind of damage came to."""
    counts: Counter[str] = Counter()
    for seed in range(rounds):
        for method in METHODS:
            for stored in (True,) if CASES[case][1] else (False, True):
                samplers = hidim.OptunaSampler(method, seed=0), optuna.samplers.TPESampler(seed=seed)
                ends = []
                for sampler in samplers:
                    opened, objective = damaged(case, method, stored, seed, folder)
                    try:
                        study = opened(sampler)
                    except Exception as error:  # Optuna cannot open it
                        ends.append([f"{type(error).__name__}: {error}"] * ASKS)
                    else:
                        ends.append(raised(study, objective))
                for own, other in zip(*ends, strict=True):
                    counts["asks"] += 1
                    counts["at random"] += own == RANDOM
                    counts["raised"] += ":" in own
                    counts["raised, and TPE did not"] += ":" in own and ":" not in other
                    counts["TPE raised"] += ":" in other
                    if ":" in own and ":" not in other:
                        print(f"  {method}: {own[:150]}", file=sys.stderr)
    return counts


def tabled(counts: dict[str, Counter[str]], before: dict[str, dict[str, int]]) -> str:
    """The counts by what was wrong, with those of an earlier hidim if there are any."""
    for case, found in before.items():
        counts[case]["raised before"] = found["raised"]
    titles = list(next(iter(counts.values())))
    whole = {key: sum(found[key] for found in counts.values()) for key in titles}
    rows = [
        [case, *(f"{found[key]:,}" for key in titles)] for case, found in [*counts.items(), ("all", whole)]
    ]
    return render(["what is wrong", *titles], rows, left=1, markdown=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2, help="studies of each kind, method and storage")
    parser.add_argument("--json", type=Path, help="where the counts are written for a later --before")
    parser.add_argument("--before", type=Path, help="counts of an earlier hidim, for a column of their own")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    logging.getLogger("hidim").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGALRM, give_up)
    turns.PATIENCE = 0.05  # nobody is served whose turn was made up
    counts = {}
    with TemporaryDirectory() as folder:
        for case in CASES:
            print(case, file=sys.stderr)
            counts[case] = counted(case, options.rounds, Path(folder))
    if options.json is not None:
        options.json.write_text(json.dumps(counts), encoding="utf-8")
    table = tabled(counts, json.loads(options.before.read_text()) if options.before else {})
    title, text, *_ = __doc__.split("\n\n")
    made = f"hidim {hidim.__version__}, Optuna {optuna.__version__}, Python {platform.python_version()}"
    command = f"python benchmarks/optuna_damaged.py --rounds {options.rounds}"
    command += " --before before.json" if options.before else ""
    page = f"""# {title}

{text}

`{command}`: {options.rounds} studies of each kind,
method ({", ".join(METHODS)}) and storage, {ASKS} asks of each; seeds are fixed. An ask is at random if
nothing of the study could be read. What Optuna cannot read, it cannot give to any sampler.

{table}

{made}, numpy {np.__version__}.
"""
    print(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
