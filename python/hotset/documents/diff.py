"""`hotset.diff/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Command,
    Environment,
    FileKind,
    Hex,
    Missing,
    Severity,
    Time,
    Unit,
)


@dataclass(frozen=True)
class Diff:
    """What `hotset diff --json` writes. Times are in nanoseconds, counts of pages in base pages. docs/formats.md
    says what holds for every format.
    """

    schema: Literal["hotset.diff/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: What is compared.
    compared: ComparedKind

    #: The first run.
    before: SideAbout

    #: The second run.
    after: SideAbout

    #: Directories that were stripped from paths.
    strip: list[Stripped]

    #: Whether they differ in anything that does not vary between runs of the same program: see `varies` of a counter.
    #: Findings rest on
    #: times, and are not asked.
    differs: bool

    #: Every counter of the runs, in a fixed order, whether it differs or not.
    totals: list[CounterChange]

    #: The files that differ; null where one run does not have them.
    files: Optional[RowChanges]

    #: The processes that differ, by their commands; null where one run does not have them.
    processes: Optional[RowChanges]

    #: Paths of lookups that failed and differ; null where one run does not have them.
    failed_lookups: Optional[RowChanges]

    #: Paths of lookups that succeeded and differ, opens included; null where one run does not have them.
    found_lookups: Optional[RowChanges]

    #: Findings that appeared, went or changed, by rule; null where one run does not have them.
    findings: Optional[list[FindingChange]]

    #: What one or both runs did not measure, and is in no difference.
    not_measured: list[NotCompared]

    #: What makes the comparison doubtful, and what the runs differ in beside.
    caveats: list[DiffCaveat]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class SideAbout:
    """What a run was."""

    #: The file that it was read from; null where it has no name.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]

    #: The version of hotset that wrote it; empty where that is not known.
    hotset: str

    #: When it began; null where that is not known.
    started_at: Optional[Time]

    #: The host; null where it is not known.
    environment: Optional[Environment]

    #: The command that was observed; null where it is not known.
    command: Optional[Command]

    #: What measured it: the sensor with its level, or the source of a recording.
    instrument: str

    schema: Optional[Literal["hotset.diff/1"]] = None


@dataclass(frozen=True)
class Stripped:
    """A directory that was stripped from paths."""

    #: A path.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    path: str

    #: Its bytes in hexadecimal, where the text is not exact.
    path_hex: Optional[Hex]


@dataclass(frozen=True)
class CounterChange:
    """A counter of both runs."""

    #: Its name in the JSON of a run.
    name: str

    #: In what it counts.
    unit: Unit

    #: Its value in the first run; null where that did not measure it.
    before: Optional[int]

    #: Its value in the second run; null where that did not measure it.
    after: Optional[int]

    #: Set of what varies between runs of the same program that do the same: times, minor faults, evictions.
    varies: bool


@dataclass(frozen=True)
class RowChanges:
    """Rows of one kind that differ."""

    #: Rows that differ, the largest effect first; those that are unclear last.
    rows: list[RowChange]

    #: Rows that are in both runs and differ in nothing, or only in what varies.
    same: int

    #: Rows of both runs that were taken for one although their names differ.
    matched: list[MatchedRow]


@dataclass(frozen=True)
class RowChange:
    """A row that differs."""

    #: What became of it.
    change: Change

    #: Of the first run; null where it is not in that.
    before: Optional[NamedRow]

    #: Of the second run; null where it is not in that.
    after: Optional[NamedRow]

    #: What their names differ in; empty where they are equal.
    by: list[MatchedBy]

    #: The counters that differ, the largest effect first; then those that vary.
    counters: list[CounterChange]

    #: What the difference would cost on a usual host, in nanoseconds: for the order of rows, and for nothing else.
    effect_ns: int


@dataclass(frozen=True)
class NamedRow:
    """A row of a run, or several that have one name."""

    #: Its path, or the words of its command; of several the first.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    name: str

    #: Its bytes in hexadecimal, where the text is not exact.
    name_hex: Optional[Hex]

    #: What kind of file it is; null of what is none.
    kind: Optional[FileKind]

    #: How many rows this stands for.
    rows: int


@dataclass(frozen=True)
class MatchedRow:
    """Rows of both runs that are one thing."""

    #: Of the first run.
    before: NamedRow

    #: Of the second run.
    after: NamedRow

    #: What their names differ in.
    by: list[MatchedBy]


@dataclass(frozen=True)
class FindingChange:
    """What became of the finding of a rule."""

    #: The rule; docs/rules.md explains it.
    rule: str

    #: What became of it: it came, went, or matters more (grew) or less (shrank); unclear where the other run's rule
    #: could not tell.
    change: Change

    #: In the first run; null where it is not in that.
    before: Optional[Brief]

    #: In the second run; null where it is not in that.
    after: Optional[Brief]

    #: Why the other run's rule could not tell; null where it could.
    undecided: Optional[str]


@dataclass(frozen=True)
class Brief:
    """A finding in brief."""

    #: How much it matters.
    severity: Severity

    #: One sentence, without a full stop.
    title: str

    #: What the change would save at most.
    saving_high_ns: int


@dataclass(frozen=True)
class NotCompared:
    """Something that was not compared, because a run did not measure it."""

    #: The run that did not measure it.
    which: Which

    #: The counters, or what else it is.
    what: list[str]

    #: Why, and what would help.
    reason: str


@dataclass(frozen=True)
class DiffCaveat:
    """Something that makes the comparison doubtful, or that the runs differ in beside their counts."""

    #: What it is.
    kind: DiffCaveatKind

    #: What it is in the first run; null where it does not concern that.
    before: Optional[str]

    #: What it is in the second run; null where it does not concern that.
    after: Optional[str]


#: What is compared.
ComparedKind = Literal["profiles", "recordings"]


#: What became of something.
Change = Literal["came", "went", "grew", "shrank", "changed", "unclear"]


#: What two names differ in, although they are taken for one.
MatchedBy = Literal["strip", "temporary", "hash", "version", "pid", "date", "inode", "program"]


#: One of both runs.
Which = Literal["before", "after"]


#: Why a comparison is doubtful, or what both runs differ in beside their counts.
DiffCaveatKind = Literal["same_run", "empty", "command", "exit", "kernel", "page_size", "cpus", "memory", "memory_limit", "idle_eviction", "file_systems", "cache_state", "instrument", "version", "lost", "other_files", "unnamed_lookups", "lacks"]
