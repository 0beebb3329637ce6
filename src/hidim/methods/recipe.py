"""The one pipeline of all model-based methods, and the recipe that names its parts.

observe      the frame shows the trials as points
fit          the inference finds the hyperparameters of the prior
believe      failed trials are discouraged, running ones believed at the model's own mean
decide       the utility says what a point is worth
search       the search finds points with a high utility
suggest      the frame makes a configuration that is new of the best of them
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Rng
from hidim.acquisition.utility import Decision, Moment, Usual, Utility
from hidim.belief.feasibility import Feasibility, learn_feasibility
from hidim.belief.inference import Fitted, Inference, Peak, Study
from hidim.belief.plateau import plateau
from hidim.belief.priors import Flat, Learnable, Prior
from hidim.belief.probe import probe
from hidim.errors import MethodError, NumericalError
from hidim.frame import Cube, Frame, Scene, design, suggestion
from hidim.frame.noise import is_noisy
from hidim.gp.posterior import Posterior
from hidim.methods.base import Method
from hidim.methods.random import RandomSearch
from hidim.methods.settings import registered_name
from hidim.optim.base import Objective
from hidim.search import Ascent, Search, Situation, Target
from hidim.search.discrete import smooth
from hidim.task import Suggestion, Task
from hidim.trial import History

logger = logging.getLogger("hidim")

#: Observations that a first look at many points counts. For time alone: twenty thousand points then take the
#: tenth of a second, however many trials there are.
COARSE = 128

#: What parts may need of a prior, and which has it.
NEEDS = {
    "additive": "that is a sum over groups, as prior='tree' with by='nodes', or prior='additive'",
    "groups": "that is or has a sum over groups, as prior='main-effects', or prior='tree' with by='nodes'",
    "scales": "that has but length-scales to be fitted, as prior='embedded': use that, or inference='map'",
    "center": "that knows a centre, as prior='cylinder': use that, or a frame whose centre does not move",
    "structure": "that learns groups or directions, as prior='additive': use that, or inference='map'",
}


@dataclass(frozen=True)
class Recipe(Method):
    """A model-based method: its parts, and nothing else.

    Args:
        name: under which it is known.
        frame: where it looks.
        prior: the model of the function before any data.
        inference: how its hyperparameters are found.
        utility: what a point is worth.
        search: how points with a high utility are found.
        initial: trials before the model is asked, in each scene of the frame; None for one more than
            there are dimensions.

    Example:
        >>> from hidim.methods import METHODS, configured
        >>> configured("gp", lengthscales="isotropic", search="multistart").prior
        Flat(lengthscales='isotropic', form='matern')
    """

    name: str = "gp"
    frame: Frame = field(default_factory=Cube)
    prior: Prior = field(default_factory=Flat)
    inference: Inference = field(default_factory=Peak)
    utility: Utility = field(default_factory=Usual)
    search: Search = field(default_factory=Ascent)
    initial: int | None = 10

    def __post_init__(self) -> None:
        if self.initial is not None:
            at_least(self, initial=1)
        of_type(self, frame=Frame, prior=Prior, inference=Inference, utility=Utility, search=Search)
        prior = registered_name(self.prior)
        if (why := self.prior.refusal(self.frame)) is not None:
            raise MethodError(f"{self.name}: the prior {prior!r} does not go with its frame: {why}")
        for part in (
            part
            for whole in (self.frame, self.inference, self.utility, self.search)
            for part in _within(whole)
        ):
            for need in part.needs - self.prior.abilities:
                name = registered_name(part)
                raise MethodError(
                    f"{self.name}: {name!r} needs a prior {NEEDS[need]}; its prior is {prior!r}"
                )
        learns = any("structure" in part.needs for part in _within(self.inference))
        if isinstance(self.prior, Learnable) and self.prior.learns and not learns:
            raise MethodError(
                f"{self.name}: its prior {prior!r} learns groups or directions: use inference='relearning', "
                "or give the groups and delta=0"
            )
        if ("additive" in self.utility.needs) != ("groups" in self.search.needs):
            elastic = ", with elastic=True" if self.search.stretches else ""
            raise MethodError(
                f"{self.name}: a sum of the bounds of groups, and it alone, is searched group by group: "
                f"utility='group-bounds' goes with search='paths'{elastic}"
            )

    def check(self, task: Task) -> None:
        if not task.space.dim:  # nothing varies
            return
        scene = self.frame.scene(task, History(), 0, task.rng(0))
        model = self._study(scene, noisy=False).model()
        if self.search.stretches and smooth(scene.ground).any():
            model.stretched(model.start, 1.0)

    def suggest(self, task: Task, history: History, number: int) -> Suggestion:
        if not task.space.dim:
            return RandomSearch().suggest(task, history, number)
        rng = task.rng(number)
        scene = self.frame.scene(task, history, number, rng)
        if scene.asked < self._initial(scene) or len(scene.seen.y) < 2 or scene.awaits_center:
            if number == 0:
                self._tell_if_no_model_is_asked(task, self._initial(scene))
                self.check(task)  # for those who ask no optimizer
            return self._design(scene, rng)
        try:
            return self._model_based(scene, rng)
        except NumericalError as error:
            logger.warning("trial %d is a design point, because the model failed: %s", number, error)
            return self._design(scene, rng, fallback=str(error))

    def _tell_if_no_model_is_asked(self, task: Task, initial: int) -> None:
        if task.budget is not None and task.budget <= min(initial, task.space.size - 1):
            logger.warning(
                "%s begins with %d points of a design, and there are but %d trials: no model will be asked; "
                "plan more, or take fewer such points, as in method='%s(initial=%d)'",
                self.name,
                initial,
                task.budget,
                self.name,
                max(task.budget // 2, 1),
            )

    def _design(self, scene: Scene, rng: Rng, **meta: str) -> Suggestion:
        return suggestion(scene, design(scene, self._initial(scene)), rng, {"way": "design"} | meta)

    def _initial(self, scene: Scene) -> int:
        return scene.ground.dim + 1 if self.initial is None else self.initial

    def _model_based(self, scene: Scene, rng: Rng) -> Suggestion:
        noisy = is_noisy(scene.task, scene.history)
        study = self._study(scene, noisy=noisy)
        fitted = self.inference.fitted(study, rng)
        posteriors = study.posteriors(fitted)
        suggest = partial(suggestion, scene, rng=rng, repeat=noisy)
        suspected = math.exp(fitted.thetas[0, -1]) if fitted.judged and not noisy else 0.0
        if (found := probe(scene, suspected, rng)) is not None:
            point, twin = found
            memory = study.remembered(fitted, posteriors[0], point[0])
            return suggest(point, meta={"way": "probe", "probe": twin, **memory})
        moment = Moment(noisy, plateau(scene), scene.improvable)
        decision = self.utility.decided(moment, rng)
        feasibility, believed = self._believed(scene, study.tag(fitted.structure), posteriors)
        n = len(scene.seen.y)

        def stretched(factor: float) -> list[Posterior]:
            longer = study.posteriors(fitted, factor)
            return [long.extended_at_once(b.x[n:], b.y[n:]) for long, b in zip(longer, believed, strict=True)]

        target = self._target(scene, decision, feasibility, believed, stretched)
        losses = posteriors[0].smoothed if noisy else scene.seen.y
        order = np.argsort(losses, kind="stable")
        if scene.improvable is not None:
            order = order[np.argsort(~scene.improvable[order], kind="stable")]
        ranked = scene.seen.x[order]
        points, way, told = self.search(target, Situation(scene, ranked, moment.demand > 0.0), rng)
        memory = study.remembered(fitted, believed[0], points[0])
        learnt = {} if feasibility is None else feasibility.meta
        return suggest(points, meta={"way": way, **told, **learnt, **memory})

    def _study(self, scene: Scene, *, noisy: bool) -> Study:
        """What the inference is asked."""
        comparable = noisy and self.frame.several
        by = type(self.inference).__name__
        by += f", {scene.key}" if scene.is_apart else ""
        return Study(self.prior, by, scene, noisy, comparable)

    def _believed(
        self, scene: Scene, tag: str, posteriors: list[Posterior]
    ) -> tuple[Feasibility | None, list[Posterior]]:
        """Where there are values, and the posteriors that know of failed and of running trials."""
        inputs, seen = partial(self.prior.inputs, scene.ground), scene.seen
        failed = inputs(seen.failed)
        usable = seen._replace(x=posteriors[0].x, failed=failed)
        held = self.prior.held(scene.ground, len(seen.y))
        feasibility = learn_feasibility(posteriors[0].model, tag, scene.trials, usable, held)
        if feasibility is not None:
            posteriors = [feasibility.discouraged(posterior, failed) for posterior in posteriors]
        running = inputs(seen.running)
        return feasibility, [posterior.believing(running) for posterior in posteriors]

    def _target(
        self,
        scene: Scene,
        decision: Decision,
        feasibility: Feasibility | None,
        believed: Sequence[Posterior],
        stretched: Callable[[float], list[Posterior]],
    ) -> Target:
        return Target(
            self._objective(decision, feasibility, believed),
            lambda: self._objective(decision, feasibility, [believed[0].coarse(COARSE)]),
            partial(self.prior.inputs, scene.ground),
            believed[0],
            decision.roots(believed[0]) if decision.roots else None,
            lambda factor: self._target(scene, decision, feasibility, stretched(factor), stretched),
        )

    def _objective(
        self, decision: Decision, feasibility: Feasibility | None, believed: Sequence[Posterior]
    ) -> Objective:
        objective = decision.objective(believed)
        if feasibility is None:
            return objective
        return feasibility.weighted(objective, positive=decision.positive)

    def means(self, task: Task, history: History) -> Array | None:
        try:
            return self._means(task, history) if task.space.dim else None
        except NumericalError as error:
            logger.warning("the best trial is that with the best value, because the model failed: %s", error)
            return None

    def _means(self, task: Task, history: History) -> Array | None:
        """Of several scenes on the scale of the losses, where trials that are in none have their own."""
        complete, losses = history.complete, history.losses(maximize=task.maximize)
        scenes = self.frame.scenes(task, history)
        alone = len(scenes) == 1 and len(scenes[0].seen.y) == len(complete)
        if not alone and not self.frame.several:
            return None  # the model knows nothing of some
        largest = float(np.max(np.abs(losses), initial=0.0))
        size = largest if largest > 1e100 else 1.0  # squares of losses may be larger than any float
        means = dict(zip((trial.number for trial in complete), (losses / size).tolist(), strict=True))
        for scene in scenes:
            study = self._study(scene, noisy=is_noisy(task, history))
            fitted = self.inference.known(study) or self._anew(study)
            if fitted is None or (not alone and fitted.outcome != "identity"):
                return None
            smoothed = study.posterior(fitted, 0).smoothed
            if alone:
                return smoothed
            own = scene.seen.y / size
            found = own.mean() + own.std() * smoothed
            means |= zip((trial.number for trial in scene.trials.complete), found.tolist(), strict=True)
        return np.array([means[trial.number] for trial in complete])

    def _anew(self, study: Study) -> Fitted | None:
        """A fit where the last one has other parameters, since another version made it."""
        if study.last() is None:
            return None
        memo, key = study.scene.task.memo, (study.scene.key, len(study.seen.y))
        known: Fitted | None = memo.get(self, key)
        return known or memo.keep(self, key, self.inference.fitted(study, np.random.default_rng(0)))


def _within(part: Any) -> Iterator[Frame | Inference | Utility | Search]:
    """A part and the parts of which it is made."""
    if isinstance(part, Frame | Inference | Utility | Search):
        yield part
        for setting in fields(part):  # type: ignore[arg-type]  # parts are dataclasses
            yield from _within(getattr(part, setting.name))
