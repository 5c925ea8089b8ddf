"""A fleet of ten hosts with all that goes wrong, made once."""

from __future__ import annotations

import datetime
import json
import pathlib
import sys
from typing import Any

import pyarrow as pa
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from fleetgen.write import write_fleet  # noqa: E402
from hotset.fleet.duck import Duck  # noqa: E402
from hotset.fleet.fleet import Fleet  # noqa: E402

#: Sums of floating-point numbers depend on their order, which engines choose.
NEAR = 1e-9
DAY = datetime.date(2026, 11, 20)


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where its tables are."""
    out = tmp_path_factory.mktemp("fleet") / "fleet"
    write_fleet(out=out, hosts=10, days=1, groups=25, seed=7, hours_per_file=2, first_day=DAY, faults=True)
    return out


@pytest.fixture(scope="session")
def truth(root: pathlib.Path) -> dict[str, Any]:
    """What is true of it."""
    return json.loads((root / "truth.json").read_text())


@pytest.fixture(scope="session")
def fleet(root: pathlib.Path) -> Fleet:
    """The fleet, read by DuckDB."""
    return Fleet(str(root), Duck())


def assert_same(one: pa.Table, other: pa.Table) -> None:
    """Two answers are the same: texts and whole numbers exactly."""
    assert one.schema.names == other.schema.names
    assert one.num_rows == other.num_rows
    for number, (left, right) in enumerate(zip(one.to_pylist(), other.to_pylist())):
        for name, value in left.items():
            expected = pytest.approx(right[name], rel=NEAR) if isinstance(right[name], float) else right[name]
            assert value == expected, (number, name)
