"""Runs the commands of a page in one shell, as root, in an empty directory that is /srv/shop to them."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pages import Command

SECONDS = 240
COLUMNS = "100"

# The directory lies on the disk, and is bound where pages say that it is: in a mount namespace, so that nothing is left of it.
ENTER = """
mount -t tmpfs none /srv && mkdir /srv/shop && mount --bind "$EXAMPLE_FILES" /srv/shop && cd /srv/shop || exit 70
sudo() { while [[ ${1-} == *=* ]]; do export "${1?}"; shift; done; "$@"; }
"""
# `eval` in the shell itself: what a command sets, the next one finds. The input is empty: a command must not wait for more.
RUN = """
printf '%s\\n' {number} >"$EXAMPLE_BOOK/at"
eval "$(<"$EXAMPLE_BOOK/{number}.command")" </dev/null >"$EXAMPLE_BOOK/{number}.output" 2>&1
printf '%s\\n' $? >"$EXAMPLE_BOOK/{number}.code"
"""


@dataclass
class Ran:
    """What one command printed on both of its outputs, and its exit code, which is None if it never ended."""

    output: list[str]
    exit_code: "int | None"


def run(commands: list[Command], binary: Path, scratch: Path) -> list[Ran]:
    """Runs the commands one after the other; those behind one that never ended have no exit code either."""
    home = Path(tempfile.mkdtemp(prefix="hotset-docs-", dir=scratch))
    # Others may pass through: some examples run as a user without privileges.
    home.chmod(0o711)
    try:
        for name in ("files", "book", "bin"):
            (home / name).mkdir()
        (home / "bin" / "hotset").symlink_to(binary)
        for number, command in enumerate(commands):
            (home / "book" / f"{number}.command").write_text(command.text + "\n", encoding="utf-8")
        script = ENTER + "".join(RUN.format(number=number) for number in range(len(commands)))
        _shell(script, home)
        return [_ran(home, number) for number in range(len(commands))]
    finally:
        shutil.rmtree(home)


def _shell(script: str, home: Path) -> None:
    environment = {
        "PATH": f"{home / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": COLUMNS,
        "NO_COLOR": "1",
        "EXAMPLE_FILES": str(home / "files"),
        "EXAMPLE_BOOK": str(home / "book"),
        "EXAMPLE_SOURCE": str(Path(__file__).resolve().parents[2]),
    }
    shell = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "bash", "--noprofile", "--norc", "-c", script],
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        shell.wait(timeout=SECONDS)
    # What still runs in the background has nobody to wait for it any more.
    try:
        os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(timeout=10)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGKILL)
    shell.wait()


def _ran(home: Path, number: int) -> Ran:
    output, code = home / "book" / f"{number}.output", home / "book" / f"{number}.code"
    text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    # What has no descriptor is named by its place on the disk, not by the directory that is bound.
    text = text.replace(str(home / "files"), "/srv/shop")
    return Ran([line.rstrip() for line in text.splitlines()], int(code.read_text()) if code.exists() else None)
