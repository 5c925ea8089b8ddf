"""`hotset.restore/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union

from hotset.documents.common import (
    Hex,
    Missing,
    NamedFew,
)


@dataclass(frozen=True)
class Restore:
    """What `hotset restore --json` writes. Counts of pages are in base pages. docs/formats.md says what holds for
    every format.
    """

    schema: Literal["hotset.restore/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The snapshot.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    file: str

    #: Its bytes in hexadecimal, where the text is not exact.
    file_hex: Optional[Hex]

    #: Bytes in a page.
    page_size_bytes: int

    #: When it was made, in seconds since 1970.
    created_s: int

    #: Files that the snapshot holds.
    files: int

    #: Pages that it holds.
    pages: int

    #: Files that are as they were when they were saved, as far as was looked.
    unchanged_files: int

    #: Files that are not as they were: nothing of them was read.
    changed: NamedFew

    #: Files that are gone.
    vanished: NamedFew

    #: Files that can't be opened, read or asked about.
    unreadable: NamedFew

    #: Pages of unchanged files that the budget leaves out; without a budget none.
    beyond_budget_pages: int

    #: Pages that were to be cached in the end.
    wanted_pages: int

    #: Pages among them that were cached before.
    cached_before_pages: int

    #: Pages among them that were missing and asked for.
    fetched_pages: int

    #: Pages among them of which nobody tells this user whether they are cached.
    unknown_pages: int

    #: Time of reading alone, without verifying, in nanoseconds.
    read_ns: int

    #: True where nothing was to be read.
    dry_run: bool

    #: Why it ended early; null where it did not.
    stopped: Optional[RestoreStop]

    #: Pages among the wanted that are cached in the end; null where nothing was to be read.
    cached_after_pages: Optional[int]

    #: All that the snapshot holds is cached, or would be, but for what a budget leaves out.
    complete: bool

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class RestoreStopInterrupted:
    """Somebody asked for it."""

    reason: Literal["interrupted"]


@dataclass(frozen=True)
class RestoreStopMemory:
    """More would push out what was just restored."""

    reason: Literal["memory"]

    #: What the host or the control group leaves for file cache, in bytes.
    room_bytes: int

    #: The control group that sets the limit; null where it is the host.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    cgroup: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    cgroup_hex: Optional[Hex]


#: Why restoring ended before its end.
RestoreStop = Union[RestoreStopInterrupted, RestoreStopMemory]
