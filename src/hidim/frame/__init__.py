"""Where a method looks: the space itself, or a low-dimensional box through an embedding."""

from hidim.frame.aside import Aside
from hidim.frame.base import Frame, Ground, Scene, design
from hidim.frame.cube import Cube
from hidim.frame.growing import Growing
from hidim.frame.novelty import suggestion
from hidim.frame.observe import Observations, observe
from hidim.frame.subspaces import Subspaces

#: Every frame by its name.
FRAMES: dict[str, Frame] = {
    "aside": Aside(),
    "cube": Cube(),
    "growing": Growing(),
    "subspaces": Subspaces(),
}

__all__ = [
    "FRAMES",
    "Aside",
    "Cube",
    "Frame",
    "Ground",
    "Growing",
    "Observations",
    "Scene",
    "Subspaces",
    "design",
    "observe",
    "suggestion",
]
