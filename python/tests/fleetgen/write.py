"""Writes a fleet as its hosts do: a file an hour, host and table."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import json
import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hotset.fleet import format

from . import faults
from .measured import Measured, load
from .model import Fleet, make_fleet
from .rows import MINUTE_US, HostDay


def write_fleet(
    *,
    out: pathlib.Path,
    hosts: int,
    days: int,
    groups: int,
    seed: int,
    hours_per_file: int,
    first_day: datetime.date,
    faults: bool,
) -> Fleet:
    """Writes all hosts and days, and what is true of them."""
    measured = load()
    fleet = make_fleet(measured.needs, hosts, days, groups, seed)
    last_day = first_day + datetime.timedelta(days - 1)
    with concurrent.futures.ProcessPoolExecutor() as workers:
        jobs = [
            workers.submit(write_day, out, fleet, measured, host, first_day + datetime.timedelta(day), last_day, hours_per_file)
            for host in range(hosts)
            for day in range(days)
        ]
        for job in jobs:
            job.result()
    truth: dict[str, object] = {
        "workloads": [dataclasses.asdict(workload) | {"needed_limit_bytes": workload.needed_limit_bytes} for workload in fleet.workloads]
    }
    truth["outlier"] = dict(zip(("host", "workload"), fleet.outlier))
    truth["faults"] = faults and put_in(out, fleet, first_day)
    (out / "truth.json").write_text(json.dumps(truth, indent=1))
    return fleet


def put_in(out: pathlib.Path, fleet: Fleet, first_day: datetime.date) -> dict[str, str]:
    """What goes wrong."""
    return faults.put_in(out, fleet, first_day)


#: What is grouped and filtered by has statistics (crates/fleet/src/encode.rs).
KEYS = {
    *format.KEY,
    *format.WHO,
    *("hotset", "kernel", "machine", "multi_gen_lru", "not_measured"),
    *("path", "device", "inode", "deleted"),
    *("rule", "severity", "title", "advice", "evidence", "other_paths"),
    *("policy", "limit_pages", "sampling_period_pages"),
} - {"length_ns"}
#: How often each number of a column is there, on average, from which on hosts write a dictionary.
LEAST_REPEATS = 4
#: Columns that are never null.
ALWAYS = {*format.KEY, "cgroup", "workload_kind", "workload", "device", "inode", "policy", *format.CURVE}


def write_day(
    out: pathlib.Path, fleet: Fleet, measured: Measured, host: int, day: datetime.date, last_day: datetime.date, hours_per_file: int
) -> None:
    """The files of a host and day."""
    made = HostDay(fleet, measured, host, day, last_day)
    tables = {
        "host": made.hosts(),
        "group_interval": made.groups(),
        "file_interval": made.files(),
        "curve": made.curves(),
        "finding": made.findings(),
    }
    for name, table in tables.items():
        write_table(out, name, table, made.begins_us, day, hours_per_file)


def write_table(out: pathlib.Path, name: str, table: pa.Table, begins_us: int, day: datetime.date, hours_per_file: int) -> None:
    """The files of a table, host and day."""
    folder = out / name / "v=1" / f"dt={day}"
    folder.mkdir(parents=True, exist_ok=True)
    since = pc.subtract(table["ts"].cast(pa.int64()), begins_us)
    periods = pc.divide(since, hours_per_file * 60 * MINUTE_US)
    for period in range(24 // hours_per_file):
        rows = table.filter(pc.equal(periods, period))
        if rows.num_rows:
            first = {key: pc.min(rows[key]).as_py() for key in ("host_id", "session", "sequence")}
            path = folder / "{host_id}-{session}-{sequence}.parquet".format(**first)
            write_file(path, rows)


def write_file(path: pathlib.Path, rows: pa.Table) -> None:
    """A file as hosts write it: what it costs an engine to open and read depends on that."""
    keys = [column for column in rows.column_names if column in KEYS]
    deltas = [column for column in rows.column_names if not repeats(rows[column])]
    fields = [pa.field(field.name, field.type, nullable=field.name not in ALWAYS) for field in rows.schema]
    pq.write_table(
        rows.cast(pa.schema(fields)),
        path,
        compression="zstd",
        compression_level=3,
        data_page_version="2.0",
        write_statistics=keys,
        use_dictionary=[column for column in rows.column_names if column not in deltas],
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        store_schema=False,
    )


def repeats(column: pa.ChunkedArray) -> bool:
    """Whether values are there often enough for a dictionary; hosts ask that of numbers and times."""
    is_number = pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type)
    return not is_number or pc.count_distinct(column).as_py() * LEAST_REPEATS <= len(column) - column.null_count
