"""Which run is meant: a journal, the space file that it belongs to, a study, or the only one here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hidim._optional import check
from hidim.errors import HistoryError

if TYPE_CHECKING:
    from hidim.result import Kept, Result

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


def find_kept(options: argparse.Namespace) -> Kept:
    """The run that is meant, whether it has come to a value yet or not."""
    if options.storage is None:
        from hidim.result import Kept

        return Kept.in_journal(find_journal(options.run))
    check("optuna", extra="optuna")
    from hidim.programs.shared import kept_in_study

    return kept_in_study(options.storage, options.study, options.run)


def find_result(options: argparse.Namespace) -> Result:
    """What the run that is meant has found so far; `HistoryError` if that is nothing yet."""
    kept = find_kept(options)
    if not kept.history.complete:
        from hidim.cli.display import counts

        raise HistoryError(f"no trial has come to a value yet ({counts(kept.history)}): see `hidim show`")
    return kept.result("as the study says" if options.storage else "as the journal says")
