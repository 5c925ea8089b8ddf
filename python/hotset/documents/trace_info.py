"""`hotset.trace-info/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Dev,
    Environment,
    FileKind,
    Hex,
    Missing,
    NotMeasuredList,
    OperationClass,
    Site,
    Time,
    TraceSource,
)


@dataclass(frozen=True)
class TraceInfo:
    """What `hotset trace info --json` writes. Times are in nanoseconds, counts of pages in base pages.
    docs/formats.md says what holds for every format.
    """

    schema: Literal["hotset.trace-info/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The version of hotset that wrote the trace.
    recorded_by: str

    #: Where its records come from.
    source: TraceSource

    #: When the recording began; null where that is not known.
    started_at: Optional[Time]

    #: The host; null where it is not known.
    environment: Optional[Environment]

    #: The command that was observed; null where it is not known.
    command: Optional[Command]

    #: The size of the trace's file; null where it is not known.
    file_bytes: Optional[int]

    #: What its source could not know, or what was lost on the way: a sentence each.
    lacks: list[str]

    #: What its records lack, with reasons.
    not_measured: NotMeasuredList

    #: When the first record began, in nanoseconds since the recording began; null without records.
    from_ns: Optional[int]

    #: When the last record ended.
    to_ns: Optional[int]

    #: All records.
    totals: TraceCounts

    #: How long requests took, by kind; kinds without a timed request are left out.
    latencies: list[KindLatency]

    #: Files, the costliest first.
    files: list[TraceFileNumbers]

    #: The other files.
    other_files: TraceRest

    #: Processes, the costliest first.
    processes: list[TraceProcessNumbers]

    #: The other processes.
    other_processes: TraceRest

    #: Threads, those that waited longest first.
    threads: list[TraceThreadNumbers]

    #: Threads that are not among these, as far as they were told apart.
    other_threads: int

    #: Operations, the costliest first.
    operations: list[OperationNumbers]

    #: Lookups that failed.
    failed_lookups: FailedPaths

    #: Call sites, the costliest first.
    sites: list[TraceSiteNumbers]

    #: The other call sites.
    other_sites: TraceRest

    #: Records that are not there.
    lost: LostRecords

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class TraceCounts:
    """Sums of records. Null is what no record tells."""

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]


@dataclass(frozen=True)
class KindCounts:
    """Requests of a kind, and how long they took."""

    #: The kind.
    kind: RequestKind

    #: How many.
    requests: int

    #: How long they took together, in nanoseconds. 0 where none of them was timed.
    time_ns: int


@dataclass(frozen=True)
class TracePages:
    """Where pages were. Base pages, whatever the folio size."""

    #: Requests of which it is known where their pages were: all else is of these.
    requests: int

    #: Pages that they asked for.
    pages: int

    #: Of these, pages that were cached before; of writes, pages that the write did not create.
    hits: int

    #: Of the hits, pages that were cached only because the kernel had read ahead during the recording.
    ahead_hits: int

    #: Pages that were read on demand; of writes, pages that were read because only a part of them was written.
    misses: int

    #: Of misses and read-ahead hits, holes of the file; null where no request tells it.
    zeros: Optional[int]

    #: Pages that were read ahead beside.
    read_ahead: int


@dataclass(frozen=True)
class KindLatency:
    """How long the requests of a kind took."""

    #: The kind.
    kind: RequestKind

    #: Requests that were timed.
    requests: int

    #: How long they took together, in nanoseconds.
    total_ns: int

    #: The shortest, exact.
    min_ns: int

    #: Half of them took at most this long. Off by at most 3.2 %, as are the other percentiles.
    p50_ns: int

    #: Nine of ten took at most this long.
    p90_ns: int

    #: Of a hundred, all but one took at most this long.
    p99_ns: int

    #: The longest, exact.
    max_ns: int


@dataclass(frozen=True)
class TraceFileNumbers:
    """A file in numbers."""

    #: Its place in the trace's list of files.
    index: int

    #: What the trace knows of it; null where its list does not reach so far.
    file: Optional[TraceFile]

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]

    #: The end of the furthest request, in bytes; 0 where none has an offset.
    extent_bytes: int

    #: Which of its reads were sequential.
    reads_in_order: Sequence

    #: Which of its writes were.
    writes_in_order: Sequence


@dataclass(frozen=True)
class TraceFile:
    """A file of a trace."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What it is.
    kind: FileKind

    #: Its identity; null where it is not known.
    id: Optional[FileId]

    #: Its size when it was first seen.
    size_bytes: Optional[int]

    #: Pages of it that were cached then.
    cached_pages: Optional[int]


@dataclass(frozen=True)
class FileId:
    """A file: the device of its file system, its inode number, and which of the files that had this number it is."""

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Sequence:
    """Requests that followed another of the same thread through the same open file, and those that began where that
    ended.
    """

    #: Requests of which it is known where the one before ended.
    followed: int

    #: Of these, requests that began there.
    sequential: int


@dataclass(frozen=True)
class TraceRest:
    """Rows that are not shown one by one."""

    #: How many, at least.
    rows: int

    #: Set where there are more than could be told apart.
    at_least: bool

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]


@dataclass(frozen=True)
class TraceProcessNumbers:
    """A process in numbers."""

    #: Its place in the trace's list of processes.
    index: int

    #: What the trace knows of it; null where its list does not reach so far.
    process: Optional[TraceProcess]

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]


@dataclass(frozen=True)
class TraceProcess:
    """A process of a trace: one program that it ran. An exec makes another of it."""

    #: Its PID.
    pid: int

    #: The PID of its parent; null where it is not known.
    ppid: Optional[int]

    #: The kernel's short name for it.
    comm: str

    #: The words.
    #: As text, with U+FFFD for bytes that are no UTF-8.
    argv: list[str]

    #: All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Optional[list[Hex]]


@dataclass(frozen=True)
class TraceThreadNumbers:
    """A thread in numbers."""

    #: Its ID.
    tid: int

    #: The kernel's short name for the process that it belongs to; null where it is not known.
    comm: Optional[str]

    #: Its process's PID; null where it is not known.
    pid: Optional[int]

    #: Its records.
    records: int

    #: How long they took together, in nanoseconds.
    time_ns: Optional[int]

    #: Of that, requests in which it waited.
    waited_ns: Optional[int]

    #: When its first record began.
    from_ns: int

    #: When its last record ended.
    to_ns: int


@dataclass(frozen=True)
class OperationNumbers:
    """An operation in numbers."""

    #: The operation.
    operation: Operation

    #: What it did to the files that are counted here: a call with two files is counted for each.
    class_: OperationClass = field(metadata={"key": "class"})

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]

    #: How long the calls took; null where none was timed.
    latency: Optional[LatencyNumbers]

    #: Errors, the most frequent first.
    errors: list[OperationErrors]


@dataclass(frozen=True)
class LatencyNumbers:
    """A histogram in the numbers that a table has."""

    #: Requests that were timed.
    requests: int

    #: How long they took together, in nanoseconds.
    total_ns: int

    #: The shortest, exact.
    min_ns: int

    #: Half of them took at most this long. Off by at most 3.2 %, as are the other percentiles.
    p50_ns: int

    #: Nine of ten took at most this long.
    p90_ns: int

    #: Of a hundred, all but one took at most this long.
    p99_ns: int

    #: The longest, exact.
    max_ns: int


@dataclass(frozen=True)
class OperationErrors:
    """Calls that ended in an error."""

    #: The error number; null for all that found no place of their own.
    errno: Optional[int]

    #: Calls that ended in it.
    calls: int


@dataclass(frozen=True)
class FailedPaths:
    """Lookups that failed (ENOENT, ENOTDIR), by path."""

    #: Calls that failed.
    calls: int

    #: How long they took together, in nanoseconds.
    time_ns: Optional[int]

    #: Paths that are counted apart.
    known_paths: int

    #: Those that most calls asked for, the most asked for first.
    paths: list[FailedPath]

    #: Calls for other paths, and for paths that are not known.
    other_calls: int


@dataclass(frozen=True)
class FailedPath:
    """A path that was looked up and is not there."""

    #: The path that was asked for.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: Calls that did not find it.
    calls: int

    #: How long they took together, in nanoseconds.
    time_ns: Optional[int]


@dataclass(frozen=True)
class TraceSiteNumbers:
    """A call site in numbers."""

    #: Its place in the trace's list of call sites.
    index: int

    #: Its chain of calls; null where the list does not reach so far.
    site: Optional[Site]

    #: How many there are: requests, and all else that a record stands for.
    records: int

    #: Records by kind, without kinds that there are none of.
    by_kind: list[KindCounts]

    #: Bytes that reads returned, those of direct I/O included.
    read_bytes: Optional[int]

    #: Bytes that were written, those of direct I/O included.
    written_bytes: Optional[int]

    #: Of both, bytes of direct I/O.
    direct_bytes: Optional[int]

    #: Where the pages of reads were.
    read_pages: Optional[TracePages]

    #: Where the pages of writes were.
    written_pages: Optional[TracePages]

    #: Pages that faults brought into the page cache.
    fault_pages: Optional[int]

    #: Bytes that the block layer was asked to read.
    device_read_bytes: Optional[int]

    #: Bytes that the block layer was asked to write.
    device_write_bytes: Optional[int]

    #: How long the requests took, in nanoseconds. Requests of several threads add up.
    time_ns: Optional[int]

    #: Of that, requests whose thread slept, or whose kind waits for the device: reads that missed, direct I/O, syncs
    #: and major
    #: faults. Null for sources that don't tell it.
    waited_ns: Optional[int]


@dataclass(frozen=True)
class LostRecords:
    """Records that found no room while they were recorded."""

    #: Records that are not there.
    records: int

    #: Stretches of time in which a thread lost records.
    gaps: int

    #: Those that lost most records first.
    largest: list[Gap]


@dataclass(frozen=True)
class Gap:
    """Records that found no room."""

    #: The thread whose records they are; null where it ended before that could be told.
    tid: Optional[int]

    #: Nanoseconds from the beginning of the recording to the first of them, at least.
    from_ns: int

    #: To the last of them, at most.
    to_ns: int

    #: How many.
    records: int


#: What a request was, by what it costs.
RequestKind = Literal["read_missed", "read_ahead", "read_cached", "read_unknown", "direct", "write", "sync", "major_fault", "minor_fault", "open", "lookup", "failed_lookup", "kernel", "other"]


#: What a record tells of: a system call, by its name; a request of io_uring or Linux AIO; or what the kernel did.
Operation = Literal["read", "pread64", "readv", "preadv", "preadv2", "sendfile", "splice", "copy_file_range", "io_uring_read", "io_uring_splice", "aio_read", "write", "pwrite64", "writev", "pwritev", "pwritev2", "io_uring_write", "aio_write", "fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync", "io_uring_fsync", "aio_fsync", "minor_fault", "major_fault", "open", "creat", "openat", "openat2", "io_uring_openat", "close", "stat", "lstat", "newfstatat", "statx", "io_uring_statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "execve", "execveat", "fadvise64", "madvise", "readahead", "mmap", "munmap", "truncate", "ftruncate", "fallocate", "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat", "rmdir", "device_read", "writeback", "page_in", "page_out"]
