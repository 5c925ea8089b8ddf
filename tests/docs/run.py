#!/usr/bin/env python3
"""run.py [--update] [PAGE…]: runs every command that the documents show, and compares what it prints with what they say it prints.

Without PAGE: README.md and every page below docs/. Only the shape is compared (shape.py). `--update` writes what was printed into
the pages: the whole output where a command shows none, the same lines anew where it does. As root; HOTSET_BIN names the binary.
Exit code: 0 all pages hold; 1 one does not; 2 something is missing.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import pages
import sandbox
import shape

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--update", action="store_true", help="write what was printed into the pages")
    arguments.add_argument("--keep", type=Path, metavar="DIR", help="write every whole output into DIR")
    arguments.add_argument("pages", nargs="*", type=Path)
    asked = arguments.parse_args()
    binary = Path(os.environ.get("HOTSET_BIN", ROOT / "target/release/hotset")).resolve()
    if not binary.is_file():
        print(f"docs: there is no {binary}; `make build` builds it, HOTSET_BIN names another", file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        print("docs: the examples need root: they load BPF programs and mount directories", file=sys.stderr)
        return 2
    scratch = Path(os.environ.get("TMPDIR", "/var/tmp"))
    failed = 0
    for path in asked.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        failed += not _page(path, asked.update, asked.keep, binary, scratch)
    return 1 if failed else 0


def _page(path: Path, update: bool, keep: "Path | None", binary: Path, scratch: Path) -> bool:
    try:
        page = pages.read(path)
    except pages.PageError as error:
        print(f"docs: {error}", file=sys.stderr)
        return False
    name = os.path.relpath(path, ROOT)
    for line, reason in page.left_out:
        print(f"docs: {name}:{line}: not run: {reason}")
    commands = [command for block in page.blocks for command in block.commands]
    if not commands:
        return True
    started = time.monotonic()
    results = list(zip(commands, sandbox.run(commands, binary, scratch)))
    if keep:
        _keep(keep, name, results)
    faults = [fault for command, ran in results for fault in _faults(command, ran, update)]
    for line, fault in faults:
        print(f"docs: {name}:{line}: {fault}", file=sys.stderr)
    if update and not faults:
        _write(page, results)
    verdict = "FAILED" if faults else "ok"
    print(f"docs: {name}: {len(commands)} commands, {time.monotonic() - started:.0f} s: {verdict}", flush=True)
    return not faults


def _faults(command: pages.Command, ran: sandbox.Ran, update: bool) -> list[tuple[int, str]]:
    shown = _indented(ran.output[-40:])
    if ran.exit_code is None:
        return [(command.line, f"never ended within {sandbox.SECONDS} s, or came after one that did not: {command.text}\n{shown}")]
    if ran.exit_code != command.exit_code:
        return [(command.line, f"exit code {ran.exit_code}, the page says {command.exit_code}: {command.text}\n{shown}")]
    fresh = update and not command.expected
    if command.compared and not fresh and shape.matches(command.expected, ran.output, command.varying) is None:
        differs = _indented(shape.difference(command.expected, ran.output, command.varying)[:60])
        return [(command.line, f"prints something else: {command.text}\n{differs}")]
    return []


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _keep(directory: Path, name: str, results: "list[tuple[pages.Command, sandbox.Ran]]") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / (name.replace("/", "-") + ".txt"), "w", encoding="utf-8") as file:
        for command, ran in results:
            print(f"$ {command.text}", *ran.output, f"[exit code {ran.exit_code}]", "", sep="\n", file=file)


def _write(page: pages.Page, results: "list[tuple[pages.Command, sandbox.Ran]]") -> None:
    by_line = {command.line: ran for command, ran in results}
    lines = list(page.lines)
    # From the last block to the first: earlier ones keep their lines' numbers.
    for block in reversed(page.blocks):
        if not block.commands[0].compared:
            continue
        new: list[str] = []
        for command in block.commands:
            new += (pages.PROMPT + command.text).split("\n")
            new += _refreshed(command, by_line[command.line].output)
        lines[block.first : block.last] = new
    page.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _refreshed(command: pages.Command, output: list[str]) -> list[str]:
    if not command.expected:
        return output
    places = shape.matches(command.expected, output, command.varying) or []
    new: list[str] = []
    for index, (first, last) in enumerate(places):
        if index:
            new.append(shape.ELLIPSIS)
        if first >= 0:
            new += output[first : last + 1]
    # A blank line at the end of an output parts it from the next command.
    if command.expected and not command.expected[-1].strip() and (not new or new[-1].strip()):
        new.append("")
    return new


if __name__ == "__main__":
    sys.exit(main())
