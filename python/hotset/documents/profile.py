"""`hotset.profile/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Dev,
    DeviceIo,
    DirectIo,
    Environment,
    FileKind,
    Hex,
    Io,
    Missing,
    MmapIo,
    NotMeasuredList,
    NumberKey,
    OperationClass,
    ReadKeys,
    ReadaheadIo,
    SavingKeys,
    Severity,
    Site,
    SyncIo,
    Time,
    TimeIo,
    VerdictKeys,
    WriteIo,
)


@dataclass(frozen=True)
class Profile:
    """What `hotset run --json` and `hotset attach --json` write. Counts of pages are in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.profile/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: When the observation began.
    started_at: Time

    #: The host that it was measured on.
    environment: Environment

    #: The command that was observed.
    command: Command

    #: By which instrument, and what it lost.
    sensor: Sensor

    #: The sum of all rows.
    totals: Io

    #: Path lookups.
    lookups: Optional[Lookups]

    #: What elementary operations cost on this host, in nanoseconds.
    costs: Optional[CostTable]

    #: Which savings were worth a finding.
    gate: Gate

    #: Directories with failed lookups, most failed first.
    lookups_by_directory: list[DirectoryLookups]

    #: What should be changed, the largest saving first, information last.
    findings: list[FindingKeys]

    #: The rules that found nothing, and those that could not tell.
    verdicts: list[VerdictKeys]

    #: Files, most from the device first.
    files: list[File]

    #: Processes, in order of appearance.
    processes: list[Process]

    #: Why values of this object are null.
    missing: list[Missing]

    #: Who asked; only where call sites were asked for.
    sites: Optional[CallSites] = None


@dataclass(frozen=True)
class File:
    """An object with its reasons."""

    #: Its path as the first process that touched it saw it; null where it is not known.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What it is.
    kind: FileKind

    #: True where it had no name left when it was first seen.
    deleted: bool

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: Its size when last seen.
    size_bytes: Optional[int]

    #: Pages that were cached when the run first touched it.
    cached_before: Optional[int]

    #: Pages that were cached when the report was made.
    cached_after: Optional[int]

    #: Successful opens.
    opens: Optional[int]

    #: Pages of it that were evicted during the run.
    evicted_pages: Optional[int]

    #: Pages among them that were dropped on request and not for want of memory: by posix_fadvise(POSIX_FADV_DONTNEED),
    #: madvise(MADV_PAGEOUT), drop_caches, or direct I/O over cached pages.
    dropped_pages: Optional[int]

    #: Pages among the dropped ones that the observed processes dropped themselves.
    dropped_by_run_pages: Optional[int]

    #: Processes that touched it.
    processes: int

    #: Buffered reads: read, pread, readv, preadv, sendfile, splice and copy_file_range sources, io_uring reads.
    read: Optional[ReadKeys]

    #: Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring writes.
    write: Optional[WriteIo]

    #: File mappings. A fault can map many pages (fault-around, huge pages), so these are faults and not requests.
    mmap: MmapIo

    #: I/O that bypasses the cache (O_DIRECT).
    direct: Optional[DirectIo]

    #: Pages that the kernel read without being asked for them.
    readahead: Optional[ReadaheadIo]

    #: fsync, fdatasync, sync_file_range, msync, syncfs, sync.
    sync: Optional[SyncIo]

    #: What the block layer was asked to move.
    device: DeviceIo

    #: Where the time of I/O calls went, each call in one class.
    time: Optional[TimeIo]

    #: Why values of this object are null.
    missing: list[Missing]

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Process:
    """An object with its reasons."""

    #: Its PID.
    pid: int

    #: The PID of its parent when it was first seen.
    ppid: int

    #: The kernel's short name for it.
    comm: str

    #: Its words after the last exec, cut at the sensor's bound.
    #: As text, with U+FFFD for bytes that are no UTF-8.
    argv: list[str]

    #: All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Optional[list[Hex]]

    #: Its exit code; null where a signal ended it, or it still runs.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: All minor faults, anonymous memory included.
    minor_faults: Optional[int]

    #: All major faults.
    major_faults: Optional[int]

    #: Its path lookups.
    lookups: Optional[LookupCounters]

    #: Buffered reads: read, pread, readv, preadv, sendfile, splice and copy_file_range sources, io_uring reads.
    read: Optional[ReadKeys]

    #: Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring writes.
    write: Optional[WriteIo]

    #: File mappings. A fault can map many pages (fault-around, huge pages), so these are faults and not requests.
    mmap: MmapIo

    #: I/O that bypasses the cache (O_DIRECT).
    direct: Optional[DirectIo]

    #: Pages that the kernel read without being asked for them.
    readahead: Optional[ReadaheadIo]

    #: fsync, fdatasync, sync_file_range, msync, syncfs, sync.
    sync: Optional[SyncIo]

    #: What the block layer was asked to move.
    device: DeviceIo

    #: Where the time of I/O calls went, each call in one class.
    time: Optional[TimeIo]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Sensor:
    """The instrument and its losses."""

    #: Which sensor, e.g. `bpf`, `bpf-compat`, `trace`, `proc`.
    name: str

    #: How much it could see.
    level: SensorLevel

    #: What it lost; zero everywhere where all was counted.
    losses: SensorLosses

    #: What was not measured, with reasons.
    not_measured: NotMeasuredList


@dataclass(frozen=True)
class SensorLosses:
    """What the sensor lost in a run, by cause, under the names that intervals have. Each counts how often it
    happened, and not
    pages; system calls that are not decoded are in `not_measured`.
    """

    #: Names and failed paths that did not fit into the ring, or were not understood.
    events: int

    #: Requests that were counted, but for nobody: the tables of rows or processes were full.
    unattributed: int

    #: Page ranges whose origin could not be kept: some read-ahead hits count as from cache.
    origins: int

    #: Tasks that could not be followed: what they did is not counted.
    tasks: int

    #: Requests of io_uring or Linux AIO that could not be followed.
    requests: int

    #: Programs that the kernel skipped: what they would have seen is not counted.
    skipped_programs: int


@dataclass(frozen=True)
class Lookups:
    """All lookups of a run."""

    #: Calls that resolve a path.
    calls: int

    #: Calls that ended in ENOENT or ENOTDIR.
    failed: int

    #: Nanoseconds in all of them; not known where they were counted by tracing.
    time_ns: Optional[int]

    #: Nanoseconds in the failed ones.
    failed_time_ns: Optional[int]

    #: Failed lookups whose path was not kept: the ring was full, or the table of paths was.
    failed_unnamed: int

    #: Failed paths, most asked for first.
    failed_paths: list[FailedLookup]


@dataclass(frozen=True)
class FailedLookup:
    """One path that was asked for in vain."""

    #: The path, absolute where its base was known, else as the program gave it.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: How often it was asked for.
    calls: int


@dataclass(frozen=True)
class CallSites:
    """Who asked."""

    #: The sites that rows are of, each a chain of calls.
    sites: list[Site]

    #: What each did to which file, most time first.
    rows: list[SiteRow]

    #: What came of the different contexts.
    contexts: SiteContexts

    #: Requests whose code is not known: their context was refused, or nothing was at hand to find it by.
    unknown_requests: int

    #: Requests that are in no row, because the buffer was full.
    lost_requests: int

    #: Requests in rows that found no place in the list; they are in no row.
    other_requests: int


@dataclass(frozen=True)
class SiteRow:
    """What one call site did to one file, in one way."""

    #: The place of the site in the list of sites.
    site: int

    #: What it did.
    class_: OperationClass = field(metadata={"key": "class"})

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: Requests; of faults, faults.
    calls: int

    #: Requests among them that failed.
    failed: int

    #: Bytes that reads and writes moved.
    bytes: int

    #: Pages that were not cached and were brought in for it.
    missed_pages: int

    #: Bytes that the device was asked to read while it waited.
    device_read_bytes: int

    #: Nanoseconds that the requests took.
    time_ns: int


@dataclass(frozen=True)
class SiteContexts:
    """How many different places in the code, with their callers, came to what."""

    #: Resolved to the thread's first function.
    whole: int

    #: Resolved in part: the copy of the stack ended, or what unwinds it was not found.
    cut: int

    #: The instruction alone: the process was gone, or its stack could not be unwound.
    lost: int

    #: Not resolved, because there were too many sites already, or their stack found no room.
    refused: int


@dataclass(frozen=True)
class CostTable:
    """Nanoseconds per operation on this host, all served from the cache."""

    #: An empty system call.
    syscall_ns: float

    #: pread of 4 bytes.
    read_4b_ns: float

    #: pread of 4 KiB.
    read_4k_ns: float

    #: pread of 64 KiB.
    read_64k_ns: float

    #: write of 4 bytes.
    write_4b_ns: float

    #: write of 4 KiB.
    write_4k_ns: float

    #: write of 64 KiB.
    write_64k_ns: float

    #: stat of a path that exists.
    stat_ns: float

    #: stat of a path that does not exist.
    stat_enoent_ns: float

    #: open and close of a path that exists.
    open_close_ns: float


@dataclass(frozen=True)
class Gate:
    """A finding is shown if its fix would save this much. Time, never a bare ratio: a ratio fires on healthy
    programs.
    """

    #: Share of the wall time, 0 to 1.
    min_share_of_wall: float

    #: Nanoseconds per run that are worth it whatever their share.
    min_saving_ns: int

    #: Nanoseconds per run below which no share is worth it.
    floor_ns: int


@dataclass(frozen=True)
class DirectoryLookups:
    """What a directory was asked for, and how often in vain."""

    #: The directory, as the paths named it.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    directory: str

    #: Its bytes in hexadecimal, where the text is not exact.
    directory_hex: Optional[Hex]

    #: Lookups in it whose outcome was kept by path: the failed ones and successful opens of files that were then
    #: read, written or mapped. Successful stat and access calls are not kept by path, so this is a lower bound.
    calls: Optional[int]

    #: Lookups that failed.
    failed: int


@dataclass(frozen=True)
class FindingKeys:
    """What a rule found."""

    #: The rule; docs/rules.md explains it.
    rule: str

    severity: Severity

    title: str

    #: The numbers that it rests on.
    evidence: dict[str, NumberKey]

    advice: str

    #: The files that it is about.
    files: list[FindingKeysFile]

    saving_ns: SavingKeys

    #: The code behind it, the largest part first; empty where call sites were not asked for.
    sites: list[FindingSiteKeys]


@dataclass(frozen=True)
class FindingKeysFile:
    """A path."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]


@dataclass(frozen=True)
class FindingSiteKeys:
    """Code behind a finding."""

    #: The place of the call site in `sites.sites`.
    site: int

    #: Its part, 0 to 1.
    share: float

    #: What that is a share of.
    of: str


@dataclass(frozen=True)
class LookupCounters:
    """Counts of path lookups."""

    #: Calls that resolve a path.
    calls: int

    #: Calls that ended in ENOENT or ENOTDIR.
    failed: int

    #: Nanoseconds in all of them; not known where they were counted by tracing.
    time_ns: Optional[int]

    #: Nanoseconds in the failed ones.
    failed_time_ns: Optional[int]


#: How much the sensor could see.
SensorLevel = Literal["full", "reduced", "traced", "unprivileged"]
