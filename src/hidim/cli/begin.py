"""`hidim init` and `hidim check`: a space file to begin with, and whether it is sound."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

TEMPLATE = """\
# What can vary. One table for every parameter; `hidim check {name}` looks over it.

[learning_rate]
type = "float"      # a number between low and high
low = 1e-5
high = 1e-1
log = true          # 0.001 to 0.01 is as far as 0.01 to 0.1
# step = 0.5        # only low, low + 0.5, …

[layers]
type = "int"
low = 1
high = 8

# [weights]
# type = "vector"   # one name for many numbers
# dim = 500
# low = -1.0
# high = 1.0

[optimizer]
type = "choice"     # one of several
options = ["adam", "sgd"]

# Options may have parameters of their own, which exist only if the option is taken:
[model]
type = "choice"

[model.options.svm.C]
type = "float"
low = 1e-3
high = 1e3
log = true

[model.options.forest.depth]
type = "int"
low = 1
high = 30

[model.options.none] # an option without any

# Then:
#   hidim tune {name} -- ./program --lr {{learning_rate}} --layers {{layers}} --optimizer {{optimizer}} \\
#     --model {{model}} --C {{C}} --depth {{depth}}
"""


def add_to(commands: Any) -> None:
    init = commands.add_parser(
        "init",
        help="write a space file to begin with",
        usage="hidim init [SPACE.toml] [--force] [-- COMMAND]",
        description="Write a space file with comments; with a command, from what its --help says.",
    )
    init.add_argument("space", type=Path, nargs="?", default=Path("space.toml"), metavar="SPACE.toml")
    init.add_argument("--force", action="store_true", help="write over a file that is there")
    init.set_defaults(handler=_init, takes_command=True)
    check = commands.add_parser(
        "check",
        help="look over a space file, and a command",
        usage="hidim check SPACE.toml [--env [PREFIX]] [-- COMMAND --flag {param} …]",
        description="Show the space; with a command, also what would be run for three configurations.",
    )
    check.add_argument("space", type=Path, metavar="SPACE.toml")
    check.add_argument("--env", nargs="?", const="HIDIM_", metavar="PREFIX", help="as for tune")
    check.add_argument("--shell", action="store_true", help="as for tune")
    check.set_defaults(handler=_check, takes_command=True)


def _init(options: argparse.Namespace) -> None:
    from hidim.errors import HidimError
    from hidim.programs.shells import quoted
    from hidim.programs.usage import space_of_help

    place: Path = options.space
    if place.exists() and not options.force:
        raise HidimError(f"{place} is there already: give another name, or --force to write over it")
    if place.suffix.lower() != ".toml":
        raise HidimError(f"{place}: what init writes is TOML; call it {place.with_suffix('.toml')}")
    name = quoted(str(place))
    if not options.command:
        place.write_text(TEMPLATE.format(name=name), encoding="utf-8")
        print(f"{place} is an example: put your parameters in, then `hidim check {name}`")
        return
    found = space_of_help(options.command)
    text = found.toml(str(place)) if found.arguments else TEMPLATE.format(name=name)
    place.write_text(text, encoding="utf-8")
    print(f"{place}: {found.said}")
    if found.known:
        print(f"Look over its ranges, which are guesses; then\n  {found.tune(str(place))}")


def _check(options: argparse.Namespace) -> None:
    import numpy as np

    from hidim.errors import HidimError
    from hidim.programs import Command, read_space
    from hidim.programs.command import COORDINATES
    from hidim.programs.program import previewed
    from hidim.programs.spacefile import check_values

    if options.command == []:
        raise HidimError("there is no command after --: give one, as in -- ./simulate --alpha {alpha}")
    space = read_space(options.space)
    check_values(space)
    print(space)
    if math.isfinite(space.size):
        print(f"{space.size:.10g} configurations in all")
    if options.command:
        command = Command.of(options.command, space, prefix=options.env, shell=options.shell)
        print("For example:")
        if space.dim > COORDINATES:
            print(f"  none, because {space.dim} columns are not written down")
            return
        for params in space.sample(np.random.default_rng(0), 3):
            print(f"  {previewed(command, params)}")
