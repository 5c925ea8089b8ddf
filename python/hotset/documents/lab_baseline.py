"""`hotset.lab-baseline/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Environment,
    HostIdentity,
    LabConditions,
    LabFact,
    LabSize,
    LabUnit,
    Level,
    Missing,
    OtherPrograms,
    Time,
)


@dataclass(frozen=True)
class LabBaseline:
    """What `hotset lab --save-baseline` keeps. Times are in nanoseconds. docs/formats.md says what holds for every
    format.
    """

    schema: Literal["hotset.lab-baseline/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: What people call it; the file is named by it.
    name: str

    #: Its sessions, in the order in which they were saved; at least one.
    sessions: list[LabBaselineSession]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class LabBaselineSession:
    """A session of one experiment: all that a comparison needs of it."""

    #: The version of hotset that measured it.
    version: str

    #: The experiment's name.
    experiment: str

    #: How much was measured.
    size: LabSize

    #: When it began.
    started_at: Time

    #: What machine it was measured on.
    host: HostIdentity

    #: What else is known of the host.
    environment: Environment

    #: What the host was like.
    conditions: LabConditions

    #: How busy other programs kept the host meanwhile.
    other_programs: OtherPrograms

    #: What the experiment found beside its cells, such as the versions of runtimes.
    facts: list[LabFact]

    #: The cells, with their samples that count.
    cells: list[LabBaselineCell]


@dataclass(frozen=True)
class LabBaselineCell:
    """A combination of factors."""

    #: Unique in its experiment, made of its factors: `access/pread/random/1000/warm`.
    id: str

    #: What was varied, by name: what tells this cell from the others.
    factors: dict[str, Level]

    #: What a sample is measured in.
    unit: LabUnit

    #: Every sample that counts, in order of time.
    runs: KeptRuns


@dataclass(frozen=True)
class KeptRuns:
    """A value a sample, in order of time."""

    #: Which round, from 0.
    round: list[int]

    #: Wall time of the timed part in nanoseconds. Nothing is subtracted.
    wall_ns: list[int]

    #: Operations in it.
    operations: list[int]

    #: User and system CPU time of the timed part, in nanoseconds.
    cpu_ns: list[Optional[int]]

    #: Bytes that the program says it moved.
    bytes: list[int]

    #: Pages that the cell's files have.
    pages: list[Optional[int]]
