"""`hotset.lab/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Change,
    Environment,
    FailAbove,
    HostDifference,
    LabConditions,
    LabFact,
    LabSize,
    LabUnit,
    Level,
    Missing,
    StateReached,
    Time,
    WantedState,
    Warning,
)


@dataclass(frozen=True)
class Lab:
    """What `hotset lab --json` writes for each experiment, a line each. Times are in nanoseconds, as each cell's
    unit says. docs/formats.md says what holds for every format.
    """

    schema: Literal["hotset.lab/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: Its name, which is also what is typed: `reread`.
    experiment: str

    #: When it began.
    started_at: Time

    #: How long it took, in nanoseconds.
    took_ns: int

    #: How much was measured.
    size: LabSize

    #: The seed of the order within rounds.
    seed: int

    #: Rounds that were run.
    rounds: int

    #: It was interrupted: fewer rounds than planned.
    interrupted: bool

    #: The host that it was measured on.
    environment: Environment

    #: What the host was like.
    conditions: LabConditions

    #: What was not measured, each with why.
    skipped: list[LabSkipped]

    #: What the experiment found beside its cells.
    facts: list[LabFact]

    #: What was measured, and each cell in numbers.
    cells: list[CellKeys]

    #: What was asked and what the cells say, the most important first.
    answers: list[LabAnswer]

    #: How the session compares with a baseline; null where none was named.
    baseline: Optional[LabComparison]

    #: Doubts and advice, the gravest first.
    doubts: list[Warning]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class LabSkipped:
    """Something that was not measured."""

    #: What: `ruby`, `method io_uring_32`, `O_DIRECT on tmpfs`.
    what: str

    #: Why, and how to get it.
    why: str


@dataclass(frozen=True)
class CellKeys:
    """The cell and what follows from it."""

    #: Unique in its experiment, made of its factors: `access/pread/random/1000/warm`.
    id: str

    #: What was varied, by name: what tells this cell from the others.
    factors: dict[str, Level]

    #: What a sample is measured in.
    unit: LabUnit

    #: The state that each sample should start in.
    state_wanted: WantedState

    #: How the cache was filled.
    filled_by: FilledBy

    #: Who counted its calls.
    syscalls_by: CountedBy

    #: Every sample, in order of time, the invalid ones too.
    runs: Runs

    #: Every sample in the cell's unit; null where no operation was made.
    samples: list[Optional[float]]

    #: Over the rounds with samples that count; null where there is none.
    median: Optional[float]

    #: The lower end of the exact 95 % interval of the median; null below six rounds.
    low: Optional[float]

    #: Its upper end.
    high: Optional[float]

    #: Of the samples that count.
    mean: Optional[float]

    #: Over all samples, those that don't count too.
    median_of_all: Optional[float]

    #: The smallest and the largest share of the pages that was cached right before a sample that counts.
    reached_before: Optional[Share]

    #: Read from the device in a sample; this and what follows is the median of the samples that count.
    device_bytes: Optional[float]

    #: Written to the device in a sample.
    device_write_bytes: Optional[float]

    #: Faults that had to read.
    major_faults: Optional[float]

    #: Faults that did not.
    minor_faults: Optional[float]

    #: Calls in a sample.
    syscalls: Optional[float]

    #: CPU time.
    cpu: Optional[float]

    #: Some sample counts.
    valid: bool

    #: Samples that count.
    counted: int

    #: What makes samples doubtful.
    reasons: list[str]


@dataclass(frozen=True)
class Runs:
    """A value a sample, in order of time."""

    #: Whether it counts.
    valid: list[bool]

    #: Which round, from 0. Cells are paired by it.
    round: list[int]

    #: Wall time of the timed part in nanoseconds. Nothing is subtracted.
    wall_ns: list[int]

    #: Operations in it.
    operations: list[int]

    #: User and system CPU time of the timed part, in nanoseconds.
    cpu_ns: list[Optional[int]]

    #: Bytes that the program says it moved.
    bytes: list[int]

    #: Calls that moved or tried to move data or looked for files, by who counted them (`syscalls_by`).
    syscalls: list[Optional[int]]

    #: What was cached of the files right before.
    reached_before: list[Optional[StateReached]]

    #: Bytes read from the device for it, in its own context.
    device_read_bytes: list[Optional[int]]

    #: Bytes written to the device by it or for it, as far as they were submitted before it ended.
    device_write_bytes: list[Optional[int]]

    #: Faults that had to read.
    major_faults: list[Optional[int]]

    #: Faults that did not; with warm mappings their count tells large from small folios.
    minor_faults: list[Optional[int]]

    #: What makes it doubtful.
    doubts: list[list[LabDoubt]]


@dataclass(frozen=True)
class LabDoubt:
    """Why a sample does not count. The state before and after a run proves nothing about what happened in between,
    so
    what was read during it decides too.
    """

    #: The word for scripts.
    code: DoubtCode

    #: A sentence with the numbers.
    text: str

    #: The sample is marked and not averaged in.
    invalidates: bool


@dataclass(frozen=True)
class Share:
    """An object."""

    low: float

    high: float


@dataclass(frozen=True)
class LabAnswer:
    """A question and what the cells say."""

    #: The question, with its question mark.
    question: str

    #: The answer: a sentence with its number.
    answer: str

    #: That number, with its unit.
    number: str

    #: The 95 % confidence interval and from how many rounds it is, or why there is none.
    confidence: str

    #: The ids of the cells that it rests on.
    evidence: list[str]


@dataclass(frozen=True)
class LabComparison:
    """How a session of an experiment compares with a baseline."""

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

    #: Each cell of this session but the second of two equal ones.
    cells: list[CellChange]

    #: The ids of cells that the baseline has and this session lacks.
    only_in_baseline: list[str]

    #: What else differs: the size, versions of runtimes, files of the user's.
    fact_differences: list[FactDifference]


@dataclass(frozen=True)
class CellChange:
    """How a cell compares with the same one of the baseline. Times are in the cell's unit."""

    #: The cell, by its place in `cells` of the session.
    cell: int

    #: How the wall times compare.
    wall: Change

    #: How the CPU times compare, user and system.
    cpu: Change


@dataclass(frozen=True)
class FactDifference:
    """Something beside the cells that is not as it was."""

    #: What it is: `python`.
    what: str

    #: As it was in the baseline.
    baseline: str

    #: As it is now.
    now: str


#: How the pages of a cached file came into the cache, which decides the size of their folios.
FilledBy = Literal["large folios", "small folios", "written", "nothing"]


#: Who counted the calls of a cell.
CountedBy = Literal["sensor", "kernel", "probe", "none"]


#: What is wrong with a sample, in order of the words.
DoubtCode = Literal["calls-not-confirmed", "cpu-taken", "device-reads-while-warm", "failed", "major-faults-while-warm", "slow-pages", "state-not-reached", "too-few-device-bytes", "wrong-count"]
