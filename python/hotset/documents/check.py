"""`hotset.check/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Optional

from hotset.documents.common import (
    Environment,
    Frame,
    Hex,
    LearnedBy,
    Missing,
    SiteState,
    StateReached,
    Unit,
    WantedState,
)


@dataclass(frozen=True)
class Check:
    """What `hotset check --json` writes. Times are in nanoseconds. docs/formats.md says what holds for every format."""

    schema: Literal["hotset.check/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: The budget file.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: The host.
    environment: Environment

    #: Why there was no sensor; null where there was one.
    no_sensor: Optional[str]

    #: Why calls were not counted by tracing in its place; null where they were, and where there was a sensor.
    no_trace: Optional[str]

    #: Ctrl-C ended it before all checks were run.
    interrupted: bool

    #: The checks, in the order of the budget.
    checks: list[CheckResult]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class CheckResult:
    """What came of one check."""

    #: Its name.
    name: str

    #: The words that were executed.
    #: As text, with U+FFFD for bytes that are no UTF-8.
    argv: list[str]

    #: All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Optional[list[Hex]]

    #: The state that each run was to begin in.
    state: WantedState

    #: How the files that the state is set on became known; `nothing` where it is set on none.
    learned_by: LearnedBy

    #: How many they are.
    state_files: int

    #: What it came to.
    outcome: CheckOutcome

    #: Why it was not run; null where it was.
    error: Optional[str]

    #: Its runs; the last one decides, and all are told.
    attempts: list[Attempt]


@dataclass(frozen=True)
class Attempt:
    """One run of a check."""

    #: Its exit code; null where a signal ended it.
    exit_code: Optional[int]

    #: The signal that ended it; null where none did.
    signal: Optional[int]

    #: Whether that is what the budget says.
    exit_as_wanted: bool

    #: It took too long, and was killed.
    timed_out: bool

    #: How long it took.
    wall_ns: int

    #: The cache state that it began in; null where none was asked for.
    reached: Optional[StateReached]

    #: Its limits: of the whole run, then of files, then of processes, each by the names of numbers.
    limits: list[JudgedLimit]

    #: Findings that may not appear.
    findings: list[JudgedFinding]

    #: Requests whose code is not known: no call site has a part of theirs. Null where call sites were not asked for.
    requests_without_site: Optional[int]

    #: The end of what the command wrote, where it failed.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    output_tail: str

    #: Its bytes in hexadecimal, where the text is not exact.
    output_tail_hex: Optional[Hex]


@dataclass(frozen=True)
class JudgedLimit:
    """A limit beside the number."""

    #: What it is on.
    on: LimitOf

    #: The pattern of files, or the name of processes; null of the whole run.
    which: Optional[str]

    #: Patterns of files among these that it is not on.
    except_: list[str] = field(metadata={"key": "except"})

    #: How many files or processes of the run it is on; null of the whole run.
    rows: Optional[int]

    #: The number's name.
    number: str

    #: In what it counts.
    unit: Unit

    #: The limit as the budget has it.
    limit: str

    #: The amount in the limit; of one above a baseline what that makes. Null where the baseline has no such number.
    bound: Optional[int]

    #: The number; null where it was not measured.
    value: Optional[int]

    #: What the baseline has; null where there is none.
    baseline: Optional[int]

    #: What came of it.
    verdict: LimitVerdict

    #: Why the number can't be trusted although there is one; null where it can.
    doubt: Optional[str]

    #: Of a broken limit, what has the largest part in the number, or in its change since the baseline.
    parts: list[Part]

    #: How many more have a part in it.
    more_parts: int

    #: Of a broken limit, the code that has the largest part in the number, or in its change since the baseline; empty
    #: where call sites
    #: were not asked for, or the number is none of what code asks for.
    sites: list[SitePart]

    #: How many more call sites have a part in it.
    more_sites: int


@dataclass(frozen=True)
class Part:
    """What has a part in a number."""

    #: What it is.
    kind: PartKind

    #: Its path, or the words of its command.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    name: str

    #: Its bytes in hexadecimal, where the text is not exact.
    name_hex: Optional[Hex]

    #: What became of it since the baseline; null without one.
    change: Optional[Change]

    #: Its part; of a change since the baseline by how much it changed.
    amount: int


@dataclass(frozen=True)
class SitePart:
    """A call site that has a part in a number."""

    #: The calls, innermost first. Most chains share most of them.
    frames: list[Frame]

    #: How much of the chain is known.
    state: SiteState

    #: What became of it since the baseline; null without one that has call sites.
    change: Optional[Change]

    #: Its part; of a change since the baseline by how much it changed.
    amount: int


@dataclass(frozen=True)
class JudgedFinding:
    """A finding that may not appear."""

    #: The rule; docs/rules.md explains it.
    rule: str

    #: What came of it: broken where the finding appeared.
    verdict: LimitVerdict

    #: What it says, or why the rule could not tell; null where it found nothing.
    words: Optional[str]


#: What a check came to.
CheckOutcome = Literal["passed", "passed_on_retry", "failed", "command_failed", "timed_out", "not_run"]


#: What a limit is on.
LimitOf = Literal["run", "files", "processes"]


#: What a limit came to.
LimitVerdict = Literal["held", "broken", "not_measured", "not_measured_and_allowed"]


#: What has a part in a number.
PartKind = Literal["file", "process", "failed_lookup"]


#: What became of something.
Change = Literal["came", "went", "grew", "shrank", "changed", "unclear"]
