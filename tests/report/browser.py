"""A real browser, driven through a pair of pipes by the protocol of Chromium's developer tools."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]


def found() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab of a headless browser."""

    def __init__(self, program: str, folder: Path) -> None:
        theirs, self._write = os.pipe()
        self._read, out = os.pipe()
        far = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (theirs, out)]
        line = f'exec "$@" 3<&{far[0]} 4>&{far[1]} {far[0]}<&- {far[1]}>&-'
        command = ["bash", "-c", line, "bash", program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=far, **quiet)
        for end in (theirs, out, *far):
            os.close(end)
        self._buffer, self._number, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self._number += 1
        told = {"id": self._number, "method": method, "params": params}
        if self._session:
            told["sessionId"] = self._session
        os.write(self._write, json.dumps(told).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                part = os.read(self._read, 1 << 20)
                assert part, "the browser has gone"
                self._buffer += part
            line, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, code: str) -> Any:
        """The value of a piece of JavaScript on the page."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, page: Path, view: str = "", *, width: int = 1280, dark: bool = False) -> None:
        """Load a page anew, and wait until it is drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{page.as_uri()}{view}")
        self.wait("document.documentElement?.dataset.drawn")

    def wait(self, code: str) -> None:
        """Until a piece of JavaScript is true."""
        end = time.monotonic() + 20.0
        while not self._now(code):
            assert time.monotonic() < end, f"{code} never came true"
            time.sleep(0.02)

    def _now(self, code: str) -> bool:
        """Whether it is true; not while one page gives way to another."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        return "exceptionDetails" not in answer and bool(answer["result"].get("value"))

    def errors(self) -> str | None:
        """What the page says of its own errors."""
        return self.run("document.documentElement.dataset.errors || null")

    def pointer(self, kind: str, x: float, y: float, **more: Any) -> None:
        """`kind` is "mouseMoved", "mousePressed" or "mouseReleased"."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key: str) -> None:
        """A key, by its name."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def close(self) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)
