"""From files to the few tables that every analysis asks: rows that were delivered twice are left out, and minutes become hours.

The big tables are read once. What is kept of them has a row an hour, host and control group, a hundredth of what the fleet wrote.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from . import format
from .engine import Engine
from .errors import FleetError, in_a_line
from .listing import BadFile, Listing, cut_off

#: How hosts name files: HOST-SESSION-SEQUENCE.
OF_HOST = re.compile(r"[0-9a-f]+-[0-9]+-[0-9]+\.parquet")
#: What of reads and writes the analyses ask: each column of each file costs time.
GROUP_IO = """
    read_calls read_bytes read_pages read_misses write_calls write_bytes write_pages fault_pages direct_read_bytes direct_write_bytes
    sync_calls sync_ns device_read_bytes device_write_bytes read_wait_ns refaulted_pages oom_kills lookups failed_lookups
""".split()  # noqa: SIM905
FILE_IO = ["read_pages", "read_misses", "fault_pages", "faults", "read_bytes", "device_read_bytes"]
HOST_COLUMNS = """
    length_ns host host_id boot_id session sequence hotset kernel page_bytes multi_gen_lru not_measured memory_bytes unattributed lost
    lost_references dropped_files
""".split()  # noqa: SIM905
#: A row for each stretch of intervals of a file.
STRETCHES = """
    SELECT filename, host_id, session, min(sequence) AS first_sequence, max(sequence) AS last_sequence, count(*) AS row_count
    FROM {table}_files GROUP BY filename, host_id, session
"""
NO_STRETCHES = "SELECT '' AS host_id, 0 AS row_count WHERE 1 = 0"
#: Sessions of which two files have the same intervals.
TWICE = """
    SELECT DISTINCT host_id, session FROM (
        SELECT host_id, session, first_sequence,
            max(last_sequence) OVER (
                PARTITION BY host_id, session ORDER BY first_sequence, last_sequence, filename
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before
        FROM {table}_stretches
    ) AS stretches WHERE first_sequence <= before
"""
#: All rows, those of these sessions once.
ONCE = """
    SELECT {columns} FROM {table}_files AS rows_once
    WHERE NOT EXISTS (
        SELECT 1 FROM {table}_twice AS twice WHERE twice.host_id = rows_once.host_id AND twice.session = rows_once.session
    )
    UNION ALL
    SELECT {columns} FROM (
        SELECT rows_twice.*, row_number() OVER (
            PARTITION BY rows_twice.host_id, rows_twice.session, rows_twice.sequence{identity} ORDER BY filename
        ) AS copy
        FROM {table}_files AS rows_twice
        JOIN {table}_twice AS twice ON twice.host_id = rows_twice.host_id AND twice.session = rows_twice.session
    ) AS copies WHERE copy = 1
"""


def load(engine: Engine, listing: Listing) -> None:
    """Makes the tables ``hosts``, ``group_hours``, ``files_by_host``, ``curve_points`` and ``findings``. Files that turn out to be
    damaged are left out and named."""
    for table in format.TABLES:
        with_care(engine, listing, table, functools.partial(_load, engine, listing, table))


def with_care(engine: Engine, listing: Listing, table: str, read: Callable[[], None]) -> None:
    """Reads files of a table; where that fails, without those that are cut off, then as files of several versions, then without those
    that are damaged. To look before would open each file once more.

    Raises the error if nothing helps.
    """
    while True:
        try:
            read()
            return
        except Exception as error:
            found = cut_off(listing.files[table])
            if not found and engine.mixed(f"{table}_files"):
                continue
            found = found or damaged(engine, listing.files[table])
            if not found:
                raise FleetError(f"table {table} of {listing.root} can't be read: {in_a_line(error)}") from error
            listing.leave_out(table, found)


def _load(engine: Engine, listing: Listing, table: str) -> None:
    engine.scan(f"{table}_files", table, listing.files[table])
    unique_rows(engine, table, listing.files[table])
    name, sql = ROLLUPS[table]
    engine.keep(name, sql)


def unique_rows(engine: Engine, table: str, files: list[str]) -> None:
    """Makes the view ``TABLE_rows`` of ``TABLE_files``: each row once."""
    if are_distinct(files):
        engine.view(f"{table}_stretches", NO_STRETCHES)
        engine.view(f"{table}_rows", f"SELECT * FROM {table}_files")
        return
    find_twice(engine, table)
    rows_once(engine, table)


def find_twice(engine: Engine, table: str) -> None:
    """Makes the tables ``TABLE_stretches`` and ``TABLE_twice`` of ``TABLE_files``: of which sessions rows are there twice."""
    engine.keep(f"{table}_stretches", STRETCHES.format(table=table))
    engine.keep(f"{table}_twice", TWICE.format(table=table))


def rows_once(engine: Engine, table: str) -> None:
    """Makes the view ``TABLE_rows``, with which rows are there twice known."""
    if engine.table(f"SELECT count(*) AS sessions FROM {table}_twice")["sessions"][0].as_py() == 0:
        engine.view(f"{table}_rows", f"SELECT * FROM {table}_files")
        return
    identity = "".join(f", rows_twice.{column}" for column in format.IDENTITY[table])
    columns = ", ".join(engine.columns(table))
    engine.view(f"{table}_rows", ONCE.format(table=table, columns=columns, identity=identity))


def are_distinct(files: list[str]) -> bool:
    """Whether the names alone say that no row is there twice: hosts name a file by its first interval, the same each time."""
    names = {path.rsplit("/", 1)[-1] for path in files}
    return len(names) == len(files) and all(OF_HOST.fullmatch(name) for name in names)


def damaged(engine: Engine, files: list[str]) -> list[BadFile]:
    """Those of the files that can't be read to their ends."""
    return [BadFile(path, damage) for path in files if (damage := engine.damage(path)) is not None]


def _sums(columns: list[str]) -> str:
    return ", ".join(f"sum({column}) AS {column}" for column in columns)


#: What is needed of each interval of a host.
HOSTS = f"SELECT hour, ts_us, {', '.join(HOST_COLUMNS)} FROM host_rows"
#: Memory that can't be taken from a group at the end of an interval. What is mapped counts, for nothing tells which of it is used;
#: without it, as
#: older hosts write, the sum is not known. Kernel memory is not known with control groups of version 1.
MUST = "anon_bytes + coalesce(shmem_bytes, 0) + coalesce(kernel_bytes, 0) + mapped_bytes"
GROUP_HOURS = f"""
    SELECT hour, host_id, cgroup, workload_kind, workload, image, count(*) AS intervals, sum(length_ns) AS length_ns,
        {_sums(GROUP_IO)}, sum(CASE WHEN failed_lookups IS NOT NULL THEN length_ns END) AS looked_ns,
        max({MUST}) AS must_bytes, max(used_bytes) AS used_bytes, sum(file_bytes) AS file_bytes_sum, count(file_bytes) AS file_intervals,
        max(file_bytes) AS file_bytes, max(limit_bytes) AS limit_bytes
    FROM group_interval_rows GROUP BY 1, 2, 3, 4, 5, 6
"""
FILES_BY_HOST = f"""
    SELECT host_id, path, workload_kind, workload, count(*) AS intervals, {_sums(FILE_IO)},
        max(size_bytes) AS size_bytes, sum(cached_pages * (length_ns / 1e9)) AS cached_page_seconds,
        sum(CASE WHEN cached_pages IS NOT NULL THEN length_ns / 1e9 END) AS cached_seconds,
        max(cached_pages) AS cached_pages
    FROM file_interval_rows WHERE path IS NOT NULL GROUP BY 1, 2, 3, 4
"""
CURVE_POINTS = """
    SELECT host_id, cgroup, workload_kind, workload, limit_pages, max(sampling_period_pages) AS sampling_period_pages,
        sum(sampled_hits) AS sampled_hits, sum(sampled_references) AS sampled_references, sum(sampled_first) AS sampled_first,
        sum(all_references) AS all_references, sum(lost_references) AS lost_references,
        sum((sampled_references - sampled_first) / sampling_period_pages) AS sampled_accesses,
        sum(sampled_references / sampling_period_pages) AS sampled_count
    FROM curve_rows GROUP BY 1, 2, 3, 4, 5
"""
#: Findings are of spans already: an hour each, unless the hosts write other files.
FINDINGS = """
    SELECT hour, host_id, cgroup, workload_kind, workload, rule, severity, title, advice, path,
        active_ns, saving_low_ns, saving_high_ns
    FROM finding_rows
"""
#: What is kept of each table, under which name.
ROLLUPS = {
    "host": ("hosts", HOSTS),
    "group_interval": ("group_hours", GROUP_HOURS),
    "file_interval": ("files_by_host", FILES_BY_HOST),
    "curve": ("curve_points", CURVE_POINTS),
    "finding": ("findings", FINDINGS),
}
