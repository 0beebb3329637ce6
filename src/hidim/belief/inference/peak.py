"""Hyperparameters at the peak of their posterior density, fitted on a schedule and warm-started.

Beside that peak, in spaces of real numbers without noise, stands that of a simpler model, with one common
length-scale and no main effects, as long as data do not clearly speak against it. Every suggestion asks one
of the two, by an even chance: where functions are rugged, a length-scale for every column is too sure of
itself.

meta["fit"] = {"n": trials used, "cold": n at the last fit from scratch, "thetas": [[…]], "outcome": name}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from hidim._settings import one_of
from hidim._types import Array, Rng
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.priors import Structure, evenly
from hidim.errors import NumericalError
from hidim.gp.fit import fit
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES, evidence
from hidim.gp.posterior import factorise
from hidim.gp.untied import TOGETHER, untied
from hidim.space.columns import Kind

#: A fit is due when there are so many more trials than at the last one, and starts from scratch, too, when
#: there are so many times as many as when it last did. With .3 regrets were higher by a fifth.
GROWTH, COLD = 0.15, 1.5

#: Hyperparameters are fitted to so many trials, evenly by rank, and the transform of losses is judged by
#: these, and several starts are compared by a third of them; predictions know all trials. A likelihood costs
#: n³, and nobody is to notice a refit.
PART = 300

#: Likelihoods for a climb. Each of several starts has half of them, and the best goes on with twice as many:
#: with half of all of these, regrets were higher on nine of thirteen functions.
CALLS = 25

#: By how many nats another model is clearly less probable: some twenty are the price of absent main effects.
#: Without this limit regrets were 1.00, .81 and .71 of those with one model after 50, 100 and 200 trials on
#: 24 functions of COCO's bbob, on which the models differ by 21 to 42. Where few of many columns matter it is
#: 50 to 700, and a simpler model cost.
CLEARLY = 40.0

#: Outcomes that evidence chooses.
CHOSEN = ("auto", "reluctant")


@dataclass(frozen=True)
class Peak(Inference):
    """Maximum a posteriori.

    Args:
        outcome: "auto" chooses a transform of the losses by evidence; "reluctant" does so too, but leaves
            them as they are unless evidence is stronger by a nat for every trial (in 20 dimensions Rosenbrock
            and Levy gave 3 to 5, Branin and Hartmann less than .5); or the name of one in `OUTCOMES`.
    """

    outcome: str = "auto"

    def __post_init__(self) -> None:
        one_of(self, outcome=(*CHOSEN, *OUTCOMES))

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        last = self.known(study)
        if last is None or is_due(study, last, self.outcome, GROWTH):
            last = self._anew(study, last)
        return last._replace(rows=(int(rng.integers(len(last.thetas))),))

    def _anew(self, study: Study, last: Fitted | None) -> Fitted:
        structure, ground, n = None if last is None else last.structure, study.scene.ground, len(study.seen.y)
        model, held = study.model(structure), study.prior.held(ground, n)
        if last is not None and (before := study.prior.held(ground, last.n)).keys() - held.keys():
            # What is no longer held starts from scratch.
            warm = np.where(model.holding(before), model.start, last.thetas[0])
            last = last._replace(
                thetas=np.vstack([warm, *last.thetas[1:]]), memory={**last.memory, "cold": 0}
            )
        theta, name, cold = climbed(study, model, last, self.outcome, PART, held)
        found = [theta]
        if ground.varies_continuously and _columns_may_differ(study, model, held):
            found += _simpler(study, model, theta, theta if last is None else last.thetas[-1], name)
        return new_fit(study, np.array(found), name, cold, structure)

    def known(self, study: Study) -> Fitted | None:
        return read_fit(study)


def new_fit(
    study: Study, thetas: Array, outcome: str, cold: int, structure: Structure = None, **more: Any
) -> Fitted:
    n = len(study.seen.y)
    memory = study.memory(outcome, structure, n=n, cold=cold, thetas=thetas.tolist(), **more)
    return Fitted(thetas, outcome, n, memory, is_new=True, structure=structure)


def read_fit(study: Study, *wanted: str) -> Fitted | None:
    """The fit that the history remembers, with the fields that are wanted besides."""
    last = study.last("n", "cold", "thetas", *wanted)
    if last is None or not 0 < last["n"] <= len(study.seen.y):
        return None
    thetas, structure = np.array(last["thetas"], dtype=np.float64), last.get("structure")
    model = study.model(structure)
    if thetas.shape[1:] != (model.size,):
        return None
    thetas = np.clip(thetas, *model.bounds)  # somebody may have mended the file by hand
    return Fitted(thetas, last["outcome"], last["n"], last, is_new=False, structure=structure)


def is_due(study: Study, last: Fitted, outcome: str, growth: float) -> bool:
    """Whether the last fit no longer fits."""
    y = study.seen.y
    if outcome in CHOSEN and last.outcome not in study.outcomes:
        return True
    if len(y) >= last.n + max(1, math.floor(growth * last.n)):
        return True
    # A single outlier or a new best by orders of magnitude moves all transformed losses, and the
    # hyperparameters no longer fit them.
    spread = float(np.std(OUTCOMES[last.outcome](y)[: last.n]))
    return len(y) > last.n and not 0.5 < spread < 2.0


class Peaked(NamedTuple):
    """Where a climb of a model has come to.

    Attributes:
        theta: the hyperparameters.
        outcome: the transform of the losses that is most probable there.
        cold: the number of trials at the last fit from scratch.
    """

    theta: Array
    outcome: str
    cold: int


def climbed(
    study: Study,
    model: Model,
    last: Fitted | None,
    outcome: str,
    most: int | None = None,
    held: Mapping[str, float] = MappingProxyType({}),
) -> Peaked:
    """θ at the peak under the most probable transform of the losses.

    Args:
        most: the most trials that θ and the transform are fitted to, evenly by rank; all by default.
        held: parameters that are held, and their values.
    """
    n, rows, few = len(study.seen.y), part_of(study, most), part_of(study, PART // 3)
    since = 0 if last is None else last.memory["cold"]
    cold, warm = n >= COLD * since, model.start if last is None else last.thetas[0]
    starts = [model.put(start, held) for start in (warm, *(model.starts if cold else ()))]
    starts = list({start.tobytes(): start for start in starts}.values())
    holding = model.holding(held) if held else None

    def climb(name: str, starts: list[Array]) -> Array:
        def on(rows: Any, starts: list[Array], calls: int) -> Array:
            losses, noise = _told(study, name, rows)
            x = study.seen.x[rows]
            return fit(model, x, losses, starts, max_evaluations=calls, held=holding, variances=noise).theta

        if len(starts) == 1:
            return on(rows, starts, CALLS)
        return on(rows, [on(few, starts, CALLS // 2)], 2 * CALLS)

    name = best_outcome(study, model, starts[0], outcome, rows)
    if cold and _columns_may_differ(study, model, held):
        (losses, noise), x = _told(study, name, few), study.seen.x[few]
        starts.append(untied(model, x, losses, model.put(model.start, held), held, CALLS, noise))
    theta = climb(name, starts)
    # The transform was judged under the old length-scales: look again, and mend once.
    again = best_outcome(study, model, theta, outcome, rows)
    return Peaked(theta if again == name else climb(again, [theta]), again, n if cold else since)


def _simpler(study: Study, model: Model, theta: Array, start: Array, outcome: str) -> list[Array]:
    """θ of the model in which all columns are alike, unless it is clearly less probable than `theta`."""
    held = {**study.prior.late, **dict.fromkeys(TOGETHER.values(), 0.0)}
    rows, holding = part_of(study, PART), model.holding(held)
    (losses, noise), x = _told(study, outcome, rows), study.seen.x[rows]
    starts = [model.put(start, held)]
    found = fit(model, x, losses, starts, max_evaluations=CALLS // 2, held=holding, variances=noise)
    try:
        known = model.negative_log_posterior(theta, x, losses, noise)[0]
    except NumericalError:
        return []
    return [found.theta] if found.loss <= known + CLEARLY else []


def _told(study: Study, outcome: str, rows: Any) -> tuple[Array, Array | None]:
    """Transformed losses, and the variances with which these came, if they did."""
    noise = study.variances(outcome)
    return OUTCOMES[outcome](study.seen.y)[rows], None if noise is None else noise[rows]


def _columns_may_differ(study: Study, model: Model, held: Mapping[str, float]) -> bool:
    """Whether there are columns that may differ, of a space without conditions, embedding or noise."""
    ground = study.scene.ground
    plain = ground.embedding is None and not ground.space.is_conditional and not study.noisy
    free = model.holding(TOGETHER.values()) & ~model.holding(held)
    return plain and bool((ground.kind != Kind.LABEL).any()) and int(free.sum()) > 1


def part_of(study: Study, most: int | None) -> Any:
    """At most so many rows of what was seen, evenly by rank; all by default."""
    return slice(None) if most is None or len(study.seen.y) <= most else evenly(study.seen.y, most)


def best_outcome(study: Study, model: Model, theta: Array, outcome: str, rows: Any = slice(None)) -> str:
    """The transform of the losses; if it is to be chosen, the most probable under θ, judged by `rows`."""
    if outcome not in CHOSEN:
        return outcome
    y, noise = study.seen.y[rows], study.variances("identity")
    if not study.noisy:
        # A search crowds its trials where values are good. A transform that spreads them out is favoured for
        # that alone, if noise may explain what is then left: so it has to do with hardly any. Levy's function
        # of 10 among 120 parameters was left at 1.0 after 150 trials, with all noise at 3.2 (geometric means
        # of ten and of five runs; chosen on these).
        theta = np.append(theta[:-1], min(theta[-1], model.noise.start))
    factor = factorise(model, theta, study.seen.x[rows], None if noise is None else noise[rows])
    scores = evidence(factor, y, study.outcomes)
    best = max(scores, key=scores.__getitem__)
    insists = scores[best] >= scores["identity"] + len(y)
    return best if outcome == "auto" or insists else "identity"
