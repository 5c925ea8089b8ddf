"""`hotset.size/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Environment,
    Hex,
    Io,
    Missing,
    Time,
    TraceSource,
)


@dataclass(frozen=True)
class Size:
    """What `hotset size --json` writes. Times are in nanoseconds, counts of pages in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.size/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The recording; null where it was not kept.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

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

    #: What the recording has of the program; null of one that was watched.
    seen: Optional[Seen]

    #: Distinct pages that it asked for.
    distinct_pages: int

    #: The replacement policy that was simulated, as `--policy` names it.
    policy: str

    #: The kernel whose policy it is; null where another was asked for, or no kernel is known.
    kernel: Optional[str]

    #: How far its predictions were off in runs of real kernels; null where none was compared.
    error: Optional[SizeError]

    #: What could make the prediction wrong: a sentence each.
    caveats: list[str]

    #: Nanoseconds that a page from the device takes; null where nothing tells.
    miss_ns: Optional[float]

    #: What it must have beside its cache; null where nobody looked.
    must: Optional[Must]

    #: What was sampled of a program that was watched; null of a recording.
    sampled: Optional[Sampled]

    #: Why no limits are told; null where they are.
    too_little: Optional[TooLittle]

    #: Limits in ascending order; the last has room for all pages.
    limits: list[SizeLimit]

    #: The smallest limit that reaches the target; null where there is none.
    enough: Optional[SizeLimit]

    #: The largest limit at which it thrashes; null where there is none.
    thrash: Optional[SizeLimit]

    #: What to reserve; null where what it must have is not known.
    request: Optional[Recommended]

    #: What to limit it to; null where what it must have is not known.
    limit: Optional[Recommended]

    #: Runs of the command under limits, beside what was predicted for them; empty where it was not run.
    verified: list[VerifiedLimit]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Seen:
    """What was seen of a recording, beside its references."""

    #: Records of all kinds.
    records: int

    #: Pages that were asked for by read calls.
    read_pages: int

    #: Pages that were asked for by write calls.
    written_pages: int

    #: Touches of mapped pages that were not mapped yet. Later touches of the same page are seen by nobody.
    faults: int

    #: Of these, those of program code.
    code_faults: int

    #: Bytes of program code whose pages were touched. What the kernel mapped around them (`fault_around_bytes`) can be
    #: in use too, and
    #: is not counted.
    code_bytes: int

    #: Pages that were read from the device while no request was under way, such as the first of a program.
    beside_pages: int

    #: Of these, in mappings that the program said it would read at random.
    random_faults: int

    #: Bytes that went past the cache.
    direct_bytes: int

    #: Requests whose file or place in it is not known: they are not in the references.
    unplaced: int

    #: Files with pages in the references.
    files: int

    #: Threads that asked for them.
    threads: int

    #: Nanoseconds that read calls and faults waited for pages that the cache lacked.
    waited_ns: int

    #: Pages that were read from the device for them, those read ahead included; holes of files are not among them.
    device_pages: int

    #: Of the pages that were asked for, those that the cache had; null where the recording does not tell.
    hits: Optional[int]

    #: Whether a request asked for more than one page.
    has_large_requests: bool

    #: Nanoseconds from the first record to the end of the last.
    span_ns: int

    #: Records that found no room.
    lost: int


@dataclass(frozen=True)
class SizeError:
    """How far predictions were off, in percentage points of the hit ratio."""

    #: On average.
    mean_points: float

    #: At the most.
    worst_points: float

    #: Runs of real kernels that were compared.
    runs: int


@dataclass(frozen=True)
class Must:
    """Memory that a limit has to leave: without it, the program is killed or swaps."""

    #: Bytes of anonymous memory at its peak.
    anon_bytes: int

    #: Bytes of shared memory and of files of tmpfs at their peak.
    shmem_bytes: int

    #: Bytes of page tables at their peak.
    page_tables_bytes: int

    #: Bytes of program code that is used, in mapped files. A program that waits for its own code does hardly anything
    #: else.
    code_bytes: int

    #: Bytes of kernel memory for its files and their pages, cached or not.
    index_bytes: int


@dataclass(frozen=True)
class Sampled:
    """What was sampled."""

    #: One in so many pages is in the sample.
    one_in: int

    #: Pages in the sample.
    pages: int

    #: Requests for them that were lost.
    lost: int

    #: Bytes below which it tells nothing of a cache.
    least_cache_bytes: int

    #: Pages that were requested, in the sample or not: exact.
    requested_pages: int

    #: Bytes that went past the cache.
    direct_bytes: int

    #: Nanoseconds that it was watched.
    span_ns: int


@dataclass(frozen=True)
class SizeLimit:
    """A limit, and what the program would do at it."""

    #: The limit in bytes of the whole program; null where what it holds beside its cache is not known.
    limit_bytes: Optional[int]

    #: Bytes of it that files have.
    cache_bytes: int

    #: Pages that were asked for and cached.
    hits: int

    #: Pages that were asked for and read from the device.
    misses: int

    #: Pages that were neither, because all of them were written.
    filled: int

    #: Pages that the device reads beside: around mapped pages, ahead in vain, and while no request is under way.
    beside_pages: int

    #: Of the misses, pages that had been cached before and were evicted.
    refaults: int

    #: Pages that were written to the device because they were evicted or synced.
    written_pages: int

    #: Hits by hits and misses.
    hit_ratio: float

    #: The same at the worst and at the best moment at which the kernel can bring its statistics up to date.
    hit_ratio_range: tuple[float, float]

    #: Whether the code that the program uses has no room in the cache: it would wait for its own code again and again.
    lacks_code: bool

    #: Nanoseconds that the run takes; null where nothing tells how long a miss takes.
    run_ns: Optional[int]

    #: Nanoseconds of it that it waits for pages; null where nothing tells how long a miss takes.
    waited_ns: Optional[int]

    #: Bytes that the device reads in a second of the run; null where its length is not known.
    device_read_bytes_per_s: Optional[float]


@dataclass(frozen=True)
class Recommended:
    """A number that is recommended, and what it consists of."""

    #: Bytes, rounded up to whole MiB.
    bytes: int

    #: Of these, bytes that must be there.
    must_bytes: int

    #: Bytes for files.
    cache_bytes: int

    #: The margin.
    margin_bytes: int


@dataclass(frozen=True)
class VerifiedLimit:
    """A limit, what was predicted for it, and a run under it."""

    #: What was predicted.
    predicted: SizeLimit

    #: The run.
    run: LimitedRun


@dataclass(frozen=True)
class LimitedRun:
    """A run of a command in a control group of its own with a memory limit, from cold files."""

    #: The limit in bytes.
    limit_bytes: int

    #: Its exit code; null where a signal ended it.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: Processes of it that the kernel killed because the limit left too little.
    killed: int

    #: Nanoseconds from its start to its end.
    wall_ns: int

    #: What it asked for of all files, and what the device did for it.
    totals: Io

    #: Pages that were evicted from the group and read again, by the kernel's count; null before Linux 5.9.
    refault_pages: Optional[int]

    #: The most memory that was charged to it at a time, in bytes; null with control groups of version 2 before Linux
    #: 5.19.
    peak_bytes: Optional[int]

    #: Pages of its files that could not be evicted before it ran, because others use them.
    stuck_pages: int

    #: Files of it whose pages could not be looked at before it ran.
    unknown_files: int

    #: Events that the sensor lost; its counts are too low then.
    lost: int


#: Why no limits are told.
TooLittle = Literal["too many records are missing", "no request has a known place in a file", "the device reads the same at any limit", "the pages have room at any limit", "too few pages were sampled to tell limits apart"]
