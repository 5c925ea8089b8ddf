"""`hotset.system-cache/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Dev,
    Hex,
    MemInfo,
    Missing,
    ReasonKind,
    ResidencySource,
    Unreadable,
)


@dataclass(frozen=True)
class SystemCache:
    """What `hotset ls --system --json` writes. Counts of pages are in base pages. docs/formats.md says what holds
    for every format.
    """

    schema: Literal["hotset.system-cache/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: By which means the cache was looked at.
    source: CacheSource

    #: Why the kernel's own lists were not used; null where they were.
    fallback_reason: Optional[str]

    #: Bytes of a page.
    page_size_bytes: int

    #: Why file systems are left out of `file_systems`; null where none is.
    gap: Optional[Reason]

    #: What could not be looked at, by name; only a walk has such.
    unreadable: list[Unreadable]

    #: How many there were of these.
    unreadable_count: int

    #: Files whose state nobody may tell; only a walk has such.
    unknown_files: int

    #: True where it was stopped before its end.
    interrupted: bool

    #: /proc/meminfo right before.
    meminfo_before: MemInfo

    #: /proc/meminfo right after.
    meminfo_after: MemInfo

    #: Everything that is cached was looked at.
    complete: bool

    #: The files with most pages.
    files: list[FileKeys]

    #: What is cached and not among them.
    unlisted: Unlisted

    #: All file systems with pages, or with a gap; most pages first.
    file_systems: list[CachedFileSystem]

    #: What the kernel's own counts are made of.
    totals: Totals

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Reason:
    """Why a value is missing, and what would be needed to have it."""

    #: The class that scripts can match on.
    kind: ReasonKind

    #: A short phrase for people, without a full stop.
    detail: str


@dataclass(frozen=True)
class FileKeys:
    """One file of the list."""

    #: Its path as seen from here, its last one where it is deleted. Where its file system is not mounted here, the path
    #: within it.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: Whether `path` leads to it from here: false where it is deleted, mounted over, or on a file system that is not
    #: mounted here.
    reachable: bool

    #: True where it has no name any more.
    deleted: bool

    #: What it is.
    kind: PageHolder

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: The device's number where it is a block device, else null.
    device: Optional[Dev]

    #: Its size in bytes.
    size_bytes: int

    #: Its pages in the cache.
    cached_pages: int

    #: What cachestat(2) adds to it, for those that could be opened.
    state: Optional[Residency]

    #: Processes that hold it, where it is deleted and somebody looked.
    holders: list[Holder]

    #: The share of the file that is cached, 0 to 1; null for an empty one.
    file_share: Optional[float]

    #: Its share of all that is cached, 0 to 1; null where nothing is.
    cache_share: Optional[float]

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Residency:
    """The cache state of one file, in base pages."""

    #: The file's size in bytes.
    size_bytes: int

    #: Pages that the size spans.
    pages: int

    #: Pages in the cache. cachestat(2) counts pages that are still being read in.
    cached_pages: int

    #: Dirty pages.
    dirty_pages: Optional[int]

    #: Pages being written back.
    writeback_pages: Optional[int]

    #: Pages that were cached once and evicted.
    evicted_pages: Optional[int]

    #: Pages among them evicted so lately that reading them again would count as part of the working set.
    recently_evicted_pages: Optional[int]

    #: Which system call answered.
    source: ResidencySource


@dataclass(frozen=True)
class Holder:
    """A process that has a file open or mapped."""

    #: Its PID.
    pid: int

    #: The name of its program.
    name: str


@dataclass(frozen=True)
class Unlisted:
    """An object."""

    files: int

    cached_bytes: int


@dataclass(frozen=True)
class CachedFileSystem:
    """One file system, mounted here, elsewhere or nowhere."""

    #: Its device number, as /proc/self/mountinfo has it.
    dev: Dev

    #: Its type, e.g. `ext4`.
    type: str

    #: What the kernel calls it: a device's name, or the type again.
    name: str

    #: What its pages count as.
    kind: FileSystemKind

    #: Where it is mounted, seen from here; null where it isn't: another mount namespace, a lazy unmount, or the
    #: kernel's own.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    mount: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    mount_hex: Optional[Hex]

    #: Inodes in memory, or files that a walk asked about.
    inodes: int

    #: Inodes among them with pages.
    cached_inodes: int

    #: Their pages.
    pages: PagesByHolder

    #: Regular files without a name, which something holds open.
    deleted_files: int

    #: Their pages.
    deleted_pages: int

    #: Why these numbers are less than the whole; null where they are the whole.
    gap: Optional[Reason]


@dataclass(frozen=True)
class PagesByHolder:
    """Pages by what holds them."""

    #: Regular files.
    regular: int

    #: Directories: their entries.
    directories: int

    #: Symbolic links.
    symlinks: int

    #: Block devices.
    block_devices: int

    #: File systems' own inodes.
    internal: int


@dataclass(frozen=True)
class Totals:
    """What the kernel's own counts are made of."""

    #: `Cached` of /proc/meminfo, in the middle.
    cached_bytes: int

    #: `Shmem`, a part of it.
    shmem_bytes: int

    #: `Buffers`.
    buffers_bytes: int

    #: How much these changed meanwhile.
    drift_bytes: int

    #: What was found.
    explained_bytes: int

    #: As a share of what is cached, 0 to 1; null where nothing is.
    explained_share: Optional[float]

    #: What was not found.
    unexplained_bytes: int

    #: Bytes by what holds them.
    parts: dict[str, int]

    #: Pages of block devices.
    block_device_bytes: int

    #: Reserved huge pages of files.
    huge_page_bytes: int


#: By which means the cache was looked at.
CacheSource = Literal["inode_list", "walk"]


#: What kind of thing holds pages.
PageHolder = Literal["regular", "directory", "symlink", "block_device", "internal"]


#: What a file system's pages are to the kernel's own counts.
FileSystemKind = Literal["ordinary", "shared_memory", "block_devices", "huge_pages"]
