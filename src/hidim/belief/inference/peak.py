"""Hyperparameters at the peak of their posterior density, fitted on a schedule and warm-started.

meta["fit"] = {"n": trials used, "cold": n at the last fit from scratch, "behind": models, the last ones, that
               are still to be fitted, "left": starts from scratch that are still to be tried,
               "thetas": [[…]], "outcome": name}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hidim._settings import at_least, of_type, one_of
from hidim._types import Array, Rng
from hidim.belief.inference.apart import REACHES, TOGETHER, are_set_apart, freed, idle_by_ties, without
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.priors import Structure, evenly
from hidim.errors import NumericalError
from hidim.frame.success import shares, steps
from hidim.gp.fit import Fit, fit
from hidim.gp.hyperparameter import log_prior
from hidim.gp.linalg import half_log_determinant
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES, evidence
from hidim.gp.posterior import factorise

#: Hyperparameters are fitted to so many trials for every column, within these limits, evenly by rank, and the
#: transform of losses is judged by these; predictions know all trials. A likelihood costs n³, and nobody is
#: to notice a refit: see benchmarks/results/refits.md.
EACH, PART = 15, (200, 512)

#: With more trials than this a fit is spread over suggestions, one climb for each: of the first model from
#: where it was, again if losses are then transformed otherwise, of the simpler ones, and from scratch, of
#: which is kept what is better. All at once are felt.
AT_ONCE = 50

#: Longer histories that are fitted as a whole are so on a part first, if from nothing: 13 instead of 40 s for
#: the first suggestion after 2000 trials in 100 dimensions.
LONG = 800

#: A fit starts from nothing, too, when trials have grown by this factor since it last did; not varied.
COLD = 1.5

#: Likelihoods for a fit: so many over n, within limits for cold and for warm starts; for climbs that have a
#: suggestion of their own, with limits for those from scratch; and for twins, which have a handful of
#: parameters. A larger least number made long histories slow; quality was not compared.
CALLS, COLD_LIMITS, WARM_LIMITS = 15_000, (5, 50), (5, 25)
ALONE_CALLS, ALONE_LIMITS = 8_000, (5, 36)
APART_CALLS = 4_000  # for either of two climbs
TWIN_CALLS, TWIN_LIMITS = 6_000, (4, 12)


#: A peak at which columns differ has to be higher by so many nats than the one that was found from where they
#: are alike: with hundreds of columns there is always a handful that seems to say more than it does.
CLEARLY = 10.0

Toss = Literal["even", "success"]

#: Outcomes that evidence chooses.
CHOSEN = ("auto", "reluctant")

#: By how much evidence has to be stronger for every trial, if losses are transformed with reluctance. In one
#: run each in 20 dimensions, from 20 to 150 trials, Rosenbrock and Levy gave 3 to 5, Branin and Hartmann less
#: than .5; with a dozen trials Branin gave 2.6. Chosen on these four, and not varied.
INSISTENT = 1.0


@dataclass(frozen=True)
class Peak(Inference):
    """Maximum a posteriori, and simpler models beside it, as a twin in which all columns are alike.

    Args:
        outcome: "auto" chooses a transform of the losses by evidence; "reluctant" does so too, but leaves
            them as they are unless evidence is stronger by `INSISTENT` for every trial; or the name of one in
            `OUTCOMES`.
        growth: refit when the number of complete trials has grown by this share since the last fit; .1 took
            a quarter more time for the same regret.
        twins: whether a coin decides for every suggestion between the fit and the simpler models that the
            prior puts beside it. Where each is right it finds what the other misses, and two models that
            disagree keep the search from settling too early.
        toss: "even" for a coin without memory, "success" for one that favours models whose suggestions have
            gained most.
        apart: whether fits from scratch start where columns differ, too, see `hidim.belief.inference.apart`.
    """

    outcome: str = "auto"
    growth: float = 0.15
    twins: bool = True
    toss: Toss = "even"
    apart: bool = True

    def __post_init__(self) -> None:
        one_of(self, outcome=(*CHOSEN, *OUTCOMES), toss=get_args(Toss))
        at_least(self, growth=0.0)
        of_type(self, twins=bool, apart=bool)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        last = self.known(study)
        if last is None or is_due(study, last, self.outcome, self.growth):
            return self._tossed(study, self._anew(study, last), rng)
        if last.memory.get("behind", 0) > 0:
            return self._tossed(study, self._with_next(study, last), rng)
        if last.memory.get("left", 0) > 0:
            return self._tossed(study, self._from_elsewhere(study, last), rng)
        return self._tossed(study, last, rng)

    def known(self, study: Study) -> Fitted | None:
        last = read_fit(study)
        if last is None:
            return None
        count = len(self._models(study, study.model(last.structure), last.n))
        return last._replace(thetas=last.thetas[:count])  # another version may have had more of them

    def _anew(self, study: Study, last: Fitted | None) -> Fitted:
        """The first model fitted to what was seen; the simpler ones, too, or they are put off."""
        structure, n = None if last is None else last.structure, len(study.seen.y)
        model, held = study.model(structure), study.prior.models(study.scene.ground, n)[0]
        simpler = self._models(study, model, n)[1:]
        if last is not None:
            last = _with_more(study, model, last, held, 1 + len(simpler))
        peak = climbed(study, model, last, self.outcome, _most(study), held, at_once=AT_ONCE)
        if last is None:
            starts = np.tile(model.start if n <= AT_ONCE else peak.theta, (len(simpler), 1))
        else:
            starts = last.thetas[1 : 1 + len(simpler)]
        thetas = np.stack([peak.theta, *map(model.put, starts, simpler)])
        behind = len(simpler) + (not peak.reached)
        fitted = new_fit(study, thetas, peak.outcome, peak.cold, structure, behind=behind)
        if n > AT_ONCE:
            left = 0 if last is None else last.memory.get("left", 0)
            if peak.cold == n and (last is None or last.memory["cold"] < n):
                left = len(_from_scratch(model, held)) + self._may_differ(study, model, held)
            return fitted._replace(memory=fitted.memory | {"left": left})
        if peak.cold == n and self._may_differ(study, model, held):
            fitted = _apart(study, model, fitted, held, self.outcome)
        for _ in range(fitted.memory["behind"]):
            fitted = self._with_next(study, fitted)
        return fitted

    def _with_next(self, study: Study, last: Fitted) -> Fitted:
        """The last fit after that of the next of the models that are behind."""
        model = study.model(last.structure)
        models = self._models(study, model, last.n)[: len(last.thetas)]
        behind = min(last.memory["behind"], len(models))
        few = (TWIN_CALLS, TWIN_LIMITS) if behind == 1 < len(models) else (ALONE_CALLS, WARM_LIMITS)
        thetas = last.thetas.copy()
        thetas[-behind] = _sibling(
            study, model, thetas[-behind], thetas[0], last.outcome, models[-behind], *few
        )
        return _noted(last, thetas, behind=behind - 1)

    def _from_elsewhere(self, study: Study, last: Fitted) -> Fitted:
        """The last fit after one more of its starts, whose peak is the first model's if it is higher."""
        model, rows = study.model(last.structure), part_of(study, _most(study))
        held = study.prior.models(study.scene.ground, last.n)[0]
        starts = _from_scratch(model, held)
        most = len(starts) + self._may_differ(study, model, held)
        left = min(last.memory["left"], most)  # another version may have had more of them
        if left > len(starts):
            found = _apart(study, model, last, held, self.outcome)
            return _noted(found, found.thetas, left=left - 1)
        x, losses, noise = _told(study, last.outcome, rows)
        peak = _climb_alone(model, x, losses, noise, starts[-left], held, ALONE_CALLS)
        try:
            known = model.negative_log_posterior(last.thetas[0], x, losses, noise)[0]
        except NumericalError:
            known = math.inf
        thetas = last.thetas.copy()
        if peak.loss < known:  # else the factor is known
            thetas[0] = peak.theta
        return _noted(last, thetas, left=left - 1)

    def _may_differ(self, study: Study, model: Model, held: Mapping[str, float]) -> bool:
        """Whether fits start where columns differ, too."""
        free = model.holding(TOGETHER.values()) & ~model.holding(held)
        asked = self.apart and not study.noisy and are_set_apart(study.prior, study.scene.ground)
        return asked and int(free.sum()) > 1

    def _models(self, study: Study, model: Model, n: int) -> list[Mapping[str, float]]:
        """What is held in the first model, and in those beside it."""
        first, *beside = study.prior.models(study.scene.ground, n)
        return [first, *(held for held in beside if self.twins and model.holding(held).any())]

    def _tossed(self, study: Study, fitted: Fitted, rng: Rng) -> Fitted:
        """One of the models, which the suggestion then remembers if they are drawn by success."""
        count = len(fitted.thetas)
        if count == 1 or self.toss == "even":
            return fitted._replace(rows=(int(rng.integers(count)) if count > 1 else 0,))
        scene = study.scene
        past = steps(scene.trials, "model", maximize=scene.task.maximize)
        row = int(rng.choice(count, p=shares(past, count)))
        return fitted._replace(rows=(count - 1 - row,), told={"model": row})


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
        reached: whether the climb was under that transform; else one more is due.
    """

    theta: Array
    outcome: str
    cold: int
    reached: bool


def climbed(
    study: Study,
    model: Model,
    last: Fitted | None,
    outcome: str,
    most: int | None = None,
    held: Mapping[str, float] = MappingProxyType({}),
    *,
    at_once: float = math.inf,
) -> Peaked:
    """θ at the peak under the most probable transform of the losses.

    Args:
        most: the most trials that θ and the transform are fitted to, evenly by rank; all by default.
        held: parameters that are held, and their values.
        at_once: with more trials than this only the first of several starts is tried, under one transform.
    """
    climb = partial(fit, model, held=model.holding(held) if held else None)
    n = len(study.seen.y)
    rows = part_of(study, most)
    since = 0 if last is None else last.memory["cold"]
    warm = model.start if last is None else last.thetas[0]
    cold = last is None or n >= COLD * since
    every = cold and n <= at_once
    starts = _each_once([model.put(warm, held), *(_from_scratch(model, held) if every else ())])
    limits = COLD_LIMITS if every or last is None else WARM_LIMITS
    name = best_outcome(study, model, starts[0], outcome, rows)
    x, losses, noise = _told(study, name, rows)
    calls = int(np.clip((CALLS if n <= at_once else ALONE_CALLS) / len(x), *limits))
    if cold and len(x) > LONG:
        # Coarse to fine: most of the way is found on a part of the trials, at a fraction of the price.
        part = slice(None, None, math.ceil(2 * len(x) / LONG))
        of_part = None if noise is None else noise[part]
        starts = [climb(x[part], losses[part], starts, variances=of_part).theta]
    theta = climb(x, losses, starts, max_evaluations=calls, variances=noise).theta
    # The transform was judged under the old length-scales: look again, and mend once.
    again = best_outcome(study, model, theta, outcome, rows)
    if again != name and n <= at_once:
        _, losses, noise = _told(study, again, rows)
        theta = climb(x, losses, [theta], max_evaluations=calls, variances=noise).theta
    return Peaked(theta, again, n if cold else since, again == name or n <= at_once)


def _told(study: Study, outcome: str, rows: Any) -> tuple[Array, Array, Array | None]:
    """Points, transformed losses, and the variances with which these came, if they did."""
    noise = study.variances(outcome)
    return study.seen.x[rows], OUTCOMES[outcome](study.seen.y)[rows], None if noise is None else noise[rows]


def _climb_alone(
    model: Model,
    x: Array,
    losses: Array,
    noise: Array | None,
    start: Array,
    held: Mapping[str, float],
    calls: int,
) -> Fit:
    """A climb that has a suggestion of its own, with so many likelihoods over n, within limits."""
    few, holding = int(np.clip(calls / len(x), *ALONE_LIMITS)), model.holding(held) if held else None
    return fit(model, x, losses, [start], max_evaluations=few, held=holding, variances=noise)


def _apart(study: Study, model: Model, last: Fitted, held: Mapping[str, float], outcome: str) -> Fitted:
    """The last fit, whose first model is one in which columns differ if that is clearly more probable."""
    rows = part_of(study, _most(study))
    try:
        judged = partial(_judged, study, model, outcome=outcome, rows=rows)
        starts = _where_columns_differ(study, model, last.thetas[0], held, outcome)
        start = max(starts, key=lambda theta: judged(theta)[1])
        under = judged(start)[0]
        theta = _climb_alone(model, *_told(study, under, rows), start, held, APART_CALLS).theta
        (name, found), (_, known) = judged(theta), judged(last.thetas[0])
    except NumericalError:
        return last
    if found <= known + CLEARLY:
        return last
    thetas = np.vstack([theta, last.thetas[1:]])
    behind = last.memory.get("behind", 0) if name == last.outcome else len(thetas) - 1
    behind = len(thetas) if name != under else behind
    return _noted(last._replace(outcome=name), thetas, outcome=name, behind=behind)


def _where_columns_differ(
    study: Study, model: Model, known: Array, held: Mapping[str, float], outcome: str
) -> list[Array]:
    """Where a climb leads that nothing holds, and where columns do not matter by what ties say.

    Differences between the best trials count little in that climb: they do not tell what matters elsewhere.
    """
    seen, ground, rows = study.seen, study.scene.ground, part_of(study, _most(study))
    name = best_outcome(replace(study, gentle=True), model, known, outcome, rows)
    x, losses, noise = _told(study, name, rows)
    found = [freed(model, x, losses, held, int(np.clip(APART_CALLS / len(x), *ALONE_LIMITS)), noise)]
    varying, idle = ground.levels > 1, idle_by_ties(seen.x, seen.y)
    if (idle & varying).any() and (varying & ~idle).any():
        found += [without(model, ground, idle, held, reach) for reach in REACHES]
    return found


def _noted(fitted: Fitted, thetas: Array, **more: Any) -> Fitted:
    """The same with other θ, and more that the history has to know."""
    memory = fitted.memory | {"thetas": thetas.tolist()} | more
    return fitted._replace(thetas=thetas, memory=memory, is_new=True)


def _from_scratch(model: Model, held: Mapping[str, float]) -> list[Array]:
    """Where fits from scratch start."""
    return _each_once([model.put(start, held) for start in model.starts])


def _each_once(starts: list[Array]) -> list[Array]:
    return list({start.tobytes(): start for start in starts}.values())


def _most(study: Study) -> int:
    """To how many trials hyperparameters are fitted, at the most."""
    return int(np.clip(EACH * study.scene.ground.dim, *PART))


def part_of(study: Study, most: int | None) -> Any:
    """At most so many rows of what was seen, evenly by rank; all by default."""
    return slice(None) if most is None or len(study.seen.y) <= most else evenly(study.seen.y, most)


def best_outcome(study: Study, model: Model, theta: Array, outcome: str, rows: Any = slice(None)) -> str:
    """The transform of the losses; if it is to be chosen, the most probable under θ, judged by `rows`."""
    return _judged(study, model, theta, outcome, rows)[0] if outcome in CHOSEN else outcome


def _judged(study: Study, model: Model, theta: Array, outcome: str, rows: Any) -> tuple[str, float]:
    """The transform of the losses, and the logarithm of its probability and that of θ, but for a constant."""
    y, noise = study.seen.y[rows], study.variances("identity")
    if not study.noisy:
        # A search crowds its trials where values are good. A transform that spreads them out is favoured for
        # that alone, if noise may explain what is then left: so it has to do with hardly any. Levy's function
        # of 10 among 120 parameters was left at 1.0 after 150 trials, with all noise at 3.2 (geometric means
        # of ten and of five runs; chosen on these).
        theta = np.append(theta[:-1], min(theta[-1], model.noise.start))
    factor = factorise(model, theta, study.seen.x[rows], None if noise is None else noise[rows])
    scores = evidence(factor, y, study.outcomes if outcome in CHOSEN else {outcome: OUTCOMES[outcome]})
    best = max(scores, key=scores.__getitem__)
    if outcome == "reluctant" and scores[best] < scores["identity"] + INSISTENT * len(y):
        best = "identity"
    return best, scores[best] - half_log_determinant(factor) + log_prior(model.parameters, theta)[0]


def _with_more(study: Study, model: Model, last: Fitted, held: Mapping[str, float], count: int) -> Fitted:
    """The last fit of fewer models, or of a first one that held more than is `held` now.

    Those that count now, too, start from what the first of them had. What that held, because it was simpler,
    starts from nothing: from scratch.
    """
    before = study.prior.models(study.scene.ground, last.n)[0]
    missing = max(count - len(last.thetas), 0)
    if not missing and before.keys() <= held.keys():
        return last
    warm = np.where(model.holding(before), model.start, last.thetas[0])
    kept = last.thetas if missing else last.thetas[1:]
    thetas = np.vstack([np.tile(warm, (max(missing, 1), 1)), kept])
    return last._replace(thetas=thetas, memory={**last.memory, "cold": 0})


def _sibling(
    study: Study,
    model: Model,
    start: Array,
    theta: Array,
    name: str,
    held: Mapping[str, float],
    calls: int,
    limits: tuple[int, int],
) -> Array:
    """θ at the peak among those in which some parameters are `held`.

    Args:
        start: where it was.
        theta: that of the first model.
        calls: so many likelihoods over n, within `limits`.
    """
    x, losses, noise = _told(study, name, part_of(study, _most(study)))
    if study.noisy:
        start = theta  # a twin that once took everything for noise would never leave that
    few, start = int(np.clip(calls / len(x), *limits)), model.put(start, held)
    return fit(
        model, x, losses, [start], max_evaluations=few, held=model.holding(held), variances=noise
    ).theta
