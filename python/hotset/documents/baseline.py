"""`hotset.baseline/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    BenchCommand,
    ConditionRole,
    Environment,
    HostIdentity,
    Missing,
    OtherPrograms,
    Time,
    Timer,
    WantedState,
)


@dataclass(frozen=True)
class Baseline:
    """What `hotset bench --save-baseline` keeps. Times are in nanoseconds. docs/formats.md says what holds for every
    format.
    """

    schema: Literal["hotset.baseline/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: What people call it; the file is named by it.
    name: str

    #: Its sessions, in the order in which they were saved; at least one.
    sessions: list[BaselineSession]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class BaselineSession:
    """One session: all that a comparison needs of it."""

    #: The version of hotset that measured it.
    version: str

    #: When it began.
    started_at: Time

    #: What machine it was measured on.
    host: HostIdentity

    #: What else is known of the host.
    environment: Environment

    #: How busy other programs kept the host meanwhile.
    other_programs: OtherPrograms

    #: What limits short times.
    timer: Timer

    #: The commands.
    commands: list[BenchCommand]

    #: The conditions, with their valid runs.
    conditions: list[BaselineCondition]


@dataclass(frozen=True)
class BaselineCondition:
    """A command in a cache state, with one run a round."""

    #: The command, by its place in `commands`.
    command: int

    #: The state that each run starts in.
    state: WantedState

    #: The condition that it repeats, by its place in `conditions`; null for one that was asked for.
    repeats: ConditionRole

    #: The runs that count, in the order of their rounds.
    samples: list[BaselineSample]


@dataclass(frozen=True)
class BaselineSample:
    """A run that counts."""

    #: Its round, from 0.
    round: int

    #: Wall time from the call of spawn to the exit.
    wall_ns: int

    #: CPU time, user and system, of the command and the children that it waited for.
    cpu_ns: int

    #: Time during the run in which some task of the host waited for a CPU (PSI, `some`).
    cpu_pressure_ns: Optional[int]

    #: Time that the hypervisor took from all CPUs of this host during the run.
    steal_ns: Optional[int]
