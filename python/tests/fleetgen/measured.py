"""What was measured of the programs, as tables to make rows of."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .workloads import FAULTY

#: Where :mod:`fleetgen.measure` left it.
FOLDER = pathlib.Path(__file__).parent / "measured"
TABLES = ("host", "group_interval", "file_interval", "curve")


@dataclasses.dataclass(frozen=True)
class Measured:
    """Rows by table and program, of findings by rule, and what the programs need."""

    rows: dict[str, dict[str, pa.Table]]
    needs: dict[str, dict[str, int]]


def load(folder: pathlib.Path = FOLDER) -> Measured:
    """Reads what was measured."""
    needs = json.loads((folder / "needs.json").read_text())
    rows: dict[str, dict[str, pa.Table]] = {}
    for name in TABLES:
        table = pq.read_table(folder / f"{name}.parquet")
        if name == "host":
            rows[name] = {"": table}
            continue
        programs = pc.utf8_replace_slice(table["cgroup"], 0, len("/fleet/"), "")
        rows[name] = {program: table.filter(pc.equal(programs, program)) for program in needs}
    findings = pq.read_table(folder / "finding.parquet")
    rules = pc.utf8_replace_slice(findings["cgroup"], 0, len("/fleet/faulty-"), "")
    # Other rules may have something to say of a program, too.
    rows["finding"] = {rule: findings.filter(pc.and_(pc.equal(rules, rule), pc.equal(findings["rule"], rule))) for rule in FAULTY}
    return Measured(rows, needs)


def times(column: pa.ChunkedArray, factor: NDArray[Any]) -> pa.Array:
    """Counts times factors, rounded down, with nulls where there were."""
    values = column.combine_chunks()
    product = np.floor(values.fill_null(0).to_numpy(zero_copy_only=False) * factor).astype(np.int64)
    return pa.array(product, mask=np.asarray(values.is_null()))
