"""A PostgreSQL server of one's own for as long as a test runs: an ordinary user's, on a free loopback port.

    with postgres() as url:
        storage = optuna.storages.RDBStorage(url)

Needs Debian's package `postgresql`, or its like, and `psycopg`; `Unavailable` says what is missing.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

START_SECONDS = 60.0


class Unavailable(RuntimeError):
    """There is no PostgreSQL here; the message says why, for instance as the reason of a skipped test."""


@contextmanager
def postgres(**settings: str) -> Iterator[str]:
    """A server with an empty database; gives its URL for SQLAlchemy, ends the server after the block.

    Args:
        settings: of the server, for instance `fsync="off"`.
    """
    programs, user = _programs(), _ordinary_user()
    folder = Path(tempfile.mkdtemp(prefix="hidim-postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        password = secrets.token_hex(16)
        _initialised(programs / "initdb", folder, user, password)
        server, port = _started(programs, folder, user, settings)
        try:
            yield f"postgresql+psycopg://hidim:{password}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: what it holds is thrown away
            server.wait(START_SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """The newest folder with `initdb` and `postgres`."""
    if find_spec("psycopg") is None:
        raise Unavailable("psycopg is not installed: pip install 'psycopg[binary]'")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    folders = [*reversed(debian), *([Path(found).resolve().parent] if found else [])]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Unavailable("PostgreSQL is not installed: apt-get install postgresql")


def _ordinary_user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses root. None: whoever runs this."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise Unavailable("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _initialised(initdb: Path, folder: Path, user: str | None, password: str) -> None:
    words = folder / "password"
    words.write_text(password)
    words.chmod(0o600)
    if user is not None:
        shutil.chown(words, user)
    command = [str(initdb), "-D", str(folder / "data"), "-U", "hidim", "-E", "UTF8", "--locale=C"]
    command += ["--auth=scram-sha-256", f"--pwfile={words}", "--no-sync"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **_as(user))
    if done.returncode:
        raise Unavailable(f"initdb failed: {done.stderr.strip()}")


def _started(
    programs: Path, folder: Path, user: str | None, settings: dict[str, str]
) -> tuple[subprocess.Popen[bytes], int]:
    """A server that answers. A port that somebody else takes in the meantime is given up for another."""
    log = folder / "log"
    for _ in range(5):
        port = _free_port()
        options = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": ""}
        command = [str(programs / "postgres"), "-D", str(folder / "data")]
        command += [f"--{name}={setting}" for name, setting in (options | settings).items()]
        with log.open("wb") as lines:
            server = subprocess.Popen(command, cwd=folder, stdout=lines, stderr=lines, **_as(user))
        if _answers(programs / "pg_isready", server, port):
            return server, port
        server.kill()
        server.wait()
    raise Unavailable(f"the PostgreSQL server does not start: {log.read_text()[-1000:]}")


def _answers(pg_isready: Path, server: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    probe = [str(pg_isready), "-q", "-h", "127.0.0.1", "-p", str(port)]
    while server.poll() is None and time.monotonic() < deadline:
        if subprocess.run(probe).returncode == 0:
            return server.poll() is None
        time.sleep(0.02)
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _as(user: str | None) -> dict[str, object]:
    """Arguments of a subprocess that runs as this user, and is not struck by Ctrl-C before its time."""
    account = {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    return {"start_new_session": True} | account
