"""Names for the arrays that travel through the library. Shapes stand in the docstrings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]
Pullback: TypeAlias = Callable[[Array], Array]
Params: TypeAlias = dict[str, Any]

#: Where chance comes from.
Rng: TypeAlias = np.random.Generator
