"""What a page of the documents says that a command prints: its blocks of set-up, of commands and of their output."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

PROMPT = "$ "
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,})(?P<info>.*)$")


class PageError(Exception):
    """The page is not written as the runner reads it: file, line, and what would be right."""


@dataclass
class Command:
    """One command, and what the page shows of its output."""

    text: str
    line: int
    expected: list[str] = field(default_factory=list)
    exit_code: int = 0
    compared: bool = True
    varying: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A fenced block of commands: lines `first` up to, not including, `last` of the page are within its fences."""

    first: int
    last: int
    commands: list[Command]


@dataclass
class Page:
    """A page with its blocks in order, and the blocks that it says can't be run, each with its reason."""

    path: Path
    lines: list[str]
    blocks: list[Block]
    left_out: list[tuple[int, str]]


def read(path: Path) -> Page:
    """Reads a page; PageError where a block is not understood."""
    lines = path.read_text(encoding="utf-8").splitlines()
    page = Page(path, lines, [], [])
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if lines[number].strip() == "<!-- setup":
            number = _hidden(page, number)
        elif fence and not fence["indent"]:
            number = _fenced(page, number, fence["marks"], fence["info"].strip())
        number += 1
    return page


def _hidden(page: Page, start: int) -> int:
    end = _find(page, start, lambda line: line.strip() == "-->", "a set-up in a comment ends with a line `-->`")
    _add_setup(page, start, end)
    return end


def _fenced(page: Page, start: int, marks: str, info: str) -> int:
    end = _find(page, start, lambda line: line.rstrip() == marks, f"the block ends with a line {marks}")
    words = shlex.split(info)
    kind, options = (words[0] if words else ""), words[1:]
    shows_commands = any(line.startswith(PROMPT) for line in page.lines[start + 1 : end])
    if kind == "sh" and "setup" in options:
        _add_setup(page, start, end)
    elif kind == "console":
        reason = _option(options, "norun")
        if reason is None:
            _add_commands(page, start, end, options)
        else:
            page.left_out.append((start + 1, reason))
    elif shows_commands:
        raise PageError(f"{page.path}:{start + 1}: a block that shows commands is ```console, and is run; ```console norun=\"WHY\" is not")
    return end


def _find(page: Page, start: int, ends: "object", rule: str) -> int:
    for number in range(start + 1, len(page.lines)):
        if ends(page.lines[number]):  # type: ignore[operator]
            return number
    raise PageError(f"{page.path}:{start + 1}: {rule}")


def _option(options: list[str], name: str) -> Optional[str]:
    for option in options:
        key, _, value = option.partition("=")
        if key == name:
            return value
    return None


def _add_setup(page: Page, start: int, end: int) -> None:
    text = "\n".join(page.lines[start + 1 : end])
    page.blocks.append(Block(start + 1, end, [Command(text, start + 2, compared=False)]))


def _add_commands(page: Page, start: int, end: int, options: list[str]) -> None:
    commands: list[Command] = []
    continued = False
    for number in range(start + 1, end):
        line = page.lines[number]
        if continued:
            commands[-1].text += "\n" + line
        elif line.startswith(PROMPT):
            commands.append(Command(line[len(PROMPT) :], number + 1))
        elif commands:
            commands[-1].expected.append(line)
        elif line.strip():
            raise PageError(f"{page.path}:{number + 1}: output before any command; the block starts with a line `{PROMPT}COMMAND`")
        continued = bool(commands) and not commands[-1].expected and line.endswith("\\")
    if not commands:
        raise PageError(f"{page.path}:{start + 1}: a console block without a command; it starts with a line `{PROMPT}COMMAND`")
    commands[-1].exit_code = int(_option(options, "exit") or 0)
    for command in commands:
        command.varying = [part for part in (_option(options, "varies") or "").split("|") if part]
    page.blocks.append(Block(start + 1, end, commands))
