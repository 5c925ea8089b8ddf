"""`hotset.replay/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Environment,
    Fidelity,
    Hex,
    MemoryStep,
    Missing,
    NotMeasuredList,
    PlanTotals,
    Prediction,
    Reclaim,
    RecordingCost,
    ReplayCell,
    ReplayFiles,
    ReplayRatio,
    ReplaySample,
    ReplayVariant,
    Time,
    TraceMemory,
    TraceSource,
)


@dataclass(frozen=True)
class Replay:
    """What `hotset replay --json` writes. Times are in nanoseconds, counts of pages in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.replay/1"]

    #: The version of hotset that wrote it.
    hotset: str

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

    schema: Optional[Literal["hotset.replay/1"]] = None
