"""The look that all pictures share: one accent colour, greys, no frame."""

from __future__ import annotations

import os
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from hidim import _files
from hidim._optional import require
from hidim._types import Array
from hidim.errors import HidimError
from hidim.space.render import printable

ACCENT, DARK, GREY, PALE = "#1f6feb", "#24292f", "#6e7781", "#afb8c1"
SMALL, MEDIUM = 8.5, 10.0
#: Values that span more than this factor get a logarithmic axis.
DECADES = 100.0


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches; a notebook shows it as it stands."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.02, hspace=0.03)
    # Figures that pyplot does not know of have no picture of their own in a notebook.
    figure._repr_png_ = partial(_png, figure)
    return figure


def _png(figure: Any) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def finish(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """The figure, saved if there is a path, whose ending decides the format."""
    if path is None:
        return figure
    place, known = _files.place_for(path), sorted(figure.canvas.get_supported_filetypes())
    if place.suffix[1:].lower() not in (*known, ""):
        raise HidimError(f"{place} is no kind of picture: give a path that ends in .{', .'.join(known)}")
    with _files.said(place, "written"):
        figure.savefig(place, dpi=150)
    return figure


def quiet(axis: Any) -> None:
    """No frame but thin grey lines at the left and below, and small grey numbers."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color(PALE)
    axis.tick_params(which="both", colors=GREY, labelsize=SMALL, width=0.6)
    axis.grid(axis="y", color=PALE, alpha=0.35, linewidth=0.6)
    axis.set_axisbelow(True)


def plain(text: str) -> str:
    r"""Text as it stands: what is between two dollars would be taken for a formula.

    Example:
        >>> plain("$a")
        '\\$a'
    """
    return "\n".join(map(printable, text.split("\n"))).replace("$", r"\$")


def heading(axis: Any, text: str) -> None:
    axis.set_title(plain(text), loc="left", fontsize=MEDIUM, color=DARK, fontweight="bold")


def label(axis: Any, *, x: str | None = None, y: str | None = None) -> None:
    if x is not None:
        axis.set_xlabel(plain(x), fontsize=SMALL + 0.5, color=DARK)
    if y is not None:
        axis.set_ylabel(plain(y), fontsize=SMALL + 0.5, color=DARK)


def note(axis: Any, text: str) -> None:
    """A sentence in place of a picture."""
    axis.set_axis_off()
    axis.text(
        0.5,
        0.5,
        plain(text),
        transform=axis.transAxes,
        ha="center",
        va="center",
        wrap=True,
        color=GREY,
        fontsize=SMALL + 0.5,
    )


def wants_log(values: Array) -> bool:
    """Whether values are better seen on a logarithmic axis.

    Example:
        >>> wants_log(np.array([0.01, 0.5, 3.0])), wants_log(np.array([0.0, 500.0]))
        (True, False)
    """
    return bool(len(values) and np.min(values) > 0.0 and np.max(values) > DECADES * np.min(values))
