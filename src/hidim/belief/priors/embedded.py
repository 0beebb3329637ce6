"""What REMBO's model compares: low-dimensional points, or the configurations for which they stand."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hidim._limits import COLUMNS_LIFTED
from hidim._settings import at_least, of_type, one_of
from hidim._types import Array
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.embed import Gaussian, Zonotope
from hidim.errors import MethodError
from hidim.frame import Frame, Ground, Subspaces
from hidim.gp.kernels import Kernel, Through
from hidim.gp.kernels.lifted import Unprojected, clipped, high_dimensional, isotropic
from hidim.gp.maps import Map
from hidim.gp.model import Model, noise_parameter
from hidim.gp.psi import Warped
from hidim.space.columns import Kind

KernelName = Literal["auto", "low", "high", "categorical", "warped"]

#: Columns that Ψ looks at, at the most, if it was not asked for: rows of A are drawn independently, and what
#: share of the coordinates of A y is clipped so many tell as well as a billion.
WARPED_BY = 1000


@dataclass(frozen=True)
class Embedded(Prior):
    """A squared exponential process with unit variance and mean 0 on the points of an embedding.

    Args:
        kernel: on what the model compares points. "low": y itself; "high": the configuration that y stands
            for, numbers by their distance and labels by whether they differ; "categorical": the same with
            integers compared like labels; "warped": Ψ(y), which knows where the embedding leaves the cube, by
            all columns up to 100,000 of them and by a thousand beyond;
            "auto": "low" or "warped" if all parameters are real numbers, and "high" otherwise.
        squared_hamming: compare labels by exp(−h²/2λ²) as printed in the paper. That is no valid covariance,
            and there is a warning; by default it is exp(−h/λ).
        warp_from: by "auto", d from which it is "warped", by a thousand columns at the most, and not "low";
            None for never, as in the paper.
    """

    kernel: KernelName = "auto"
    squared_hamming: bool = False
    warp_from: int | None = None

    def __post_init__(self) -> None:
        one_of(self, kernel=get_args(KernelName))
        if self.warp_from is not None:
            at_least(self, warp_from=1)
        of_type(self, squared_hamming=bool)
        if self.squared_hamming:
            warnings.warn(
                "squared_hamming=True is not positive semi-definite: the model may be wrong by more than "
                "its deviations say; it is for comparisons with the paper",
                stacklevel=3,
            )

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"scales"})

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        return Model(self._kernel(ground), noise_parameter(noisy=noisy), mean_sd=0.0)

    def _kernel(self, ground: Ground) -> Kernel:
        kind, space, embedding = self._kind(ground), ground.space, ground.embedding
        if kind == "low" or embedding is None:
            return isotropic(ground.dim)
        if kind == "warped":
            wanted = self.kernel == "warped" and space.dim <= COLUMNS_LIFTED
            matrix = embedding.rows(np.arange(space.dim if wanted else min(space.dim, WARPED_BY)))
            return Through(Warped(matrix), isotropic(embedding.low))
        if space.dim > COLUMNS_LIFTED:
            raise MethodError(
                f"kernel={kind!r} looks at all {space.dim} columns, and can do so for at most "
                f"{COLUMNS_LIFTED}: use kernel='low'"
            )
        if isinstance(embedding, Zonotope):
            lift: Map = Unprojected(embedding)
        else:
            lift = clipped(embedding.rows(np.arange(space.dim)))
        return high_dimensional(space, lift, as_labels=kind == "categorical", squared=self.squared_hamming)

    def _kind(self, ground: Ground) -> str:
        """The kernel that is used."""
        if self.kernel != "auto":
            return self.kernel
        small = ground.space.dim <= COLUMNS_LIFTED
        if small and np.any(ground.space.columns.kind != Kind.CONTINUOUS):
            return "high"
        warps = self.warp_from is not None and ground.dim >= self.warp_from
        return "warped" if warps and isinstance(ground.embedding, Gaussian) else "low"

    def inputs(self, ground: Ground, points: Array) -> Array:
        return points

    def refusal(self, frame: Frame) -> str | None:
        if not isinstance(frame, Subspaces):
            return "its kernels are for the box of an embedding: use frame='subspaces', or prior='flat'"
        if self.kernel == "warped" and frame.map == "zonotope":
            return "kernel='warped' mends what map='clip' does: with map='zonotope', use kernel='low'"
        return None
