"""DuckDB, in this process: nothing to set up."""

from __future__ import annotations

import contextlib
import pathlib
import re
import tempfile
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.arrow import ArrowFSWrapper

from . import format
from .engine import HOUR_US
from .errors import FleetError
from .storage import Storage


def schema_of(table: str) -> pa.Schema:
    """The columns of a table, as files have them."""

    def kind(column: str) -> pa.DataType:
        if column in format.TIMES:
            return pa.timestamp("us", tz="UTC")
        if column in format.TEXTS:
            return pa.string()
        return pa.bool_() if column in format.FLAGS else pa.int64()

    return pa.schema([(column, kind(column)) for column in format.TABLES[table]])


def quoted(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def exact(path: str) -> str:
    """A path that DuckDB takes for a pattern of no other file."""
    return re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", path)


class Reached(ArrowFSWrapper):  # type: ignore[misc]
    """A bucket, by the scheme of its files' names."""

    def __init__(self, storage: Storage) -> None:
        self._scheme = storage.scheme
        super().__init__(storage.files)

    @property
    def protocol(self) -> str:
        return self._scheme


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What DuckDB refuses, in its words."""
    try:
        yield
    except duckdb.Error as error:
        raise FleetError(f"DuckDB: {error}") from error


class Duck:
    """DuckDB in memory; what does not fit goes to temporary files."""

    name = "DuckDB"

    def __init__(self, memory: str | None = None, threads: int | None = None) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="hotset-fleet-")
        self._db = duckdb.connect()
        self._storage = Storage("/")
        self._mixed: set[str] = set()
        self.execute("SET TimeZone = 'UTC'")
        self.execute("SET preserve_insertion_order = false")
        self.execute("SET enable_progress_bar = false")
        self.execute(f"SET temp_directory = {quoted(self._scratch.name)}")
        self._keep_no_files()
        if memory is not None:
            self.execute(f"SET memory_limit = {quoted(memory)}")
        if threads is not None:
            self.execute(f"SET threads = {threads}")

    def _keep_no_files(self) -> None:
        """Each file is read once: a cache of them took gigabytes, and half of the time of a report of 19,200 files."""
        with told():
            known = self._db.execute("SELECT 1 FROM duckdb_settings() WHERE name = 'enable_external_file_cache'").fetchone()
        if known:
            self.execute("SET enable_external_file_cache = false")

    def files(self, root: str) -> list[str]:
        self._storage = Storage(root)
        if self._storage.scheme:
            self._reach(self._storage)
        return self._storage.below(root)

    def size(self, path: str) -> int:
        """Bytes of a file that was listed."""
        return self._storage.sizes[path]

    def _reach(self, storage: Storage) -> None:
        """Lets DuckDB read a bucket by Arrow, which has what it takes: DuckDB would have to fetch an extension."""
        with told():
            self._db.register_filesystem(Reached(storage))

    def damage(self, path: str) -> str | None:
        return self._storage.damage(path)

    def scan(self, view: str, table: str, files: Sequence[str]) -> None:
        # A file without rows says which columns there are.
        first = pathlib.Path(self._scratch.name) / f"{table}.parquet"
        if not first.exists():
            pq.write_table(schema_of(table).empty_table(), first)
        names = ", ".join(quoted(exact(path)) for path in [str(first), *files])
        added = f", epoch_us(ts) AS ts_us, (epoch_us(ts) - 1) // {HOUR_US} AS hour"
        added += ', "references" AS all_references' if table == "curve" else ""
        # To look for columns that older hosts lack, all files are opened, each time that they are asked. It is done where that was needed.
        by_name = "true" if view in self._mixed else "false"
        self.execute(
            f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT *{added} "
            f"FROM read_parquet([{names}], union_by_name = {by_name}, filename = true, hive_partitioning = false)"
        )

    def mixed(self, view: str) -> bool:
        """Reads the files of a view from now on as if each had other columns; false if that is so already."""
        is_new = view not in self._mixed
        self._mixed.add(view)
        return is_new

    def columns(self, table: str) -> list[str]:
        added = ["ts_us", "hour", *(["all_references"] if table == "curve" else [])]
        return [f'"{column}"' for column in [*format.TABLES[table], *added]]

    def execute(self, sql: str) -> None:
        """Runs a statement of DuckDB's own."""
        with told():
            self._db.execute(sql)

    def view(self, name: str, sql: str) -> None:
        self.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def keep(self, name: str, sql: str) -> None:
        # Described when it is there: to describe a query of many files opens them.
        self.execute(f"CREATE OR REPLACE TEMP TABLE {name}_wide AS {sql}")
        self.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {self._in_int64(f'SELECT * FROM {name}_wide')}")

    def table(self, sql: str) -> pa.Table:
        with told():
            return self._db.sql(self._in_int64(sql)).to_arrow_table()

    def _in_int64(self, sql: str) -> str:
        """Sums of whole numbers have 128 bits here, and 64 in Spark."""
        with told():
            columns = self._db.execute(f"DESCRIBE {sql}").fetchall()
        wide = [name for name, kind, *_ in columns if kind in ("HUGEINT", "UBIGINT", "INTEGER")]
        if not wide:
            return sql
        narrow = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in wide)
        return f"SELECT * REPLACE ({narrow}) FROM ({sql})"
