"""Few large files instead of many small ones: each costs an engine a request, and Spark a task.

A day and table becomes files of a few dozen hosts each, sorted by workload, host and time, without what was there twice. They go to another
directory of the same layout, which is a fleet of its own: the hosts' files stay until someone removes them, so that nothing can be lost or
counted twice.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import os
import pathlib
import shutil
from collections.abc import Iterable

from . import format
from .duck import Duck, quoted
from .errors import FleetError
from .listing import BadFile, Listing, day_of, is_local, list_files
from .sources import are_distinct, find_twice, rows_once, with_care

#: Rows of a row group: engines skip those without the workload that is asked for.
ROWS = 122_880
#: Bytes of files that become one. Of control groups, as hosts write them, that is half a million rows, which take 1 to 3 GB while they are
#: sorted.
PORTION_BYTES = 32 << 20


def compact(root: str, out: str, memory: str | None = None, threads: int | None = None) -> tuple[int, int, list[BadFile]]:
    """Writes the fleet below ``root`` to ``out``; how many files were read and written, and which were left out.

    Days that ``out`` has are written anew, each as a whole: a day that is not finished can be compacted again.
    """
    if os.path.realpath(root) == os.path.realpath(out):
        raise FleetError(f"{out} is the fleet itself; give another directory, and read that from then on")
    if not is_local(out):
        raise FleetError(f"{out} is no directory; compact into one, and copy that to where it shall be")
    engine = Duck(memory, threads)
    listing = list_files(engine, root)
    read = sum(map(len, listing.files.values()))
    written = 0
    for table in format.TABLES:
        for day in listing.days:
            written += _day(engine, listing, table, day, pathlib.Path(out))
    return read, written, listing.bad


def _day(engine: Duck, listing: Listing, table: str, day: str, out: pathlib.Path) -> int:
    files = [path for path in listing.files[table] if day_of(path) == day]
    if not files:
        return 0
    target = out / table / f"v={format.VERSION}" / f"dt={day}"
    beside = target.with_name(f".{target.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write(engine, listing, table, files, beside)
        # The day is not there for a moment, and never half.
        before = target.with_name(f".{target.name}.old")
        shutil.rmtree(before, ignore_errors=True)
        if target.exists():
            target.rename(before)
        beside.rename(target)
        shutil.rmtree(before, ignore_errors=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return len(list(target.glob("*.parquet")))


@dataclasses.dataclass(frozen=True)
class Portion:
    """What is sorted in memory, and becomes a file."""

    files: list[str]
    #: The hosts of these files whose rows it has; none where it has all rows.
    hosts: list[str] | None = None


def _write(engine: Duck, listing: Listing, table: str, files: list[str], target: pathlib.Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for number, portion in enumerate(_portions(engine, listing, table, files)):
        out = target / f"compact-{number:04}.parquet"
        with_care(engine, listing, table, functools.partial(_copy, engine, listing, table, portion, out))


def _portions(engine: Duck, listing: Listing, table: str, files: list[str]) -> list[Portion]:
    """The files in portions that are sorted in memory; a row that is there twice is so in one of them."""
    if are_distinct(files):
        # In the order of hosts, so that each is in one portion or two.
        return [Portion(paths) for paths in _cut((path, engine.size(path)) for path in sorted(files))]
    with_care(engine, listing, table, functools.partial(_survey, engine, listing, table, files))
    return _by_host(engine, table)


def _cut(sized: Iterable[tuple[str, int]]) -> list[list[str]]:
    """What has so many bytes each, in lists of PORTION_BYTES."""
    made: list[list[str]] = []
    held_bytes = 0
    for one, size_bytes in sized:
        if not made or held_bytes + size_bytes > PORTION_BYTES:
            made.append([])
            held_bytes = 0
        made[-1].append(one)
        held_bytes += size_bytes
    return made


def _survey(engine: Duck, listing: Listing, table: str, files: list[str]) -> None:
    engine.scan(f"{table}_files", table, _readable(listing, table, files))
    find_twice(engine, table)


def _by_host(engine: Duck, table: str) -> list[Portion]:
    """Portions of hosts: the same row can be in any files of a host, and a file can have many hosts. A host takes of a file's bytes what it
    has of its rows."""
    stretches = engine.table(
        f"SELECT host_id, filename, sum(row_count) AS row_count FROM {table}_stretches GROUP BY ALL ORDER BY host_id, filename"
    ).to_pylist()
    rows: dict[str, int] = collections.Counter()
    for one in stretches:
        rows[one["filename"]] += one["row_count"]
    files: dict[str, list[str]] = collections.defaultdict(list)
    size_bytes: dict[str, int] = collections.Counter()
    for one in stretches:
        files[one["host_id"]].append(one["filename"])
        size_bytes[one["host_id"]] += engine.size(one["filename"]) * one["row_count"] // rows[one["filename"]]
    return [Portion(sorted({path for host in hosts for path in files[host]}), hosts) for hosts in _cut(size_bytes.items())]


def _copy(engine: Duck, listing: Listing, table: str, portion: Portion, out: pathlib.Path) -> None:
    order = ["host_id", "session", "sequence"] if table == "host" else ["workload", "host_id", "cgroup", "session", "sequence"]
    columns = ", ".join(f'"{column}"' for column in format.TABLES[table])
    engine.scan(f"{table}_files", table, _readable(listing, table, portion.files))
    if portion.hosts is None:
        engine.view(f"{table}_rows", f"SELECT * FROM {table}_files")
        which = ""
    else:
        rows_once(engine, table)
        which = f"WHERE host_id IN ({', '.join(map(quoted, portion.hosts))})"
    engine.execute(
        f"COPY (SELECT {columns} FROM {table}_rows {which} ORDER BY {', '.join(order)}) TO {quoted(str(out))} "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS})"
    )


def _readable(listing: Listing, table: str, files: list[str]) -> list[str]:
    """Those that were not left out in the meantime."""
    kept = set(listing.files[table])
    return [path for path in files if path in kept]
