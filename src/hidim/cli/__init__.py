"""The command `hidim`.

arguments   what options mean: durations, counts, settings
sources     which run is meant
tune        `hidim tune`
display     what a person sees meanwhile
begin       `hidim init` and `hidim check`
output      standard output, whatever it is able to show
look        `hidim show`, `best`, `export`, `explain`
report      `hidim report`
about       `hidim methods`, `hidim completion`
parser      what is wrong with a command line
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout

from hidim._version import __version__
from hidim.cli.output import plainly
from hidim.cli.parser import Parser
from hidim.errors import HidimError


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. A sub-command sets `handler`, which may give an exit code; None means 0."""
    from hidim.bench import commands as bench
    from hidim.cli import about, begin, look, report, tune

    parser = Parser(
        prog="hidim",
        description="Finds good settings of expensive black boxes with too many parameters.",
        epilog="A run from nothing: hidim init -- ./simulate; hidim tune space.toml -- ./simulate --x {x}; "
        "hidim report",
    )
    parser.add_argument("--version", action="version", version=f"hidim {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for part in (tune, begin, look, report, about, bench):
        part.add_to(commands)
    return parser


def split_command(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """What stands before the first `--`, and the command after it, None if there is no `--`.

    Example:
        >>> split_command(["tune", "s.toml", "--", "ls", "--", "x"])
        (['tune', 's.toml'], ['ls', '--', 'x'])
    """
    if "--" not in arguments:
        return list(arguments), None
    place = list(arguments).index("--")
    return list(arguments[:place]), list(arguments[place + 1 :])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, give its exit code; an error that the user can mend is a line on stderr, and 2."""
    with redirect_stdout(plainly(sys.stdout)), redirect_stderr(plainly(sys.stderr)):
        own, command = split_command(sys.argv[1:] if arguments is None else arguments)
        parser = build_parser()
        options = parser.parse_args(own)
        if command is not None and not getattr(options, "takes_command", False):
            parser.error("-- and a command after it belong to tune, init and check")
        options.command, options.parser = command, parser
        try:
            return int(options.handler(options) or 0)
        except BrokenPipeError:  # `hidim … | head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (HidimError, OSError) as error:
            print(f"hidim: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main())
