"""`hotset.doctor/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Missing,
)


@dataclass(frozen=True)
class Doctor:
    """What `hotset doctor --json` writes. docs/formats.md says what holds for every format."""

    schema: Literal["hotset.doctor/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: `uname -r`.
    kernel: str

    #: The effective user id.
    euid: int

    #: All probes, in the order in which they matter.
    capabilities: list[Capability]

    #: Milliseconds to load and attach the sensor here, where that was tried.
    sensor_start_ms: Optional[int]

    #: Why values of this object are null.
    missing: list[Missing]


@dataclass(frozen=True)
class Capability:
    """One thing that hotset would like to use."""

    #: A stable name for scripts, e.g. `btf`.
    id: str

    #: What it is, in a phrase.
    title: str

    #: Whether it is there.
    verdict: Verdict

    #: What was seen: a path, a version, an error.
    detail: str

    #: What hotset can't measure without it; empty where it is there.
    consequence: str

    #: What a person can do about it; empty where nothing is needed or possible.
    remedy: str


#: What a probe found.
Verdict = Literal["yes", "partly", "no"]
