"""`hidim methods` and `hidim completion`."""

from __future__ import annotations

import argparse
from typing import Any

#: What each method is, in a line.
ABOUT = {
    "auto": "chooses: default, and baxus beyond 5000 columns",
    "default": "a Gaussian process of main effects, nodes of a tree, and a product kernel over all together",
    "gp": "the same without main effects and nodes: everything may interact",
    "flat": "gp with losses as they are and independent length-scales",
    "addtree": "a sum over the nodes of a conditional space (Add-Tree)",
    "addtree-paper": "Add-Tree as in its paper",
    "leaves": "a model of its own for every path of a conditional space",
    "rembo": "random embeddings, interleaved (REMBO): a few directions out of up to a billion matter",
    "rembo-paper": "REMBO as in its paper",
    "baxus": "an embedding that grows: a few parameters out of very many matter",
    "add-gp": "a sum over groups of parameters, which are learnt or given (Add-GP-UCB)",
    "pp-gp": "a sum over learnt directions (PP-GP-UCB)",
    "rpp-gp": "a sum over learnt directions, restricted (RPP-GP-UCB)",
    "bock": "a cylindrical model about a centre (BOCK), hyperparameters sampled",
    "bock-map": "the same, hyperparameters fitted",
    "matern-slice": "a Matérn model with sampled hyperparameters, as BOCK's paper compares with",
    "elastic": "a short length-scale, searched by walking down from longer ones (Elastic GP)",
    "sobol": "a scrambled Sobol sequence",
    "random": "uniform configurations",
}


def add_to(commands: Any) -> None:
    methods = commands.add_parser("methods", help="the methods, and how to set them")
    methods.add_argument("name", nargs="?", metavar="METHOD", help="one of them, with its settings")
    methods.set_defaults(handler=_methods)
    completion = commands.add_parser(
        "completion",
        help="a script that completes commands and options in your shell",
        description="Print a script for your shell. For bash: hidim completion bash > "
        "~/.local/share/bash-completion/completions/hidim; for zsh: into a file _hidim of your $fpath.",
    )
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh"])
    completion.set_defaults(handler=_completion)


def _methods(options: argparse.Namespace) -> None:
    from hidim.methods import METHODS, make_method
    from hidim.methods.settings import listed

    if options.name is None:
        width = max(map(len, METHODS))
        for name, method in METHODS.items():
            print(f"{name:{width}}  {_about(method)}")
        print("\nSettings are written behind the name, as in --method 'rembo(low=3, runs=4)';")
        print("`hidim methods rembo` lists them.")
        return
    method = make_method(options.name)
    print(f"{method.name}: {_about(method)}\n")
    for depth, name, value in listed(method):
        print(f"{'  ' * (depth + 1)}{name} = {value!r}")


def _about(method: Any) -> str:
    return ABOUT.get(method.name) or (type(method).__doc__ or method.name).strip().splitlines()[0]


def _completion(options: argparse.Namespace) -> None:
    from hidim._optional import require

    print(require("shtab", extra="cli").complete(options.parser, shell=options.shell))
