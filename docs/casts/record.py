#!/usr/bin/env python3
"""record.py SCRIPT OUTPUT: plays a script at a terminal and writes what it showed as an asciicast (version 2).

A script has a line for each act: `size COLUMNS ROWS`, `setup COMMAND` (not shown), `$ COMMAND` (typed, run to its end),
`start COMMAND` (typed; it goes on), `keys KEYS` (pressed), `end` (waits for what was started), `wait SECONDS`.
https://docs.asciinema.org/manual/asciicast/v2/ describes the format.
"""

import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import termios
import time

PROMPT = "\033[1;36m$\033[0m "
KEY_SECONDS = 0.035


class Recorder:
    """A terminal of a fixed size, and what it has shown since it began."""

    def __init__(self) -> None:
        self.size = (100, 30)
        self.events: list[tuple[float, str]] = []
        self.now = 0.0
        # The program and its terminal, while one runs.
        self.child: tuple[int, int] | None = None

    def show(self, text: str, seconds: float = 0.0) -> None:
        self.events.append((self.now, text.replace("\n", "\r\n")))
        self.now += seconds

    def type(self, command: str) -> None:
        self.show(PROMPT, 0.4)
        for sign in command:
            self.show(sign, KEY_SECONDS)
        self.show("\n", 0.1)

    def start(self, command: str) -> None:
        self.type(command)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--noprofile", "--norc", "-c", command])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", self.size[1], self.size[0], 0, 0))
        self.child = (pid, terminal)

    def listen(self, seconds: float) -> bool:
        """Keeps what the program shows within this time; False if none runs any more."""
        if self.child is None:
            return False
        pid, terminal = self.child
        began, before = time.monotonic(), self.now
        while (left := began + seconds - time.monotonic()) > 0:
            if not select.select([terminal], [], [], left)[0]:
                break
            try:
                text = os.read(terminal, 65536)
            except OSError:
                text = b""
            self.now = before + time.monotonic() - began
            if not text:
                os.waitpid(pid, 0)
                os.close(terminal)
                self.child = None
                return False
            self.events.append((self.now, text.decode("utf-8", "replace")))
        self.now = before + time.monotonic() - began
        return True

    def end(self) -> None:
        while self.listen(600):
            pass

    def act(self, line: str) -> None:
        verb, _, rest = line.partition(" ")
        if verb == "size":
            columns, rows = rest.split()
            self.size = (int(columns), int(rows))
        elif verb == "setup":
            if subprocess.run(["bash", "-c", rest], stdin=subprocess.DEVNULL).returncode != 0:
                raise SystemExit(f"record: the set-up failed: {rest}")
        elif verb == "$":
            self.start(rest)
            self.end()
        elif verb == "start":
            self.start(rest)
        elif verb == "keys" and self.child:
            os.write(self.child[1], rest.encode().decode("unicode_escape").encode())
        elif verb == "end":
            self.end()
        elif verb == "wait":
            if not self.listen(float(rest)):
                self.now += float(rest)
        else:
            raise SystemExit(f"record: {line!r} is not an act that can be done here; see --help")


def main() -> None:
    if len(sys.argv) != 3 or "--help" in sys.argv:
        raise SystemExit(__doc__)
    recorder = Recorder()
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8", TZ="UTC")
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            recorder.act(line)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        print(json.dumps({"version": 2, "width": recorder.size[0], "height": recorder.size[1]}), file=file)
        for at, text in recorder.events:
            print(json.dumps([round(at, 3), "o", text], ensure_ascii=False), file=file)


if __name__ == "__main__":
    main()
