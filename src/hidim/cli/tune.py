"""`hidim tune`: a space in a file, a command with placeholders, and the best setting of it."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from hidim.cli.arguments import count, count_or_never, positive, seconds

USAGE = "hidim tune SPACE.toml [options] -- COMMAND --flag {param} …"

#: That the terminal was closed, where there is such a signal.
HANG_UP = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []

MEND = "mend the program, or what the line says of it, and type it again with --retry-failed"

EXAMPLES = """\
in the command:
  {alpha}        the value of the parameter alpha; --depth {depth} is left out in trials without depth
  {amp?--amp}    a flag, there if amp is true
  {@params}      the path of a JSON file with all parameters
  {@folder}      an empty folder for the trial; {@trial} its number

examples:
  hidim tune space.toml --trials 200 -- ./simulate --alpha {alpha} --depth {depth}
  hidim tune space.toml --time 2h --workers 4 --regex 'loss = (\\S+)' -- python train.py {@params}
  hidim tune space.toml --maximize --json-field test.accuracy --env -- ./train.sh

Typed again, the same line finishes what is missing.
"""


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "tune",
        help="tune the parameters of a program",
        usage=USAGE,
        description="Run a program again and again with better and better parameters, and keep the best.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "space", type=Path, metavar="SPACE.toml", help="what can vary (TOML, JSON, ConfigSpace)"
    )
    _add_extent(parser)
    _add_value(parser)
    _add_way(parser)
    _add_place(parser)
    parser.set_defaults(handler=run, takes_command=True)


def _add_extent(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how much")
    group.add_argument("--trials", type=positive, metavar="N", help="in all, earlier ones counted in (100)")
    group.add_argument("--time", type=seconds, metavar="T", help="start no trial after this time, as 90s, 2h")
    group.add_argument("--workers", type=positive, default=1, metavar="N", help="trials at once (1)")
    group.add_argument("--timeout", type=seconds, metavar="T", help="end a trial after this time, as 10m")
    group.add_argument("--retries", type=count, default=0, metavar="N", help="run a failed trial again (0)")
    group.add_argument(
        "--fail-fast",
        type=count_or_never,
        default=5,
        metavar="N",
        help="stop if all trials fail alike: N by an error in code (5), 10 N by others; or never",
    )
    group.add_argument(
        "--retry-failed", action="store_true", help="evaluate failed trials of earlier calls again"
    )


def _add_value(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the value (by default the last line of standard output)")
    group.add_argument("--maximize", action="store_true", help="large values are good")
    group.add_argument("--regex", metavar="R", help="the last match of a regular expression, its first group")
    group.add_argument("--json-field", metavar="F", help="a field of JSON output, as loss or test.loss")
    group.add_argument("--value-file", metavar="FILE", help="look in a file, as {@folder}/out.json, instead")
    group.add_argument(
        "--noisy", action=argparse.BooleanOptionalAction, help="whether values vary; else hidim finds out"
    )


def _add_way(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    group.add_argument(
        "--method", default="auto", metavar="M", help="as gp or 'rembo(low=3)': `hidim methods`"
    )
    group.add_argument("--seed", type=count, metavar="N", help="of the run (0, or that of the journal)")
    group.add_argument("--start-with", type=Path, metavar="FILE", help="configurations to try first (JSON)")
    group.add_argument("--start-from", type=Path, metavar="JOURNAL", help="learn from an earlier run")
    group.add_argument(
        "--env",
        nargs="?",
        const="HIDIM_",
        metavar="PREFIX",
        help="hand all parameters over as variables named PREFIX + name (HIDIM_)",
    )
    group.add_argument("--shell", action="store_true", help="run the command by /bin/sh, values quoted")


def _add_place(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where")
    group.add_argument("--journal", type=Path, metavar="FILE", help="keeps the run (SPACE.hidim.jsonl)")
    group.add_argument("--storage", metavar="URL", help="an Optuna storage, shared by several machines")
    group.add_argument("--study", metavar="NAME", help="in the storage (SPACE)")
    group.add_argument("--logs", type=Path, metavar="FOLDER", help="keep what every trial prints")
    group.add_argument("--plain", action="store_true", help="lines in the place of the live display")
    group.add_argument("--quiet", action="store_true", help="nothing but the result")


def run(options: argparse.Namespace) -> int:
    from hidim.cli.display import closing, make_display
    from hidim.errors import MethodError, RunError
    from hidim.programs.tuning import journal_of, tune
    from hidim.run.interrupts import heeded

    if not options.command:
        raise MethodError(f"there is no command to be tuned: {USAGE}")
    space, program, plan = _prepared(options)
    if options.storage is not None:
        return _shared(options, space, program, plan)
    journal = options.journal or journal_of(options.space)
    display = make_display(options, program, plan)
    with heeded(*HANG_UP) as signals:
        try:
            result = tune(program, space, plan, journal, display)
        except RunError as error:
            why = error.why.replace("fail_fast=None", "--fail-fast never")
            raise RunError(why, MEND) from None
        except KeyboardInterrupt:
            print(f"hidim: interrupted; what was known then is in {journal}", file=sys.stderr)
            return signals.exit_code
        line = program.preview(result.best.params)
        which = [] if _is_alone(journal) else [str(journal)]
        print(closing(result, line, str(journal), which, quiet=options.quiet), flush=True)
    return signals.exit_code if signals.came is not None else 0


def _is_alone(journal: Path) -> bool:
    """Whether other commands find this run without being told which."""
    from hidim.cli.sources import find_journal
    from hidim.errors import HistoryError

    try:
        return find_journal(None).resolve() == journal.resolve()
    except HistoryError:
        return False


def _prepared(options: argparse.Namespace) -> tuple[Any, Any, Any]:
    """Space, program and plan; whatever is wrong with them is said before anything is run."""
    from hidim.programs import Command, Program, Reading, read_space
    from hidim.programs.spacefile import check_values
    from hidim.programs.tuning import Plan, read_configurations

    space = read_space(options.space)
    check_values(space)
    command = Command.of(options.command, space, prefix=options.env, shell=options.shell)
    reading = Reading(options.regex, options.json_field, options.value_file)
    first = () if options.start_with is None else read_configurations(options.start_with, space)
    program = Program(
        command,
        reading,
        space,
        timeout=options.timeout,
        retries=options.retries,
        logs=options.logs,
        workers=options.workers,
    )
    plan = Plan(
        trials=options.trials or (None if options.time else 100),
        seconds=options.time,
        workers=options.workers,
        method=options.method,
        seed=options.seed,
        maximize=options.maximize,
        noisy=options.noisy,
        start_with=first,
        start_from=options.start_from,
        fail_fast=options.fail_fast,
        retry_failed=options.retry_failed,
        about={"command": list(options.command), "value": reading.in_words},
    )
    return space, program, plan


def _shared(options: argparse.Namespace, space: Any, program: Any, plan: Any) -> int:
    from hidim._optional import check
    from hidim.cli.display import closing, make_display
    from hidim.run.interrupts import heeded

    check("optuna", extra="optuna")
    from hidim.errors import RunError
    from hidim.programs.shared import Shared, found, grouped, masked

    name = options.study or options.space.stem
    where = f"the study {name!r} of {masked(options.storage)}"
    with heeded(*HANG_UP) as signals:
        try:
            with program:
                display = make_display(options, program, plan)
                stopped = Shared(options.storage, name, program, space, plan, display).run()
            result = found(options.storage, name, stopped)
        except (KeyboardInterrupt, RunError):
            if signals.came is None:
                raise
            print(f"hidim: interrupted; what was known then is in {where}", file=sys.stderr)
            return signals.exit_code
        line = program.preview(grouped(result.best.params, space))
        which = ["--storage", masked(options.storage), "--study", name]
        print(closing(result, line, where, which, quiet=options.quiet), flush=True)
    return signals.exit_code if signals.came is not None else 0
