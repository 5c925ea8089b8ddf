"""Curves against a slow count, over all columns that they take."""

from __future__ import annotations

import array
import signal
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import run_python

from hotset import curves


def slow_hits(references: Any, limit: int) -> int:
    """Hits of a list of the last used."""
    used: list[int] = []
    hits = 0
    for key in np.asarray(references).tolist():
        hits += key in used[:limit]
        if key in used:
            used.remove(key)
        used.insert(0, key)
    return hits


@pytest.fixture(scope="module")
def references() -> Any:
    random = np.random.default_rng(1)
    return np.minimum(random.integers(0, 80, 3000), random.integers(0, 80, 3000))


def test_hits_are_those_of_a_slow_count(references: Any) -> None:
    curve = curves.exact(references)
    limits = [0, 1, 2, 10, 40, 79, 80, 10**6]
    assert curve.hits(limits) == [slow_hits(references, limit) for limit in limits]
    assert (curve.references, curve.first_references) == (3000, len(set(references.tolist())))
    frame = curve.frame(limits)
    assert list(frame.columns) == ["limit_pages", "hits", "misses", "hit_ratio"]
    assert (frame["hits"] + frame["misses"] == 3000).all()
    default = curve.frame()
    assert default["hits"].iloc[-1] == 3000 - curve.first_references
    enough = curve.enough(0.9)
    best = 3000 - curve.first_references
    assert enough is not None and curve.hits([enough])[0] >= 0.9 * best > curve.hits([enough - 1])[0]


def test_a_loop_has_a_cliff() -> None:
    curve = curves.exact(np.tile(np.arange(1000), 10))
    assert curve.hits([999, 1000]) == [0, 9000] and curve.enough() == 1000


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i8", "<i4"])
def test_all_integers_are_counted(references: Any, kind: str) -> None:
    expected = curves.exact(references).hits([5, 50])
    assert curves.exact(references.astype(kind)).hits([5, 50]) == expected


def test_signs_make_different_keys() -> None:
    for kind in ("int8", "int16", "int32", "int64"):
        assert curves.exact(np.array([-1, 1, -1, 255, -1], kind if kind != "int8" else "int16")).first_references == 3
    widest = np.array([2**64 - 1, 0, 2**64 - 1], "uint64")
    assert curves.exact(widest).hits([1, 2]) == [0, 1]


def test_columns_of_many_libraries(references: Any) -> None:
    import polars
    expected = curves.exact(references).hits([5, 50])
    wide = np.repeat(references, 2)[::2]
    arrow = pa.array(references)
    same: list[Any] = [
        references.tolist(),
        wide,
        arrow,
        pa.chunked_array([arrow[:1000], arrow[1000:1000], arrow[1000:]]),
        pa.concat_arrays([pa.array([7, 7]), arrow])[2:],
        np.frombuffer(b"x" + references.tobytes(), references.dtype, offset=1),
        pd.Series(references),
        pd.Series(references, dtype="Int64"),
        pd.Series(references, dtype="int64[pyarrow]"),
        polars.Series(references),
        array.array("q", references.tolist()),
        memoryview(references),
        (int(one) for one in references),
    ]
    for column in same:
        assert curves.exact(column).hits([5, 50]) == expected, type(column)
    empties: list[Any] = [[], np.array([], "int64"), pa.chunked_array([], pa.int64())]
    for empty in empties:
        assert curves.exact(empty).references == 0 and curves.exact(empty).enough() is None


def test_an_array_is_counted_without_pandas() -> None:
    code = "import sys, numpy; from hotset import curves; curves.exact(numpy.arange(9)); print('pandas' in sys.modules)"
    said, errors = run_python(code).communicate()
    assert said.strip() == "False", errors


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.array([1.0]), "a column of float64; references are integers"),
        (np.array([[1]]), "an array of 2 dimensions"),
        (np.array(["a"]), "references are integers"),
        (np.array([True]), "a column of bool"),
        (np.array([1], "datetime64[s]"), "references are integers"),
        (pa.array(["a"]), "a column of string; references are integers"),
        (pd.Series([1, None]), "a column of double"),
        ("text", "str is no column of integers"),
        (b"bytes", "bytes is no column of integers"),
        (3, "int is no column of integers"),
        (None, "NoneType is no column of integers"),
        ([1, "a"], "list is no column of integers"),
        ([2**70], "list is no column of integers"),
    ],
)
def test_other_columns_are_refused(column: Any, said: str) -> None:
    with pytest.raises(TypeError) as error:
        curves.exact(column)
    assert said in str(error.value)


def test_nulls_are_refused() -> None:
    with pytest.raises(ValueError, match="2 of 9 references are null"):
        curves.exact(np.ma.masked_greater(np.arange(9), 6))  # type: ignore[no-untyped-call]
    with pytest.raises(ValueError, match="1 of 3 references are null"):
        curves.exact(pa.array([1, None, 2]))
    sliced = pa.array([None, 1, 2, 1])[1:]
    assert curves.exact(sliced).references == 3
    from hotset import _native

    with pytest.raises(ValueError, match="has nulls"):
        _native.Exact().touch(pa.array([1, None]))
    with pytest.raises(TypeError, match="only columns of integers"):
        _native.Exact().touch(pa.array([1.5]))
    with pytest.raises(AttributeError):
        _native.Exact().touch([1])


def test_counting_goes_on_over_columns(references: Any) -> None:
    counter = curves.Exact()
    for part in np.array_split(references, 7):
        counter.touch(part)
    assert counter.finish().hits([10]) == curves.exact(references).hits([10])
    assert counter.finish().references == 0
    counter.touch([1, 2])
    counter.remove([1])
    counter.touch([1, 2])
    assert counter.finish().first_references == 3
    both = curves.exact(references)
    both.add(curves.exact(references))
    assert both.hits([10]) == [2 * curves.exact(references).hits([10])[0]]


def test_a_column_is_not_copied() -> None:
    column = np.arange(1 << 20)
    (part,) = curves.columns(column)
    assert part.buffers()[1].address == column.__array_interface__["data"][0]


def test_others_run_meanwhile() -> None:
    column = np.random.default_rng(2).integers(0, 1 << 20, 6_000_000)
    counted = threading.Thread(target=curves.exact, args=(column,))
    counted.start()
    turns = 0
    while counted.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 10


def test_ctrl_c_ends_a_count() -> None:
    child = run_python(
        "import numpy as np; from hotset import curves\n"
        "column = np.random.default_rng(2).integers(0, 1 << 22, 20_000_000)\n"
        "print('go', flush=True)\n"
        "while True: curves.exact(column)"
    )
    assert child.stdout is not None and child.stdout.readline() == "go\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said


def test_a_sample_tells_the_same() -> None:
    random = np.random.default_rng(3)
    pages = np.minimum(random.integers(0, 60_000, 400_000), random.integers(0, 60_000, 400_000))
    exact = curves.exact(pages)
    for options in ({"one_in": 16}, {"most_pages": 4096}, {"one_in": 1}):
        sampled = curves.sampled(pages, **options)
        assert sampled.references == 400_000
        frame = sampled.frame()
        near = frame[frame["limit_pages"] >= 1000]
        off = near["hit_ratio"] - np.array(exact.hits(near["limit_pages"])) / 400_000
        assert off.abs().max() < (0.03 if options != {"one_in": 1} else 1e-12), options
    enough = [one.enough(0.9) for one in (exact, curves.sampled(pages, one_in=16))]
    assert enough[0] is not None and enough[1] == pytest.approx(enough[0], rel=0.15)


def test_files_tell_pages_apart() -> None:
    pages, files = np.tile(np.arange(100), 4), np.repeat([1, 2, 1, 2], 100)
    apart = curves.sampled(pages, files, one_in=1)
    assert apart.first_references == 200 and curves.sampled(pages, one_in=1).first_references == 100
    cut = curves.sampled(pa.chunked_array([pages[:30], pages[30:]]), pd.Series(files).astype("int16"), one_in=1)
    assert cut.hits() == apart.hits()
    with pytest.raises(ValueError, match="400 pages of 399 files"):
        curves.sampled(pages, files[:-1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"one_in": 3}, "a power of two"),
        ({"one_in": 0}, "a power of two"),
        ({"one_in": 1 << 64}, "at most 63"),
        ({"most_pages": 0}, "a sample of 0 pages"),
        ({"one_in": 2, "most_pages": 5}, "not both"),
    ],
)
def test_rates_that_cannot_be_are_refused(options: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        curves.Sampled(**options)
