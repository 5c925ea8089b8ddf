"""From JSON to the dataclasses of `hotset.documents`."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import Any, Literal, TypeVar, Union

from hotset.errors import FormatError

#: Makes a value of JSON what a type says; the text is where it stands.
Reader = Callable[[Any, str], Any]

F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """Has a function of types called once for each: there are as many as schemas have objects."""
    return typing.cast(F, functools.lru_cache(maxsize=None)(function))


_PLAIN: dict[object, tuple[tuple[type, ...], str]] = {
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    type(None): ((type(None),), "null"),
}


def decode(class_: type[Any], value: object) -> Any:
    """A document as an object of a class. Keys that the class lacks are ignored: later versions may gain some.

    Raises `FormatError` where a key is missing or a value is of another type, with its place.
    """
    return reader(class_)(value, "")


@remembered
def fields(class_: type[Any]) -> tuple[tuple[str, str, Any, bool], ...]:
    """Of each field its name, its key, its type, and whether it must be there."""
    hints = typing.get_type_hints(class_)
    return tuple(
        (one.name, one.metadata.get("key", one.name), hints[one.name], one.default is dataclasses.MISSING)
        for one in dataclasses.fields(class_)
    )


@remembered
def reader(type_: Any) -> Reader:
    """What reads a type."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if dataclasses.is_dataclass(type_):
        return _object(typing.cast("type[Any]", type_))
    if origin is list:
        return _list(arguments[0])
    if origin is dict:
        return _dict(arguments[1])
    if origin is tuple:
        return _tuple(arguments)
    if origin is Union:
        return _union(arguments)
    if origin is Literal:
        # A later version may have another word.
        return _plain(str)
    return _plain(type_)


def _refused(value: object, where: str, wanted: str) -> FormatError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    return FormatError(f"{where or 'the document'}: {shown}, where {wanted} is expected")


def _plain(type_: object) -> Reader:
    types, wanted = _PLAIN[type_]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise _refused(value, where, wanted)
        return float(typing.cast(float, value)) if type_ is float else value

    return read


def _object(class_: type[Any]) -> Reader:
    @remembered
    def parts() -> list[tuple[str, str, Reader, bool]]:
        return [(name, key, reader(type_), must) for name, key, type_, must in fields(class_)]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _refused(value, where, "an object")
        made = {}
        for name, key, read_part, must in parts():
            if key in value:
                made[name] = read_part(value[key], f"{where}.{key}" if where else key)
            elif must:
                raise FormatError(f"{where or 'the document'}: the key \"{key}\" is missing")
        return class_(**made)

    return read


def _list(type_: object) -> Reader:
    read_one = reader(type_)

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _refused(value, where, "a list")
        return [read_one(one, f"{where}[{index}]") for index, one in enumerate(value)]

    return read


def _dict(type_: object) -> Reader:
    read_one = reader(type_)

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _refused(value, where, "an object")
        return {key: read_one(one, f"{where}.{key}") for key, one in value.items()}

    return read


def _tuple(types: tuple[object, ...]) -> Reader:
    readers = [reader(type_) for type_ in types]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            raise _refused(value, where, f"a list of {len(readers)}")
        return tuple(read_one(one, f"{where}[{index}]") for index, (read_one, one) in enumerate(zip(readers, value)))

    return read


def _union(types: tuple[object, ...]) -> Reader:
    is_optional = type(None) in types
    kinds = [type_ for type_ in types if type_ is not type(None)]
    classes = {tag_of(kind): reader(kind) for kind in kinds if dataclasses.is_dataclass(kind)}
    others = [reader(kind) for kind in kinds if not dataclasses.is_dataclass(kind)]
    only = next(iter(classes.values())) if len(classes) == 1 else None

    def read(value: Any, where: str) -> Any:
        if value is None and is_optional:
            return None
        if isinstance(value, dict) and classes:
            tags = (tag for tag in classes if tag is not None and value.get(tag[0]) == tag[1])
            read_one = only or classes.get(next(tags, None))
            if read_one is None:
                names = ", ".join(f'{tag[0]} "{tag[1]}"' for tag in classes if tag)
                raise _refused(value, where, f"an object with one of {names}")
            return read_one(value, where)
        for read_one in others:
            try:
                return read_one(value, where)
            except FormatError:
                continue
        return (others[0] if others else only or next(iter(classes.values())))(value, where)

    return read


def tag_of(class_: Any) -> Union[tuple[str, str], None]:
    """The key and the word that tell an object from others of its union."""
    for _, key, type_, _ in fields(class_):
        if typing.get_origin(type_) is Literal and len(typing.get_args(type_)) == 1:
            return key, typing.get_args(type_)[0]
    return None
