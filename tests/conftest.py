"""Hypothesis profiles: the same examples every time under CI, no deadlines on busy machines anywhere.

And Ctrl-C works, also where the shell made it ignored, as shells do for jobs in the background.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
