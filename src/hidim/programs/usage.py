"""A space guessed from what a program says about itself when it is called with `--help`.

Every option that takes one value is a candidate. One with a list of words becomes a choice; one whose default
is a number becomes a range around it; any other stands in the file as a comment, to be filled in by whoever
knows.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hidim.errors import HidimError
from hidim.programs.guard import MARK
from hidim.programs.shells import quoted

#: Seconds that a program may take to say how it is called.
PATIENCE = 30.0

#: Options that are no parameters of anybody's objective.
UNTUNED = re.compile(
    r"(help|version|verbose|verbosity|quiet|seed|random[-_]?(state|seed)|out(put)?(.*)|log(.*)?(file|dir|path|level)|"
    r".*(file|path|dir|folder|device|host|port|url|config|workers|threads|jobs)|name|model[-_]?in|"
    r"data(set)?|input|debug|gpus?([-_]?ids?)?|cuda|prefix|suffix)"
)

#: What stands for a value that is no parameter either.
FILES = re.compile(
    r"(in|out)?(file|path|dir|directory|folder|url|uri|host|cmd|command|date)(name|s)?", re.IGNORECASE
)

OPTION = re.compile(
    r"""^\s{0,12}
    (?:-\w(?:[ =]?[<\[]?[\w{},.|-]+[>\]]?)?,\s*)?        # -l LR,
    (?P<option>--?[A-Za-z][\w-]*)                        # --lr
    (?:\s*[= ]\s*|(?=\[))
    (?P<value>\[?[=]?(?:<[^>]+>|\{[^}]+\}|\([^)]*\|[^)]*\)|[A-Z][A-Z0-9_.]*|(?:int|float|num(?:ber)?|value|real|string|str)\b|\w+\|[\w|]+)\]?)
    (?P<rest>.*)$""",
    re.VERBOSE,
)

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
DEFAULT = re.compile(
    rf"default(?:s to|\s+is|\s+value)?\s*[:=]?\s*['\"`(]?(?P<value>{NUMBER}(?![\w/%])|[\w.+-]+)",
    re.IGNORECASE,
)
RANGE = re.compile(
    rf"[\[(]\s*({NUMBER})\s*(?:,|\.\.|-|to)\s*({NUMBER})\s*[\])]"
    rf"|({NUMBER})\s*<=?\s*x\s*<=?\s*({NUMBER})"
    rf"|\b(?:between|from)\s+({NUMBER})\s+(?:and|to)\s+({NUMBER})(?![\w%])"
)
VALUES = re.compile(r"[\[(]possible values: (?P<values>[^\])]+)[\])]", re.IGNORECASE)

#: What stands for a whole number; without it, so narrow a range is one of broken numbers.
WHOLE = re.compile(r"(int(eger)?( range)?|n|k|num(ber)?|count|level)", re.IGNORECASE)
NARROW = 2.0

#: An option that takes several values, which argparse writes as [X ...] or X [X ...].
SEVERAL = re.compile(r"\[?\w+ \.\.\.\]")


@dataclass(frozen=True)
class Argument:
    """An option of a program, and what it may be.

    Args:
        option: as it is written, `--lr`.
        words: what the help says about it.
        labels: of a choice.
        default: a number or a word, as text.
        bounds: as text, if the help has them.
        joined: whether option and value are one word, as in `--prune=now`.
        broken: whether it may be a broken number, by what the help says of it.
    """

    option: str
    words: str = ""
    labels: tuple[str, ...] = ()
    default: str | None = None
    bounds: tuple[str, str] | None = None
    joined: bool = False
    broken: bool = False

    @property
    def flag(self) -> str:
        """As it stands in the command."""
        return f"{self.option}{'=' if self.joined else ' '}{{{self.name}}}"

    @property
    def name(self) -> str:
        return self.option.lstrip("-").replace("-", "_")

    @property
    def is_number(self) -> bool:
        return self.default is not None and re.fullmatch(NUMBER, self.default) is not None

    @property
    def is_known(self) -> bool:
        return bool(self.labels or self.is_number or self.bounds)

    def table(self) -> str:
        """The parameter in TOML; as a comment if nothing is known of its values."""
        head = [f"# {self.words}"] if self.words else []
        if self.labels:
            listed = ", ".join(_quoted(label) for label in self.labels)
            return "\n".join([*head, f"[{self.name}]", 'type = "choice"', f"options = [{listed}]"])
        body = [f"[{self.name}]", *self._range()]
        return "\n".join([*head, *(body if self.is_known else [f"# {line}" for line in body])])

    def _range(self) -> list[str]:
        default = float(self.default) if self.is_number and self.default else None
        texts = [text for text in (self.default, *(self.bounds or ())) if text]
        whole = not self.broken and all(re.fullmatch(r"[-+]?\d+", text) for text in texts)
        if self.bounds is not None:
            low, high = self.bounds
            said = "as the help says"
        elif default is None and self.default:
            return ['type = "choice"', f"options = [{_quoted(self.default)}]"]
        elif default is None:
            return ['type = "float"', "low = 0.0", "high = 1.0"]
        else:
            low, high = _around(default, whole=whole)
            said = f"a guess around the default, {self.default}"
        log = float(low) > 0 and float(high) / float(low) >= 50
        kind = ['type = "int"'] if whole else ['type = "float"']
        bounds = [low, high] if whole else [repr(float(low)), repr(float(high))]
        return [
            *kind,
            f"low = {bounds[0]}  # {said}",
            f"high = {bounds[1]}",
            *(["log = true"] if log else []),
        ]


def _around(default: float, *, whole: bool) -> tuple[str, str]:
    """A range that a person might try around a default."""
    if whole:
        if default <= 0:
            return (str(int(default * 10)), "10") if default < 0 else ("0", "10")
        return str(max(1, int(default // 10))), str(int(default * 10))
    if default == 0:
        return "0.0", "1.0"
    if default < 0:
        return f"{default * 10:g}", "0.0"
    return ("0.0", "1.0") if 0.1 <= default <= 1 else (f"{default / 100:g}", f"{default * 100:g}")


def _quoted(label: str) -> str:
    if re.fullmatch(r"[-+]?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", label):
        return label
    escaped = label.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True)
class Found:
    """What the help of a command shows."""

    command: tuple[str, ...]
    arguments: tuple[Argument, ...]

    @property
    def known(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.is_known]

    @property
    def said(self) -> str:
        if not self.arguments:
            return (
                "the help of the program shows no options with values; the file is an example to be filled in"
            )
        if not self.known:
            return (
                f"{len(self.arguments)} options of {self.command[0]}, all as comments, because its help does "
                "not say the values: fill in those that should vary, and delete the others"
            )
        left = len(self.arguments) - len(self.known)
        rest = f", and {left} more as comments, of which it does not say the values" if left else ""
        some = f"{len(self.known)} parameter{'s' * (len(self.known) != 1)}"
        return f"{some} from the help of {self.command[0]}{rest}"

    def tune(self, place: str) -> str:
        """The line to go on with."""
        flags = [argument.flag for argument in self.known]
        return " ".join(["hidim tune", quoted(place, "--", *self.command), *flags])

    def toml(self, place: str) -> str:
        head = f"# From the help of {quoted(*self.command)}. Types and ranges are guesses: look over\n"
        head += "# them, and delete what should not vary, here and in the command:\n#\n"
        return head + f"#   {self.tune(place)}\n\n" + "\n\n".join(a.table() for a in self.arguments) + "\n"


def space_of_help(command: Sequence[str]) -> Found:
    """The parameters of a command, by what it prints when it is called with `--help`."""
    environment = {**os.environ, "COLUMNS": "400", "TERM": "dumb", "NO_COLOR": "1", MARK: "help"}
    try:
        done = subprocess.run(
            [*command, "--help"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            env=environment,
            check=False,
        )
    except OSError as error:
        raise HidimError(f"{command[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise HidimError(f"{quoted(*command)} --help did not end within {PATIENCE:g} s") from None
    text = done.stdout.decode("utf-8", errors="replace")
    return Found(tuple(command), tuple(_arguments(text)))


def _arguments(text: str) -> Iterator[Argument]:
    seen: set[str] = set()
    for option, value, words in _paragraphs(text):
        argument = _argument(option, value, words)
        untuned = UNTUNED.fullmatch(argument.name) or FILES.fullmatch(value.strip("[]=<>"))
        if argument.name not in seen and not untuned:
            seen.add(argument.name)
            yield argument


def _paragraphs(text: str) -> Iterator[tuple[str, str, str]]:
    """Options with what stands for their values, and all that is said about each."""
    current: tuple[str, str, str] | None = None
    for line in re.sub(r"\x1b\[[0-9;]*m|[\x00-\x08\x0e-\x1f\x7f]", "", text).splitlines():
        match = OPTION.match(line)
        if match:
            if current is not None:
                yield current
            current = match["option"], match["value"], match["rest"].strip()
        elif current is not None and re.match(r"\s{4,}\S", line) and not re.match(r"\s*-{1,2}\w", line):
            current = current[0], current[1], f"{current[2]} {line.strip()}".strip()
        elif current is not None:
            yield current
            current = None
    if current is not None:
        yield current


def _argument(option: str, value: str, words: str) -> Argument:
    words = re.sub(r"^,\s*-\w[ =]\S+", "", words)  # the short form, if it comes second
    said = re.sub(r"\s+", " ", words).strip(" :-")
    joined = value.startswith("[=")
    if SEVERAL.search(words):
        return Argument(option, said[:120], joined=joined)
    listed = VALUES.search(words)
    inner = value.strip("[]=<>{}()") if listed is None else listed["values"]
    labels = tuple(part.strip() for part in re.split(r"[,|]", inner)) if re.search(r"[,|]", inner) else ()
    default, bounds = DEFAULT.search(words), None if labels else _bounds(words)
    broken = re.fullmatch(r"float|real|double", inner, re.IGNORECASE) is not None
    if bounds is not None and default is None and not WHOLE.fullmatch(inner):
        broken |= float(bounds[1]) - float(bounds[0]) <= NARROW  # a rate, a probability
    return Argument(
        option,
        said[:120],
        tuple(label for label in dict.fromkeys(labels) if label and label != "..."),
        None if default is None else default["value"].rstrip("."),
        bounds,
        joined,
        broken,
    )


def _bounds(words: str) -> tuple[str, str] | None:
    """The range that a help names, if it is one."""
    match = RANGE.search(words)
    if match is None:
        return None
    low, high = (text for text in match.groups() if text is not None)
    return (low, high) if float(low) < float(high) else None
