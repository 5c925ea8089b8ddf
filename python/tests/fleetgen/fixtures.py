"""A fleet of ten hosts with all that goes wrong, made once."""

from __future__ import annotations

import datetime
import json
import pathlib
from typing import Any

import pytest

from fleetgen.write import write_fleet
from hotset.fleet.duck import Duck
from hotset.fleet.fleet import Fleet

DAY = datetime.date(2026, 11, 20)


@pytest.fixture(scope="session")
def fleet_root(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where its tables are."""
    out = tmp_path_factory.mktemp("fleet") / "fleet"
    write_fleet(out=out, hosts=10, days=1, groups=25, seed=7, hours_per_file=2, first_day=DAY, faults=True)
    return out


@pytest.fixture(scope="session")
def truth(fleet_root: pathlib.Path) -> dict[str, Any]:
    """What is true of it."""
    found: dict[str, Any] = json.loads((fleet_root / "truth.json").read_text())
    return found


@pytest.fixture(scope="session")
def fleet(fleet_root: pathlib.Path) -> Fleet:
    """The fleet, read by DuckDB."""
    return Fleet(str(fleet_root), Duck())
