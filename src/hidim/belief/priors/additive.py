"""Sums over groups of parameters, along the axes or along learnt directions (Add-GP-UCB, RPP-GP-UCB).

    f(x) = Σ f_v(x_v)                         eq. 1: Add-GP, groups of columns
    f(x) = Σ f_v(z_v),  z = Ŵᵀ x              eq. 6: the same after a change of axes
    Ŵ = (1 − α) W + α I                       eq. 7: δ = 0 forces α = 1, the additive model; δ = ∞ allows
                                              α = 0, projection pursuit

What is learnt, the structure, is {"groups": lists of columns, "weights": W, "alpha": α}, the last two if δ is
not 0. In a conditional space groups are of parameters that exist together, and only those that always exist
are mixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from hidim._limits import COLUMNS_WITHOUT_EMBEDDING
from hidim._settings import at_least, of_type, one_of
from hidim._types import Array, Rng
from hidim.belief.priors.base import Ability, Learnable, Lesson, Structure
from hidim.belief.priors.directions import Pursuit, learnt_mixing, mixing_of
from hidim.belief.priors.grouping import as_groups, mixable, named_groups, together
from hidim.errors import MethodError
from hidim.frame import Frame, Ground
from hidim.gp.fit import fit
from hidim.gp.kernels import FORMS, FormName, Groups, Kernel, Scaled, Term, Through
from hidim.gp.kernels.groups import Lengthscales
from hidim.gp.model import Model, noise_parameter
from hidim.gp.partition import Evidence, contributions, enough, learnt_partition
from hidim.space.columns import Kind
from hidim.space.nodes import everywhere, tree

#: The most columns whose mixing is learnt: its square is kept with every relearning.
MOST_MIXED = 500


@dataclass(frozen=True)
class Additive(Learnable):
    """A sum of functions of few parameters each, or of few mixtures of parameters.

    Args:
        size: d, columns of a group, if groups are learnt.
        groups: names of the parameters of each group; None to learn them. Groups may have parameters in
            common; parameters in none are groups of their own. A name of a vector means all of it, and
            "x[3]" one coordinate.
        delta: δ, by how much the box that is searched may be larger than the image of the cube under Ŵ: 0 for
            the additive model, .1 in RPP-GP-UCB, None for no limit, which is projection pursuit.
        pursuit: how W is learnt, if δ is not 0: "greedy", one direction after the other on what the others
            leave, as in the paper; or "gradient", by the marginal likelihood of all of W.
        form: "se", "matern" (ν = 5/2), "matern32" or "matern12".
        lengthscales: "isotropic", one for all columns as in the papers; "grouped", one for every group; or as
            in `Tree`.
        warped: whether numbers are warped, see `hidim.gp.kernels.Groups`.
        spread: by how much amplitudes of groups may differ, see there; 0 in the papers.
    """

    size: int = 5
    groups: tuple[tuple[str, ...], ...] | None = None
    delta: float | None = 0.0
    pursuit: Pursuit = "greedy"
    form: FormName = "se"
    lengthscales: Lengthscales = "isotropic"
    warped: bool = False
    spread: float = 0.0

    def __post_init__(self) -> None:
        at_least(self, size=1, spread=0.0)
        if isinstance(self.delta, float) and math.isinf(self.delta) and self.delta > 0.0:
            object.__setattr__(self, "delta", None)  # files have no word for infinity
        if self.delta is not None:
            at_least(self, delta=0.0)
        one_of(self, pursuit=get_args(Pursuit), form=get_args(FormName), lengthscales=get_args(Lengthscales))
        of_type(self, warped=bool)
        if self.groups is not None:
            object.__setattr__(self, "groups", as_groups(self.groups))
        if self.warped and self.delta != 0.0:
            raise MethodError("warped=True: directions leave the cube, on which warps are: use delta=0")

    @property
    def learns(self) -> bool:
        return self.groups is None or self.delta != 0.0

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"additive", "groups", "structure"})

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        if ground.dim > COLUMNS_WITHOUT_EMBEDDING:
            raise MethodError(
                f"sums over groups are of at most {COLUMNS_WITHOUT_EMBEDDING} columns, and the space has "
                f"{ground.dim}: use method='baxus'"
            )
        if self.delta != 0.0 and (count := len(mixable(ground.space))) > MOST_MIXED:
            raise MethodError(
                f"delta={self.delta}: directions are learnt of at most {MOST_MIXED} numbers, and there are "
                f"{count}: use delta=0, as 'add-gp' does, or method='baxus'"
            )
        known = self._initial(ground) if structure is None else structure
        kernel: Kernel = self._sum(ground, known["groups"])
        if "weights" in known:
            kernel = Through(mixing_of(mixable(ground.space), known), kernel)
        return Model(Scaled(kernel), noise_parameter(noisy=noisy))

    def _sum(self, ground: Ground, groups: list[list[int]]) -> Groups:
        labels, levels = ground.kind == Kind.LABEL, ground.levels
        terms = []
        for group in groups:
            columns = np.array(group, dtype=np.intp)
            own = columns[labels[columns]]
            terms.append(Term(columns[~labels[columns]], own, levels[own].astype(np.intp)))
        found = everywhere(tree(ground.space)) if ground.space.is_conditional else ()
        for node in found:  # a label that leads to nothing still makes a difference
            if node.gate is not None and not len(node.columns):
                terms.append(Term((), gates=[(*node.gate, int(levels[node.gate[0]]))]))
        return Groups(
            terms or [Term(())],
            form=FORMS[self.form],
            lengthscales=self.lengthscales,
            warped=self.warped,
            spread=self.spread,
            common=True,
        )

    def _initial(self, ground: Ground) -> dict[str, Any]:
        """The structure before anything is learnt: the given groups, or columns in their order."""
        cells = together(ground.space)
        if self.groups is not None:
            found = named_groups(ground.space, self.groups, cells)
        else:
            found = [cell[a : a + self.size] for cell in cells for a in range(0, len(cell), self.size)]
        return {"groups": [group.tolist() for group in found]}

    def learnt(self, lesson: Lesson, rng: Rng) -> Structure:
        known = self._initial(lesson.ground) if lesson.structure is None else lesson.structure
        model = self.model(lesson.ground, noisy=lesson.noisy, structure=known)
        theta = model.start if lesson.theta is None or len(lesson.theta) != model.size else lesson.theta
        structure = {"groups": known["groups"]}
        if self.delta != 0.0:
            mixing, theta = self._mixing(lesson, known, theta, rng)
            structure |= mixing
        if self.groups is None:
            structure["groups"] = self._partition(lesson, structure, theta, rng)
        return structure

    def _partition(
        self, lesson: Lesson, structure: dict[str, Any], theta: Array, rng: Rng
    ) -> list[list[int]]:
        """The groups with the largest likelihood among the known ones, random ones and exchanges of these.

        What groups have of their own goes by their place, and would be another's after an exchange: then they
        are judged by the model in which all are alike.
        """
        ground, cells = lesson.ground, together(lesson.ground.space)
        if self.size == 1 or all(len(cell) <= self.size for cell in cells):
            return list(structure["groups"])
        some = lesson.part(enough(ground.dim))
        if self.spread or self.lengthscales == "grouped":
            alike = replace(self, spread=0.0, lengthscales="isotropic")
            model = alike.model(ground, noisy=lesson.noisy, structure=structure)
            theta = fit(model, some.x, some.y, [model.start], variances=some.variances).theta
            return alike._partition(lesson, structure, theta, rng)
        x = some.x
        if "weights" in structure:
            x = mixing_of(mixable(ground.space), structure)(np.empty(0), x).value
        kernel, own, amplitude = self._sum(ground, structure["groups"]), theta[1:-1], math.exp(theta[0])
        gated = [place for place, term in enumerate(kernel.terms) if not len(term.columns)]
        evidence = Evidence(
            contributions(*kernel.images(own, x), x, FORMS[self.form]),
            some.y,
            amplitude,
            math.exp(theta[-1]) + (0.0 if some.variances is None else some.variances),
            amplitude * sum((kernel.only(place).gram(own, x).value for place in gated), np.zeros(())),
        )
        known = [np.array(group) for group in structure["groups"]]
        return [group.tolist() for group in learnt_partition(evidence, known, cells, self.size, rng)]

    def _mixing(
        self, lesson: Lesson, known: dict[str, Any], theta: Array, rng: Rng
    ) -> tuple[dict[str, Any], Array]:
        """W and α, if there is anything to mix, and hyperparameters for them."""
        columns = mixable(lesson.ground.space)
        if len(columns) < 2:
            return {}, theta
        kernel = self._sum(lesson.ground, known["groups"])
        limit = math.inf if self.delta is None else self.delta
        last = np.array(known["weights"]) if "weights" in known else None
        return learnt_mixing(lesson, kernel, columns, theta, last, limit, self.pursuit, rng)

    def inputs(self, ground: Ground, points: Array) -> Array:
        return points

    def refusal(self, frame: Frame) -> str | None:
        seen = "groups are of parameters, which an embedding mixes: use frame='cube'"
        return seen if frame.embeds else None
