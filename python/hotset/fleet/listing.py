"""Which files a fleet has, and which of them can't be read."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import os
import pathlib
import re
from collections.abc import Iterable

from . import format
from .errors import FleetError

MAGIC = b"PAR1"
#: Magic at both ends, and the length of the footer.
SMALLEST = 12
#: Files that are looked at at once.
READERS = 16
DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})")


@dataclasses.dataclass(frozen=True)
class BadFile:
    """A file that is left out, and why."""

    path: str
    reason: str


@dataclasses.dataclass
class Listing:
    """The files of a fleet, by table."""

    root: str
    files: dict[str, list[str]]
    bad: list[BadFile]

    def leave_out(self, table: str, bad: Iterable[BadFile]) -> None:
        """Leaves out files that turned out to be damaged."""
        bad = list(bad)
        damaged = {one.path for one in bad}
        self.files[table] = [path for path in self.files[table] if path not in damaged]
        self.bad += bad

    @property
    def days(self) -> list[str]:
        """The days of which there are files."""
        found = {match[1] for paths in self.files.values() for path in paths if (match := DAY.search(path))}
        return sorted(found)


def list_files(root: str, first: datetime.date | None = None, last: datetime.date | None = None) -> Listing:
    """Finds the files of the fleet below the directory ``root``; with days, those from ``first`` to ``last``.

    Files that can't be Parquet, and those of versions that are not known, are left out and named.
    """
    base = pathlib.Path(root)
    if not base.is_dir():
        raise FleetError(f"{root} is not a directory; give the one that `hotset export --parquet` writes to")
    listing = Listing(root, {table: [] for table in format.TABLES}, [])
    for table in format.TABLES:
        found = [path for path in sorted(base.glob(f"{table}/v=*/dt=*/*.parquet")) if _is_wanted(path, first, last)]
        # A file system of the network answers slowly, and many questions at once.
        with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
            faults = list(readers.map(_fault_of, found))
        listing.files[table] = [str(path) for path, fault in zip(found, faults) if fault is None]
        listing.bad += [BadFile(str(path), fault) for path, fault in zip(found, faults) if fault is not None]
    if not any(listing.files.values()):
        which = "readable files" if listing.bad else "files"
        raise FleetError(
            f"{root} has no {which} of a fleet{_days(first, last)}: expected TABLE/v={format.VERSION}/dt=DAY/*.parquet, "
            f"where TABLE is one of {', '.join(format.TABLES)}"
        )
    return listing


def _is_wanted(path: pathlib.Path, first: datetime.date | None, last: datetime.date | None) -> bool:
    date = path.parent.name.removeprefix("dt=")
    in_time = (first is None or date >= first.isoformat()) and (last is None or date <= last.isoformat())
    # Hosts write beside, under a name that begins so.
    return in_time and not path.name.startswith(".")


def _days(first: datetime.date | None, last: datetime.date | None) -> str:
    if first is None and last is None:
        return ""
    return f" from {first or 'the beginning'} to {last or 'the end'}"


def _fault_of(path: pathlib.Path) -> str | None:
    day = path.parent.name
    version = path.parent.parent.name.removeprefix("v=")
    if version != str(format.VERSION):
        return f"is of version {version}; this hotset reads version {format.VERSION}"
    if not DAY.fullmatch(day):
        return f"lies in {day}, which is no day"
    try:
        return _damage_of(path)
    except OSError as error:
        return f"can't be read: {error.strerror}"


def _damage_of(path: pathlib.Path) -> str | None:
    """What both ends of a file tell: one that was cut off has no footer."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < SMALLEST:
            return f"is no Parquet file: it has {size} bytes"
        if file.read(4) != MAGIC:
            return "is no Parquet file"
        file.seek(-8, os.SEEK_END)
        tail = file.read(8)
    if tail[4:] != MAGIC or int.from_bytes(tail[:4], "little") > size - SMALLEST:
        return "is cut off: its footer is missing"
    return None
