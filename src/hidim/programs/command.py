"""The command line of one trial: words with placeholders, into which values go as they are.

    {lr}         the value of a parameter
    {w}          all coordinates of a vector, by commas; {w[3]} one of them; {w*}, alone, a word for each
    {fast?--amp} the text behind ? if the value is true, {mode=quick?-q} if it is quick; else nothing
    {@params}    the path of a JSON file with all values
    {@folder}    the path of an empty folder, which is removed after the trial
    {@trial}     the number of the trial

A word with a parameter that a trial does not have is left out, and so is an option before it, as `--depth` in
`--depth {depth}`. `{{lr}}` is the text {lr}; other braces are what they are.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.embed import LazyVector
from hidim.errors import MethodError
from hidim.programs.guard import MARK
from hidim.programs.shells import SCRIPT, SHELLS, in_quotes, quoted
from hidim.space import Choice, Space, Vector
from hidim.space.labels import to_plain

#: What may stand in braces besides parameters.
PARAMS, FOLDER, TRIAL = "@params", "@folder", "@trial"
GIVEN = (PARAMS, FOLDER, TRIAL)

#: Environment variables: the number of the trial, and, for a shell, the values of its line.
NUMBER, VALUE = "HIDIM_TRIAL", "HIDIM_VALUE_"

#: Coordinates of a vector that a program is handed.
COORDINATES = 10_000_000

BRACES = re.compile(r"\{\{([^{}]+)\}\}|\{([^{}]+)\}")
COORDINATE = re.compile(r"(.+)\[(\d+)\]")
FLAG = re.compile(r"(?P<name>[^?=]+)(?:=(?P<label>[^?]*))?\?(?P<text>.*)")
NAME = re.compile(r"@?\w+(\[\d+\]|\*|(=[^?]*)?\?.*)?")


@dataclass(frozen=True)
class Placeholder:
    """What stands in braces.

    Args:
        name: of the parameter, or of what is given with every trial.
        coordinate: of a vector; None for all of it.
        spread: whether every coordinate becomes a word.
        label: under which `flag` stands here; None for a value.
        flag: a text of the command.
    """

    name: str
    coordinate: int | None = None
    spread: bool = False
    label: str | None = None
    flag: str = ""

    def text(self, values: Mapping[str, Any]) -> str:
        value = values[self.name]
        if self.label is not None:
            return self.flag if as_text(value) == self.label else ""
        return as_text(value if self.coordinate is None else value[self.coordinate])


Word = tuple["str | Placeholder", ...]


@dataclass(frozen=True)
class Command:
    """A program and its arguments.

    Args:
        words: each a sequence of texts and placeholders.
        prefix: of the environment variables that hold all parameters; None for no such variables.
        shell: whether the words, put together, are a line for /bin/sh. Values stand in it as variables, which
            no shell takes for commands, wherever in the line they are.
    """

    words: tuple[Word, ...]
    prefix: str | None = None
    shell: bool = False

    @classmethod
    def of(
        cls, words: Sequence[str], space: Space, *, prefix: str | None = None, shell: bool = False
    ) -> Command:
        """Read the words, and refuse what could not work in any trial."""
        if not words:
            raise MethodError("there is no command: give it after --, as in -- ./simulate --alpha {alpha}")
        for vertex in space.vertices:
            if prefix is None and not words_have_file(words) and re.search(r"[{}]", vertex.name):
                raise MethodError(
                    f"{vertex.name!r} has braces and cannot be a placeholder: rename it, or hand all "
                    "parameters over by --env, or as a JSON file by {@params}"
                )
        command = cls(tuple(read_word(word, space) for word in words), prefix, shell)
        command._check_program()
        command._check_reach(space)
        command._check_extent(space)
        command._check_variables(space)
        command._check_shell(space)
        return command

    @property
    def named(self) -> frozenset[str]:
        """Everything that stands in braces."""
        return frozenset(part.name for word in self.words for part in word if isinstance(part, Placeholder))

    def _check_program(self) -> None:
        program = self.words[0]
        if self.shell or not program or any(isinstance(part, Placeholder) for part in program):
            return
        name = "".join(map(str, program))
        if shutil.which(name) is None:
            spaces = "; write program and arguments as words of their own" if " " in name else ""
            raise MethodError(
                _not_runnable(name) or f"there is no program {name!r} that could be run{spaces}"
            )

    def _check_reach(self, space: Space) -> None:
        """A parameter that never reaches the program would be tuned in vain."""
        if self.prefix is not None or PARAMS in self.named:
            return
        missing = list(dict.fromkeys(v.name for v in space.vertices if v.name not in self.named))
        if missing:
            listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            raise MethodError(
                f"the command does not use {listed}: write {{{missing[0]}}} where the value goes, or hand "
                "all parameters over by --env, or as a JSON file by {@params}"
            )

    def _check_extent(self, space: Space) -> None:
        """A vector of which all is handed over cannot be as long as one of which a few coordinates are."""
        parts = [part for word in self.words for part in word if isinstance(part, Placeholder)]
        whole = {part.name for part in parts if part.coordinate is None}
        for vertex in space.vertices:
            dim = vertex.parameter.dim if isinstance(vertex.parameter, Vector) else 0
            if dim > COORDINATES and (self.prefix is not None or PARAMS in whole or vertex.name in whole):
                raise MethodError(
                    f"{vertex.name!r} has {dim} coordinates, too many for a program: hand over single ones, "
                    f"as {{{vertex.name}[7]}}"
                )

    def _check_variables(self, space: Space) -> None:
        if self.prefix is None:
            return
        for name in {vertex.name for vertex in space.vertices}:
            if "=" in name:
                raise MethodError(f"{name!r} has an equal sign, which no variable may have: rename it")
            if f"{self.prefix}{name}" in (NUMBER, MARK):
                raise MethodError(
                    f"the variable {self.prefix}{name} is hidim's own: rename {name!r}, or give another "
                    "prefix, as --env MY_"
                )

    def _check_shell(self, space: Space) -> None:
        """A shell must neither take values for commands nor lose its line."""
        if self.shell:
            if (quoted := in_quotes(self.words)) is not None:
                raise MethodError(
                    f"{{{quoted.name}}} stands in quotes: values are one word whatever is in them, so leave "
                    f"the quotes off, or close them before it, as in 'a'{{{quoted.name}}}'b'"
                )
            self._check_presence(space)
            return
        name = os.path.basename("".join(map(str, self.words[0])))
        scripts = [after for word, after in pairwise(self.words) if SCRIPT.fullmatch(str(word[0]))]
        named = {part.name for word in scripts[:1] for part in word if isinstance(part, Placeholder)}
        for vertex in space.vertices if name in SHELLS else ():
            labels = vertex.parameter.labels if isinstance(vertex.parameter, Choice) else ()
            odd = [label for label in labels if as_text(label) != shlex.quote(as_text(label))]
            if odd and vertex.name in named:
                raise MethodError(
                    f"{name} would take {odd[0]!r} of {{{vertex.name}}} for a part of its script: use "
                    f"--shell, or hand it over behind it, as in {name} -c 'echo \"$1\"' {name} "
                    f"{{{vertex.name}}}"
                )

    def _check_presence(self, space: Space) -> None:
        """A line in one word would be left out as a whole if a parameter in it is not there."""
        for word in self.words:
            if not any(isinstance(part, str) and re.search(r"\s", part) for part in word):
                continue
            for part in word:
                if isinstance(part, Placeholder) and part.name not in space and part.name not in GIVEN:
                    raise MethodError(
                        f"{{{part.name}}} is not there in every trial, and with it would go all of the line: "
                        f"write the line as words, as in --shell -- prog --flag {{{part.name}}}"
                    )

    def argv(self, values: Mapping[str, Any]) -> list[str]:
        """The words of one trial; `values` are its parameters and what else is given."""
        if not self.shell:
            return list(self._filled(values, str))
        return ["/bin/sh", "-c", self._scripted(values)[0]]

    def _scripted(self, values: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        """The line for a shell, and the variables that stand in it."""
        handed: dict[str, str] = {}

        def variable(text: str) -> str:
            name = f"{VALUE}{len(handed)}"
            handed[name] = text
            return f'"${{{name}}}"'

        return " ".join(self._filled(values, variable)), handed

    def _filled(self, values: Mapping[str, Any], quoted: Any) -> Iterator[str]:
        kept = list(self.words)
        absent = [any(isinstance(p, Placeholder) and p.name not in values for p in word) for word in kept]
        for place, word in enumerate(kept):
            if absent[place] or self._is_option_of_absent(place, absent):
                continue
            if len(word) == 1 and isinstance(only := word[0], Placeholder) and only.spread:
                yield from (quoted(as_text(entry)) for entry in np.asarray(values[only.name]).tolist())
            elif not _is_off(word, values):
                yield "".join(_written(part, values, quoted) for part in word)

    def _is_option_of_absent(self, place: int, absent: Sequence[bool]) -> bool:
        """Whether a word is an option whose value, the next word, is a parameter that is not there."""
        if place + 1 >= len(self.words) or not absent[place + 1]:
            return False
        word, following = self.words[place], self.words[place + 1]
        option = len(word) == 1 and isinstance(word[0], str) and word[0].startswith("-") and len(word[0]) > 1
        return option and isinstance(following[0], Placeholder)

    def variables(self, params: Params) -> dict[str, str]:
        """Variables with all parameters of a trial, if it has such."""
        if self.prefix is None:
            return {}
        return {f"{self.prefix}{name}": as_text(value) for name, value in params.items()}

    def environment(self, params: Params, values: Mapping[str, Any]) -> dict[str, str]:
        """All variables that a trial needs; `values` are its parameters and what else is given."""
        return self.variables(params) | (self._scripted(values)[1] if self.shell else {})

    def line(self, values: Mapping[str, Any]) -> str:
        """The command of a trial as a person would type it."""
        return " ".join(self._filled(values, quoted)) if self.shell else quoted(*self.argv(values))


def _written(part: str | Placeholder, values: Mapping[str, Any], quoted: Any) -> str:
    """A part of a word; what the user wrote is no value, and not quoted."""
    if isinstance(part, str):
        return part
    text = part.text(values)
    return text if part.label is not None else str(quoted(text))


def _is_off(word: Word, values: Mapping[str, Any]) -> bool:
    """Whether a word is nothing but flags, all of which are off."""
    flags = [part for part in word if isinstance(part, Placeholder) and part.label is not None]
    return len(flags) == len(word) and not any(flag.text(values) for flag in flags)


def words_have_file(words: Sequence[str]) -> bool:
    """Whether a JSON file with all parameters is handed over."""
    return any(f"{{{PARAMS}}}" in word for word in words)


def read_word(text: str, space: Space) -> Word:
    """A word as texts and placeholders."""
    vectors = {v.name: v.parameter.dim for v in space.vertices if isinstance(v.parameter, Vector)}
    names = {vertex.name for vertex in space.vertices}
    labels = {
        (vertex.name, as_text(label))
        for vertex in space.vertices
        if isinstance(vertex.parameter, Choice)
        for label in vertex.parameter.labels
    }
    parts: list[str | Placeholder] = []
    end = 0
    for match in BRACES.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        literal, name = match.groups()
        if literal is not None:
            known = _placeholder(literal, names, vectors, labels) or NAME.fullmatch(literal)
            parts.append(f"{{{literal}}}" if known else match.group())
            continue
        found = _placeholder(name, names, vectors, labels)
        if found is None and NAME.fullmatch(name):
            raise MethodError(_unknown(name, names))
        parts.append(match.group() if found is None else found)
    parts.append(text[end:])
    return tuple(part for part in parts if part != "") or ("",)


def _placeholder(
    name: str, names: set[str], vectors: Mapping[str, int], labels: Collection[tuple[str, str]]
) -> Placeholder | None:
    if name in names or name in GIVEN:
        return Placeholder(name)
    if (flag := FLAG.fullmatch(name)) is not None and flag["name"] in names:
        label = "true" if flag["label"] is None else flag["label"]
        if (flag["name"], label) not in labels:
            raise MethodError(
                f"{{{name}}}: {flag['name']!r} is never {label}; {{{flag['name']}=LABEL?…}} names one of its "
                "labels, and without =LABEL that is true"
            )
        return Placeholder(flag["name"], label=label, flag=flag["text"])
    if name.endswith("*") and name[:-1] in vectors:
        return Placeholder(name[:-1], spread=True)
    match = COORDINATE.fullmatch(name)
    if match is None or match.group(1) not in vectors:
        return None
    vector, coordinate = match.group(1), int(match.group(2))
    if coordinate >= vectors[vector]:
        raise MethodError(f"{{{name}}}: {vector!r} has coordinates 0 to {vectors[vector] - 1}")
    return Placeholder(vector, coordinate)


def _unknown(name: str, names: set[str]) -> str:
    close = difflib.get_close_matches(re.split(r"[?=*\[]", name)[0], [*names, *GIVEN], n=1)
    hint = f"did you mean {{{close[0]}}}?" if close else f"the space has {', '.join(sorted(names)[:8])}"
    return f"{{{name}}} is no parameter: {hint} ({{{{{name}}}}} is the text itself)"


def as_text(value: Any) -> str:
    """A value as a program is handed it: numbers can be read back to the bit, labels are as they are.

    Example:
        >>> as_text(0.1), as_text(True), as_text("a b"), as_text((64, 32))
        ('0.1', 'true', 'a b', '[64, 32]')
    """
    if isinstance(value, np.ndarray | LazyVector):
        return ",".join(map(repr, np.asarray(value).tolist()))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, float) else json.dumps(to_plain(value), ensure_ascii=False)


def as_json(params: Params) -> str:
    """All parameters of a trial as the text of a JSON file."""
    return json.dumps({n: as_plain(v) for n, v in params.items()}, ensure_ascii=False, indent=1)


def as_plain(value: Any) -> Any:
    """A value as JSON has it: vectors and tuples are lists."""
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | LazyVector) else to_plain(value)


def _not_runnable(name: str) -> str | None:
    """What to do about a file that is there and cannot be run by its name."""
    if not os.path.isfile(name):
        return None
    if os.access(name, os.X_OK):
        return f"{name!r} is a file of this folder: write ./{name}"
    return f"the file {name!r} may not be run: chmod +x {name}, or write what runs it, as in python {name}"
