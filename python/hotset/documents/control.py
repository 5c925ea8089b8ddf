"""`hotset.control/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Dev,
    Hex,
    Missing,
    Unevictable,
    Unreadable,
)


@dataclass(frozen=True)
class Control:
    """What `hotset warm`, `evict` and `pin` write with `--json`. Counts of pages are in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.control/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: What was done.
    verb: ControlVerb

    #: Files that are not as they should be and have no row in `files`, because there were too many to keep.
    files_left_out: int

    #: Paths that nothing could be done about.
    unreadable: list[Unreadable]

    #: Sockets, pipes, devices and files of /proc and the like, which have no cache.
    not_cacheable: int

    #: Sums over all files.
    totals: ControlTotals

    #: What else the reader has to know, a sentence each.
    notes: list[str]

    #: True where it was told to stop before the end.
    interrupted: bool

    #: The files, as far as they have a row.
    files: list[FileKeys]

    #: The state that was asked for was reached, of all.
    reached: bool

    #: Bytes of a base page.
    page_size_bytes: int

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class ControlTotals:
    """Sums over files."""

    #: Files that were found.
    files: int

    #: Files among them that are as they should be.
    files_reached: int

    #: Files whose state after nobody can tell.
    files_unknown: int

    #: Their sizes in bytes.
    size_bytes: int

    #: Pages that were to be warmed, evicted or pinned, of the files whose state is known.
    pages: int

    #: Pages cached before.
    cached_before: int

    #: Pages cached after.
    cached_after: int

    #: Bytes that were fetched from devices.
    fetched_bytes: int

    #: Nanoseconds that it took.
    wall_ns: int


@dataclass(frozen=True)
class FileKeys:
    """What was reached for one file. Pages are those of the range that was asked for."""

    #: Its path as it was asked for or found.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: Its size in bytes, when all was done.
    size_bytes: int

    #: Base pages that were to be warmed, evicted or pinned.
    pages: int

    #: Pages of these in the cache before.
    cached_before: Optional[int]

    #: Pages of these in the cache after; for warming and pinning only what is up to date.
    cached_after: Optional[int]

    #: Pages that were to be evicted and stayed, by reason.
    stayed: list[Stayed]

    #: Why pages that were to be warmed or pinned are missing; null where none is.
    not_cached: Optional[NotCached]

    #: What went wrong, for people; null where nothing did.
    error: Optional[str]

    #: The state that was asked for was reached.
    reached: bool

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Stayed:
    """Pages that stayed."""

    #: What keeps them.
    reason: Unevictable

    #: How many base pages; null where it isn't known.
    pages: Optional[int]

    #: The PID of the process that holds the pages; null where none was found.
    pid: Optional[int]

    #: The kernel's short name for it; null where none was found.
    comm: Optional[str]


#: What was done to the files.
ControlVerb = Literal["warm", "evict", "pin"]


#: Why pages that were to be cached are not.
NotCached = Literal["unreadable", "budget", "memory", "interrupted", "unknown"]
