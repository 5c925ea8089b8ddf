"""`hotset.explanation/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Environment,
    Fidelity,
    Frame,
    Hex,
    MemoryStep,
    Missing,
    NotMeasuredList,
    NumberKey,
    PlanTotals,
    Prediction,
    RatioEstimate,
    Reclaim,
    RecordingCost,
    ReplayCell,
    ReplayChange,
    ReplayFiles,
    ReplayRatio,
    ReplaySample,
    ReplayVariant,
    SavingKeys,
    Severity,
    SiteState,
    Time,
    TraceMemory,
    TraceSource,
    VerdictKeys,
)


@dataclass(frozen=True)
class Explanation:
    """What `hotset explain --json` writes. Times are in nanoseconds, counts of pages in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.explanation/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What it says of itself.
    recording: TraceHead

    #: How long the run took.
    wall_ns: int

    #: How long its requests took; those of several threads add up.
    io_ns: int

    #: What is worth changing: what is proved first, the largest gain first.
    findings: list[FindingKeys]

    #: What the other rules said.
    rules: list[VerdictKeys]

    #: The replays; null where nothing was replayed.
    replays: Optional[Whole]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class TraceHead:
    """What a trace is of."""

    #: The version of hotset that wrote it.
    hotset: str

    #: Where its records come from.
    source: TraceSource

    #: When the recording began, where that is known.
    started_at: Optional[Time]

    #: The host; null where it is not known.
    environment: Optional[Environment]

    #: The command that was observed; null where it is not known.
    command: Optional[Command]

    #: What recording cost a request; null where that is not known.
    cost: Optional[RecordingCost]

    #: Memory of its processes beside the cache; null where nobody looked.
    memory: Optional[TraceMemory]

    #: The same over time, in ascending order; empty where nobody looked.
    memory_steps: list[MemoryStep]

    #: How the host reclaims memory; null where it is not known.
    reclaim: Optional[Reclaim]

    #: What its records lack, with reasons.
    not_measured: NotMeasuredList

    #: What its source could not know, or what was lost on the way: a sentence each.
    lacks: list[str]

    schema: Optional[Literal["hotset.explanation/1"]] = None


@dataclass(frozen=True)
class FindingKeys:
    """A finding with its proof."""

    #: The rule; docs/explain.md explains it.
    rule: str

    severity: Severity

    title: str

    #: The numbers that it rests on, those that tell most first.
    evidence: list[EvidenceKeys]

    #: What the change would save, as estimated.
    saving_ns: SavingKeys

    #: The files with most of it.
    files: list[FileKeys]

    #: Other files that have a part in it.
    more_files: int

    #: The code behind it; empty where the recording has no call sites.
    sites: list[SiteKeys]

    #: What `hotset replay --as` is told to prove it.
    changes: list[str]

    #: The variant of the replays that these were made in, by its place; null where it was not replayed.
    variant: Optional[int]

    #: What the replay showed; null where there was none, or nothing may be claimed of it.
    proof: Optional[Proof]

    #: Why it is not proved; null where it is.
    not_proved: Optional[str]

    advice: str

    #: How that is done, by language.
    how: list[HowKeys]

    #: What the change risks; null where it risks nothing.
    risks: Optional[str]

    #: Settings of programs and disks that spare most of it without a change of code.
    settings: list[Setting]


@dataclass(frozen=True)
class EvidenceKeys:
    """A number that a finding rests on. A unit stands at the end of its name."""

    name: str

    value: NumberKey


@dataclass(frozen=True)
class FileKeys:
    """A file with its part of a finding."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: Records of it that the finding is about.
    records: int

    #: How long they took together.
    time_ns: int


@dataclass(frozen=True)
class SiteKeys:
    """A call site with its part of a finding."""

    #: The calls, innermost first. Most chains share most of them.
    frames: list[Frame]

    #: How much of the chain is known.
    state: SiteState

    #: Records of it that the finding is about.
    records: int

    #: How long they took together.
    time_ns: int


@dataclass(frozen=True)
class Proof:
    """What a replay of the recording with the changes of a finding showed."""

    #: The changes that were made.
    changes: list[ReplayChange]

    #: The I/O time with them by that without.
    io: RatioEstimate

    #: What they would gain the program; null where nothing is predicted.
    prediction: Optional[Prediction]


@dataclass(frozen=True)
class HowKeys:
    """How something is done in a language."""

    language: Language

    text: str


@dataclass(frozen=True)
class Setting:
    """A setting, as a file that can be applied."""

    #: Whose it is: a program or a disk.
    of: str

    #: What to set, and what that does, in one sentence.
    how: str

    #: What it risks.
    risks: str

    #: The name of the file that sets it.
    file: str

    #: Where the file belongs.
    place: str

    #: What to run to load it; null where `place` says all.
    run: Optional[str]

    #: How a comment begins in it.
    comment: str

    #: The lines of the file, without comments.
    text: str


@dataclass(frozen=True)
class Whole:
    """What the document holds beside its envelope."""

    #: When it began.
    started_at: Time

    #: How long it took.
    took_ns: int

    #: The host that it was replayed on.
    environment: Environment

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: What it says of itself.
    head: TraceHead

    #: Where records are missing in it.
    gaps: int

    #: Threads that do steps.
    threads: int

    #: What the steps came to when they were recorded.
    recorded: PlanTotals

    #: Records that are no steps, by the reason.
    left_out: dict[str, int]

    #: Its files.
    files: ReplayFiles

    #: The memory that a replay may use, page cache included; null where that is not limited.
    memory_limit_bytes: Optional[int]

    #: What entering and leaving the kernel costs here, in nanoseconds a call: a recorded duration does not hold it.
    syscall_ns: Optional[float]

    #: The seed of the orders.
    seed: int

    #: Rounds that were done.
    rounds: int

    #: It was ended before its last round.
    interrupted: bool

    #: The recording as it is, and with changes.
    variants: list[ReplayVariant]

    #: All replays, in their order.
    samples: list[ReplaySample]

    #: Each variant from each cache state.
    cells: list[ReplayCell]

    #: Whether the replay of the recording as it is behaves as recorded.
    fidelity: Fidelity

    #: Each changed variant beside the recording as it is.
    ratios: list[ReplayRatio]

    #: What each changed variant would gain the program.
    predictions: list[Prediction]


#: A language that a program is written in.
Language = Literal["c", "cpp", "rust", "go", "python", "node", "java", "ruby", "shell"]
