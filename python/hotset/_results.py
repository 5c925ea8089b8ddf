"""What the commands of hotset make, as objects."""

from __future__ import annotations

import functools
import gzip
import importlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union

from hotset._decode import decode, fields, reader
from hotset.documents import FORMATS
from hotset.errors import FormatError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from hotset import documents
    from hotset._tables import Tables
    from hotset.documents import bench, check, common, control, profile, residency, size, system_cache

    assert documents

T = TypeVar("T")


class Result(Generic[T]):
    """A document of hotset.

    `json` is the document as it is written, `document` the same as dataclasses of `hotset.documents`, and `tables` has its
    lists as Arrow tables.
    """

    def __init__(self, json: dict[str, Any], *, messages: tuple[str, ...] = (), text: str = "") -> None:
        self.json = json
        #: What hotset said of itself meanwhile.
        self.messages = messages
        #: What hotset printed beside the document.
        self.text = text

    @property
    def schema(self) -> str:
        """The format and its version, such as `hotset.profile/1`."""
        return str(self.json["schema"])

    @property
    def hotset(self) -> str:
        """The version of hotset that wrote it."""
        return str(self.json["hotset"])

    @functools.cached_property
    def document(self) -> T:
        """The document as dataclasses; raises `FormatError` where it is damaged."""
        document: T = decode(class_of(self.schema), self.json)
        return document

    def part(self, key: str) -> Any:
        """What `document` has for a key, without reading the rest: a profile may have 10,000 files."""
        found = [(one, type_) for name, one, type_, _ in fields(class_of(self.schema)) if name == key]
        if not found:
            raise KeyError(f"{self.schema} has no key {key!r}")
        ((own, type_),) = found
        if own not in self.json:
            raise FormatError(f'the document: the key "{own}" is missing')
        return reader(type_)(self.json[own], own)

    @functools.cached_property
    def tables(self) -> Tables:
        """Each list of objects as a `pyarrow.Table`, by its key."""
        from hotset._tables import Tables

        return Tables(class_of(self.schema), [self.json], None)

    def frame(self, name: str) -> pd.DataFrame:
        """A table as a pandas DataFrame."""
        from hotset._tables import frame

        made: pd.DataFrame = frame(self.tables[name])
        return made

    def polars(self, name: str) -> pl.DataFrame:
        """A table as a polars DataFrame; needs `hotset[polars]`."""
        import polars

        made = polars.from_arrow(self.tables[name])
        assert isinstance(made, polars.DataFrame)
        return made

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the document as JSON, compressed where the name ends in `.gz`; `hotset.load` and `hotset report` read it."""
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in self._objects())
        data = text.encode()
        Path(path).write_bytes(gzip.compress(data) if os.fspath(path).endswith(".gz") else data)

    def _objects(self) -> list[dict[str, Any]]:
        return [self.json]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.schema}: tables {', '.join(self.tables)}>"


class Lines(Result[Any]):
    """A document of several objects, one a line: intervals of `stat` and `top`, experiments of `lab`."""

    def __init__(self, header: dict[str, Any], lines: list[dict[str, Any]], line: Any, number: str) -> None:
        super().__init__(header)
        self.lines = lines
        self._class = line
        self._number = number

    @functools.cached_property
    def document(self) -> Any:
        """The header, or the first line where there is none."""
        return decode(class_of(self.schema), self.json)

    @functools.cached_property
    def documents(self) -> list[Any]:
        """The lines as dataclasses."""
        return [decode(self._class, line) for line in self.lines]

    @functools.cached_property
    def tables(self) -> Tables:
        """Each list of objects, of all lines together; the first column says of which line."""
        from hotset._tables import Tables

        return Tables(self._class, self.lines, self._number)

    def _objects(self) -> list[dict[str, Any]]:
        is_headed = bool(self.lines) and self.lines[0] is not self.json
        return [self.json, *self.lines] if is_headed else list(self.lines)


class Profile(Result["profile.Profile"]):
    """What a command did with files: `hotset.run`."""

    #: What the command wrote, where that was captured.
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def exit_status(self) -> Optional[int]:
        """Of the command: its exit code, or 128 and the signal that killed it; None where nobody waited for it."""
        ended = self.command
        return 128 + ended.signal if ended.signal is not None else ended.exit_code

    @functools.cached_property
    def command(self) -> common.Command:
        """The command, how it ended, and its times."""
        made: common.Command = self.part("command")
        return made

    @functools.cached_property
    def environment(self) -> common.Environment:
        """The host."""
        made: common.Environment = self.part("environment")
        return made

    @functools.cached_property
    def totals(self) -> common.Io:
        """Sums of all files."""
        made: common.Io = self.part("totals")
        return made

    @functools.cached_property
    def findings(self) -> list[profile.FindingKeys]:
        """What should be changed, the largest saving first."""
        made: list[profile.FindingKeys] = self.part("findings")
        return made

    @functools.cached_property
    def files(self) -> pd.DataFrame:
        """A row a file. `from_device` is in bytes: what reads and page faults had read from the device for it."""
        return self.frame("files")

    @functools.cached_property
    def processes(self) -> pd.DataFrame:
        """A row a process."""
        return self.frame("processes")


class Bench(Result["bench.Bench"]):
    """A benchmark with cold and warm page cache: `hotset.bench`."""

    @functools.cached_property
    def results(self) -> pd.DataFrame:
        """A row a command and state; times are in seconds."""
        return self.frame("results")

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """A row a run, also those that are excluded."""
        return self.frame("runs")

    @property
    def comparisons(self) -> list[bench.Comparison]:
        """What differs between commands, by state."""
        return self.document.comparisons


class Residency(Result["residency.Residency"]):
    """What is cached of files: `hotset.ls`."""

    @functools.cached_property
    def files(self) -> pd.DataFrame:
        """A row a file."""
        return self.frame("files")

    @functools.cached_property
    def directories(self) -> pd.DataFrame:
        """A row a directory, where `dirs` was asked for."""
        return self.frame("directories")

    @property
    def totals(self) -> residency.Sums:
        """Sums of all files."""
        return self.document.totals


class SystemCache(Result["system_cache.SystemCache"]):
    """The page cache of the whole host: `hotset.system_cache`."""

    @functools.cached_property
    def files(self) -> pd.DataFrame:
        """A row a file, the largest first."""
        return self.frame("files")

    @property
    def totals(self) -> system_cache.Totals:
        """Sums of all that is cached."""
        return self.document.totals


class Control(Result["control.Control"]):
    """The page cache of files after it was changed: `hotset.warm` and `hotset.evict`."""

    @property
    def reached(self) -> bool:
        """Whether all of them are as they were to be."""
        return self.document.reached

    @property
    def totals(self) -> control.ControlTotals:
        """Sums of all files."""
        return self.document.totals

    @functools.cached_property
    def files(self) -> pd.DataFrame:
        """A row a file."""
        return self.frame("files")


class Size(Result["size.Size"]):
    """How much memory a program needs: `hotset.size`."""

    @functools.cached_property
    def limits(self) -> pd.DataFrame:
        """A row a memory limit, with the hits and misses that are predicted for it."""
        return self.frame("limits")

    @property
    def request(self) -> Optional[size.Recommended]:
        """The memory request that is recommended, if one can be."""
        return self.document.request

    @property
    def limit(self) -> Optional[size.Recommended]:
        """The memory limit that is recommended, if one can be."""
        return self.document.limit


class Check(Result["check.Check"]):
    """Checks of a budget: `hotset.check`. `text` is hotset's own report."""

    @property
    def passed(self) -> bool:
        """Whether every limit was held; one that could not be measured was not, unless the budget allows it."""
        outcomes = [one.outcome for one in self.document.checks]
        return not self.document.interrupted and all(one in ("passed", "passed_on_retry") for one in outcomes)

    @property
    def checks(self) -> list[check.CheckResult]:
        """Each check with every run and limit."""
        return self.document.checks


#: The class of a format's results; others are a `Result`.
CLASSES: dict[str, type[Result[Any]]] = {
    "hotset.profile/1": Profile,
    "hotset.bench/1": Bench,
    "hotset.residency/1": Residency,
    "hotset.system-cache/1": SystemCache,
    "hotset.control/1": Control,
    "hotset.size/1": Size,
    "hotset.check/1": Check,
}

#: Formats with one object a line, and what such an object is.
LINES = {"hotset.stat/1": "interval", "hotset.top/1": "interval", "hotset.lab/1": "experiment"}


def class_of(schema: object, *, of_lines: bool = False) -> type[Any]:
    """The dataclass of a format; raises `FormatError` for one that this package does not know."""
    if not isinstance(schema, str) or not schema.startswith("hotset."):
        raise FormatError(f"not a document of hotset: its \"schema\" is {schema!r}")
    if schema not in FORMATS:
        name = schema.rsplit("/", 1)[0]
        known = [one for one in FORMATS if one.rsplit("/", 1)[0] == name]
        what = f"this package knows {known[0]}; a newer one may read it" if known else "no format of this package"
        raise FormatError(f"{schema}: {what}")
    module, names = FORMATS[schema]
    found: type[Any] = getattr(importlib.import_module(f"hotset.documents.{module}"), names[-1 if of_lines else 0])
    return found


def result_of(json: Any, *, messages: tuple[str, ...] = (), text: str = "") -> Result[Any]:
    """A result of a document."""
    if not isinstance(json, dict):
        raise FormatError("not a document of hotset: no JSON object")
    class_of(json.get("schema"))
    return CLASSES.get(json["schema"], Result)(json, messages=messages, text=text)
