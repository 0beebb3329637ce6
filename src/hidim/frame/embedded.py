"""What frames that search through an embedding have in common.

A suggestion remembers the low-dimensional point that it stands for:

    meta["y"] = [...], meta["embedding"] = of which embedding, as "gaussian 2 of seed 1234"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hidim._limits import COORDINATES_KEPT
from hidim._types import Array
from hidim.embed import EMBEDDINGS, Embedding, LazyVector
from hidim.space import Space
from hidim.trial import Trial

#: Scattered points that are tried if all others are known already; a choice, for rare cases.
SPARE = 64


def configuration(space: Space, embedding: Embedding, y: Array) -> dict[str, Any]:
    """The configuration for which y (d,) stands; long vectors are lazy."""
    point = LazyVector(embedding, y, 0.0, 1.0)
    lazy = any(vertex.parameter.width > COORDINATES_KEPT for vertex in space.vertices)
    return space.decode(point if lazy else np.asarray(point))


def embedding_name(embedding: Embedding) -> str:
    """What tells the embeddings of a history apart."""
    kind = next(name for name, example in EMBEDDINGS.items() if type(example) is type(embedding))
    return f"{kind} {embedding.origin} of seed {embedding.seed}"


def is_due_to(trial: Trial, embedding: Embedding) -> bool:
    """Whether a trial was suggested in a search of that embedding, or of one from which it has grown."""
    return trial.meta.get("embedding") == embedding_name(embedding)


def belongs(trial: Trial, embedding: Embedding) -> bool:
    """Whether it also is a point of it."""
    return is_due_to(trial, embedding) and len(trial.meta.get("y", ())) >= embedding.origin
