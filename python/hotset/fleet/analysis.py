"""An analysis: a question, the SQL steps that answer it, and what the columns of the answer mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Options:
    """What a team can choose."""

    #: The share of the hits of unlimited cache that is enough.
    target: float = 0.99
    #: What is added to memory that a workload must have, as a share of it.
    margin: float = 0.10
    #: From which hour on, in hours since 1970, changes are looked for; without one, with the last image of each workload.
    changed_hour: int | None = None


def real(number: float) -> str:
    """A number in SQL that is a DOUBLE: without an exponent it would be a decimal, whose products overflow."""
    return f"{number:e}"


@dataclasses.dataclass(frozen=True)
class Step:
    """A query with a name, which later steps ask by it."""

    name: str
    sql: str
    #: Whether several steps ask it, so that it is computed once.
    keep: bool = False


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of an answer."""

    name: str
    title: str
    meaning: str
    #: ``bytes``, ``ratio`` (0 to 1), ``count``, ``ns``, ``hour`` (hours since 1970), ``text`` or ``flag``.
    unit: str = "text"


@dataclasses.dataclass(frozen=True)
class Analysis:
    """One question."""

    #: Also the name of the table and of the file.
    name: str
    question: str
    steps: Sequence[Step]
    #: The query of the answer, in its order.
    columns: Sequence[Column]
    order: str
    #: What a reader must know to trust the numbers.
    notes: Sequence[str] = ()

    @property
    def sql(self) -> str:
        """The answer, as the last step has it."""
        names = ", ".join(column.name for column in self.columns)
        return f"SELECT {names} FROM {self.steps[-1].name} ORDER BY {self.order}"
