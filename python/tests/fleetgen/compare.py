"""Answers beside each other."""

from __future__ import annotations

import pathlib

import pyarrow as pa
import pytest

from hotset.fleet import format
from hotset.fleet.duck import Duck

#: Sums of floating-point numbers depend on their order, which engines choose.
NEAR = 1e-9


def assert_same(one: pa.Table, other: pa.Table) -> None:
    """Two answers are the same: texts and whole numbers exactly."""
    assert one.schema.names == other.schema.names
    assert one.num_rows == other.num_rows
    for number, (left, right) in enumerate(zip(one.to_pylist(), other.to_pylist())):
        for name, value in left.items():
            expected = pytest.approx(right[name], rel=NEAR) if isinstance(right[name], float) else right[name]
            assert value == expected, (number, name)


def rows_of(root: pathlib.Path, table: str) -> pa.Table:
    """All rows of a table of a fleet, in an order that says nothing of their files; such as a fleet without faults has, for rows that are
    there twice are so here."""
    files = [str(path) for path in (root / table).rglob("*.parquet")]
    duck = Duck()
    duck.scan("compared", table, files)
    return duck.table(f"SELECT {', '.join(duck.columns(table))} FROM compared ORDER BY ALL")


def assert_same_rows(one: pathlib.Path, other: pathlib.Path) -> None:
    """Two fleets have the same rows in all tables."""
    for table in format.TABLES:
        rows = rows_of(one, table)
        assert rows.num_rows > 0, table
        assert rows.equals(rows_of(other, table)), table
