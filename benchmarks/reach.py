"""Which points `baxus` can reach in the end: the share of pairs of coordinates that it can set apart.

    python benchmarks/reach.py --out results/reach.md

Over 1,000 seeds, at the last growth: of the bins of today, equally full, and of the count sketch before. "All
apart" is the share of seeds with which so many coordinates, drawn at random, are in bins of their own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from hidim._types import Array
from hidim.bench.tables import render
from hidim.embed import Bins, CountSketch
from hidim.frame import Growing
from hidim.space import Space, Vector
from hidim.task import Task
from hidim.trial import History

DIMS, SEEDS, ACTIVE = (20, 100, 10_000), 1000, (2, 10, 20)

#: The largest d of the count sketch.
BEFORE = 256


def bins_of(embedding: Bins | CountSketch) -> Array:
    """The bin of every coordinate (D,): its value at a point whose coordinates all differ."""
    point = (1.0 + np.arange(embedding.low)) / (1.0 + embedding.low)
    return np.asarray(np.abs(embedding.lift(point[None], np.arange(embedding.high))[0]))


def today(dim: int, seed: int) -> Bins | CountSketch:
    """As it has grown in the end."""
    frame = Growing()
    embedding = frame.sketch(Task(Space(x=Vector(dim)), seed=seed), History([]))
    while frame.can_grow(embedding):
        embedding = embedding.grown()
    return embedding


def before(dim: int, seed: int) -> CountSketch:
    embedding = CountSketch(dim, min(8, dim), seed)
    while 2 * embedding.low <= min(dim, BEFORE):
        embedding = embedding.grown()
    return embedding


def measured(embeddings: list[Bins | CountSketch]) -> list[str]:
    dim, rng = embeddings[0].high, np.random.default_rng(0)
    ranks, pairs, apart = [], [], dict.fromkeys(ACTIVE, 0)
    for embedding in embeddings:
        found = bins_of(embedding)
        filled = np.unique(found, return_counts=True)[1]
        ranks.append(len(filled))
        pairs.append(1.0 - float(np.sum(filled * (filled - 1.0))) / (dim * (dim - 1.0)))
        for count in ACTIVE:
            some = rng.choice(dim, count, replace=False)
            apart[count] += len(np.unique(found[some])) == count
    shares = [f"{100 * apart[count] / len(embeddings):.1f} %" for count in ACTIVE]
    return [f"{embeddings[0].low}", f"{np.mean(ranks):.1f}", f"{100 * np.mean(pairs):.4f} %", *shares]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("reach.md"))
    options = parser.parse_args()
    rows = []
    for dim in DIMS:
        for about, made in (("before", before), ("today", today)):
            rows.append([f"{dim}", about, *measured([made(dim, seed) for seed in range(SEEDS)])])
    header = ["D", "", "d", "mean rank", "pairs apart", *(f"{count}, all apart" for count in ACTIVE)]
    table = render(header, rows, left=2, markdown=True)
    title = "# Which points `baxus` can reach: 1,000 seeds, at the last growth"
    options.out.write_text(f"{title}\n\n{table}\n\n`python benchmarks/reach.py`\n")
    print(table)


if __name__ == "__main__":
    main()
