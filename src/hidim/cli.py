"""The command `hidim`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from hidim._version import __version__
from hidim.errors import HidimError


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. A sub-command sets `handler`, which may give an exit code; None means 0."""
    from hidim.bench import commands as bench

    parser = argparse.ArgumentParser(
        prog="hidim", description="Bayesian optimisation for black boxes with too many parameters."
    )
    parser.add_argument("--version", action="version", version=f"hidim {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    bench.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, give its exit code; an error that the user can mend is a line on stderr, and 2."""
    options = build_parser().parse_args(arguments)
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
