"""Pictures of a finished or running optimisation; they need matplotlib (`pip install 'hidim[plot]'`).

    overview      everything on one page
    convergence   values in the order of finishing
    importance    shares of the parameters
    slices        the objective along the most important parameters
    components    the objective as a sum: what each parameter adds to it
    tree          the branches of a conditional space

Each is of a space and its history, or of an `Insight`. It returns a `matplotlib.figure.Figure` that belongs
to no backend and no global state, and saves it if a path is given.
"""

from __future__ import annotations

from hidim.plot.pages import components, convergence, importance, overview, slices, tree

__all__ = ["components", "convergence", "importance", "overview", "slices", "tree"]
