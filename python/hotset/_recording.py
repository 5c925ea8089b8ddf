"""Recordings of `hotset record`: Parquet files with a row a request."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from hotset.errors import FormatError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from hotset._results import Profile, Result
    from hotset.documents.trace_info import TraceInfo

#: Pages of a recording, whatever the folio size (docs/trace-format.md).
PAGE_BYTES = 4096
_SCHEMA = "hotset.trace/1"


class Recording:
    """A recording in a file, of which columns are read when they are asked for.

    `profile` is the profile of the same execution, where it was recorded just now.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        profile: Optional[Profile] = None,
        messages: tuple[str, ...] = (),
    ) -> None:
        self.path = os.fspath(path)
        self.profile = profile
        #: What hotset said of itself meanwhile.
        self.messages = messages
        schema = self.json.get("schema")
        if schema != _SCHEMA:
            raise FormatError(f"{self.path}: {schema!r}: this package knows {_SCHEMA}; a newer one may read it")

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """What the recording says of itself: schema, host, command, what was not measured."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            metadata = pq.read_metadata(self.path).metadata or {}
            head = json.loads(metadata[b"hotset.trace"])
        except pa.ArrowInvalid as error:
            raise FormatError(f"{self.path}: damaged: {error}") from None
        except (KeyError, ValueError):
            raise FormatError(f"{self.path}: a Parquet file, but no recording of hotset") from None
        if not isinstance(head, dict):
            raise FormatError(f"{self.path}: a Parquet file, but no recording of hotset")
        return head

    def table(self, columns: Optional[Sequence[str]] = None) -> pa.Table:
        """The rows as a `pyarrow.Table`, of all columns or some; docs/trace-format.md says what they mean."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_table(self.path, columns=None if columns is None else list(columns))
        except pa.ArrowInvalid as error:
            raise FormatError(f"{self.path}: damaged: {error}") from None

    def frame(self, columns: Optional[Sequence[str]] = None) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        from hotset._tables import frame

        made: pd.DataFrame = frame(self.table(columns))
        return made

    def polars(self, columns: Optional[Sequence[str]] = None) -> pl.DataFrame:
        """The rows as a polars DataFrame; needs `hotset[polars]`."""
        import polars

        made = polars.from_arrow(self.table(columns))
        assert isinstance(made, polars.DataFrame)
        return made

    def info(self) -> Result[TraceInfo]:
        """What is in it, what it lacks, and what cost most: `hotset trace info`."""
        from hotset._commands import printed

        return printed(["trace", "info", "--json", self.path])

    def references(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The pages that reads, writes and page faults asked for, in the order of their beginnings: numbers of files, and indexes of
        pages in them. `hotset.curves` counts their distances.

        `hotset.size` knows more: which pages were read beside, were written or went away, and what the kernel makes of it.
        """
        import numpy as np
        import pyarrow.compute as pc

        table = self.table(["start_ns", "class", "file", "offset", "pages"])
        is_fault = pc.equal(table["class"], "fault")
        pages = pc.if_else(is_fault, 1, pc.fill_null(table["pages"], 0))
        is_request = pc.or_(is_fault, pc.is_in(table["class"], value_set=_strings("read", "write")))
        has_place = pc.and_(pc.is_valid(table["file"]), pc.is_valid(table["offset"]))
        rows = table.append_column("count", pages).filter(pc.and_(is_request, has_place)).sort_by("start_ns")
        counts = rows["count"].to_numpy().astype(np.int64)
        first = rows["offset"].to_numpy().astype(np.int64) // PAGE_BYTES
        # The index of each page within its request.
        within = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        files: npt.NDArray[np.int64] = np.repeat(rows["file"].to_numpy().astype(np.int64), counts)
        return files, np.repeat(first, counts) + within

    def __repr__(self) -> str:
        return f"<Recording {self.path}>"


def _strings(*words: str) -> pa.Array:
    import pyarrow as pa

    return pa.array(words, pa.string())
