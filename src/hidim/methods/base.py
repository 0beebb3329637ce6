"""What a method is: a frozen configuration with a pure `suggest`.

The history is the only state. Whatever a method must remember of a suggestion goes into the suggestion's
`meta`, which is stored with the trial; everything else is a cache in `Task.memo`, which may vanish at any
time without changing a single suggestion. All keys of `meta`:

    key         from                    what
    way         every suggestion        how it came about: "design", "probe", "random", "sobol", or the
                                        search's own word, as "all", "few" and "effects" of `Ascent`
    instead     hidim.frame             if all that was wanted had been seen: "scattered", "random" or
                                        "repetition", which is what it then is
    fallback    hidim.methods.recipe    why it is a design point: the model failed
    fit         hidim.belief.inference  hyperparameters and the transform of the losses, if they are new, of
                                        which prior and inference
    feasible    hidim.belief.feasibility   hyperparameters of the process on failures, likewise
    probe       hidim.belief.probe      the value of the trial next to which it stands
    option      hidim.frame.aside       the option that it looks at, as if there were no other
    window      hidim.frame.aside       half the width of the window through which it was found
    afresh      hidim.frame.aside       which of the new starts it belongs to
    y           hidim.frame.embedded    the low-dimensional point for which it stands …
    embedding   hidim.frame.embedded    … and of which embedding
    run         hidim.frame.subspaces   which of the interleaved runs
    doublings   hidim.frame.growing     how often the number of bins had been doubled
    elastic     hidim.search.elastic    the walks down from longer length-scales
    earlier     hidim.run.earlier       that a trial is of another run, from which this one starts

Trials that nobody suggested have the way "given" or "added".
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from hidim._types import Array
from hidim.task import Suggestion, Task
from hidim.trial import History


class Method(ABC):
    """A way to choose the next configuration."""

    name: str

    @abstractmethod
    def suggest(self, task: Task, history: History, number: int) -> Suggestion:
        """The configuration of trial `number`, given all trials so far; those still running are pending.

        A pure function of its arguments: chance comes from `task.rng(number)`. The number is that of the
        history's next trial, unless others have taken numbers that this history does not know of yet.
        """

    def check(self, task: Task) -> None:  # noqa: B027  (a method may have nothing to refuse)
        """Raise a `MethodError` or `SpaceError` if the method cannot serve the task.

        It is asked before anything is evaluated.
        """

    def chosen(self, task: Task) -> Method:
        """The method that is at work for a task: itself, unless it chooses among others."""
        return self

    @abstractmethod
    def means(self, task: Task, history: History) -> Array | None:
        """Mean losses (n,) of the complete trials by the method's model, on any scale; None without one."""
