"""What an analysis needs of an engine. The analyses are SQL that DuckDB and Spark both take, so that this is little.

Of a table of the fleet an engine makes a view, with columns that each engine has another function for: ``filename``; ``ts_us``, when the
interval ended in microseconds since 1970; ``hour``, in which it ended, in hours since 1970, where what ends with an hour belongs to it; and
``all_references`` for ``references``, whose name is a word of SQL. Columns that the files don't have are null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

#: Microseconds of an hour.
HOUR_US = 3_600_000_000


class Engine(Protocol):
    """Runs SQL over the files of a fleet."""

    name: str

    def files(self, root: str) -> list[str]:
        """All Parquet files below ``root``, a directory or what else the engine reads."""

    def damage(self, path: str) -> str | None:
        """Why a file can't be read to its end; none if it can."""

    def scan(self, view: str, table: str, files: Sequence[str]) -> None:
        """Makes a view of the files of a table."""

    def mixed(self, view: str) -> bool:
        """Reads the files of a view from the next scan on as if each had other columns; false if that changes nothing."""

    def columns(self, table: str) -> list[str]:
        """The columns of such a view, but for ``filename``, as they stand in SQL."""

    def view(self, name: str, sql: str) -> None:
        """Names the result of a query."""

    def keep(self, name: str, sql: str) -> None:
        """Names the result of a query, and computes it once."""

    def table(self, sql: str) -> pa.Table:
        """Runs a query. Whole numbers are int64."""
