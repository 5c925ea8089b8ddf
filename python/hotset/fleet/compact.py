"""Few large files instead of many small ones: each costs an engine a request, and Spark a task.

A day and table becomes files of a few dozen hosts each, sorted by workload, host and time, without what was there twice. They go to another
directory of the same layout, which is a fleet of its own: the hosts' files stay until someone removes them, so that nothing can be lost or
counted twice.
"""

from __future__ import annotations

import functools
import os
import pathlib
import shutil

from . import format
from .duck import Duck, quoted
from .errors import FleetError
from .listing import BadFile, Listing, day_of, is_local, list_files
from .sources import are_distinct, unique_rows, with_care

#: Rows of a row group: engines skip those without the workload that is asked for.
ROWS = 122_880
#: Bytes of files that become one. Of control groups that is half a million rows, which take 1 to 3 GB while they are sorted.
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


def _write(engine: Duck, listing: Listing, table: str, files: list[str], target: pathlib.Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for number, paths in enumerate(portions(files)):
        out = target / f"compact-{number:04}.parquet"
        with_care(engine, listing, table, functools.partial(_portion, engine, listing, table, paths, out))


def portions(files: list[str]) -> list[list[str]]:
    """The files in portions that are sorted in memory. Those that may have rows twice are one portion, so that they are found; so are those
    of a bucket, whose sizes are not known here."""
    if not are_distinct(files) or not all(map(is_local, files)):
        return [files]
    made: list[list[str]] = [[]]
    held_bytes = 0
    # In the order of hosts, so that each is in one portion or two.
    for path in sorted(files):
        if made[-1] and held_bytes + os.path.getsize(path) > PORTION_BYTES:
            made.append([])
            held_bytes = 0
        made[-1].append(path)
        held_bytes += os.path.getsize(path)
    return made


def _portion(engine: Duck, listing: Listing, table: str, files: list[str], out: pathlib.Path) -> None:
    order = ["host_id", "session", "sequence"] if table == "host" else ["workload", "host_id", "cgroup", "session", "sequence"]
    columns = ", ".join(f'"{column}"' for column in format.TABLES[table])
    kept = set(listing.files[table])
    paths = [path for path in files if path in kept]
    engine.scan(f"{table}_files", table, paths)
    unique_rows(engine, table, paths)
    engine.execute(
        f"COPY (SELECT {columns} FROM {table}_rows ORDER BY {', '.join(order)}) TO {quoted(str(out))} "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS})"
    )
