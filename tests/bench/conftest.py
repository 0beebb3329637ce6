"""A peer that needs no package, and records as a sweep writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from hidim.bench.base import Problem
from hidim.bench.peers import PEERS, Peer


class Shrinking(Peer):
    """Halves its distance from the cube's corner at every ask, and breaks when told to."""

    def __init__(self, problem: Problem, seed: int, budget: int) -> None:
        self.dim = problem.dim
        self.told: list[float] = []

    def ask(self) -> dict[str, Any]:
        if len(self.told) == 3:
            raise ArithmeticError("broken on purpose")
        return {"x": np.full(self.dim, 0.5 ** len(self.told))}

    def tell(self, params: dict[str, Any], value: float) -> None:
        self.told.append(value)

    def fail(self, params: dict[str, Any]) -> None:
        self.told.append(float("inf"))


@pytest.fixture
def breaking_peer(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a peer that raises at its fourth ask."""
    monkeypatch.setitem(PEERS, "breaking", Shrinking)
    return "breaking"


MakeRecord = Callable[..., dict[str, Any]]


@pytest.fixture
def make_record() -> MakeRecord:
    def make(
        method: str,
        values: Sequence[float],
        *,
        seed: int = 0,
        problem: str = "levy-20",
        error: str | None = None,
    ) -> dict[str, Any]:
        return {
            "problem": problem,
            "method": method,
            "seed": seed,
            "evaluations": 3,
            "optimum": 1.0,
            "values": list(values),
            "own_seconds": 0.5,
            "ask_seconds": [0.1] * len(values),
            "error": error,
            "versions": {"python": "3.11"},
            "platform": "a machine",
        }

    return make
