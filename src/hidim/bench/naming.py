"""Methods of hidim among the methods of a benchmark, as `hidim:rembo(low=3,runs=4,kernel=categorical)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hidim.errors import MethodError

if TYPE_CHECKING:
    from hidim.methods import Method

PREFIX = "hidim:"


def named_method(name: str) -> Method:
    """The method that `hidim:…` names.

    Example:
        >>> named_method("hidim:rembo(low=3,kernel=categorical)").prior.kernel
        'categorical'
    """
    from hidim.methods import make_method

    try:
        return make_method(name.removeprefix(PREFIX))
    except MethodError as error:
        raise MethodError(f"{name!r}: {error}") from error
