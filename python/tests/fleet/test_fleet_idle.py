"""Files that are cached without being used have rows of zeros, one a span."""

from __future__ import annotations

import datetime
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hotset.fleet import format
from hotset.fleet.duck import Duck, schema_of
from hotset.fleet.fleet import Fleet

HOSTS, PAGE, PAGES = 4, 4096, 4096
HOUR_NS, MINUTE_NS = 3600 * 10**9, 60 * 10**9


def rows_of(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows with nothing where nothing is said."""
    schema = schema_of(table)
    return pa.table({name: [row.get(name, 0 if name in format.IO else None) for row in rows] for name in schema.names}, schema=schema)


def write(root: pathlib.Path) -> None:
    """Hosts that all cache a file, which the first alone reads."""
    end = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.timezone.utc)
    for number in range(HOSTS):
        host = str(number)
        key = {"ts": end, "length_ns": MINUTE_NS, "host": host, "host_id": host, "boot_id": "1", "session": 1, "sequence": 59}
        state = {"device": "8:1", "inode": 7, "deleted": False, "size_bytes": PAGES * PAGE, "cached_pages": PAGES}
        idle = {**key, **state, "length_ns": HOUR_NS, "cgroup": "", "workload_kind": "", "workload": "", "path": "/srv/model.bin"}
        read = {**idle, "length_ns": MINUTE_NS, "cgroup": "/a", "workload_kind": "unit", "workload": "a.service"}
        read = {**read, "read_calls": 1, "read_bytes": PAGES * PAGE, "read_pages": PAGES}
        machine = {"page_bytes": PAGE, "multi_gen_lru": False, "memory_bytes": 1 << 30, "lost": 0}
        tables = {
            "host": [{**key, "hotset": "1", "kernel": "6", **machine}],
            "file_interval": [read, {**idle, "cached_pages": PAGES // 2}] if number == 0 else [idle],
        }
        for table, rows in tables.items():
            folder = root / table / "v=1" / "dt=2026-11-20"
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows_of(table, rows), folder / f"{host}-1-0.parquet")


def test_a_file_that_many_hosts_cache_and_one_reads_is_found(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    [row] = Fleet(str(tmp_path), Duck()).answer("files").to_pylist()
    assert (row["path"], row["verdict"]) == ("/srv/model.bin", "cached, hardly read")
    assert (row["hosts"], row["cached_hosts"], row["read_hosts"]) == (HOSTS, HOSTS, 1)
    # An hour counts sixty times as much as a minute.
    first = (PAGES + 60 * PAGES / 2) / 61
    assert row["cached_bytes"] == pytest.approx(((HOSTS - 1) * PAGES + first) * PAGE)
    assert row["read_bytes"] == PAGES * PAGE
    # Nobody's is no workload.
    assert (row["workload"], row["workloads"]) == ("a.service", 1)
