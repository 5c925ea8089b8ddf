"""Pages of the commands: what docs/commands.md says of each, and its help as the program prints it."""

import pathlib
import re
import subprocess
import sys


def help_of(binary: str, *words: str) -> str:
    # The wording does not depend on a terminal: without one, lines have at most 100 columns.
    # It calls itself what it is called, and that is not the file's name.
    command = ["hotset", *words, "--help"]
    return subprocess.run(command, executable=binary, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def listed(text: str) -> list[tuple[str, str]]:
    """The commands that a help lists, with their descriptions."""
    section = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    rows = [line.split(None, 1) for line in section[1].splitlines()] if section else []
    return [(row[0], row[1]) for row in rows if row[0] != "help"]


def introductions(text: str) -> dict[str, str]:
    """Sections of docs/commands.md by the command that their heading names."""
    parts = re.split(r"^## `hotset (\S+)`\n", text, flags=re.MULTILINE)
    return {name: re.split(r"^## ", body, flags=re.MULTILINE)[0].strip() for name, body in zip(parts[1::2], parts[2::2])}


def block(text: str) -> str:
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def page(binary: str, name: str, introduction: str) -> str:
    text = help_of(binary, name)
    # Links of docs/commands.md, seen from the directory of the pages.
    introduction = re.sub(r"\]\((?![#a-z]+://)", "](../", introduction)
    parts = [f"# hotset {name}\n", f"{introduction}\n", block(text)]
    for below, _ in listed(text):
        parts += [f"## hotset {name} {below}\n", block(help_of(binary, name, below))]
    return "\n".join(parts)


def write(out: pathlib.Path, binary: str) -> list[str]:
    """Writes a page for each command; the chapters of them."""
    overview = out / "commands.md"
    text = overview.read_text(encoding="utf-8")
    known = introductions(text)
    names = [name for name, _ in listed(help_of(binary))]
    if sorted(names) != sorted(known):
        sys.exit(f"docs: docs/commands.md and `hotset help` differ in {', '.join(sorted(set(names) ^ set(known)))}")
    (out / "commands").mkdir()
    for name in names:
        (out / "commands" / f"{name}.md").write_text(page(binary, name, known[name]), encoding="utf-8")
        section = f"## `hotset {name}`\n\n{known[name]}"
        text = text.replace(section, f"{section} [All options](commands/{name}.md)")
    overview.write_text(text, encoding="utf-8")
    return [f"- [{name}](commands/{name}.md)" for name in names]
