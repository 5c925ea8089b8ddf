#!/usr/bin/env python3
"""Make the sources of the site: the documents of the project, laid out so that every link works without the project beside them.

usage: stage.py OUT; HOTSET_BIN names the program whose help becomes pages. OUT/src is written anew.

A link to a document becomes a link to its page. Another file that a page links to is copied below files/; if a browser would
not show it, it gets a page, too. A linked directory gets a page that lists its files.
"""

import json
import os
import pathlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import NoReturn, Union

import commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# What a browser shows by itself.
SHOWN = {".json", ".html", ".png", ".svg", ".txt", ".css"}
LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
LANGUAGES.update({".service": "ini", ".timer": "ini", ".default": "sh"})
# A link whose text is the file's name, as code hosts show it best.
NAMED = re.compile(r"\[(?:[\w.-]+/)*([\w-]+\.md)\]\(([^)\s]+)\)")
LINK = re.compile(r"(\]\(|\b(?:href|src|srcset)=\")([^)\s\"]+)")
CHAPTER = re.compile(r"^(\s*)- \[(.*)\]\(([^)]+)\)$")


def fail(what: str) -> NoReturn:
    sys.exit(f"docs: {what}")


def prose(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is prose; code is none."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        else:
            yield line, not fence
            continue
        yield line, False


def change_prose(text: str, change: Callable[[str], str]) -> str:
    """The text with all of it changed that is not code. A block keeps its language; other words there are for what runs examples."""
    lines = []
    for line, is_prose in prose(text):
        if not is_prose:
            line = re.sub(r"^(\s*`{3,}\w+) .*$", r"\1", line)
        else:
            words = line.split("`")
            words[::2] = [change(word) for word in words[::2]]
            line = "`".join(words)
        lines.append(line)
    return "".join(lines)


def place(path: pathlib.PurePosixPath) -> pathlib.PurePosixPath:
    """Where a file of the project lies in the site's sources."""
    parts = path.parts
    if path.suffix == ".md" and len(parts) == 1:
        return pathlib.PurePosixPath("project", path.name.lower())
    if parts[0] == "docs" and (path.suffix == ".md" or parts[1] == "images"):
        return pathlib.PurePosixPath(*parts[1:])
    return pathlib.PurePosixPath("files", path)


def below_docs(path: str) -> pathlib.PurePosixPath:
    return pathlib.PurePosixPath(os.path.normpath(f"docs/{path}"))


def title_of(text: str, otherwise: str) -> str:
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    return heading[1] if heading else otherwise


def notebook(text: str) -> str:
    """The cells of a notebook, with what they printed."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```\n" if cell["cell_type"] == "code" else f"{source}\n")
        for output in cell.get("outputs", []):
            printed = "".join(output.get("text") or output.get("data", {}).get("text/plain", []))
            parts += [f"```text\n{printed.rstrip()}\n```\n"] if printed else []
    return "\n".join(parts)


class Site:
    def __init__(self, out: pathlib.Path) -> None:
        self.out = out
        # Titles of chapters by their path in the project; what they link to that is no document.
        self.chapters: dict[pathlib.PurePosixPath, str] = {}
        self.files: set[pathlib.PurePosixPath] = set()
        self.directories: set[pathlib.PurePosixPath] = set()

    def write(self, path: Union[pathlib.PurePosixPath, str], text: str) -> None:
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def target(self, source: pathlib.PurePosixPath, link: str, seen_from: pathlib.PurePosixPath) -> str:
        """What a link of the document `source` becomes on the page `seen_from`."""
        if "://" in link or link.startswith(("mailto:", "#")):
            return link
        path, _, anchor = link.partition("#")
        linked = pathlib.PurePosixPath(os.path.normpath(source.parent / path))
        if not (ROOT / linked).exists():
            fail(f"{source} links to {link}, which is not there")
        if (ROOT / linked).is_dir():
            self.directories.add(linked)
            there = place(linked) / "index.md"
        elif linked.suffix == ".md":
            if linked not in self.chapters:
                fail(f"{source} links to {link}, which is no page: name it in docs/SUMMARY.md")
            there = place(linked)
        else:
            self.files.add(linked)
            there = self.shown(linked)
        relative = os.path.relpath(there, seen_from.parent)
        return relative + (f"#{anchor}" if anchor else "")

    def title(self, source: pathlib.PurePosixPath, name: str, link: str) -> str:
        """What a page is called in the list of chapters, where a link calls it by its file's name."""
        linked = pathlib.PurePosixPath(os.path.normpath(source.parent / link.partition("#")[0]))
        return self.chapters.get(linked, name) if linked.name == name else name

    def shown(self, path: pathlib.PurePosixPath) -> pathlib.PurePosixPath:
        """The page of a file, or its copy where a browser shows that."""
        there = place(path)
        return there if path.suffix in SHOWN else there.with_name(there.name + ".md")

    def document(self, path: pathlib.PurePosixPath) -> None:
        page = place(path)
        text = (ROOT / path).read_text(encoding="utf-8")

        def change(words: str) -> str:
            words = NAMED.sub(lambda match: f"[{self.title(path, match[1], match[2])}]({match[2]})", words)
            return LINK.sub(lambda match: match[1] + self.target(path, match[2], page), words)

        self.write(page, change_prose(text, change))

    def file(self, path: pathlib.PurePosixPath) -> None:
        copy, page = self.out / place(path), self.shown(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)
        if path.suffix in SHOWN:
            return
        text = copy.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            self.write(page, notebook(text) + f"\n[The notebook]({copy.name})\n")
            return
        fence = "`" * (1 + max([2, *(len(ticks) for ticks in re.findall("`+", text))]))
        language = LANGUAGES.get(path.suffix, "text")
        self.write(page, f"# {path.name}\n\n`{path}`, [as a file]({copy.name})\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n")

    def directory(self, path: pathlib.PurePosixPath) -> None:
        """A page that lists all files below a directory."""
        page = place(path) / "index.md"
        rows = []
        for found in sorted((ROOT / path).rglob("*")):
            if found.is_file():
                below = pathlib.PurePosixPath(found.relative_to(ROOT))
                self.files.add(below)
                link = os.path.relpath(self.shown(below), page.parent)
                rows.append(f"| [{below.relative_to(path)}]({link}) | {found.stat().st_size:,} |\n")
        self.write(page, f"# {path}/\n\n| file | bytes |\n|---|---|\n{''.join(rows)}")

    def file_chapters(self) -> list[str]:
        """Writes what documents link to; the chapters of those that have pages."""
        for path in sorted(self.directories):
            self.directory(path)
        for path in sorted(self.files):
            self.file(path)
        pages = [(f"{path}/", place(path) / "index.md") for path in self.directories]
        pages += [(str(path), self.shown(path)) for path in self.files if path.suffix not in SHOWN]
        listed = "".join(f"- [{name}]({page})\n" for name, page in sorted(pages))
        others = sorted(path for path in self.files if path.suffix in SHOWN and path.parts[:2] != ("docs", "images"))
        copies = "".join(f"- [{path}]({place(path)})\n" for path in others)
        self.write("files.md", f"# Files that pages link to\n\nCopies of files of the project.\n\n{listed}\n{copies}")
        return ["- [Files that pages link to](files.md)", *(f"  - [{name}]({page})" for name, page in sorted(pages))]


def cookbook() -> list[tuple[str, pathlib.PurePosixPath]]:
    """The recipes with their titles: the index first, then by the order of its links."""
    index = DOCS / "cookbook" / "index.md"
    if not index.exists():
        return []
    text = index.read_text(encoding="utf-8")
    linked = [match[2].partition("#")[0] for line, is_prose in prose(text) if is_prose for match in LINK.finditer(line)]
    names = list(dict.fromkeys(name for name in linked if name.endswith(".md") and "/" not in name))
    missing = {path.name for path in index.parent.glob("*.md")} - {*names, "index.md"}
    if missing:
        fail(f"docs/cookbook/index.md links to no {', '.join(sorted(missing))}")
    titles = [title_of((index.parent / name).read_text(encoding="utf-8"), name) for name in names]
    named = zip(["All questions", *titles], ["index.md", *names])
    return [(title, below_docs(f"cookbook/{name}")) for title, name in named]


def stage(out: pathlib.Path) -> None:
    site = Site(out)
    summary = (DOCS / "SUMMARY.md").read_text(encoding="utf-8")
    recipes = cookbook()
    named = [match for match in map(CHAPTER.match, summary.splitlines()) if match]
    site.chapters = {below_docs(match[3]): match[2] for match in named}
    site.chapters.update((path, title) for title, path in recipes)
    unnamed = {pathlib.PurePosixPath(path.relative_to(ROOT)) for path in DOCS.rglob("*.md")} - {*site.chapters, below_docs("SUMMARY.md")}
    if unnamed:
        fail(f"docs/SUMMARY.md names no {', '.join(map(str, sorted(unnamed)))}")
    for path in sorted(site.chapters):
        site.document(path)

    made: dict[str, list[str]] = {
        "cookbook": [f"{'  ' if path.name != 'index.md' else ''}- [{title}]({place(path)})" for title, path in recipes],
        "commands": commands.write(out, os.environ["HOTSET_BIN"]),
    }
    made["files"] = site.file_chapters()
    lines = []
    for line in summary.splitlines():
        marker = re.match(r"^(\s*)<!-- (\w+) -->$", line)
        chapter = CHAPTER.match(line)
        if marker:
            lines += [marker[1] + entry for entry in made[marker[2]]]
        elif chapter:
            lines.append(f"{chapter[1]}- [{chapter[2]}]({place(below_docs(chapter[3]))})")
        else:
            lines.append(line)
    site.write("SUMMARY.md", "\n".join(lines) + "\n")


def main() -> None:
    out = pathlib.Path(sys.argv[1]) / "src"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    stage(out)


if __name__ == "__main__":
    main()
