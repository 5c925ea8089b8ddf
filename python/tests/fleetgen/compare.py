"""Answers beside each other."""

from __future__ import annotations

import pyarrow as pa
import pytest

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
