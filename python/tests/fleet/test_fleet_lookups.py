"""Path lookups that fail, by workload, also where some hosts did not count them."""

from __future__ import annotations

import datetime
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fleetgen.workloads import IN_VAIN

from hotset.fleet import format
from hotset.fleet.duck import Duck, schema_of
from hotset.fleet.fleet import Fleet
from hotset.fleet.report import document

PAGE = 4096
MINUTE_NS = 60 * 10**9
#: Hosts, of which the last ones are older than the count.
HOSTS, OLDER = 4, 2
LOOKUPS, FAILED = 1_000, 600


def table_of(table: str, rows: list[dict[str, Any]], older: bool) -> pa.Table:
    """Rows with 0 or nothing where nothing is said; those of an older host lack the columns."""
    schema = schema_of(table)
    made = pa.table({name: [row.get(name, 0 if name in format.IO else None) for row in rows] for name in schema.names}, schema=schema)
    return made.drop_columns(format.LOOKUPS) if older else made


def write(root: pathlib.Path) -> None:
    """Two intervals of each host."""
    for number in range(HOSTS):
        host = str(number)
        tables: dict[str, list[dict[str, Any]]] = {"host": [], "group_interval": []}
        for sequence in range(2):
            end = datetime.datetime(2026, 11, 20, 12, sequence + 1, tzinfo=datetime.timezone.utc)
            key = {"ts": end, "length_ns": MINUTE_NS, "host": host, "host_id": host, "boot_id": "1", "session": 1, "sequence": sequence}
            machine = {"hotset": "1", "kernel": "6", "page_bytes": PAGE, "multi_gen_lru": False, "memory_bytes": 1 << 30, "lost": 0}
            counted = {"lookups": LOOKUPS, "failed_lookups": FAILED}
            tables["host"].append({**key, **machine, **counted})
            for name, counts in (("a", counted), ("quiet", {"lookups": 2, "failed_lookups": 1})):
                who = {"cgroup": f"/{name}", "workload_kind": "unit", "workload": f"{name}.service"}
                tables["group_interval"].append({**key, **who, **counts, "device_read_bytes": PAGE})
        for table, rows in tables.items():
            folder = root / table / "v=1" / "dt=2026-11-20"
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(table_of(table, rows, number >= HOSTS - OLDER), folder / f"{host}-1-0.parquet")


def test_rates_are_of_the_time_in_which_lookups_were_counted(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    fleet = Fleet(str(tmp_path), Duck())
    rows = {row["workload"]: row for row in fleet.answer("requests").to_pylist()}
    row = rows["a.service"]
    assert row["hosts"] == HOSTS
    assert (row["lookups_per_hour"], row["failed_lookups_per_hour"]) == (LOOKUPS * 60, FAILED * 60)
    assert row["failed_lookup_ratio"] == FAILED / LOOKUPS
    # Others are of all hosts.
    assert row["device_read_bytes_per_hour"] == PAGE * 60
    [section] = [one for one in document(fleet, "0")["analyses"] if one["name"] == "requests"]
    assert "In 1 workload most path lookups fail, most often in a.service: 36,000 an hour and replica." in section["answer"]


def test_older_hosts_alone_have_no_rates(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    for number in range(HOSTS - OLDER):
        for path in tmp_path.glob(f"*/v=1/dt=*/{number}-1-0.parquet"):
            path.unlink()
    fleet = Fleet(str(tmp_path), Duck())
    for row in fleet.answer("requests").to_pylist():
        assert row["lookups_per_hour"] is None and row["failed_lookups_per_hour"] is None and row["failed_lookup_ratio"] is None
    [section] = [one for one in document(fleet, "0")["analyses"] if one["name"] == "requests"]
    assert section["answer"] == "0 workloads with more direct I/O than buffered."


def test_a_program_that_searches_in_vain_is_told_by_its_lookups(fleet: Fleet, truth: dict[str, Any]) -> None:
    searching = {one["name"] for one in truth["workloads"] if one["program"] == "search"}
    assert searching
    for row in fleet.answer("requests").to_pylist():
        name = row["workload"].split("/")[1]
        if name not in searching:
            assert row["failed_lookups_per_hour"] < 3_600, row
            continue
        # It looks into so many directories before the one that has the file, of which it then reads a page.
        assert row["failed_lookups_per_hour"] == pytest.approx(IN_VAIN * row["read_bytes_per_hour"] / PAGE, rel=0.02)
        assert row["failed_lookup_ratio"] == pytest.approx(IN_VAIN / (IN_VAIN + 1), rel=0.001)


def test_a_second_image_that_searches_more_is_told(tmp_path: pathlib.Path) -> None:
    write_images(tmp_path, before=600, after=6_000)
    [row] = [one for one in Fleet(str(tmp_path), Duck()).answer("changes").to_pylist() if one["metric"] == "failed_lookups"]
    assert (row["before_value"], row["after_value"]) == (600 * 60, 6_000 * 60)


def write_images(root: pathlib.Path, before: int, after: int) -> None:
    """A host whose workload has another image after four hours; failed lookups of each minute."""
    rows = []
    for minute in range(8 * 60):
        end = datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc) + datetime.timedelta(minutes=minute + 1)
        key = {"ts": end, "length_ns": MINUTE_NS, "host": "0", "host_id": "0", "boot_id": "1", "session": 1, "sequence": minute}
        is_new = minute >= 240
        who = {"cgroup": "/a", "workload_kind": "unit", "workload": "a.service", "image": "a:2" if is_new else "a:1"}
        failed = after if is_new else before
        rows.append({**key, **who, "lookups": 2 * failed, "failed_lookups": failed})
    folder = root / "group_interval" / "v=1" / "dt=2026-11-20"
    folder.mkdir(parents=True)
    pq.write_table(table_of("group_interval", rows, older=False), folder / "0-1-0.parquet")
