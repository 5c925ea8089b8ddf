"""`hotset.residency/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Dev,
    Hex,
    Missing,
    ResidencySource,
    Skipped,
    Unreadable,
)


@dataclass(frozen=True)
class Residency:
    """What `hotset ls --json` writes. Counts of pages are in base pages. docs/formats.md says what holds for every
    format.
    """

    schema: Literal["hotset.residency/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The files.
    files: list[File]

    #: Directories with the sums below them; none where these were not asked for.
    directories: list[Directory]

    #: The sums of all.
    totals: Sums

    skipped: Skipped

    #: What could not be looked at.
    unreadable: list[Unreadable]

    #: It was stopped before its end.
    partial: bool

    #: Bytes of a base page.
    page_size_bytes: int

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class File:
    """An object with its reasons."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: Its size; the capacity for a block device.
    size_bytes: int

    #: Pages that it spans.
    pages: int

    #: Pages in the cache.
    cached_pages: Optional[int]

    #: Dirty pages.
    dirty_pages: Optional[int]

    #: Pages being written back.
    writeback_pages: Optional[int]

    #: Pages that were cached once and evicted.
    evicted_pages: Optional[int]

    #: Pages evicted so lately that reading them again would count as part of the working set.
    recently_evicted_pages: Optional[int]

    #: Which system call answered.
    source: Optional[ResidencySource]

    #: Where the cached pages lie: for each stretch of the file, its pages and the cached among them. Null where nobody
    #: asked or can tell.
    cells: Optional[list[tuple[int, int]]]

    #: Why values of this object are null.
    missing: list[Missing]

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Directory:
    """An object with its reasons."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: How many there are.
    files: int

    #: Files among them whose state nobody knows.
    unknown_files: int

    #: Their bytes.
    size_bytes: int

    #: Pages that they span.
    pages: int

    #: Pages in the cache, of the files whose state is known.
    cached_pages: Optional[int]

    #: Dirty pages.
    dirty_pages: Optional[int]

    #: Pages being written back.
    writeback_pages: Optional[int]

    #: Pages evicted lately.
    recently_evicted_pages: Optional[int]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Sums:
    """The sums of files, in base pages."""

    #: How many there are.
    files: int

    #: Files among them whose state nobody knows.
    unknown_files: int

    #: Their bytes.
    size_bytes: int

    #: Pages that they span.
    pages: int

    #: Pages in the cache, of the files whose state is known.
    cached_pages: Optional[int]

    #: Dirty pages.
    dirty_pages: Optional[int]

    #: Pages being written back.
    writeback_pages: Optional[int]

    #: Pages evicted lately.
    recently_evicted_pages: Optional[int]
