"""Which files a fleet has, and which of them can't be read."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import os
import re
from collections.abc import Iterable, Sequence

from . import format
from .engine import Engine
from .errors import FleetError

MAGIC = b"PAR1"
#: Magic at both ends, and the length of the footer.
SMALLEST = 12
#: Files that are looked at at once: a file system of the network answers slowly, and many questions at once.
READERS = 16
#: Where a file lies below the root.
PLACE = re.compile(r"(?P<table>[^/]+)/v=(?P<version>[^/]*)/dt=(?P<day>[^/]*)/(?P<name>[^/]+\.parquet)$")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


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
        """Leaves out files that turned out to be damaged.

        Raises an error if none are left.
        """
        bad = list(bad)
        damaged = {one.path for one in bad}
        self.files[table] = [path for path in self.files[table] if path not in damaged]
        self.bad += bad
        if not any(self.files.values()):
            raise FleetError(f"{self.root} has no readable files of a fleet: {self.bad[0].path} {self.bad[0].reason}")

    @property
    def days(self) -> list[str]:
        """The days of which there are files."""
        return sorted({day_of(path) for paths in self.files.values() for path in paths})


def day_of(path: str) -> str:
    """The day of a file."""
    place = PLACE.search(path)
    return place["day"] if place else ""


def is_local(root: str) -> bool:
    """Whether a root is a directory of this host."""
    return "://" not in root


def list_files(engine: Engine, root: str, first: datetime.date | None = None, last: datetime.date | None = None) -> Listing:
    """Finds the files of the fleet below ``root``; with days, those from ``first`` to ``last``.

    Files of versions that are not known are left out and named.
    """
    if is_local(root) and not os.path.isdir(root):
        raise FleetError(f"{root} is not a directory; give the one that `hotset export --parquet` writes to")
    listing = Listing(root, {table: [] for table in format.TABLES}, [])
    places = [(path, place) for path in engine.files(root) if (place := PLACE.search(path)) and _is_wanted(place, first, last)]
    for path, place in places:
        fault = _fault_of(place)
        if fault is None:
            listing.files[place["table"]].append(path)
        else:
            listing.bad.append(BadFile(path, fault))
    if not any(listing.files.values()):
        which = "readable files" if listing.bad else "files"
        raise FleetError(
            f"{root} has no {which} of a fleet{_days(first, last)}: expected TABLE/v={format.VERSION}/dt=DAY/*.parquet, "
            f"where TABLE is one of {', '.join(format.TABLES)}"
        )
    return listing


def _is_wanted(place: re.Match[str], first: datetime.date | None, last: datetime.date | None) -> bool:
    day = place["day"]
    in_time = (first is None or day >= first.isoformat()) and (last is None or day <= last.isoformat())
    # Hosts write beside, under a name that begins so.
    return place["table"] in format.TABLES and in_time and not place["name"].startswith(".")


def _days(first: datetime.date | None, last: datetime.date | None) -> str:
    if first is None and last is None:
        return ""
    return f" from {first or 'the beginning'} to {last or 'the end'}"


def _fault_of(place: re.Match[str]) -> str | None:
    """What is wrong with where a file lies."""
    if place["version"] != str(format.VERSION):
        return f"is of version {place['version']}; this hotset reads version {format.VERSION}"
    return None if DAY.fullmatch(place["day"]) else f"lies in dt={place['day']}, which is no day"


def cut_off(paths: Sequence[str]) -> list[BadFile]:
    """Those of these files that lack an end, which is quickly seen. An object of a bucket is there as a whole."""
    local = [path for path in paths if is_local(path)]
    with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
        return [BadFile(path, damage) for path, damage in zip(local, readers.map(_damage_of, local)) if damage is not None]


def _damage_of(path: str) -> str | None:
    try:
        return _ends(path)
    except OSError as error:
        return f"can't be read: {error.strerror}"


def _ends(path: str) -> str | None:
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
