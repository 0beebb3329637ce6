"""The space of configurations: parameters by name, and the map to the unit cube."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np

from hidim._limits import COLUMNS_WRITTEN_DOWN
from hidim._types import Array, Params, Rng
from hidim.embed import LazyVector
from hidim.errors import ParameterError, SpaceError
from hidim.space import counting, labels, render, serial, values
from hidim.space.columns import Columns
from hidim.space.encoding import Layout, UnfitError
from hidim.space.parameters import Choice, Float, Int, Parameter, ParameterMap, Vector
from hidim.space.tree import Vertex, check_tree, descendants

#: A parameter, or the value that it always has.
Given: TypeAlias = Parameter | str | float | bool | None


class Space(ParameterMap):
    """Named parameters, some of which may exist only under certain options of a `Choice`.

    A space is an immutable mapping from name to parameter. Two parameters that can be active at the same time
    need different names; the same name under two options of one choice is two parameters, unless both are
    marked shared. A configuration is a flat dict from name to value in which inactive parameters are absent.
    Its *encoding* is a point of the unit cube [0, 1]^D with NaN in the columns of inactive parameters.
    A number, a string, a boolean or None in the place of a parameter is its only value: it has no column, and
    may be left out of configurations that are given.

    Args:
        mapping: parameters by name, for names that are no identifiers.
        parameters: parameters by keyword.

    Example:
        >>> space = Space(lr=Float(1e-5, 1e-1, log=True), model=Choice("none", svm=Space(C=Float(0, 1))))
        >>> space
        Space: 3 columns, conditional
        ├── lr     float   [1e-05, 0.1] log
        └── model  choice
            ├── 'none'
            └── 'svm'
                └── C  float   [0, 1]
        >>> space.encode({"lr": 1e-3, "model": "none"}).round(2).tolist()
        [0.5, 0.25, nan]
    """

    def __init__(self, mapping: Mapping[str, Given] | None = None, /, **parameters: Given) -> None:
        super().__init__(_merged(mapping if mapping is not None else {}, parameters))
        check_tree(self)

    def __reduce__(self) -> tuple[type[Space], tuple[dict[str, Parameter]]]:
        return Space, (self._parameters,)  # without what is cached

    def __repr__(self) -> str:
        columns = f"{self.dim} column{'s' if self.dim != 1 else ''}"
        return render.tree(self, f"Space: {columns}" + (", conditional" if self.is_conditional else ""))

    # -- what it holds -------------------------------------------------------------------------------------

    @cached_property
    def _layout(self) -> Layout:
        return Layout.of(self)

    @property
    def dim(self) -> int:
        """D, the number of columns of the unit cube."""
        return self._layout.dim

    @property
    def size(self) -> float:
        """The number of distinct configurations; inf if anything is continuous."""
        return counting.count(self)

    @property
    def is_conditional(self) -> bool:
        """Whether some parameters are inactive in some configurations."""
        return bool(self._layout.conditional)

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """Every parameter of the tree (a shared one once), with its columns, in the order of the columns."""
        return self._layout.vertices

    @property
    def roots(self) -> tuple[Vertex, ...]:
        """The vertices of this space's own parameters; the others hang on their branches."""
        return self._layout.roots

    @cached_property
    def columns(self) -> Columns:
        """What each of the D columns is; at most 10**7 columns."""
        return Columns.of(self._layout)

    def check_dense(self) -> None:
        """Raise `SpaceError` if there are too many columns to write down a single point."""
        if self.dim > COLUMNS_WRITTEN_DOWN:
            raise SpaceError(
                f"the space has {self.dim} columns, and points are written down for at most "
                f"{COLUMNS_WRITTEN_DOWN}; use a method that works through an embedding, as method='baxus'"
            )

    # -- the unit cube -------------------------------------------------------------------------------------

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The point (D,) of a configuration."""
        encoded: Array = self.encode_all([params])[0]
        return encoded

    def encode_all(self, configurations: Sequence[Mapping[str, Any]]) -> Array:
        """The points (n, D) of n configurations.

        Unknown and inactive parameters are ignored; anything else that does not fit is a `ParameterError`.
        """
        self.check_dense()
        try:
            return self._layout.encode(configurations)
        except UnfitError:
            # Hopeful first, careful second: either this finds the culprit, or it mends values of odd types.
            return self._layout.encode([self.validate(params) for params in configurations])

    def decode(self, u: Array | LazyVector) -> Params:
        """The configuration of a point (D,); what stands in inactive columns does not matter.

        The vectors of a lazy point stay lazy if they have more than a thousand coordinates.
        """
        if not isinstance(u, LazyVector):
            u = np.asarray(u, dtype=np.float64)
        if u.shape != (self.dim,):
            raise ParameterError(f"a point of this space has shape ({self.dim},), not {u.shape}")
        return self._layout.decode(u)

    def snap(self, U: Array) -> Array:
        """The nearest representable point of every row; (n, D) to (n, D).

        Integer and label columns move to their levels, everything is clipped to [0, 1], inactive columns
        become NaN, and a NaN in an active column counts as 1/2. Up to rounding, the result is the encoding of
        what the row decodes to.

        Example:
            >>> Space(n=Int(1, 4), x=Float(0, 1)).snap(np.array([[0.3, 1.2]])).tolist()
            [[0.375, 1.0]]
        """
        U = np.asarray(U, dtype=np.float64)
        if U.ndim != 2 or U.shape[1] != self.dim:
            raise ParameterError(
                f"points of this space form an array (n, {self.dim}), not one of shape {U.shape}"
            )
        return self._layout.snap(U)

    # -- configurations ------------------------------------------------------------------------------------

    def validate(self, params: Mapping[str, Any]) -> Params:
        """A copy in declared order with plain Python values, or a `ParameterError` that says what to mend.

        Example:
            >>> Space(n=Int(1, 4)).validate({"n": 3.0})
            {'n': 3}
        """
        return values.validated(self, params)

    def completed(self, many: Iterable[Mapping[str, Any]], seed: int = 0) -> list[Params]:
        """Configurations to start with: what one does not say is random.

        Example:
            >>> Space(n=Int(1, 4), x=Float(0, 1)).completed([{"n": 3}])
            [{'n': 3, 'x': 0.2697867137638703}]
        """
        if isinstance(many, Mapping):
            raise ParameterError(
                f"a list of configurations is wanted, not a single one: write [{dict(many)!r}]"
            )
        found = []
        for place, params in enumerate(many):
            try:
                found.append(self._completed(params, np.random.default_rng([seed, place])))
            except ParameterError as error:
                raise ParameterError(f"configuration {place + 1}: {error}") from error
        return found

    def _completed(self, params: Mapping[str, Any], rng: Rng) -> Params:
        try:
            return self.validate(params)
        except ParameterError:
            if not isinstance(params, Mapping) or self.dim > COLUMNS_WRITTEN_DOWN:
                raise
        u = rng.random(self.dim)
        for vertex in self.vertices:
            if not isinstance(vertex.parameter, Choice):
                continue
            label = labels.from_plain(params.get(vertex.name))
            for place, (option, branch) in enumerate(
                zip(vertex.parameter.options, vertex.branches, strict=True)
            ):
                same = option.label == label and labels.are_same(option.label, label)
                needed = any(below.name in params for below in descendants(branch))
                if same if vertex.name in params else needed:
                    u[vertex.columns] = vertex.parameter.scale.to_unit(np.array(float(place)))
        return self.validate({**self.decode(u), **params})

    def active(self, params: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the parameters that the choices in `params` make active."""
        return tuple(place.name for place in values.active_places(self, params))

    @overload
    def sample(self, rng: Rng) -> Params: ...
    @overload
    def sample(self, rng: Rng, n: int) -> list[Params]: ...
    def sample(self, rng: Rng, n: int | None = None) -> Params | list[Params]:
        """A random configuration, or a list of n: at each choice an option, then its parameters.

        So every option of a choice is equally likely, however many configurations it leads to.
        """
        if not isinstance(rng, np.random.Generator):
            raise ParameterError(
                f"sample takes a generator first, as in sample(np.random.default_rng(0), 5), not {rng!r}"
            )
        whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
        if n is not None and (not whole or n < 0):
            raise ParameterError(f"sample(rng, n) wants an integer of at least 0, not {n!r}")
        self.check_dense()
        # A uniform point of the cube decodes to just this.
        if n is None:
            return self._layout.decode(rng.random(self.dim))
        return [self._layout.decode(rng.random(self.dim)) for _ in range(n)]

    def enumerate(self) -> Iterator[Params]:
        """Every configuration of a finite space.

        Example:
            >>> list(Space(a=Choice("x", y=Space(n=Int(1, 2)))).enumerate())
            [{'a': 'x'}, {'a': 'y', 'n': 1}, {'a': 'y', 'n': 2}]
        """
        return counting.configurations(self)

    # -- plain data ----------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Nested dicts and lists of JSON scalars; see `hidim.space.serial` for the format."""
        return serial.write(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        return serial.read(data, cls)

    def to_json(self, indent: int | None = 2) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Space:
        try:
            data = json.loads(text)
        except RecursionError:
            raise SpaceError("this is nested too deeply to be a space") from None
        except ValueError as error:  # no JSON, or a number of thousands of digits
            raise SpaceError(f"this is not JSON: {error}") from error
        return cls.from_dict(data)


def _merged(mapping: Any, keywords: Mapping[str, Any]) -> dict[str, Parameter]:
    if not isinstance(mapping, Mapping):
        raise SpaceError(f"Space takes a mapping from name to parameter, not {mapping!r}")
    if both := [name for name in keywords if name in mapping]:
        raise SpaceError(
            f"the parameter {both[0]!r} is given twice, in the mapping and as a keyword; drop one"
        )
    merged = {**mapping, **keywords}
    for name, parameter in merged.items():
        if not isinstance(name, str) or not name:
            raise SpaceError(f"the parameter name {name!r} must be a non-empty string")
        if isinstance(parameter, ParameterMap):
            raise SpaceError(
                f"the parameter {name!r} is a Space; put it into an option of a Choice, or unpack it"
            )
        if isinstance(parameter, str | int | float | np.generic | None):
            merged[name] = serial.at(name, Choice, parameter)
        elif not isinstance(parameter, Float | Int | Vector | Choice):
            raise SpaceError(
                f"the parameter {name!r} must be Float, Int, Vector or Choice, or its only value, "
                f"not {parameter!r}{render.meant(parameter)}"
            )
    return merged
