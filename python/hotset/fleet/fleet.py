"""A fleet that was read, and its answers."""

from __future__ import annotations

import datetime

import pyarrow as pa

from . import sources
from .analyses import ALL
from .analysis import Analysis, Options
from .engine import Engine
from .errors import FleetError
from .listing import BadFile, Listing, list_files


class Fleet:
    """The tables of a fleet, read by an engine. Answers are computed when they are asked for, and once."""

    def __init__(
        self,
        root: str,
        engine: Engine,
        options: Options | None = None,
        *,
        first: datetime.date | None = None,
        last: datetime.date | None = None,
    ) -> None:
        self.engine = engine
        self.options = options or Options()
        self._listing: Listing = list_files(engine, root, first, last)
        self._made: set[str] = set()
        self._answers: dict[str, pa.Table] = {}
        sources.load(engine, self._listing)

    @property
    def bad_files(self) -> list[BadFile]:
        """Files that were left out."""
        return self._listing.bad

    @property
    def days(self) -> list[str]:
        """The days of which there are files."""
        return self._listing.days

    @property
    def root(self) -> str:
        """Where the tables are."""
        return self._listing.root

    def analysis(self, name: str) -> Analysis:
        """The question of this name, its columns and notes."""
        if name not in ALL:
            raise FleetError(f"no analysis is named {name}; there are {', '.join(ALL)}")
        return ALL[name](self.options)

    def answer(self, name: str) -> pa.Table:
        """The answer to a question: ``workloads``, ``starved``, ``packing``, ``files``, ``findings``, ``requests``, ``changes``,
        ``outliers`` or ``coverage``."""
        if name not in self._answers:
            analysis = self.analysis(name)
            for step in analysis.steps:
                if step.name not in self._made:
                    (self.engine.keep if step.keep else self.engine.view)(step.name, step.sql)
                    self._made.add(step.name)
            self._answers[name] = self.engine.table(analysis.sql)
        return self._answers[name]

    def curves(self) -> pa.Table:
        """Hits of each workload by the size of its cache, of all accesses (``fleet_curves``)."""
        self.answer("workloads")
        return self.engine.table(
            "SELECT curves.workload_kind, curves.workload, cache_bytes, hits, all_references FROM fleet_curves AS curves "
            "JOIN fleet_references AS totals ON totals.workload_kind = curves.workload_kind AND totals.workload = curves.workload "
            "ORDER BY curves.workload_kind, curves.workload, cache_bytes"
        )

    def hours(self) -> pa.Table:
        """Hosts and intervals that were seen in each hour (hours since 1970)."""
        return self.engine.table(
            "SELECT hour, count(DISTINCT host_id) AS hosts, count(*) AS intervals, sum(lost) AS lost FROM hosts GROUP BY hour ORDER BY hour"
        )
