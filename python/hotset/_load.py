"""Documents and recordings that were saved."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from pathlib import Path
from typing import Any, Union

from hotset._recording import Recording
from hotset._results import LINES, Lines, Result, class_of, result_of
from hotset.errors import FormatError


def load(path: Union[str, os.PathLike[str]]) -> Union[Result[Any], Recording]:
    """Reads what a command of hotset saved: JSON of any format, compressed too, or a recording.

    Intervals of `stat` and `top` and experiments of `lab` are a `Lines`. Raises `FormatError` for a file that is none of these,
    is damaged, is of a version that this package does not know, or has several documents (`load_all` reads those).
    """
    found = load_all(path)
    if len(found) != 1:
        raise FormatError(f"{os.fspath(path)}: {len(found)} documents; hotset.load_all() reads them")
    return found[0]


def load_all(path: Union[str, os.PathLike[str]]) -> list[Union[Result[Any], Recording]]:
    """Reads a file with one or several documents."""
    if _is_parquet(path):
        return [Recording(path)]
    try:
        return list(_results(_objects(_plain(Path(path).read_bytes()))))
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from None


def _is_parquet(path: Union[str, os.PathLike[str]]) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _plain(data: bytes) -> str:
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise FormatError(f"damaged: {error}") from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError("not a document of hotset: neither text nor a recording") from None


def _objects(text: str) -> list[Any]:
    """JSON values that follow each other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not a document of hotset, or a damaged one: {error}") from None
        found.append(value)
    if not found:
        raise FormatError("empty; no document of hotset")
    return found


def _results(objects: list[Any]) -> list[Result[Any]]:
    """Results of objects; lines of one format become one."""
    found: list[Result[Any]] = []
    for one in objects:
        schema = one.get("schema") if isinstance(one, dict) else None
        last = found[-1] if found else None
        if isinstance(last, Lines) and isinstance(one, dict) and schema in (None, last.schema):
            last.lines.append(one)
        elif schema in LINES:
            class_of(schema)
            has_header = schema == "hotset.top/1"
            lines = [] if has_header else [one]
            found.append(Lines(one, lines, class_of(schema, of_lines=True), LINES[schema]))
        else:
            found.append(result_of(one))
    return found
