"""`hotset.stat/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Missing,
    Time,
)


@dataclass(frozen=True)
class Stat:
    """A line of `hotset stat --json`: one interval. Counts of pages are in base pages. docs/formats.md says what
    holds for every format.
    """

    schema: Literal["hotset.stat/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: When the interval ended.
    time: Time

    #: How long it was.
    seconds: float

    #: Lines that were due before this one and are part of it.
    late_intervals: int

    #: Bytes of a base page.
    page_size_bytes: int

    #: Requested pages; always misses + hits.
    total: int

    #: Requested pages that were not cached.
    misses: int

    #: Requested pages that were.
    hits: int

    #: Pages that turned dirty.
    dirties: Optional[int]

    #: Cached pages of block devices at the end.
    buffers_bytes: Optional[int]

    #: Cached pages of files at the end.
    cached_bytes: Optional[int]

    #: Pages read ahead.
    readahead_pages: int

    #: Requested pages that came from the device.
    device_pages: int

    #: Those among the requested, 0 to 1; null without requests.
    device_share: Optional[float]

    #: Bytes of direct reads and writes.
    direct_bytes: int

    #: Bytes of direct reads.
    direct_read_bytes: int

    #: Bytes of direct writes.
    direct_write_bytes: int

    #: Faults on file mappings.
    faults: Optional[int]

    #: Those that had to read.
    major_faults: Optional[int]

    #: Pages that left the cache but for truncation and unlinking.
    evicted_pages: Optional[int]

    #: Bytes that were written back.
    writeback_bytes: Optional[int]

    #: The counts are only a lower bound: see `lost`.
    at_least: bool

    #: What got lost in the interval.
    lost: list[LossKeys]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class LossKeys:
    """A loss."""

    count: int

    #: What was lost.
    what: str

    #: What that does to the numbers.
    damage: str

    #: Counts are too low, and not only less well attributed.
    counts: bool
