"""What a cache of any size would do for a sequence of references, with least recently used replacement.

A reference is a number: of a page, or of anything else that a cache keeps. Columns are NumPy arrays, Arrow arrays, Series of
pandas and polars, and whatever else has integers by the buffer protocol or Arrow's C interface. 64-bit integers are counted where
they are, without a copy, and without Python's lock: nobody may write to them meanwhile.

No kernel has exactly this policy; `hotset.size` simulates those that kernels have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional, Protocol

import pyarrow as pa

try:
    from hotset import _native
except ImportError as error:
    raise ImportError(
        f"hotset._native, which counts the curves, can't be loaded: {error}. The wheels have it for CPython 3.9 and "
        "later on Linux on x86-64"
    ) from error

if TYPE_CHECKING:
    import pandas as pd

#: Limits of a sampled curve end here, unless said otherwise: 16 TiB of pages.
LARGEST_PAGES = 1 << 32


class Curve(Protocol):
    """Hits at limits. `references` are all that were counted, `first_references` those that miss at any limit."""

    @property
    def references(self) -> int: ...

    @property
    def first_references(self) -> int: ...

    def enough(self, share: float = 0.99) -> Optional[int]: ...

    def frame(self) -> pd.DataFrame: ...


def _frame(limits: Sequence[int], hits: Sequence[int], references: int) -> pd.DataFrame:
    import pandas as pd

    misses = [references - one for one in hits]
    ratios = [one / references if references else math.nan for one in hits]
    made: pd.DataFrame = pd.DataFrame({"limit_pages": limits, "hits": hits, "misses": misses, "hit_ratio": ratios})
    return made


class ExactCurve:
    """The exact curve, known at every limit."""

    def __init__(self, distances: _native.Distances) -> None:
        self._distances = distances

    @property
    def references(self) -> int:
        """All references."""
        return self._distances.references

    @property
    def first_references(self) -> int:
        """References to what was not used before: misses at any limit."""
        return self._distances.first_references

    def hits(self, limits_pages: Iterable[int]) -> list[int]:
        """References that hit at each limit."""
        return self._distances.hits([int(limit) for limit in limits_pages])

    def enough(self, share: float = 0.99) -> Optional[int]:
        """The smallest limit that has this share of the hits that a cache without a limit has; None where there are no hits."""
        best = self.references - self.first_references
        return self._distances.limit_for(max(1, math.ceil(best * share))) if best else None

    def add(self, other: ExactCurve) -> None:
        """Adds the references of another cache: at each limit, both caches have that much."""
        self._distances.add(other._distances)

    def frame(self, limits_pages: Optional[Iterable[int]] = None) -> pd.DataFrame:
        """`limit_pages`, `hits`, `misses` and `hit_ratio`, at these limits, or at eight for each doubling up to all that was used."""
        limits = [int(limit) for limit in limits_pages] if limits_pages is not None else self._limits()
        return _frame(limits, self.hits(limits), self.references)

    def _limits(self) -> list[int]:
        # Of all hits the longest distance: more makes no difference.
        last = self.enough(1.0) or 1
        return [*(limit for limit in _native.limit_grid(last) if limit < last), last]

    def __repr__(self) -> str:
        return f"<ExactCurve of {self.references:,} references, {self.first_references:,} of them first ones>"


class SampledCurve:
    """An estimated curve, known at its limits. `exponent`: one in 2^exponent pages was in the sample at the end."""

    def __init__(self, counts: tuple[list[int], list[int], int, int], exponent: int) -> None:
        self.limits_pages, self._hits, self.references, self.first_references = counts
        self.exponent = exponent

    def hits(self) -> list[int]:
        """Estimated hits at each of `limits_pages`."""
        return list(self._hits)

    def enough(self, share: float = 0.99) -> Optional[int]:
        """The smallest of the limits that has this share of the hits of a cache without a limit; None without hits, and where it
        is beyond the largest limit."""
        best = self.references - self.first_references
        wanted = max(1, math.ceil(best * share))
        return next((limit for limit, hits in zip(self.limits_pages, self._hits) if hits >= wanted), None)

    def frame(self) -> pd.DataFrame:
        """`limit_pages`, `hits`, `misses` and `hit_ratio`, up to the limit beyond which nothing changes."""
        most = max(self._hits, default=0)
        last = next((index for index, hits in enumerate(self._hits) if hits == most), -1) + 1
        return _frame(self.limits_pages[:last], self._hits[:last], self.references)

    def __repr__(self) -> str:
        return f"<SampledCurve of {self.references:,} references, one in 2^{self.exponent} pages>"


class Exact:
    """Counts references that come in several columns."""

    def __init__(self) -> None:
        self._native = _native.Exact()

    def touch(self, references: Any) -> None:
        """Counts references, in their order."""
        for column in columns(references):
            self._native.touch(column)

    def remove(self, keys: Any) -> None:
        """Takes keys out of the cache: their next references are first ones."""
        for column in columns(keys):
            self._native.remove(column)

    def finish(self) -> ExactCurve:
        """The curve of all references so far; counting begins anew."""
        return ExactCurve(self._native.finish())


class Sampled:
    """The same of a sample of pages, in bounded memory.

    One in `one_in` pages is in the sample, a power of two (128 if nothing is said), or as many as `most_pages`
    allows.
    """

    def __init__(
        self,
        *,
        one_in: Optional[int] = None,
        most_pages: Optional[int] = None,
        largest_pages: int = LARGEST_PAGES,
    ) -> None:
        if one_in is not None and (one_in < 1 or one_in & (one_in - 1)):
            raise ValueError(f"one in {one_in} pages; the rate must be one in a power of two, such as 128")
        exponent = None if one_in is None else one_in.bit_length() - 1
        self._native = _native.Sampled(largest_pages, exponent, most_pages)

    def touch(self, pages: Any, files: Any = None) -> None:
        """Counts references to pages, by their indexes in one file, or in the files that another column has the numbers of."""
        pages_columns = list(columns(pages))
        if files is None:
            for column in pages_columns:
                self._native.touch(column)
            return
        files_columns = list(columns(files))
        if len(pages_columns) == len(files_columns) == 1:
            self._native.touch(pages_columns[0], files_columns[0])
            return
        for page, file in _aligned(pages_columns, files_columns):
            self._native.touch(page, file)

    def take(self) -> SampledCurve:
        """The curve of all references since it was taken last. Pages stay in the cache."""
        return SampledCurve(self._native.take(), self._native.exponent)


def exact(references: Any) -> ExactCurve:
    """The exact curve of a column. Memory: 26 to 54 bytes for each number that occurs."""
    counter = Exact()
    counter.touch(references)
    return counter.finish()


def sampled(
    pages: Any,
    files: Any = None,
    *,
    one_in: Optional[int] = None,
    most_pages: Optional[int] = None,
    largest_pages: int = LARGEST_PAGES,
) -> SampledCurve:
    """The estimated curve of pages, as `Sampled` counts them."""
    counter = Sampled(one_in=one_in, most_pages=most_pages, largest_pages=largest_pages)
    counter.touch(pages, files)
    return counter.take()


def _aligned(first: list[pa.Array], second: list[pa.Array]) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Parts of two columns that were cut at different places."""
    one, other = (pa.chunked_array(column) if column else None for column in (first, second))
    lengths = [0 if column is None else len(column) for column in (one, other)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"{lengths[0]} pages of {lengths[1]} files")
    if one is not None and other is not None:
        yield one.combine_chunks(), other.combine_chunks()


def columns(data: Any) -> Iterator[pa.Array]:
    """The parts of a column of integers as Arrow arrays, without a copy where they are ones already.

    Raises `TypeError` for what is no column of integers, and `ValueError` for one with nulls.
    """
    for part in _parts(data):
        if not pa.types.is_integer(part.type):
            raise TypeError(f"a column of {part.type}; references are integers")
        if part.null_count:
            raise ValueError(f"{part.null_count} of {len(part)} references are null; leave them out first")
        yield part


def _parts(data: Any) -> Iterable[pa.Array]:
    import numpy as np

    if isinstance(data, pa.ChunkedArray):
        return list(data.chunks)
    if isinstance(data, pa.Array):
        return [data]
    if isinstance(data, np.ndarray):
        return [_of_numpy(data)]
    # Before the buffer protocol, which has no nulls.
    if hasattr(data, "__arrow_c_stream__"):
        return list(pa.chunked_array(data).chunks)
    if hasattr(data, "__arrow_c_array__"):
        return [pa.array(data)]
    if isinstance(data, (str, bytes)) or not isinstance(data, (memoryview, Iterable)) and not hasattr(data, "__array__"):
        raise TypeError(f"{type(data).__name__} is no column of integers")
    try:
        return [_of_numpy(np.asarray(memoryview(data)))]
    except TypeError:
        pass
    try:
        made = pa.array(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise TypeError(f"{type(data).__name__} is no column of integers: {error}") from None
    if isinstance(made, pa.ChunkedArray):
        return list(made.chunks)
    return [made.cast(pa.int64()) if len(made) == 0 and pa.types.is_null(made.type) else made]


def _of_numpy(data: Any) -> pa.Array:
    import numpy as np

    if data.ndim != 1:
        raise TypeError(f"an array of {data.ndim} dimensions; a column has one")
    if data.dtype.kind not in "iu":
        raise TypeError(f"a column of {data.dtype}; references are integers")
    if isinstance(data, np.ma.MaskedArray):
        return pa.array(data)
    # Arrow has the byte order of the host alone, and no strides.
    plain = np.require(data, data.dtype.newbyteorder("="), ["C", "A"])
    # `pa.array` would import pandas first, which takes as long as several million references.
    return pa.Array.from_buffers(pa.from_numpy_dtype(plain.dtype), len(plain), [None, pa.py_buffer(plain)])
