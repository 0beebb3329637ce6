"""`hidim bench …`: arguments and what they call. Heavy imports wait inside the handlers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hidim._settings import split_names

DEFAULT_PROBLEMS = "branin-25,hartmann6-100,rep-branin-20,rep-hartmann6-20,rosenbrock-20,levy-20"


def add_to(commands: Any) -> None:
    """Add `bench` and its sub-commands to an argparse sub-parser collection."""
    bench = commands.add_parser("bench", help="compare methods and peers on the papers' functions")
    actions = bench.add_subparsers(title="bench commands", required=True, metavar="ACTION")
    _add_list(actions)
    _add_run(actions)
    _add_table(actions)
    _add_plot(actions)
    _add_latency(actions)
    _add_paper(actions)
    _add_maximizers(actions)
    _add_suite(actions)
    _add_conditional(actions)


def _add_list(actions: Any) -> None:
    parser = actions.add_parser("list", help="problems and methods that can be named")
    parser.set_defaults(handler=_list)


def _add_run(actions: Any) -> None:
    parser = actions.add_parser(
        "run",
        help="run methods × problems × seeds",
        description="Run methods × problems × seeds, one thread each. Finished runs in the results file are "
        "skipped, so the same command resumes a sweep that was stopped.",
    )
    parser.add_argument(
        "--problems", type=split_names, default=split_names(DEFAULT_PROBLEMS), help="names, by commas"
    )
    parser.add_argument(
        "--methods", type=split_names, default=["hidim:gp", "random"], help="names, by commas"
    )
    parser.add_argument("--seeds", type=_positive, default=5, metavar="N", help="seeds 0 to N-1 (default 5)")
    parser.add_argument(
        "--evaluations", type=_positive, default=200, metavar="N", help="per run (default 200)"
    )
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=Path("results.jsonl"), help="results file, appended to")
    parser.set_defaults(handler=_run)


def _add_table(actions: Any) -> None:
    parser = actions.add_parser("table", help="median regret, quartiles and own time of a results file")
    parser.add_argument("results", type=Path, nargs="+", help="files of `hidim bench run`")
    parser.add_argument("--markdown", action="store_true", help="a Markdown table")
    parser.add_argument("--wide", action="store_true", help="one row per problem, one column per method")
    parser.set_defaults(handler=_table)


def _add_plot(actions: Any) -> None:
    parser = actions.add_parser("plot", help="convergence curves of a results file")
    parser.add_argument("results", type=Path, nargs="+", help="files of `hidim bench run`")
    parser.add_argument("-o", "--out", type=Path, default=Path("convergence.png"), help="picture to write")
    parser.set_defaults(handler=_plot)


def _add_latency(actions: Any) -> None:
    parser = actions.add_parser(
        "latency",
        help="time of one suggestion against trials and dimensions",
        description="Time `ask` with n uniform trials told in advance, each cell in a fresh process on one "
        "thread. Several methods give ratios to the first; one alone gives grids of time and peak memory.",
    )
    parser.add_argument("--dims", type=_numbers, default=[100], help="dimensions, by commas (default 100)")
    parser.add_argument("--sizes", type=_numbers, default=[200, 500], help="trials told (default 200,500)")
    parser.add_argument(
        "--methods", type=split_names, default=split_names("hidim:gp,optuna-gp,botorch"), help="by commas"
    )
    parser.add_argument(
        "--repeats",
        type=_positive,
        default=20,
        help="asks of hidim, at least (default 20)",
    )
    parser.add_argument("--peer-repeats", type=_positive, default=3, help="asks of any other (default 3)")
    parser.add_argument(
        "--family",
        default="hartmann6",
        help="function that gives the values; or a problem of one dimension, as tree-56",
    )
    parser.add_argument("--markdown", action="store_true", help="Markdown tables")
    parser.set_defaults(handler=_latency)


def _add_paper(actions: Any) -> None:
    parser = actions.add_parser(
        "paper",
        help="run an experiment of a paper again, beside its numbers",
        description="Run an experiment of a paper again and print it beside the paper's numbers, as "
        "Markdown. Finished runs in the results file are skipped.",
    )
    parser.add_argument("study", help="its name, as `hidim bench list` shows it")
    parser.add_argument("--seeds", type=_positive, metavar="N", help="runs of each cell")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--out", type=Path, help="results file, appended to (default NAME.jsonl)")
    parser.set_defaults(handler=_paper)


def _add_maximizers(actions: Any) -> None:
    parser = actions.add_parser(
        "maximizers",
        help="maximisers on frozen acquisition functions",
        description="How high each maximiser climbs on frozen acquisition functions, for the same number of "
        "points scored: EI as a share of the best that any of them found.",
    )
    parser.add_argument("--dims", type=_numbers, default=[5, 20, 50, 200], help="by commas (5,20,50,200)")
    parser.add_argument("--budget", type=_positive, default=2000, metavar="N", help="points (default 2000)")
    parser.add_argument("--seeds", type=_positive, default=5, metavar="N", help="functions (default 5)")
    parser.add_argument("--family", default="rosenbrock", help="function that gives the values")
    parser.add_argument("-o", "--out", type=Path, help="picture to write, if any")
    parser.add_argument("--markdown", action="store_true", help="a Markdown table")
    parser.set_defaults(handler=_maximizers)


def _add_suite(actions: Any) -> None:
    parser = actions.add_parser(
        "suite",
        help="problems of many kinds: who is best at which",
        description="Run methods on all problems of the suite, as far as they can, and print mean ranks, "
        "ratios to the best peer, paired tests and a performance profile, as Markdown. Finished runs in the "
        "results files are skipped.",
    )
    parser.add_argument("--evaluations", type=_positive, default=200, metavar="N", help="per run (200)")
    _add_comparison(parser, seeds=5, out="suite.jsonl")
    parser.set_defaults(handler=_suite)


def _add_conditional(actions: Any) -> None:
    parser = actions.add_parser(
        "conditional",
        help="spaces with conditions: who finds the right branch",
        description="Run methods on problems with conditional parameters, and print medians, how many runs "
        "end in a wrong branch and paired tests, as Markdown. Finished runs in the results files are "
        "skipped.",
    )
    _add_comparison(parser, seeds=10, out="conditional.jsonl")
    parser.set_defaults(handler=_conditional)


def _add_comparison(parser: argparse.ArgumentParser, *, seeds: int, out: str) -> None:
    """The arguments of a comparison of several methods with ours."""
    parser.add_argument("--methods", type=split_names, default=["hidim:auto", "random"], help="by commas")
    parser.add_argument("--ours", default="hidim:auto", help="which all others are compared with")
    parser.add_argument("--seeds", type=_positive, default=seeds, metavar="N", help=f"0 to N-1 ({seeds})")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=Path(out), help="results file, appended to")
    parser.add_argument("--with", type=Path, nargs="*", default=[], dest="others", help="further results")


def _list(_: argparse.Namespace) -> None:
    from hidim.bench.naming import PREFIX
    from hidim.bench.papers import STUDIES
    from hidim.bench.peers import PEERS
    from hidim.bench.problems import EXAMPLES, FAMILIES, NAMED, VARIANTS
    from hidim.methods import METHODS

    print("Problems: FAMILY-DIMENSION, then any of", ", ".join(f"-{variant}" for variant in VARIANTS))
    for name, family in FAMILIES.items():
        print(f"  {name:14} {family.about}")
    print("or, without dimension and variants:")
    for name, known in NAMED.items():
        print(f"  {name:14} {known.about}")
    print("  for example", ", ".join(EXAMPLES))
    print("Experiments of papers, for `hidim bench paper`:")
    for study in STUDIES.values():
        print(f"  {study.name:16} {study.about}")
    print("Methods:", ", ".join([*PEERS, *(PREFIX + name for name in METHODS)]))
    print("  with settings, for example hidim:rembo(low=3,runs=4,kernel=categorical)")


def _run(options: argparse.Namespace) -> int:
    from hidim.bench.runner import plan, sweep

    jobs = plan(options.problems, options.methods, range(options.seeds), options.evaluations)
    failed = sum(bool(record["error"]) for record in sweep(jobs, options.out, options.jobs))
    if failed:
        print(f"{failed} runs failed; their tracebacks are in {options.out}", file=sys.stderr)
    return int(failed > 0)


def _paper(options: argparse.Namespace) -> int:
    from hidim.bench.papers import STUDIES
    from hidim.bench.report import provenance
    from hidim.bench.runner import read_records, sweep
    from hidim.errors import HidimError

    if options.study not in STUDIES:
        raise HidimError(f"no experiment {options.study!r}: choose from {', '.join(STUDIES)}")
    study = STUDIES[options.study]
    out = options.out or Path(f"{study.name}.jsonl")
    failed = sum(
        bool(record["error"]) for record in sweep(study.jobs(options.seeds or study.seeds), out, options.jobs)
    )
    records = read_records(out)
    print(study.report(records))
    print(f"\n`hidim bench paper {study.name}`; {provenance(records)}")
    return int(failed > 0)


def _table(options: argparse.Namespace) -> None:
    from hidim.bench.report import long_table, provenance, summarise, wide_table

    make = wide_table if options.wide else long_table
    records = _records(options.results)
    print(make(summarise(records), markdown=options.markdown))
    print(f"\n{provenance(records)}")


def _plot(options: argparse.Namespace) -> None:
    from hidim.bench.curves import plot_convergence

    plot_convergence(_records(options.results), options.out)
    print(options.out)


def _latency(options: argparse.Namespace) -> None:
    from hidim.bench.latency import latency_tables, measure_all

    cells = measure_all(
        options.methods, options.dims, options.sizes, options.repeats, options.peer_repeats, options.family
    )
    print(latency_tables(cells, markdown=options.markdown))


def _maximizers(options: argparse.Namespace) -> None:
    from hidim.bench.maximizers import measure, plot, table

    climbs = measure(options.dims, options.budget, options.seeds, options.family)
    print(table(climbs, markdown=options.markdown))
    if options.out is not None:
        plot(climbs, options.out)
        print(options.out)


def _suite(options: argparse.Namespace) -> int:
    from hidim.bench import suite
    from hidim.bench.report import provenance
    from hidim.bench.runner import read_records, sweep

    jobs = suite.plan_suite(options.methods, range(options.seeds), options.evaluations)
    failed = sum(bool(record["error"]) for record in sweep(jobs, options.out, options.jobs))
    records = read_records(options.out) + _records(options.others)
    for at in suite.stops(options.evaluations):
        print(suite.table(records, options.ours, at) + "\n")
    print(f"`hidim bench suite`; {provenance(records)}")
    return int(failed > 0)


def _conditional(options: argparse.Namespace) -> int:
    from hidim.bench import trees
    from hidim.bench.report import provenance
    from hidim.bench.runner import read_records, sweep

    jobs = trees.plan_trees(options.methods, range(options.seeds))
    failed = sum(bool(record["error"]) for record in sweep(jobs, options.out, options.jobs))
    records = read_records(options.out) + _records(options.others)
    print(trees.table(records, options.ours))
    print(f"\n`hidim bench conditional`; {provenance(records)}")
    return int(failed > 0)


def _records(paths: list[Path]) -> list[dict[str, Any]]:
    from hidim.bench.runner import read_records

    return [record for path in paths for record in read_records(path)]


def _numbers(text: str) -> list[int]:
    return [_positive(number) for number in split_names(text)]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number
