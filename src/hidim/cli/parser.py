"""Command lines that are wrong: one line that says what, and what was probably meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

#: What other tools call it.
ELSEWHERE = {
    "--jobs": "--workers",
    "--n-jobs": "--workers",
    "--n-trials": "--trials",
    "--n_trials": "--trials",
}


class Parser(argparse.ArgumentParser):
    """A parser that knows what is often mistyped; those of its sub-commands are of the same kind."""

    def parse_known_args(  # type: ignore[override]  # argparse has overloads for kinds of namespaces
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown))
        return found, unknown

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} ({self.prog} --help says more)", file=sys.stderr)
        sys.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(message, getattr(file, "rich_proxied_file", file))  # may be in colours

    def _unknown(self, words: list[str]) -> str:
        first = words[0]
        if first.startswith("-"):
            option = first.partition("=")[0]
            return f"there is no option {option}{_meant(option, self._option_string_actions)}"
        if self.get_default("takes_command"):
            return f"write -- before the command, as in {self.prog} … -- {' '.join(words[:3])} …"
        return f"{first!r} is one word too many"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            meant = _meant(str(value), known) or f": choose one of {', '.join(known)}"
            raise argparse.ArgumentError(action, f"there is no {value!r}{meant}")


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(ELSEWHERE.get(word, word), list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""
