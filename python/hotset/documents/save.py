"""`hotset.save/1`.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from hotset.documents.common import (
    Hex,
    Missing,
    NamedFew,
    Skipped,
)


@dataclass(frozen=True)
class Save:
    """What `hotset save --json` writes. Counts of pages are in base pages. docs/formats.md says what holds for every
    format.
    """

    schema: Literal["hotset.save/1"]

    #: The version of hotset that wrote it.
    hotset: str

    #: Where to; null where it went to standard output.
    #: As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
    file: Optional[str]

    #: Its bytes in hexadecimal, where the text is not exact.
    file_hex: Optional[Hex]

    #: Bytes in a page.
    page_size_bytes: int

    #: Files with cached pages: those that were saved.
    files: int

    #: Their ranges.
    ranges: int

    #: The pages in these.
    pages: int

    #: The bytes that all this took.
    snapshot_bytes: int

    #: Files without a cached page.
    uncached_files: int

    #: Files and directories that could not be told about, the first of them by name.
    unreadable: NamedFew

    #: What was passed over by kind.
    skipped: Skipped

    #: Processes whose open files nobody may see, so that their use of files isn't counted.
    hidden_processes: int

    #: True where it was stopped; nothing is kept then.
    interrupted: bool

    #: Why values of this object are null.
    missing: list[Missing]
