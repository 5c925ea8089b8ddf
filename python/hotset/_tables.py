"""Tables of a document: each list of objects in it, with a column for each number and text of an object.

Columns are named by their keys, those of an object within an object joined by `_`: `read.from_device` is `read_from_device`.
What was not measured is null.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, Union

import pyarrow as pa

from hotset._decode import fields, remembered

#: Numbers that may need all 64 bits, because they are names. Others are signed, so that a difference can be below 0.
_UNSIGNED = {"ino", "seed"}
#: Bytes that a file or process had read from the device: pages of reads and of faults on mappings.
FROM_DEVICE = "from_device"
_FROM_DEVICE_PAGES = ("read_from_device", "mmap_pages_read")
#: What a frame begins with, where it has it.
_FIRST = ("path", "pid", "comm", "opens", "read_calls", "read_bytes", "write_bytes")
#: What it ends with: names in another form, identities, and what pandas shows of a wide frame beside its first column.
_LAST = ("_hex", "dev", "ino", "generation", FROM_DEVICE)


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: its name, the keys that lead to its values, and their type."""

    name: str
    keys: tuple[str, ...]
    type: pa.DataType


@dataclasses.dataclass(frozen=True)
class Rows:
    """A table: its name, the keys that lead to the list of its rows, and their class."""

    name: str
    keys: tuple[str, ...]
    class_: type[Any]


class Tables(Mapping[str, pa.Table]):
    """The tables of a document by name, each made when it is asked for first."""

    def __init__(self, class_: type[Any], objects: Sequence[dict[str, Any]], number: Optional[str]) -> None:
        """`number` is the name of a column with the object's number, where there may be several."""
        self._objects = objects
        self._number = number
        self._rows = {rows.name: rows for rows in _lists(class_)}
        if number is not None:
            self._rows[f"{number}s"] = Rows(f"{number}s", (), class_)
        self._made: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._rows:
            raise KeyError(f"no table {name!r}; there are {', '.join(self._rows)}")
        if name not in self._made:
            self._made[name] = self._missing() if name == "missing" else self._make(self._rows[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def _of(self, rows: Rows) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, one in enumerate(self._objects):
            found = _at(one, rows.keys)
            for row in [found] if not rows.keys else found or []:
                yield index, row

    def _make(self, rows: Rows) -> pa.Table:
        numbered = list(self._of(rows))
        columns = columns_of(rows.class_)
        arrays = {one.name: pa.array((_at(row, one.keys) for _, row in numbered), one.type) for one in columns}
        if all(name in arrays for name in _FROM_DEVICE_PAGES):
            sizes = [_at(one, ("environment", "page_size_bytes")) for one in self._objects]
            if all(isinstance(size, int) for size in sizes):
                pages = zip(*(arrays[name].to_pylist() for name in _FROM_DEVICE_PAGES))
                arrays[FROM_DEVICE] = pa.array(
                    (
                        None if read is None or mapped is None else (read + mapped) * sizes[index]
                        for (index, _), (read, mapped) in zip(numbered, pages)
                    ),
                    pa.int64(),
                )
        if self._number is not None and rows.keys:
            arrays = {self._number: pa.array((index for index, _ in numbered), pa.int64()), **arrays}
        names = sorted(arrays, key=_order)
        return pa.table({name: arrays[name] for name in names})

    def _missing(self) -> pa.Table:
        """Why values are null: of the document, and of each row that says so itself."""
        found: list[dict[str, Any]] = []
        for index, one in enumerate(self._objects):
            found += [{"table": None, "row": index, **why} for why in one.get("missing", [])]
        for rows in self._rows.values():
            if rows.keys and any(key == "missing" for _, key, _, _ in fields(rows.class_)):
                for number, (_, row) in enumerate(self._of(rows)):
                    found += [{"table": rows.name, "row": number, **why} for why in row.get("missing", [])]
        types = {
            "table": pa.string(),
            "row": pa.int64(),
            "key": pa.string(),
            "kind": pa.string(),
            "detail": pa.string(),
            "entries": pa.list_(pa.int64()),
        }
        return pa.table({name: pa.array((one.get(name) for one in found), type_) for name, type_ in types.items()})


def _order(name: str) -> int:
    if name in _FIRST:
        return _FIRST.index(name) - len(_FIRST)
    last = "_hex" if name.endswith("_hex") else name
    return 1 + _LAST.index(last) if last in _LAST else 0


def _at(value: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        if value is None:
            return None
        value = value.get(key)
    return value


def _parts(type_: Any) -> list[Any]:
    """The types that a value may have, without null."""
    if typing.get_origin(type_) is Union:
        return [part for one in typing.get_args(type_) if one is not type(None) for part in _parts(one)]
    return [type_]


def _lists(class_: type[Any], keys: tuple[str, ...] = ()) -> Iterator[Rows]:
    for _, key, type_, _ in fields(class_):
        for part in _parts(type_):
            here = (*keys, key)
            if typing.get_origin(part) is list:
                rows = [one for one in _parts(typing.get_args(part)[0]) if dataclasses.is_dataclass(one)]
                if rows:
                    yield Rows("_".join(here), here, typing.cast("type[Any]", rows[0]))
            elif dataclasses.is_dataclass(part):
                yield from _lists(typing.cast("type[Any]", part), here)


@remembered
def columns_of(class_: type[Any]) -> tuple[Column, ...]:
    """The columns of an object's numbers and texts, also within objects in it. Lists of objects have none."""
    return tuple({column.name: column for column in _columns(class_, ())}.values())


def _columns(class_: type[Any], keys: tuple[str, ...]) -> Iterator[Column]:
    for _, key, type_, _ in fields(class_):
        here = (*keys, key)
        parts = _parts(type_)
        objects = [part for part in parts if dataclasses.is_dataclass(part)]
        for part in objects:
            yield from _columns(typing.cast("type[Any]", part), here)
        if not objects:
            arrow = _arrow(parts, key)
            if arrow is not None:
                yield Column("_".join(here), here, arrow)


def _arrow(parts: list[Any], key: str) -> Optional[pa.DataType]:
    if len(parts) > 1:
        # A number or a name: none where Arrow would need both.
        plain = {_arrow([part], key) for part in parts}
        return plain.pop() if len(plain) == 1 else None
    (type_,) = parts
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin is Literal:
        return pa.string()
    if origin in (list, tuple):
        values = {_arrow(_parts(one), key) for one in arguments}
        value = values.pop() if len(values) == 1 else None
        return None if value is None or pa.types.is_nested(value) else pa.list_(value)
    if origin is dict:
        value = _arrow(_parts(arguments[1]), key)
        return None if value is None else pa.map_(pa.string(), value)
    plain_types = {int: pa.uint64() if key in _UNSIGNED else pa.int64(), float: pa.float64()}
    return {**plain_types, str: pa.string(), bool: pa.bool_()}.get(type_)


def frame(table: pa.Table) -> Any:
    """A table as a pandas DataFrame, whose types can hold what is not known: whole numbers stay whole beside `<NA>`."""
    import pandas as pd

    types = {
        pa.int64(): pd.Int64Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.string(): pd.StringDtype(),
    }
    return table.to_pandas(types_mapper=types.get)
