"""Programs as objectives: a space in a file, a command with placeholders, a value in what it prints.

spacefile   the space, from TOML, JSON or ConfigSpace, with errors that name the line
toml        where in a TOML file which key stands
usage       a space guessed from a program's `--help`
command     the command line of one trial
reading     the value in what the program printed or wrote
process     a program under control: time, output, children
guard       who ends the programs if hidim itself is killed
program     all of this as an objective
tuning      the run, kept in a journal
shared      the run, kept in a storage of Optuna's and shared by several machines
"""

from __future__ import annotations

from hidim.programs.command import Command
from hidim.programs.program import Program
from hidim.programs.reading import Reading
from hidim.programs.spacefile import read_space

__all__ = ["Command", "Program", "Reading", "read_space"]
