"""What several formats have in common.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union


@dataclass(frozen=True)
class BenchCommand:
    """A command that is benchmarked."""

    #: What people call it: its given name, or its words. Unique within a session.
    name: str

    #: The words that are executed, the shell's own included.
    #: As text, with U+FFFD for bytes that are no UTF-8.
    argv: list[str]

    #: All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Optional[list[Hex]]

    #: The shell that it runs in; null where none was asked for.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    shell: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    shell_hex: Optional[Hex]

    #: Values put into its words, in the order of their parameters.
    parameters: list[tuple[str, str]]


@dataclass(frozen=True)
class Bucket:
    """Calls of a size."""

    #: The largest size in it; null for the last bucket, which is open.
    le_bytes: Optional[int]

    #: Calls of at most this size and above the bucket before.
    calls: int


@dataclass(frozen=True)
class Change:
    """Times of the baseline and of this session, in nanoseconds."""

    #: What it says.
    verdict: ChangeVerdict

    #: Why it says nothing; null where it does.
    reason: Optional[NotComparable]

    #: The geometric mean of the medians of the baseline's sessions; null where there is none.
    baseline_ns: Optional[float]

    #: The median now; null where no run is valid.
    now_ns: Optional[float]

    #: The second divided by the first.
    ratio: Optional[float]

    #: The interval of that: its lower end is above the true ratio in at most 1 of 100 sessions, all conditions or cells
    #: taken
    #: together, and so is its upper end below it.
    interval: Optional[ConfidenceInterval]

    #: What sessions of the same are taken to differ by: a standard deviation, such as 0.012 for 1.2 %.
    session_spread: Optional[float]

    #: The largest share of the host's CPUs that other programs used during one of the sessions, this one among them. It
    #: makes the
    #: interval wider.
    busy: Optional[float]

    #: How much of a difference a busier host may explain, as a factor that the nearer end of the interval was moved by:
    #: 1 where
    #: tasks waited for a CPU as much as in the baseline.
    waiting: float

    #: True where it is shown to be above what was too much.
    above_limit: bool


@dataclass(frozen=True)
class Command:
    """The observed command, or for an attached session the time that it was observed."""

    #: What was observed.
    target: Target

    #: The command's words; empty for a whole host or a control group.
    #: As text, with U+FFFD for bytes that are no UTF-8.
    argv: list[str]

    #: All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Optional[list[Hex]]

    #: Its exit code; null where a signal ended it, or it still runs.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: Wall time from start to exit, or of the observation.
    wall_ns: int

    #: User CPU time of the command and the children that it waited for.
    user_ns: Optional[int]

    #: System CPU time of the same.
    system_ns: Optional[int]

    #: The largest resident set of one of these processes.
    max_rss_bytes: Optional[int]

    #: Processes of the command that still ran when it ended.
    still_running: int


@dataclass(frozen=True)
class ConfidenceInterval:
    """An interval with at least 95 % confidence."""

    #: Its lower end.
    low: float

    #: Its upper end.
    high: float


@dataclass(frozen=True)
class DeviceIo:
    """What the block layer was asked to move."""

    #: Bytes read from the device.
    read_bytes: Optional[int]

    #: Bytes written to the device while observed; what is still dirty at the end is not in here.
    write_bytes: Optional[int]


@dataclass(frozen=True)
class Difference:
    """A step that did not end as it did when it was recorded."""

    #: The record that it was made of, counted from the first of the trace.
    record: int

    #: What it does.
    step: StepKind

    #: What the call returned then: below zero an error number.
    recorded: int

    #: What it returned now.
    found: int


@dataclass(frozen=True)
class DirectIo:
    """I/O that bypasses the cache (O_DIRECT)."""

    #: Direct read calls.
    read_calls: int

    #: Bytes that direct reads returned.
    read_bytes: int

    #: Bytes among them that direct reads of this run had returned before (whole pages).
    reread_bytes: int

    #: Direct write calls.
    write_calls: int

    #: Bytes that direct writes accepted.
    write_bytes: int

    #: Nanoseconds in direct calls.
    time_ns: int

    #: Nanoseconds among them of the reads of `reread_bytes`: of each call's time the share of its bytes that had
    #: been read before.
    reread_time_ns: int


@dataclass(frozen=True)
class Environment:
    """The conditions of a run."""

    #: `uname -r`.
    kernel: str

    #: The base page size.
    page_size_bytes: int

    #: CPUs that are online.
    cpus: int

    #: Memory of the host.
    memory_bytes: int

    #: The tightest memory limit of the cgroups around the run; null where there is none.
    memory_limit_bytes: Optional[int]

    #: Set where the kernel evicts idle page cache by itself (a DAMON scheme with action `pageout`).
    evicts_idle_cache: bool

    #: The file systems that the run touched.
    filesystems: list[Filesystem]


@dataclass(frozen=True)
class FailAbove:
    """What is too slow."""

    #: Slow-downs above this share are too much, such as 0.05 for 5 %; null where none is.
    wall: Optional[float]

    #: The same of CPU time.
    cpu: Optional[float]


@dataclass(frozen=True)
class Fidelity:
    """A replay of the recording as it is, beside the recording."""

    #: I/O time of the recording, in nanoseconds, without faults that found their page in the cache; null where it is
    #: not known.
    recorded_io_ns: Optional[float]

    #: The I/O time of a replay from the recorded cache state, without such faults, by that of the recording: the median
    #: over replays.
    ratio: Optional[float]

    #: Its exact 95 % interval; null for fewer than six replays.
    interval: Optional[ConfidenceInterval]

    #: Bytes that the device read for a replay, by those that it read for the recording; null where that is zero.
    device_read_ratio: Optional[float]

    #: Why nothing is claimed of the program; null where it behaves as recorded.
    no_claim: Optional[NoClaim]


@dataclass(frozen=True)
class Filesystem:
    """A mounted file system that the run touched."""

    #: Where a file system is mounted.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    mount: str

    #: Its bytes in hexadecimal, where the text is not exact.
    mount_hex: Optional[Hex]

    #: Its type, e.g. `ext4`.
    type: str

    #: The mount's source, e.g. `/dev/vda`.
    device: str

    #: Its device number.
    dev: Dev

    #: Mount options.
    options: str

    #: The device's read-ahead window in KiB.
    read_ahead_kb: Optional[int]


@dataclass(frozen=True)
class Frame:
    """One call in a chain of calls."""

    #: The function's name; null where nothing tells it.
    function: Optional[str]

    #: The object file or the source of code made at run time.
    module: Optional[str]

    #: Bytes from the beginning of the function, or of the module where the function is not known.
    offset: int

    #: The source file, where debug information has it.
    source: Optional[str]

    #: The line in it.
    line: Optional[int]


@dataclass(frozen=True)
class HostDifference:
    """Something in which the hosts differ."""

    #: The part of the host.
    what: HostPart

    #: As it was in the baseline.
    baseline: str

    #: As it is now.
    now: str

    #: True where times of the two say nothing about a change of the command, so that a comparison has to be asked for.
    forbids: bool


@dataclass(frozen=True)
class HostIdentity:
    """What tells one machine from another, beside its memory and the number of its CPUs."""

    #: What the CPU calls itself.
    cpu_model: Optional[str]

    #: `physical` or `virtual`, with vendor and product where the firmware names them.
    machine: Optional[str]


@dataclass(frozen=True)
class Io:
    """Everything counted for one file, one process, or a run."""

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


@dataclass(frozen=True)
class LabConditions:
    """What the host was like while an experiment ran."""

    #: The directory that held the files, with its file system and device in `environment`.
    directory: str

    #: The file system's type there.
    filesystem: str

    #: Read-ahead of the device there, in KiB.
    read_ahead_kb: Optional[int]

    #: 1-minute load average at the start, times 100.
    load_hundredths_before: Optional[int]

    #: The same at the end.
    load_hundredths_after: Optional[int]

    #: Share of the time, in thousandths, in which some task waited for a CPU (PSI).
    cpu_pressure_permille: Optional[int]

    #: Pages of idle files that vanished while they were watched: something evicts cache here.
    evicted_while_idle_pages: Optional[int]

    #: What an empty timed loop costs, in picoseconds an operation: the harness's own cost, which is not subtracted.
    null_engine_ps: Optional[int]

    #: What a pair of clock readings costs, in nanoseconds.
    clock_ns: Optional[int]


@dataclass(frozen=True)
class LabFact:
    """Something that an experiment found beside its cells: `ruby` 3.1.2, `dd cold: misses` 8192."""

    #: What it is about: `ruby`, `dd`.
    subject: str

    #: In which state or mode, where it is of one: `cold`.
    condition: Optional[str]

    #: What is told of it, where the subject doesn't say it all: `misses`.
    quantity: Optional[str]

    #: What was found.
    value: FactValue


@dataclass(frozen=True)
class MemInfo:
    """/proc/meminfo, as far as it is about the cache. In bytes."""

    #: Memory that the kernel manages.
    total_bytes: int

    #: Memory that nothing uses.
    free_bytes: int

    #: Pages of files, those of block devices and of the swap cache left out; shared memory is in it.
    cached_bytes: int

    #: Pages of block devices.
    buffers_bytes: int

    #: Shared memory and tmpfs.
    shmem_bytes: int

    #: Pages in the swap cache.
    swap_cached_bytes: int

    #: Waiting to be written back.
    dirty_bytes: int

    #: Being written back.
    writeback_bytes: int

    #: Mapped by processes.
    mapped_bytes: int

    #: Locked, or else not to be evicted.
    unevictable_bytes: int


@dataclass(frozen=True)
class MemoryStep:
    """Memory of the processes of a recording that is no file cache, from a time on until the next step."""

    #: Nanoseconds since the recording began.
    from_ns: int

    #: Bytes of anonymous memory, shared memory and page tables.
    bytes: int


@dataclass(frozen=True)
class Missing:
    """Why values of a key are null."""

    #: The place in this object, such as `totals.read` or `filesystems[2].read_ahead_kb`.
    key: str

    #: The class of the reason, for scripts.
    kind: ReasonKind

    #: Why, for people, and what would be needed.
    detail: str

    #: Which entries of the key's list; null where it is no list, or all of them are missing for this reason.
    entries: Optional[list[int]]


@dataclass(frozen=True)
class MmapIo:
    """File mappings. A fault can map many pages (fault-around, huge pages), so these are faults and not requests."""

    #: Faults on file mappings that reached the page cache.
    faults: Optional[int]

    #: Faults among them whose page was cached.
    minor_faults: Optional[int]

    #: Faults among them that had to read.
    major_faults: Optional[int]

    #: Pages that faults and exec read from the device, read-around included. Counted where pages enter the cache.
    pages_read: Optional[int]

    #: Pages that they brought in and that nothing was read for: holes of the file, and space that was never
    #: written.
    zeros: Optional[int]


@dataclass(frozen=True)
class NamedFew:
    """Paths with reasons, of which only the first are kept."""

    #: All of them, counted.
    count: int

    #: The first of them.
    named: list[Unreadable]


@dataclass(frozen=True)
class NotMeasuredKeys:
    """What was not measured as it is written: a counter, or what else could not be measured."""

    #: Its name, e.g. `mmap.faults`.
    what: str

    #: Why, and what would help.
    reason: str


@dataclass(frozen=True)
class OtherPrograms:
    """CPU time that a session did not use itself."""

    #: CPU time that other programs of the host and its kernel used, on all CPUs together.
    cpu_ns: Optional[int]

    #: How long the session was.
    within_ns: int


@dataclass(frozen=True)
class PatternLane:
    """A file or a path that requests of a pattern are about."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: No recording had it: the change made it.
    is_new: bool


@dataclass(frozen=True)
class PatternMark:
    """One request."""

    #: The record that it was made of, counted from the first of the trace; of several that became one, the first.
    record: int

    #: What it is, as a person would call it.
    kind: PatternKind

    #: The call.
    step: StepKind

    #: What it is about, by its place among the lanes; null for what has no lane of its own.
    lane: Optional[int]

    #: Where in the file it begins; null for what is about no bytes.
    offset: Optional[int]

    #: Bytes that it moved, or that a hint is about; null for what is about no bytes.
    bytes: Optional[int]

    #: It goes past the page cache (O_DIRECT).
    direct: bool


@dataclass(frozen=True)
class PatternSide:
    """Requests before or after a change."""

    #: The first of them, at most `PATTERN_MARKS`, in their order.
    marks: list[PatternMark]

    #: How many there are, with those that are not among the marks.
    requests: int

    #: Reads that are in flight together at most; 0 where each is waited for.
    in_flight: int


@dataclass(frozen=True)
class PlanTotals:
    """What the records of the steps came to when they were recorded."""

    #: Records that became steps.
    records: int

    #: The sum of their durations; of requests of one thread that were in flight together, the time in which any was.
    duration_ns: int

    #: Records among them whose time is not known: faults that found their page in the cache, and bytes that a pipe or a
    #: socket took.
    untimed: int

    #: Bytes that the device read for them.
    device_read_bytes: int

    #: The time in which at least one of them was under way: less than the sum of durations where threads did I/O at the
    #: same time.
    covered_ns: int

    #: From the beginning of the first to the end of the last record of the trace.
    span_ns: int


@dataclass(frozen=True)
class Prediction:
    """What a change would gain the program."""

    #: The changed variant, by its place.
    variant: int

    #: Nanoseconds of the recorded run, with what recording added.
    wall_ns: int

    #: Nanoseconds that the change saves: the median over rounds of the difference of I/O times, as a part of the
    #: recorded I/O time where
    #: the replay took longer than that; below zero where it costs some. Null
    #: where nothing is predicted.
    saved_ns: Optional[float]

    #: Its exact 95 % interval; null for fewer than six rounds.
    saved_ns_interval: Optional[ConfidenceInterval]

    #: Why nothing is predicted; null where something is.
    no_prediction: Optional[NoPrediction]


@dataclass(frozen=True)
class RatioEstimate:
    """What the rounds say about time B / time A."""

    #: The median over rounds of B / A. Of an even number, the geometric mean of the middle two, so that swapping A
    #: and B gives the reciprocal.
    ratio: float

    #: Its 95 % interval; null below six rounds.
    interval: Optional[ConfidenceInterval]

    #: Rounds in which both sides have a run.
    rounds: int

    #: True where every time of one side is above every time of the other, in so many rounds that chance does that to
    #: equal
    #: sides in less than 5 % of all sessions: four, by the exact rank-sum test.
    apart: bool


@dataclass(frozen=True)
class ReadKeys:
    """Buffered reads, and what follows from them."""

    #: Calls that returned without an error, end of file included.
    calls: int

    #: Bytes returned.
    bytes: int

    #: Pages requested: ⌊(o+n−1)/P⌋ − ⌊o/P⌋ + 1 for n bytes returned at offset o.
    pages: int

    #: Requested pages among the misses and read-ahead hits that nothing was read for: holes of the file, and space
    #: that was never written.
    zeros: Optional[int]

    #: Requested pages that were not in the cache and were brought in for this request.
    misses: int

    #: Requested pages that were in the cache only because the kernel read ahead during the observation.
    readahead_hits: int

    #: Pages among misses and read-ahead that had been in the cache earlier in this run and were evicted since.
    refaults: int

    #: Calls that began where the previous read of this file by this process ended.
    sequential_calls: Optional[int]

    #: Nanoseconds in these calls.
    time_ns: int

    #: Calls by the bytes that each one moved.
    size_histogram: SizeHistogram

    #: Requested pages that were in the cache when asked for: pages - misses.
    hits: int

    #: Hits but for those that read-ahead of this run brought in: hits - readahead_hits.
    from_cache: int

    #: Requested pages that were read from the device in this run: misses + readahead_hits - zeros, where these are
    #: known.
    from_device: int

    #: Calls that did not continue the previous one.
    random_calls: Optional[int]


@dataclass(frozen=True)
class ReadaheadIo:
    """Pages that the kernel read without being asked for them."""

    #: Pages read ahead.
    pages: int

    #: Pages among them that were evicted, or still unrequested at the end.
    wasted_pages: int


@dataclass(frozen=True)
class Reclaim:
    """How the host of a recording reclaims memory."""

    #: Whether the kernel replaces pages by the multi-gen LRU; otherwise by two lists.
    multi_gen_lru: bool

    #: Bytes of swap.
    swap_bytes: int


@dataclass(frozen=True)
class RecordingCost:
    """What recording costs a request, measured when the recording began: a byte was read from the cache again and
    again, first without
    the sensor, then recorded.
    """

    #: Nanoseconds that a call takes without the sensor, less its duration when it is recorded. A duration lacks the way
    #: into the
    #: kernel and back, and holds a part of the sensor's work: below zero where that is more.
    beyond_duration_ns: int

    #: Nanoseconds that recording makes a request longer.
    added_ns: int


@dataclass(frozen=True)
class ReplayCell:
    """What the replays of one variant from one state came to."""

    #: Which of the variants, by its place.
    variant: int

    #: What was cached before.
    state: ReplayState

    #: Replays that are used.
    valid: int

    #: Replays that began with other pages than they were to.
    without_state: int

    #: Replays in which results differ from the recording.
    with_differences: int

    #: I/O time in nanoseconds; null where no replay is used.
    io_ns: Optional[Spread]

    #: The exact 95 % interval of its median; null for fewer than six replays.
    io_ns_interval: Optional[ConfidenceInterval]

    #: From the beginning of the first thread to the end of the last.
    wall_ns: Optional[Spread]

    #: The median of the bytes that the device read.
    device_read_bytes: Optional[float]

    #: The median of the bytes that were written or made dirty.
    device_write_bytes: Optional[float]

    #: The median share of the wanted pages that were cached, from 0 to 1; null where none is wanted.
    cached_share: Optional[float]


@dataclass(frozen=True)
class ReplayChange:
    """A change of a recording."""

    #: It as it is asked for: `buffer=64K`.
    change: str

    #: Steps of before that became others, or none, or that a new one was put beside.
    affected_steps: int

    #: Steps before it.
    steps_before: int

    #: Steps after it.
    steps_after: int


@dataclass(frozen=True)
class ReplayFiles:
    """Files of a replay."""

    #: Files that are read where they are.
    originals: int

    #: Files that are written, created, renamed or removed: that happens on copies.
    copies: int

    #: Bytes that are copied before each replay.
    copied_bytes: int

    #: Copies on another device than the one that their original is on, or was to be on.
    elsewhere: int

    #: Copies whose original is not there any more: their bytes are made up.
    made_up: int

    #: Files that are not as they were recorded.
    unfit: list[UnfitFile]


@dataclass(frozen=True)
class ReplayPages:
    """Pages of the files before a replay."""

    #: Pages that are to be cached.
    wanted: int

    #: Of these, pages that are.
    cached: int

    #: Pages that are cached and are not to be.
    beside: int

    #: Of these, pages that the kernel does not evict: mapped, locked, or dirty.
    stuck: int

    #: Files of which nobody knows.
    unknown_files: int


@dataclass(frozen=True)
class ReplayPattern:
    """Some requests of one thread that a change is about, without it and with it. Both sides are made of the same
    records.
    """

    #: The thread, by its ID in the recording.
    tid: int

    #: What the requests are about, in the order of its first.
    lanes: list[PatternLane]

    #: How many other things requests are about.
    more_lanes: int

    #: As recorded.
    before: PatternSide

    #: With the change.
    after: PatternSide


@dataclass(frozen=True)
class ReplayRatio:
    """What a change does to the I/O time, from one state."""

    #: The changed variant, by its place.
    variant: int

    #: What was cached before.
    state: ReplayState

    #: Its I/O time by that of the recording as it is, in the same round.
    io: RatioEstimate


@dataclass(frozen=True)
class ReplaySample:
    """One replay."""

    #: Which of the variants, by its place.
    variant: int

    #: What was cached before.
    state: ReplayState

    #: Its round.
    round: int

    #: The pages right before it.
    pages: ReplayPages

    #: From the beginning of the first thread to the end of the last.
    wall_ns: int

    #: The time of all threads together, without what they waited for each other: the I/O time.
    busy_ns: int

    #: Of the I/O time, that of steps whose time the recording does not have: faults that found their page in the cache,
    #: and bytes that a
    #: pipe or a socket took.
    untimed_ns: int

    #: What they waited for each other.
    waited_ns: int

    #: Bytes that the device read for it.
    device_read_bytes: int

    #: Bytes that it had written to the device, or made dirty.
    device_write_bytes: int

    #: Steps that did not end as recorded.
    differences: int

    #: The first of them.
    first_differences: list[Difference]


@dataclass(frozen=True)
class ReplayVariant:
    """A plan that is replayed: the recording as it is, or with changes."""

    #: Its changes, in the order in which they are made; none of the recording as it is.
    changes: list[ReplayChange]

    #: Its steps.
    steps: int

    #: Some of the requests that the changes are about, before and after; null for the recording as it is.
    pattern: Optional[ReplayPattern]


@dataclass(frozen=True)
class SavingKeys:
    """What the change would save, at least and at most."""

    low: int

    high: int


@dataclass(frozen=True)
class Site:
    """Code that made requests: its chain of calls, innermost first."""

    #: The calls, innermost first. Most chains share most of them.
    frames: list[Frame]

    #: How much of the chain is known.
    state: SiteState


@dataclass(frozen=True)
class Skipped:
    """What a listing passed over, counted and not named."""

    #: Sockets, pipes, character devices, and files of /proc and the like, which have no pages of their own.
    not_cacheable: int

    #: Further names of files that were counted under another name.
    repeated_links: int

    #: Symbolic links that were not followed.
    symlinks: int

    #: Directories of other file systems that were not entered.
    other_file_systems: int

    #: Files that vanished between being listed and being opened.
    vanished: int


@dataclass(frozen=True)
class Spread:
    """The spread of one quantity over runs, in its own unit."""

    #: The middle.
    median: float

    #: The smallest. For warm commands that wait for nothing it is the best estimate of the undisturbed time.
    min: float

    #: The largest.
    max: float

    #: A quarter of the runs is below.
    lower_quartile: float

    #: A quarter of the runs is above.
    upper_quartile: float

    #: For compatibility only.
    mean: float

    #: The standard deviation of the sample, for compatibility only; none for one run.
    standard_deviation: Optional[float]


@dataclass(frozen=True)
class StateReached:
    """What the cache held of a command's files at one moment, in base pages."""

    #: Pages that the files span, as far as their state could be read.
    pages: int

    #: Pages among them that were cached.
    cached_pages: int

    #: Cached pages that nobody can evict now, for the reason in `cannot_evict` of their file. At most `cached_pages`.
    stuck_pages: int

    #: Files whose state could not be read; their pages are in none of the numbers above.
    unknown_files: int


@dataclass(frozen=True)
class SyncIo:
    """fsync, fdatasync, sync_file_range, msync, syncfs, sync."""

    #: Calls that the program made.
    calls: int

    #: Nanoseconds in them.
    time_ns: int


@dataclass(frozen=True)
class TargetCgroup:
    """A control group."""

    kind: Literal["cgroup"]

    #: The path of a control group.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    cgroup: str

    #: Its bytes in hexadecimal, where the text is not exact.
    cgroup_hex: Optional[Hex]


@dataclass(frozen=True)
class TargetCommand:
    """A command that hotset started, with its children."""

    kind: Literal["command"]


@dataclass(frozen=True)
class TargetPid:
    """A process that was running already, with its children."""

    kind: Literal["pid"]

    #: Its PID.
    pid: int


@dataclass(frozen=True)
class TargetSystem:
    """The whole host."""

    kind: Literal["system"]


@dataclass(frozen=True)
class TimeIo:
    """Where the time of I/O calls went, each call in one class."""

    #: Buffered reads that found every page and did not wait.
    hit_ns: int

    #: Buffered reads without a miss of their own that slept: a page in flight (read-ahead) or a lock.
    wait_ns: int

    #: Buffered reads that missed.
    miss_ns: int

    #: Major faults on file mappings.
    fault_ns: Optional[int]

    #: Direct I/O.
    direct_ns: int

    #: Buffered writes.
    write_ns: int

    #: fsync and the like.
    sync_ns: int

    #: Path lookups: open, stat, access and the like.
    lookup_ns: int


@dataclass(frozen=True)
class Timer:
    """What limits how short a time can be told."""

    #: The resolution of the clock that took the wall times.
    resolution_ns: int

    #: How much the wall time of a command that does nothing varied here: the inter-quartile range of the quietest of
    #: three batches.
    spawn_noise_ns: Optional[int]


@dataclass(frozen=True)
class TraceMemory:
    """Memory of the processes of a recording that is no file cache, summed over those that ran at a time. They were
    looked at again and again:
    what lasts shorter than the time between two looks can have been missed.
    """

    #: Bytes of anonymous memory, resident or swapped, at the most: heaps, stacks, private copies of mapped files.
    anon_peak_bytes: int

    #: When that was, in nanoseconds since the recording began.
    anon_peak_at_ns: int

    #: Bytes of shared memory and of files of tmpfs that processes mapped, at the most.
    shmem_peak_bytes: int

    #: Bytes of page tables at the most.
    page_tables_peak_bytes: int

    #: How often the processes were looked at.
    looks: int

    #: The longest time between two looks, in nanoseconds.
    longest_gap_ns: int


@dataclass(frozen=True)
class UnfitFile:
    """A file that a replay can't use as it was recorded."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What is wrong with it.
    since_recorded: SinceRecorded

    #: Its size when it was recorded.
    recorded_bytes: int

    #: Its size now; null where there is none.
    size_bytes: Optional[int]


@dataclass(frozen=True)
class Unreadable:
    """A path without a row, and why."""

    #: The path as it was asked for or found.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What the kernel said, for people.
    reason: str


@dataclass(frozen=True)
class VerdictKeys:
    """A rule that found nothing."""

    rule: str

    verdict: VerdictWord

    #: What was missing, where it could not tell.
    reason: Optional[str]


@dataclass(frozen=True)
class Warning:
    """One doubt."""

    #: The word for scripts.
    kind: str

    #: What is doubtful.
    text: str

    #: What to do about it; may be empty.
    advice: str


@dataclass(frozen=True)
class WriteIo:
    """Buffered writes: write, pwrite, writev, pwritev, sendfile, splice and copy_file_range targets, io_uring
    writes.
    """

    #: Calls that returned without an error.
    calls: int

    #: Bytes accepted.
    bytes: int

    #: Pages written to, by the same formula as for reads.
    pages: int

    #: Pages that a write created in the cache.
    new_pages: int

    #: Pages that had to be read first because only a part of them was written (read-modify-write).
    misses: Optional[int]

    #: Pages that turned from clean to dirty, by writes and by stores to mappings.
    dirtied_pages: Optional[int]

    #: Calls that began where the previous write of this file by this process ended.
    sequential_calls: Optional[int]

    #: Nanoseconds in these calls.
    time_ns: int

    #: Calls by the bytes that each one moved.
    size_histogram: SizeHistogram


#: What a comparison with a baseline shows.
ChangeVerdict = Literal["slower", "faster", "no difference shown", "not comparable"]


#: Why a condition is in the session.
ConditionRole = Optional[int]


#: A device number as user space sees it.
Dev = str


#: What a fact is worth.
FactValue = Union[int, str]


#: What stands behind a row.
FileKind = Literal["regular", "block_device", "directory", "file_system", "all_file_systems", "others"]


#: Bytes in hexadecimal; null where the text beside them is exact.
Hex = str


#: What tells one host from another.
HostPart = Literal["CPU", "number of CPUs", "memory", "machine", "page size", "memory limit", "kernel", "eviction of idle page cache", "file systems", "devices", "read-ahead", "version of hotset"]


#: How much is measured.
LabSize = Literal["quick", "default", "full"]


#: What the samples of a cell are measured in.
LabUnit = Literal["ns/op", "ns"]


#: How the files of a command became known.
LearnedBy = Literal["sensor", "trace", "given", "nothing"]


#: The value of a factor in a cell.
Level = Union[int, str]


#: Why nothing is claimed of the program.
NoClaim = Literal["no valid replay from the recorded cache state", "the I/O time of the recording is not known", "records are missing in the recording", "results differ from the recording", "the replay takes less time than was recorded", "the replay takes more time than was recorded"]


#: Why nothing is predicted.
NoPrediction = Literal["the replay does not behave as recorded", "threads do I/O at the same time, so that a sum of their I/O times is no time of the program", "no round has a valid replay of both"]


#: Why a condition or cell has no interval.
NotComparable = Literal["not in the baseline", "too few valid runs", "too few valid runs in the baseline", "on another file system", "other work than in the baseline"]


#: An entry for each name that has no value.
NotMeasuredList = list[NotMeasuredKeys]


#: A count, or another number; null where it is none, such as infinity.
NumberKey = Optional[float]


#: What an operation does to files, whichever way it is called.
OperationClass = Literal["read", "write", "sync", "fault", "open", "close", "lookup", "exec", "advice", "map", "size", "name", "device", "cache"]


#: What a request of a pattern is, as a person would call it.
PatternKind = Literal["read", "write", "sync", "open", "close", "lookup", "failed lookup", "hint", "map", "change of name or size"]


#: Why a value could not be measured.
ReasonKind = Literal["unsupported", "denied", "lost", "not measured"]


#: What is cached of the files before a replay begins.
ReplayState = Literal["recorded", "cold", "warm"]


#: Which system call answered.
ResidencySource = Literal["cachestat", "mincore"]


#: How much a finding matters.
Severity = Literal["info", "warning", "critical"]


#: How a file is not what it was when it was recorded.
SinceRecorded = Literal["missing", "shorter", "other size", "not a regular file", "permission denied"]


#: How much of a call site's chain is known.
SiteState = Literal["whole", "cut", "lost"]


#: Calls by the bytes that each one moved.
SizeHistogram = list[Bucket]


#: What a step does. It is about a slot (an open file description of the plan), a mapping, or a path, by their places in
#: the plan.
StepKind = Literal["open", "close", "seek", "read", "pread", "write", "pwrite", "copy_file_range", "sendfile", "sendfile_to_file", "fsync", "fdatasync", "sync_file_range", "syncfs", "msync", "fadvise", "readahead", "mmap", "munmap", "madvise", "load", "store", "truncate", "ftruncate", "fallocate", "stat", "lstat", "access", "readlink", "rename", "unlink", "link", "symlink", "mkdir", "rmdir", "io_uring_read", "io_uring_write", "io_uring_fsync", "io_uring_wait"]


#: What was observed.
Target = Union[TargetCommand, TargetPid, TargetCgroup, TargetSystem]


#: A time by RFC 3339, in UTC. A clock beyond the year 9999 is written as its end.
Time = str


#: Where the records of a trace come from.
TraceSource = Literal["hotset", "strace", "fio", "csv", "oracle", "blkparse"]


#: Why pages stay in the cache after they were to be evicted.
Unevictable = Literal["dirty", "writeback", "mapped", "locked", "memory_only", "unknown"]


#: In what a counter counts.
Unit = Literal["count", "bytes", "pages", "ns"]


VerdictWord = Literal["clear", "not_enough_data"]


#: The cache state that a run should start in, as far as the files of its command go.
WantedState = str
