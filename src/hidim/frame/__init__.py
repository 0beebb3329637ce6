"""Where a method looks: the space itself, or a low-dimensional box through an embedding."""

from hidim.frame.base import Frame, Ground, Scene, design
from hidim.frame.cube import Cube
from hidim.frame.growing import Growing
from hidim.frame.novelty import suggestion
from hidim.frame.observe import Observations, observe
from hidim.frame.subspaces import Subspaces
from hidim.frame.window import Window

#: Every frame by its name.
FRAMES: dict[str, Frame] = {
    "cube": Cube(),
    "growing": Growing(),
    "subspaces": Subspaces(),
    "window": Window(),
}

__all__ = [
    "FRAMES",
    "Cube",
    "Frame",
    "Ground",
    "Growing",
    "Observations",
    "Scene",
    "Subspaces",
    "Window",
    "design",
    "observe",
    "suggestion",
]
