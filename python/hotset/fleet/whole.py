"""Files that are whole, or not there: what a reader finds under a name was written to its end."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def whole_file(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path to write to, beside ``path``, which gets its name when all went well."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a text."""
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
