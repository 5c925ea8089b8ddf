"""`hotset.bench/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union

from hotset.documents.common import (
    BenchCommand,
    Change,
    ConditionRole,
    ConfidenceInterval,
    Dev,
    DeviceIo,
    DirectIo,
    Environment,
    FailAbove,
    FileKind,
    Hex,
    HostDifference,
    Io,
    LearnedBy,
    Missing,
    MmapIo,
    RatioEstimate,
    ReadKeys,
    ReadaheadIo,
    Spread,
    StateReached,
    SyncIo,
    Time,
    TimeIo,
    Timer,
    Unevictable,
    Unreadable,
    WantedState,
    Warning,
    WriteIo,
)


@dataclass(frozen=True)
class Bench:
    """What `hotset bench --export-json` and `--json` write: hyperfine's keys in `results`, with times in seconds,
    and all that was measured. docs/formats.md says what holds for every format.
    """

    schema: Literal["hotset.bench/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: When it began.
    started_at: Time

    #: The host that it was measured on.
    environment: Environment

    #: What limits short times.
    timer: Timer

    #: The seed of the order within rounds.
    seed: int

    #: Rounds that were planned before the first one; any beyond came in blocks, after a look at the data.
    planned_rounds: int

    #: So many first rounds are a warm-up; null where the series of rounds shows it.
    warmup: Warmup

    #: Why it ended.
    stop: StopReason

    #: The commands.
    commands: list[BenchCommand]

    #: The files of each command, in the order of `commands`.
    files: list[FileSet]

    #: What the sensor saw of each command, in the order of `commands`.
    learned: list[Optional[LearnedIo]]

    #: The conditions of a round.
    conditions: list[Condition]

    #: Every run, in order of time.
    runs: list[BenchRun]

    #: Rounds of measured conditions that were done.
    rounds: int

    #: Rounds beyond the planned ones, added after a look at the data.
    extended_rounds: int

    #: First rounds that were taken for a warm-up.
    warmup_rounds: int

    #: A result for each condition, in their order.
    results: list[ResultKeys]

    #: Conditions against each other.
    comparisons: list[Comparison]

    #: Conditions against themselves.
    noise_floors: list[NoiseFloor]

    #: The largest effect that this session can't decide; null where no condition differs from itself.
    undecidable_below: Optional[float]

    #: What cold runs paid for.
    cold_warm: list[ColdWarm]

    #: What one command did to files and another did not.
    io_differences: list[IoDifference]

    #: How the session compares with the baseline that was named; null where none was.
    baseline: Optional[BaselineComparison]

    #: What a reader has to know before believing a number.
    warnings: list[Warning]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class StopReasonPreciseEnough:
    """Every interval that was asked for is narrower than the target."""

    reason: Literal["precise-enough"]


@dataclass(frozen=True)
class StopReasonTooShort:
    """Those that are not are of times that are too short for more rounds to help."""

    reason: Literal["too-short"]


@dataclass(frozen=True)
class StopReasonRunsDone:
    """All rounds that were asked for are done."""

    reason: Literal["runs-done"]


@dataclass(frozen=True)
class StopReasonMaxTime:
    """The time given is used up."""

    reason: Literal["max-time"]


@dataclass(frozen=True)
class StopReasonInterrupted:
    """Someone interrupted it."""

    reason: Literal["interrupted"]


@dataclass(frozen=True)
class StopReasonFailed:
    """A command failed, and failures were not to be ignored."""

    reason: Literal["failed"]

    #: The condition, by its place in `conditions`.
    condition: int

    #: Its exit code; null where a signal ended it.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: The end of what it wrote to standard output and standard error, as far as that was kept.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    output_tail: str

    #: Its bytes in hexadecimal, where the text is not exact.
    output_tail_hex: Optional[Hex]


@dataclass(frozen=True)
class StopReasonError:
    """Something around the commands failed, or a cache state could not be set."""

    reason: Literal["error"]

    #: What it was.
    message: str


@dataclass(frozen=True)
class FileSet:
    """The files that a command reads, maps and writes."""

    #: How they became known.
    learned_by: LearnedBy

    #: The files, each once.
    members: list[SetMember]

    #: Files that belong here but could not be opened; their state is neither set nor verified.
    unreadable: list[Unreadable]


@dataclass(frozen=True)
class SetMember:
    """One file of a set."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: The file system's device (`st_dev`; for overlayfs that of the layer which holds the pages).
    dev: Dev

    #: The inode number.
    ino: int

    #: Its size when it was learned.
    size_bytes: int

    #: Its time of last change when it was learned, in nanoseconds since 1970.
    mtime_ns: int

    #: Of its size, what nothing is read for: holes, and space that was never written.
    hole_bytes: int

    #: Reading it may take fewer bytes from the device than it has: its data is compressed, or nobody tells.
    may_be_compressed: bool

    #: The command reads it.
    read: bool

    #: The command maps or executes it.
    mapped: bool

    #: The command writes it.
    written: bool

    #: Set where pages of it stay in the cache.
    cannot_evict: Optional[StuckPages]

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class StuckPages:
    """Pages of one file that could not be evicted."""

    #: How many stayed when eviction was last tried.
    pages: int

    #: What kept them.
    reason: Unevictable


@dataclass(frozen=True)
class LearnedIo:
    """What the sensor saw of a command's I/O."""

    #: The state in which that run began.
    state: WantedState

    #: Its wall time.
    wall_ns: int

    #: The sum over all files.
    totals: Io

    #: A row a file, most from the device first.
    files: list[FileRow]


@dataclass(frozen=True)
class FileRow:
    """One file."""

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

    #: What the file system counts up, or draws, when it gives the number of a deleted file to another; 0 where it keeps
    #: none. Not there for what was learned from stat(2), which does not tell it.
    generation: Optional[int] = None


@dataclass(frozen=True)
class Condition:
    """A command in a cache state. Each round runs each condition once."""

    #: The command, by its place in `commands`.
    command: int

    #: The state that each run starts in.
    state: WantedState

    #: The condition that it repeats, by its place in `conditions`; null for one that was asked for.
    repeats: ConditionRole


@dataclass(frozen=True)
class BenchRun:
    """One run of a command, from its spawn to its exit, with what tells whether it counts. Nothing is subtracted.
    All resources are those of the command and the children that it waited for.
    """

    #: Which condition, by its place in `conditions`.
    condition: int

    #: Which round, from 0. Runs are paired by it. Forced warm-up rounds are counted too.
    round: int

    #: Its place in the round, from 0, in the order in which the conditions ran.
    position: int

    #: 0 for the first run of this condition in this round, n for its nth repetition after invalid ones.
    repeat: int

    #: When it was spawned, in nanoseconds since the session began.
    started_after_ns: int

    #: Wall time from the call of spawn to the exit.
    wall_ns: int

    #: User CPU time.
    user_ns: int

    #: System CPU time.
    system_ns: int

    #: The largest resident set of one of the processes.
    max_rss_bytes: int

    #: Its exit code; null where a signal ended it.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: The cache state just before the spawn.
    reached_before: Optional[StateReached]

    #: The cache state right after the exit.
    reached_after: Optional[StateReached]

    #: Bytes that the processes themselves had read from a device: `ru_inblock` in units of 512 bytes. Reads that
    #: another process or a kernel thread submitted for them are not in it.
    device_read_bytes: Optional[int]

    #: Page faults that had to read.
    major_faults: int

    #: Page faults that did not. With the same files warm, their count tells large from small folios.
    minor_faults: int

    #: Times that it gave up a CPU, usually to wait.
    voluntary_switches: int

    #: Times that a CPU was taken from it.
    involuntary_switches: int

    #: Time that the hypervisor took from all CPUs of this host during the run.
    steal_ns: Optional[int]

    #: Time during the run in which some task of the host waited for a CPU (PSI, `some`).
    cpu_pressure_ns: Optional[int]

    #: Time during the run in which some task of the host waited for I/O (PSI, `some`).
    io_pressure_ns: Optional[int]

    #: Files of the command's set whose size or time of change differed after the run, by their place in its `members`.
    inputs_changed: list[int]


@dataclass(frozen=True)
class ResultKeys:
    """The figures that hyperfine gives, of the counted runs, in seconds. `user` and `system` are means, as there."""

    command: str

    mean: Optional[float]

    stddev: Optional[float]

    median: Optional[float]

    user: Optional[float]

    system: Optional[float]

    min: Optional[float]

    max: Optional[float]

    #: Wall times of the counted runs, in seconds and in order of time; `mean` and the other figures are of these.
    times: list[Seconds]

    #: The same of runs that are not counted.
    times_excluded: list[Seconds]

    memory_usage_byte: list[int]

    exit_codes: list[Optional[int]]

    parameters: dict[str, str]

    name: str

    command_index: int

    state: WantedState

    repeats_result: Optional[int]

    too_short: bool

    trend: Trend

    valid_runs: int

    invalid_runs: int

    warmup_runs: int

    counted: Optional[Times]

    all: Optional[Times]

    #: Whether each run is counted: all runs of this condition, in the order of `runs`.
    valid: list[bool]

    #: Why not, and what else casts doubt on each, in the order of `valid`.
    reasons: list[list[Reason]]


@dataclass(frozen=True)
class Times:
    """The times of some runs of one condition, in nanoseconds, and what they read."""

    #: How many runs.
    runs: int

    #: Wall time.
    wall_ns: Spread

    #: The exact 95 % interval of the median wall time; null for fewer than six runs.
    wall_interval_ns: Optional[ConfidenceInterval]

    #: User and system time.
    cpu_ns: Spread

    #: User time.
    user_ns: Spread

    #: System time.
    system_ns: Spread

    #: Bytes from the device, of the runs where they are known.
    device_bytes: Optional[Spread]

    #: Major faults.
    major_faults: Spread

    #: Minor faults.
    minor_faults: Spread


@dataclass(frozen=True)
class Comparison:
    """How condition B compares with condition A."""

    #: The base.
    a: int

    #: What is compared with it.
    b: int

    #: From the rounds in which both have a valid run.
    valid: Optional[RatioEstimate]

    #: From the first runs of all rounds.
    all: Optional[RatioEstimate]

    #: What the valid runs say.
    verdict: Difference

    #: The smallest effect that they could have shown, such as 0.02 for 2 %.
    smallest_effect: Optional[float]

    #: CPU time of B divided by that of A, user and system, from the same rounds. On a busy host it varies less than the
    #: time,
    #: which has the waiting for a CPU in it.
    cpu: Optional[RatioEstimate]

    #: What the CPU times say; nothing is claimed of times so short that the start of a process blurs them.
    cpu_verdict: Difference


@dataclass(frozen=True)
class NoiseFloor:
    """The A/A comparison of one condition with its twin."""

    #: The base.
    a: int

    #: What is compared with it.
    b: int

    #: From the rounds in which both have a valid run.
    valid: Optional[RatioEstimate]

    #: From the first runs of all rounds.
    all: Optional[RatioEstimate]

    #: What the valid runs say.
    verdict: Difference

    #: The smallest effect that they could have shown, such as 0.02 for 2 %.
    smallest_effect: Optional[float]

    #: CPU time of B divided by that of A, user and system, from the same rounds. On a busy host it varies less than the
    #: time,
    #: which has the waiting for a CPU in it.
    cpu: Optional[RatioEstimate]

    #: What the CPU times say; nothing is claimed of times so short that the start of a process blurs them.
    cpu_verdict: Difference

    #: Set where the interval does not hold 1: no smaller effect can be decided in this session, such as 0.03 for 3 %.
    undecidable_below: Optional[float]


@dataclass(frozen=True)
class ColdWarm:
    """Why cold runs take longer than warm ones. Times are in nanoseconds."""

    #: The base.
    a: int

    #: What is compared with it.
    b: int

    #: Rounds in which both have a valid run.
    rounds: int

    #: Cold minus warm, the median over rounds; negative where cold runs took less time.
    difference_ns: float

    #: Bytes from the device, cold minus warm, the median over rounds; none where they are not known.
    device_bytes: Optional[float]

    #: Time that the command waited for the device.
    device_wait_ns: float

    #: Who says so.
    device_wait_source: WaitSource

    #: The wait's share of the difference, 0 to 1; none where cold is not shown to be slower.
    device_share: Optional[float]

    #: The ends of that share that the 95 % intervals of its parts leave; null where one has no interval.
    device_share_interval: Optional[ConfidenceInterval]

    #: CPU time, cold minus warm, the median over rounds: what bringing pages in costs beside waiting.
    cpu_difference_ns: float

    #: What reading ahead would save at most: the whole wait. An upper bound, since the device still has to read as
    #: much, and only what the CPU works meanwhile is hidden.
    readahead_saves_ns: float

    #: What `hotset warm` before the start would save at most: the whole difference.
    warming_saves_ns: float


@dataclass(frozen=True)
class IoDifference:
    """How the I/O of two commands differs."""

    #: The command with A's I/O, an index into the session's commands.
    command_a: int

    #: The same for B.
    command_b: int

    #: The totals' kinds in which they differ.
    totals: list[KindDifference]

    #: The files that differ in more than their time, what differs most in bytes first.
    files: list[FileDifference]


@dataclass(frozen=True)
class KindDifference:
    """One kind of I/O on both sides; each known."""

    #: Which kind.
    kind: IoKind

    #: How much A did.
    a: int

    #: How much B did.
    b: int


@dataclass(frozen=True)
class FileDifference:
    """A file that the two commands treat differently."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: True if A touched it.
    in_a: bool

    #: True if B touched it.
    in_b: bool

    #: The kinds in which they differ, at least one.
    kinds: list[KindDifference]


@dataclass(frozen=True)
class BaselineComparison:
    """How a session compares with a baseline."""

    #: The baseline's name.
    name: str

    #: How many of its sessions were compared with.
    sessions: int

    #: When the first of them began.
    first_at: Time

    #: When the last of them began.
    last_at: Time

    #: How this host differs from theirs.
    host_differences: list[HostDifference]

    #: What was too much.
    fail_above: FailAbove

    #: True where a slow-down above it is shown.
    failed: bool

    #: Each condition of this session that was asked for.
    conditions: list[ConditionChange]

    #: What the baseline has and this session lacks: its command and state.
    only_in_baseline: list[str]


@dataclass(frozen=True)
class ConditionChange:
    """How a condition compares with the same one of the baseline."""

    #: The condition, by its place in `conditions` of the session.
    condition: int

    #: What the baseline ran under this name, where that was something else: its words. Null where it was the same.
    other_command: Optional[str]

    #: How the wall times compare.
    wall: Change

    #: How the CPU times compare, user and system.
    cpu: Change


#: How the first rounds are treated.
Warmup = Optional[int]


#: Why a session ended.
StopReason = Union[StopReasonPreciseEnough, StopReasonTooShort, StopReasonRunsDone, StopReasonMaxTime, StopReasonInterrupted, StopReasonFailed, StopReasonError]


#: A time.
Seconds = float


#: What rounds do over the session.
Trend = Literal["flat", "warm-up", "slowdown", "unsettled"]


#: Why a run doesn't count, or is doubtful.
Reason = Literal["failed", "state-not-reached", "state-unknown", "files-unknown", "device-read", "major-faults", "device-read-too-little", "device-unknown", "involuntary-switches", "steal", "cpu-pressure", "slow-pages", "inputs-changed", "warm-up", "repeated"]


#: Whether B is faster than A.
Difference = Literal["faster", "slower", "no difference shown", "within noise", "no interval"]


#: Who says how long the command waited for the device.
WaitSource = Literal["sensor", "off-cpu"]


#: A kind of I/O that is compared.
IoKind = Literal["read_calls", "read_bytes", "faults", "mapped_pages", "device_bytes", "write_calls", "written_bytes", "syncs", "direct_bytes", "time_ns"]
