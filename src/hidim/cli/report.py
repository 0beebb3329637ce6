"""`hidim report`: a run as a page for the browser."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from hidim._lock import is_locked
from hidim.cli.arguments import seconds
from hidim.cli.sources import add_source, find_journal, find_result

#: Seconds between two looks at a run that is followed.
PERIOD = 5.0


def add_to(commands: Any) -> None:
    parser = commands.add_parser("report", help="a run as a page for the browser")
    add_source(parser)
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=Path("hidim-report.html"),
        metavar="FILE",
        help="(hidim-report.html)",
    )
    parser.add_argument(
        "--follow",
        nargs="?",
        type=seconds,
        const=PERIOD,
        metavar="T",
        help="write the page again and again while the run goes on, every T (5s); Ctrl-C ends it",
    )
    parser.set_defaults(handler=_report)


def _report(options: argparse.Namespace) -> None:
    if options.follow is not None:
        _follow(options)
        return
    result = find_result(options)
    path = result.report(options.out, command=result.about.get("command"))
    print(f"{path} ({path.stat().st_size / 1000:.0f} kB)")


def _follow(options: argparse.Namespace) -> None:
    """Write the page whenever there is something new, until the run is over or somebody has seen enough."""
    from hidim.errors import HidimError

    seen = -1
    print(f"{options.out} is written again and again; Ctrl-C ends that", file=sys.stderr)
    with suppress(KeyboardInterrupt):
        while True:
            try:
                result = find_result(options)
            except (HidimError, OSError) as error:
                if seen < 0:
                    print(f"hidim: waiting: {error}", file=sys.stderr)
                    seen = 0
            else:
                finished = len(result.history.finished)
                if finished == seen and _is_over(options):
                    break
                if finished != seen:
                    seen = finished
                    result.report(options.out, command=result.about.get("command"), refresh=options.follow)
            time.sleep(options.follow)
    if seen > 0:  # the last page does not load itself again
        result = find_result(options)
        path = result.report(options.out, command=result.about.get("command"))
        print(f"{path}: {len(result.history.finished)} trials")


def _is_over(options: argparse.Namespace) -> bool:
    """Whether nobody writes the journal any more; of a study nobody can say."""
    return options.storage is None and not is_locked(find_journal(options.run))
