"""hotset as a child process: what it writes kept apart from what the observed program writes, and Ctrl-C."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Optional, Union

from hotset import _binary
from hotset.errors import CommandError

#: A word of a command. Text that is no UTF-8 is as `os.fsdecode` has it.
Word = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
#: A command: a program with its arguments, which no shell splits.
Command = Sequence[Word]
#: What `subprocess.Popen` takes for a standard stream.
Stream = Union[None, int, IO[Any]]

#: How long hotset may take to end after Ctrl-C before it is told again: a terminal tells it at the same time as Python.
GRACE_S = (1.0, 10.0, 10.0)


@dataclass(frozen=True)
class Ended:
    """How a run of hotset ended."""

    exit_status: int
    #: What hotset said of itself, such as why it refused something.
    messages: tuple[str, ...]
    #: What was captured.
    stdout: bytes
    stderr: bytes
    arguments: tuple[str, ...]

    def error(self) -> CommandError:
        """That there is no result, in hotset's own words."""
        # Of refused arguments, without where the command line would have help.
        said = "\n".join(self.messages).split("\n\nFor more information, try", 1)[0].removeprefix("error: ")
        said = said or f"hotset {self.arguments[0]} ended without a result"
        return CommandError(said, self.exit_status, self.arguments)


def words(command: Command) -> list[str]:
    """A command's words as text that means the same bytes."""
    if isinstance(command, (str, bytes)):
        raise TypeError(
            f"a command is a list of words, such as ['python3', 'app.py'], and this is the text {command!r}; "
            "shlex.split() makes words of it as a shell does"
        )
    found = [os.fsdecode(word) for word in command]
    if not found:
        raise ValueError("a command without words")
    return found


def flag(name: str, value: object) -> list[str]:
    """An option: nothing where it is None or False, one word where it is True, the name and a value each time otherwise."""
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"{name}={os.fsdecode(one) if isinstance(one, (bytes, os.PathLike)) else one}" for one in values]


def run(
    arguments: Sequence[str],
    *,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    capture: bool = False,
) -> Ended:
    """Runs hotset and waits for it. Its messages go to a file, so that standard error is the observed program's alone.

    With `capture`, standard output is hotset's, and kept; standard input is empty then. A stream that is `subprocess.PIPE` is kept, too.
    """
    binary = _binary.find_checked()
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch, open(os.devnull, "rb") as nothing:
        messages = Path(scratch, "messages")
        if capture:
            stdin, stdout = nothing, subprocess.PIPE
        try:
            process = subprocess.Popen(
                [binary, "--messages", str(messages), *arguments],
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
        except OSError as error:
            if error.errno == errno.ENOEXEC:
                raise _binary.exec_format_error(binary) from error
            raise
        with process:
            written, complained = _wait(process)
        said = messages.read_text(errors="replace") if messages.exists() else ""
    status = process.returncode
    return Ended(
        exit_status=128 - status if status < 0 else status,
        messages=tuple(line.removeprefix("hotset: ") for line in said.strip().splitlines()),
        stdout=written,
        stderr=complained,
        arguments=tuple(arguments),
    )


def _wait(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Waits, and returns what was captured. After Ctrl-C, hotset has time to end its command and itself."""
    try:
        out, err = process.communicate()
        return out or b"", err or b""
    except BaseException:
        for grace, next_signal in zip(GRACE_S, (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)):
            try:
                process.wait(grace)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(next_signal)
        raise
