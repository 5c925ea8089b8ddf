"""`hotset.fleet/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional, Union

from hotset.documents.common import (
    Missing,
)


@dataclass(frozen=True)
class Fleet:
    """What `python -m hotset.fleet` writes. Numbers are in the unit of their column. docs/formats.md says what holds
    for every format.
    """

    schema: Literal["hotset.fleet/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: Where the tables of the fleet are.
    root: str

    #: The days of which there are files, such as 2026-11-21.
    days: list[str]

    #: Hosts of which there are intervals.
    hosts: int

    #: Intervals of all hosts.
    intervals: int

    #: The answers in a sentence each, the most important first.
    headline: list[FleetHeadline]

    #: The analyses, in the order in which they are shown.
    analyses: list[FleetAnalysis]

    #: What makes the numbers doubtful, the gravest first.
    warnings: list[FleetWarning]

    #: What the numbers hold for, by name.
    conditions: list[FleetCondition]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class FleetHeadline:
    """An answer in a sentence."""

    #: What was asked.
    question: str

    #: Its number, with a unit.
    number: str

    #: The sentence.
    sentence: str


@dataclass(frozen=True)
class FleetAnalysis:
    """A question and its answer as a table."""

    #: The name of the table.
    name: str

    #: The question.
    question: str

    #: The answer in a sentence; may be empty.
    answer: str

    #: The columns of the table.
    columns: list[FleetColumn]

    #: Its first rows, with a value for each column.
    rows: list[list[Optional[FleetCell]]]

    #: All rows that there are.
    row_count: int

    #: A picture of it; null where it has none.
    chart: Optional[FleetChart]

    #: What a reader must know about the numbers.
    notes: list[str]


@dataclass(frozen=True)
class FleetColumn:
    """A column of an answer."""

    #: Its name in files.
    name: str

    #: Its title.
    title: str

    #: What its values are.
    meaning: str

    #: What its numbers measure.
    unit: FleetUnit


@dataclass(frozen=True)
class FleetChart:
    """A picture of an answer."""

    #: What it shows.
    label: str

    #: How it is drawn.
    kind: FleetChartKind

    #: The horizontal axis; of bars, its title alone.
    x: FleetAxis

    #: The vertical axis.
    y: FleetAxis

    #: Names of the places 0, 1, 2 and so on of the horizontal axis; empty where it measures something.
    names: list[str]

    #: What is drawn.
    series: list[FleetSeries]


@dataclass(frozen=True)
class FleetAxis:
    """An axis of a picture."""

    #: Its title.
    title: str

    #: What it measures.
    unit: FleetUnit

    #: Whether it is logarithmic.
    log: bool


@dataclass(frozen=True)
class FleetSeries:
    """What is drawn under one name."""

    #: Its name.
    name: str

    #: Points: where and how much, in the units of the axes.
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class FleetWarning:
    """Why to doubt the numbers."""

    #: What is doubtful.
    text: str

    #: What to do about it; may be empty.
    advice: str


@dataclass(frozen=True)
class FleetCondition:
    """What the numbers hold for."""

    #: What it is.
    name: str

    #: How it was.
    value: str


#: What the numbers of a column, or of an axis, measure.
FleetUnit = Literal["text", "count", "number", "bytes", "ratio", "ns"]


#: A value of a table: a text or a number, in the unit of its column.
FleetCell = Union[float, str]


#: How a chart is drawn.
FleetChartKind = Literal["bars", "lines"]
