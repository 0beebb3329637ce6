"""One run of lp_solve in a process of its own, because some settings crash it.

    python lpsolve_worker.py LIBRARY MODEL.mps ITERATIONS '{"set_scaling": [4], …}'

It prints one JSON object: the status that `solve` returned, the iterations done, and the objective of the
best solution found, null without one. Whether that is a solution is checked on a fresh copy of the model.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_longlong, c_ubyte, c_void_p
from typing import Any

INT, REAL, MODEL = c_int, c_double, c_void_p
TOLERANCE = 1e-6
SUBOPTIMAL = 1  # the status of an interrupted search that has a solution; 0 is optimal


def load(path: str) -> ctypes.CDLL:
    """The library with the types of what is called here; settings take integers."""
    library = ctypes.CDLL(path)
    types: dict[str, tuple[Any, list[Any]]] = {
        "read_MPS": (MODEL, [ctypes.c_char_p, INT]),
        "solve": (INT, [MODEL]),
        "rand_uniform": (REAL, [MODEL, REAL]),
        "get_total_iter": (c_longlong, [MODEL]),
        "get_Norig_rows": (INT, [MODEL]),
        "get_Norig_columns": (INT, [MODEL]),
        "get_var_primalresult": (REAL, [MODEL, INT]),
        "get_columnex": (INT, [MODEL, INT, POINTER(REAL), POINTER(INT)]),
        "get_lowbo": (REAL, [MODEL, INT]),
        "get_upbo": (REAL, [MODEL, INT]),
        "get_rh_lower": (REAL, [MODEL, INT]),
        "get_rh_upper": (REAL, [MODEL, INT]),
        "is_int": (c_ubyte, [MODEL, INT]),
    }
    for name, (result, arguments) in types.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def solve(library: ctypes.CDLL, path: str, limit: int, settings: dict[str, list[int]]) -> dict[str, Any]:
    """Solve with these settings until there were more than `limit` iterations."""
    model = MODEL(library.read_MPS(path.encode(), 1))
    library.set_verbose(model, 0)
    for name, values in settings.items():
        getattr(library, name)(model, *values)
    stop = CFUNCTYPE(INT, MODEL, MODEL)(lambda *_: int(library.get_total_iter(model) > limit))
    library.put_abortfunc(model, stop, None)
    # The first random number seeds the generator with the time; after it, the seed can be ours.
    library.rand_uniform(model, 1.0)
    ctypes.CDLL(None).srand(1)
    status = library.solve(model)
    value = objective(library, model, path) if status in (0, SUBOPTIMAL) else None
    return {"status": status, "iterations": library.get_total_iter(model), "objective": value}


def objective(library: ctypes.CDLL, model: c_void_p, path: str) -> float | None:
    """The objective at the solution of `model`, None if that is none of the model as it was read."""
    fresh = MODEL(library.read_MPS(path.encode(), 1))
    rows, columns = library.get_Norig_rows(fresh), library.get_Norig_columns(fresh)
    activity = [0.0] * (rows + 1)
    column, places = (REAL * (rows + 1))(), (INT * (rows + 1))()
    for number in range(1, columns + 1):
        value = library.get_var_primalresult(model, rows + number)
        if not within(value, library.get_lowbo(fresh, number), library.get_upbo(fresh, number)):
            return None
        if library.is_int(fresh, number) and abs(value - round(value)) > TOLERANCE:
            return None
        for entry in range(library.get_columnex(fresh, number, column, places)):
            activity[places[entry]] += column[entry] * value
    for row in range(1, rows + 1):
        if not within(activity[row], library.get_rh_lower(fresh, row), library.get_rh_upper(fresh, row)):
            return None
    return activity[0]


def within(value: float, low: float, high: float) -> bool:
    """Whether low ≤ value ≤ high, up to the tolerance relative to the larger of 1 and the bound."""
    return low - TOLERANCE * max(1.0, abs(low)) <= value <= high + TOLERANCE * max(1.0, abs(high))


if __name__ == "__main__":
    library_path, model_path, iterations, text = sys.argv[1:]
    print(json.dumps(solve(load(library_path), model_path, int(iterations), json.loads(text))), flush=True)
    os._exit(0)  # what lp_solve does at the end of a process is of no interest
