"""`hotset.top/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Dev,
    FileKind,
    Hex,
    MemInfo,
    Missing,
    NotMeasuredList,
    Time,
)


@dataclass(frozen=True)
class TopHeader:
    """A line of what `hotset top --record` writes: the header, or an interval. docs/formats.md says what holds for
    every format.
    """

    schema: Literal["hotset.top/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The host's name.
    host: str

    #: The interval in nanoseconds.
    interval_ns: int

    #: Whose I/O was counted; null for the whole host.
    scope: Optional[str]

    #: What the kernel could not tell.
    not_measured: NotMeasuredList

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class TopLine:
    """A line of what `hotset top --record` writes: the header, or an interval. docs/formats.md says what holds for
    every format.
    """

    #: When it ended.
    at: Time

    #: When it ended, in nanoseconds since the session began.
    ended_after_ns: int

    #: How long it was, in nanoseconds.
    length_ns: int

    #: All that was counted, `others` with it.
    totals: LiveIo

    #: What was counted for nobody: a table was full, or who it belongs to had ended.
    others: LiveIo

    #: Processes that did something in the interval, or ended in it.
    processes: list[Process]

    #: Files that were used in it.
    files: list[File]

    #: Control groups of these processes.
    cgroups: list[Cgroup]

    #: What each process did to each file, as far as both have a line.
    pairs: list[LiveRow]

    #: The sums of what has no line, because a bound was reached.
    unlisted: UnlistedKeys

    #: Pages that left the cache but for truncation and unlinking.
    evicted_pages: Optional[int]

    #: The host.
    host: HostMemory

    #: Losses since the session began.
    losses: LiveLosses

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Process:
    """A process, a file or a control group, and what was counted of it."""

    #: Unique in the session: with PID reuse, the new process gets another one.
    id: int

    #: Its PID in the initial PID namespace.
    pid: int

    #: The PID of its parent.
    ppid: Optional[int]

    #: The user that it runs as.
    uid: Optional[int]

    #: The name of its program, at most 15 bytes.
    comm: str

    #: Its control group, the path below the root of the hierarchy that accounts memory: `/system.slice/ssh.service`.
    cgroup: Optional[str]

    #: It ended in this interval: the session will not show it again.
    ended: bool

    #: The name of its user; null where it is not known.
    user: Optional[str]

    #: Files that it used in the interval.
    files: int

    #: What was counted.
    io: LiveIo


@dataclass(frozen=True)
class File:
    """A process, a file or a control group, and what was counted of it."""

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: What it is.
    kind: FileKind

    #: A path that leads to it as some process used it; null where names are not collected.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: Its name is gone.
    deleted: bool

    #: Processes that used it in the interval.
    processes: int

    #: What was counted.
    io: LiveIo

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Cgroup:
    """A process, a file or a control group, and what was counted of it."""

    #: Its path.
    path: Optional[str]

    #: The name of its container, pod or unit; null where it is none of these.
    name: Optional[str]

    #: Its processes that did something in the interval; those of groups below it are not among them.
    processes: int

    #: Bytes of page cache that are charged to it; null where the kernel does not account it.
    cache_bytes: Optional[int]

    #: Bytes of its own limit; null where it has none or none is known.
    limit_bytes: Optional[int]

    #: Pages of files that it read back in the interval after they had been evicted; null where the kernel does not tell
    #: (before 5.9), and in
    #: the first interval.
    refaulted_pages: Optional[int]

    #: Bytes of page cache with 99 % of the hits that it could have had since the session began, by exact LRU of a
    #: sample; null where that was
    #: not asked for, or too little was sampled.
    need_bytes: Optional[int]

    #: What was counted.
    io: LiveIo


@dataclass(frozen=True)
class LiveIo:
    """What was counted in one interval. Pages are base pages, whatever the folio size.
    Written by name, without those that are 0.
    """

    #: Buffered read calls
    read_calls: int = 0

    #: Bytes that buffered reads returned
    read_bytes: int = 0

    #: Pages that buffered reads asked for
    read_pages: int = 0

    #: Pages that buffered reads asked for and that were made of zeros, without the device
    read_zeros: int = 0

    #: Pages that buffered reads asked for and that were not in the page cache
    read_misses: int = 0

    #: Pages that buffered reads found in the page cache only because the kernel had read ahead
    readahead_hits: int = 0

    #: Buffered read calls that began where the previous one of the process and file ended
    sequential_reads: int = 0

    #: Buffered write calls
    write_calls: int = 0

    #: Bytes that buffered writes accepted
    write_bytes: int = 0

    #: Pages that buffered writes wrote to
    write_pages: int = 0

    #: Pages that buffered writes created in the page cache
    new_pages: int = 0

    #: Pages that had to be read because a buffered write changed only a part of them
    write_misses: int = 0

    #: Pages that turned from clean to dirty
    dirtied_pages: int = 0

    #: Buffered write calls that began where the previous one of the process and file ended
    sequential_writes: int = 0

    #: Page faults on file mappings
    faults: int = 0

    #: Page faults on file mappings that had to read
    major_faults: int = 0

    #: Pages that faults on file mappings read from the device
    fault_pages: int = 0

    #: Read calls that bypassed the page cache
    direct_read_calls: int = 0

    #: Bytes that direct reads returned
    direct_read_bytes: int = 0

    #: Write calls that bypassed the page cache
    direct_write_calls: int = 0

    #: Bytes that direct writes accepted
    direct_write_bytes: int = 0

    #: Pages that were read ahead
    readahead_pages: int = 0

    #: Calls of fsync and the like
    sync_calls: int = 0

    #: Bytes that the block layer was asked to read
    device_read_bytes: int = 0

    #: Bytes that the block layer was asked to write
    device_write_bytes: int = 0

    #: Time in buffered reads that found every page in the page cache
    read_hit_ns: int = 0

    #: Time in buffered reads that missed, or waited for pages that were being read
    read_wait_ns: int = 0

    #: Time in direct reads and writes
    direct_ns: int = 0

    #: Time in buffered writes
    write_ns: int = 0

    #: Time in fsync and the like
    sync_ns: int = 0


@dataclass(frozen=True)
class LiveRow:
    """What one process did to one file in one interval."""

    #: The process, by its place in `processes`.
    process: int

    #: The file, by its place in `files`.
    file: int

    #: What was counted.
    io: LiveIo


@dataclass(frozen=True)
class UnlistedKeys:
    """The sums of what has no line."""

    #: Of processes.
    processes: Unlisted

    #: Of files.
    files: Unlisted

    #: Of control groups.
    cgroups: Unlisted


@dataclass(frozen=True)
class Unlisted:
    """What has no line of its own, because a bound was reached."""

    #: How many have no line.
    items: int

    #: What they did.
    io: LiveIo


@dataclass(frozen=True)
class HostMemory:
    """What the host says of its memory at the end of an interval, and what it did during it."""

    #: /proc/meminfo at the end.
    memory: Optional[MemInfo]

    #: Pages of files that were read back after they had been evicted (`workingset_refault_file`), in the interval.
    refaulted_pages: Optional[int]

    #: Pages of files that reclaim took (`pgsteal_file`, which lacks what DAMON pages out), in the interval.
    reclaimed_pages: Optional[int]

    #: Pages that were written back (`nr_written`), in the interval.
    written_back_pages: Optional[int]

    #: Some task waited for memory.
    memory_some_ns: Optional[int]

    #: All tasks that could have run waited for memory.
    memory_full_ns: Optional[int]

    #: Some task waited for I/O.
    io_some_ns: Optional[int]

    #: All tasks that could have run waited for I/O.
    io_full_ns: Optional[int]

    #: Some task waited for a CPU.
    cpu_some_ns: Optional[int]


@dataclass(frozen=True)
class LiveLosses:
    """What got lost since the session began. Each counts how often it happened, and not pages."""

    #: Requests that were counted, but for nobody: the tables of rows or processes were full.
    unattributed: int

    #: Names and process events that did not fit into the ring, or were not understood.
    events: int

    #: Page ranges whose origin could not be kept: some read-ahead hits count as from cache.
    origins: int

    #: Tasks that could not be followed: what they did is not counted.
    tasks: int

    #: Requests of io_uring or Linux AIO that could not be followed.
    requests: int

    #: Programs that the kernel skipped: what they would have seen is not counted.
    skipped_programs: int

    #: System calls that were not decoded: of the 32-bit ABIs, and copies on a file system that may have shared blocks.
    calls: int
