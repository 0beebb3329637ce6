"""What can vary, and the map from configurations to the unit cube."""

from __future__ import annotations

from hidim.space.parameters import Choice, Float, Int, Vector
from hidim.space.space import Space

__all__ = ["Choice", "Float", "Int", "Space", "Vector"]
