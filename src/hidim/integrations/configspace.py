"""Spaces from and to the ConfigSpace package (`pip install 'hidim[configspace]'`).

Both speak of trees of choices; what only one of them can say is refused rather than bent:

| only ConfigSpace                                | only hidim                                       |
|-------------------------------------------------|--------------------------------------------------|
| forbidden clauses, AND conditions, comparisons  | `Vector`, steps of a `Float` or an `Int`         |
| normal and beta parameters, weights             | one name for two parameters in exclusive options |

An ordered choice is an ordinal parameter there.

Defaults and meta data of ConfigSpace are dropped. A parameter under several options becomes a shared one.
ConfigSpace sorts by name, and so does what comes back from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, assert_never

from hidim._optional import require
from hidim.errors import SpaceError
from hidim.space.assemble import Edge, assembled
from hidim.space.labels import Label
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector
from hidim.space.space import Space
from hidim.space.tree import Vertex


def from_configspace(configspace: Any) -> Space:
    """The `Space` that means the same as a `ConfigSpace.ConfigurationSpace`."""
    require("ConfigSpace", "configspace")
    if configspace.forbidden_clauses:
        raise SpaceError(
            f"hidim has no forbidden clauses ({configspace.forbidden_clauses[0]}); remove them, "
            "or let the objective fail on forbidden configurations"
        )
    parameters = {name: _parameter(configspace[name]) for name in configspace}
    return assembled(parameters, {name: _edges(configspace, name) for name in configspace})


def _parameter(known: Any) -> Parameter:
    """On its own, without what is active under its options."""
    labels = _labels(known)
    if labels is None:
        return _number(known)
    ordered = isinstance(known, require("ConfigSpace", "configspace").OrdinalHyperparameter)
    return Choice(dict.fromkeys(labels), ordered=ordered)


def _labels(known: Any) -> list[Label] | None:
    """The labels of what becomes a `Choice`, else None."""
    cs = require("ConfigSpace", "configspace")
    match known:
        case cs.Constant():
            return [known.value]
        case cs.CategoricalHyperparameter():
            if known.probabilities.min() < known.probabilities.max():
                raise SpaceError(f"the parameter {known.name!r} has weights; hidim has none, so remove them")
            return list(known.choices)
        case cs.OrdinalHyperparameter():
            return list(known.sequence)
        case _:
            return None


def _number(known: Any) -> Parameter:
    cs = require("ConfigSpace", "configspace")
    match known:
        case cs.UniformFloatHyperparameter():
            return Float(known.lower, known.upper, log=known.log)
        case cs.UniformIntegerHyperparameter():
            return Int(known.lower, known.upper, log=known.log)
        case _:
            raise SpaceError(
                f"the parameter {known.name!r} is a {type(known).__name__}, which hidim has no equal of; "
                "use a uniform, categorical, ordinal or constant one"
            )


def _edges(configspace: Any, name: str) -> list[Edge]:
    """The (choice, label) pairs under which a parameter is active; none for one that always is."""
    conditions = configspace.parent_conditions_of[name]
    if len(conditions) > 1:
        raise SpaceError(
            f"the parameter {name!r} has {len(conditions)} conditions; nest one choice in the other"
        )
    edges = [edge for condition in conditions for edge in _condition_edges(condition)]
    for parent, _ in edges:
        if _labels(configspace[parent]) is None:
            raise SpaceError(f"the parameter {name!r} depends on {parent!r}, which has no labels")
    return list(dict.fromkeys(edges))


def _condition_edges(condition: Any) -> Iterator[Edge]:
    cs = require("ConfigSpace", "configspace")
    match condition:
        case cs.EqualsCondition():
            yield condition.parent.name, condition.value
        case cs.InCondition():
            yield from ((condition.parent.name, value) for value in condition.values)
        case cs.OrConjunction():
            for part in condition.components:
                yield from _condition_edges(part)
        case _:
            raise SpaceError(
                f"hidim cannot say the condition '{condition}'; use equality, membership, "
                "or a choice nested in an option of another"
            )


def to_configspace(space: Space, **settings: Any) -> Any:
    """The `ConfigurationSpace` that means the same; `settings` (name, seed, …) go to its constructor."""
    cs = require("ConfigSpace", "configspace")
    configspace = cs.ConfigurationSpace(**settings)
    known: dict[str, Any] = {}
    for vertex in space.vertices:
        if vertex.name in known:
            raise SpaceError(
                f"ConfigSpace needs unique names, but {vertex.name!r} stands for two; rename one"
            )
        known[vertex.name] = _to_hyperparameter(vertex)
    configspace.add(*known.values())
    for name, labels_of in _parents(space).items():
        conditions = [_condition(known[name], known[parent], labels) for parent, labels in labels_of.items()]
        configspace.add(conditions[0] if len(conditions) == 1 else cs.OrConjunction(*conditions))
    return configspace


def _parents(space: Space) -> dict[str, dict[str, list[Label]]]:
    """For every parameter inside an option: its choices, and the labels that make it active."""
    parents: dict[str, dict[str, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for vertex in space.vertices:
        if isinstance(vertex.parameter, Choice):
            for label, branch in zip(vertex.parameter.labels, vertex.branches, strict=True):
                for child in branch:
                    parents[child.name][vertex.name].append(label)
    return parents


def _condition(child: Any, parent: Any, labels: list[Label]) -> Any:
    cs = require("ConfigSpace", "configspace")
    return (
        cs.EqualsCondition(child, parent, labels[0])
        if len(labels) == 1
        else cs.InCondition(child, parent, labels)
    )


def _to_hyperparameter(vertex: Vertex) -> Any:
    cs = require("ConfigSpace", "configspace")
    match vertex.parameter:
        case Float(width=0, low=low) | Int(width=0, low=low):
            return cs.Constant(vertex.name, low)
        case Float(low=low, high=high, log=log, step=None):
            return cs.UniformFloatHyperparameter(vertex.name, low, high, log=log)
        case Int(low=low, high=high, log=log, step=1):
            return cs.UniformIntegerHyperparameter(vertex.name, low, high, log=log)
        case Float() | Int():
            raise SpaceError(
                f"ConfigSpace has no numbers in steps; make {vertex.title!r} an ordered Choice of its values"
            )
        case Choice(labels=labels, ordered=True) if len(labels) > 1:
            return cs.OrdinalHyperparameter(vertex.name, list(labels))
        case Choice(labels=labels):
            return cs.CategoricalHyperparameter(vertex.name, list(labels))
        case Vector():
            raise SpaceError(
                f"ConfigSpace has no vectors; replace {vertex.title!r} by one Float per coordinate"
            )
        case _:
            assert_never(vertex.parameter)
