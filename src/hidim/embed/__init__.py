"""From a low-dimensional box to a high-dimensional point, coordinate by coordinate."""

from hidim.embed.base import Embedding
from hidim.embed.bins import Bins
from hidim.embed.gaussian import Gaussian
from hidim.embed.hashing import CountSketch
from hidim.embed.lazy import LazyVector
from hidim.embed.uniform import Uniform
from hidim.embed.zonotope import Zonotope

#: One example of every embedding, for the contract suite.
EMBEDDINGS: dict[str, Embedding] = {
    "gaussian": Gaussian(high=50, low=4, seed=1),
    "count-sketch": CountSketch(high=50, low=4, seed=1),
    "bins": Bins(high=50, low=4, seed=1),
    "uniform": Uniform(high=50, low=4, seed=1),
    "zonotope": Zonotope(high=50, low=4, seed=1),
}

__all__ = ["EMBEDDINGS", "Bins", "CountSketch", "Embedding", "Gaussian", "LazyVector", "Uniform", "Zonotope"]
