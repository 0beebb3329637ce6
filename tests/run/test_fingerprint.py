"""Which changes of an objective are noticed, and that nothing else is."""

from __future__ import annotations

from functools import lru_cache, partial

import pytest

from hidim import Float, Space
from hidim.programs import Command, Program, Reading
from hidim.run.fingerprint import differing, fingerprint

SCALE = 2.0
calls = 0


def helper(x):
    return SCALE * x


def bump():
    global calls
    calls += 1


def objective(p, shift=1.0):
    bump()
    return helper(p["x"]) + calls + shift


def compiled(text, name="f", **around):
    exec(text, around)
    return around[name]


def test_what_a_run_itself_changes_is_no_change(monkeypatch):
    known = fingerprint(objective)
    objective({"x": 1.0})
    assert differing(known, fingerprint(objective)) == []
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert differing(known, fingerprint(objective)) == ["SCALE"]
    monkeypatch.setitem(globals(), "helper", lambda x: 0.0)
    assert "helper" in differing(known, fingerprint(objective))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("def f(p): return None", 'def f(p):\n    """Documented."""\n\n    return None  # and said', True),
        ("def f(p): return p in {1, 'a', 'b'}", "def f(p): return p in {'b', 'a', 1}", True),
        ("def f(p): return 1", "def f(p): return 2", False),
        ("def f(p): return p.a", "def f(p): return p.b", False),
        ("f = lambda p: [q + 1 for q in p]", "f = lambda p: [q + 2 for q in p]", False),
        ("def f(p, k=1): return k", "def f(p, k=2): return k", False),
        (
            "class C:\n  def __call__(s, p): return 1\nf = C()",
            "class C:\n  def __call__(s, p): return 2\nf = C()",
            False,
        ),
    ],
)
def test_code_counts_and_comments_do_not(before, after, same):
    assert (differing(fingerprint(compiled(before)), fingerprint(compiled(after))) == []) is same


def test_wrapped_functions_and_their_arguments_count():
    assert fingerprint(lru_cache(objective)) == fingerprint(objective)
    first, second = (fingerprint(partial(objective, [1, 2], shift=shift)) for shift in (1.0, 2.0))
    assert differing(first, second) == ["argument shift of its code"]


def test_what_cannot_be_looked_at_is_no_error_and_nothing_can_be_said():
    class Odd(str):
        def __repr__(self):
            raise RuntimeError

    assert fingerprint(abs) == {}
    assert fingerprint(compiled("def f(p): return odd", odd=Odd())) == {}
    assert differing({}, fingerprint(objective)) == []


def test_of_a_program_its_line_and_its_files_count(tmp_path):
    script = tmp_path / "p.py"

    def known(*words):
        space = Space(x=Float(0, 1))
        with Program(Command.of(words, space), Reading(), space) as program:
            return fingerprint(program)

    script.write_text("print(1)")
    line = ("python3", str(script), "{x}")
    before = known(*line)
    assert known(*line) == before
    script.write_text("print(2)")
    assert differing(before, known(*line)) == [str(script)]
    assert "the command" in differing(before, known(*line, "-v"))
    assert known("python3", "-c", "pass  # " + 300 * "x", "{x}")  # no name of a file
