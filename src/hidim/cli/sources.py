"""Which run is meant: a journal, the space file that it belongs to, a study, or the only one here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hidim._optional import check
from hidim.errors import HistoryError

if TYPE_CHECKING:
    from hidim.result import Result

SPACES = (".toml", ".json", ".yaml", ".yml")


def add_source(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which run is meant."""
    parser.add_argument(
        "run",
        type=Path,
        nargs="?",
        metavar="RUN",
        help="a journal, or the space file that it belongs to (the only one in this folder)",
    )
    parser.add_argument("--storage", metavar="URL", help="an Optuna storage in the place of a journal")
    parser.add_argument("--study", metavar="NAME", help="in the storage")


def find_journal(given: Path | None) -> Path:
    """The journal that is meant; `HistoryError` if there is none, or more than one."""
    from hidim.programs.tuning import JOURNAL, journal_of

    if given is None:
        found = sorted(Path().glob(f"*{JOURNAL}"))
        if len(found) == 1:
            return found[0]
        if found:
            raise HistoryError(f"there are several runs here, {', '.join(map(str, found))}: say which")
        raise HistoryError(
            f"there is no run here (no file *{JOURNAL}): say which, or begin with `hidim tune`"
        )
    if given.suffix.lower() in SPACES and not given.name.endswith(JOURNAL):
        journal = journal_of(given)
        if not journal.exists():
            raise HistoryError(f"{given} has not been tuned yet: there is no {journal}")
        return journal
    if not given.exists():
        raise HistoryError(f"there is no file {given}: give a journal, or the space file that it belongs to")
    return given


def find_result(options: argparse.Namespace) -> Result:
    """What the run that is meant has found so far."""
    if options.storage is None:
        from hidim.result import Result

        return Result.from_journal(find_journal(options.run))
    check("optuna", extra="optuna")
    from hidim.programs.shared import result_of_study

    return result_of_study(options.storage, options.study, options.run)
