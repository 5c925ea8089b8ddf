"""Rows of a host for a day, made of measured ones."""

from __future__ import annotations

import datetime
import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hotset.fleet import format
from hotset.fleet.duck import schema_of

from .measured import Measured, times
from .model import GIB, Fleet, Workload

MINUTES = 24 * 60
MINUTE_US = 60_000_000
#: Gauges of memory, which grow with the memory of a workload; counts grow with its rate.
MEMORY = {"used_bytes", "file_bytes", "mapped_bytes", "anon_bytes", "shmem_bytes", "kernel_bytes", "size_bytes", "cached_pages"}
COUNTS = {*format.IO, *format.LOOKUPS, "refaulted_pages", "memory_some_ns", "io_some_ns"}
#: What the programs ran in, which is not what they need: the first interval fills their caches.
WARM = 1


class HostDay:
    """What one host writes of one day."""

    def __init__(self, fleet: Fleet, measured: Measured, host: int, day: datetime.date, last: datetime.date) -> None:
        self.fleet, self.measured, self.host, self.day, self.last = fleet, measured, host, day, last
        self.chance = np.random.default_rng([fleet.seed, host, day.toordinal()])
        self.replicas = fleet.replicas_of(host)
        begins = datetime.datetime.combine(day, datetime.time(), datetime.timezone.utc)
        self.begins_us = int(begins.timestamp()) * 1_000_000

    def keys(self, minutes: NDArray[Any], length_ns: int) -> dict[str, pa.Array]:
        """The key columns of rows that end with these minutes of the day."""
        count = len(minutes)
        first = datetime.date(2026, 1, 1).toordinal()
        sequence = (self.day.toordinal() - first) * MINUTES + minutes
        same = {
            "host": f"node-{self.host:04}",
            "host_id": host_id(self.host),
            "boot_id": hashlib.sha256(f"boot {self.host}".encode()).hexdigest()[:32],
        }
        ts = self.begins_us + (minutes + 1) * MINUTE_US - 1_000
        return {
            "ts": pa.array(ts, pa.timestamp("us", tz="UTC")),
            "length_ns": pa.array(np.full(count, length_ns)),
            **{name: repeated(value, count) for name, value in same.items()},
            "session": pa.array(np.full(count, 1_767_225_600_000_000 + self.host)),
            "sequence": pa.array(sequence),
        }

    def groups(self) -> pa.Table:
        """``group_interval``."""
        return pa.concat_tables([self._of("group_interval", workload, number) for workload, number in self.replicas])

    def files(self) -> pa.Table:
        """``file_interval``, of twenty replicas."""
        return pa.concat_tables([self._of("file_interval", workload, number) for workload, number in self.replicas[:20]])

    def _of(self, table: str, workload: Workload, replica: int) -> pa.Table:
        rows = self.measured.rows[table][workload.program]
        if rows.num_rows <= WARM:
            return schema_of(table).empty_table()
        minutes = np.arange(MINUTES)
        picked = rows.take(WARM + (minutes + int(self.chance.integers(1000))) % (rows.num_rows - WARM))
        columns = {name: picked[name] for name in format.TABLES[table] if name in picked.column_names}
        columns |= self.keys(minutes, 60_000_000_000) | who(workload, replica, MINUTES)
        newer = self.is_newer(workload, minutes)
        usual = 3.0 if self.fleet.outlier == (self.host, workload.name) else 1.0
        rate = usual * workload.rate * self.chance.lognormal(0, 0.05, MINUTES) * np.where(newer, workload.newer_rate, 1.0)
        # What was measured is the most: memory that a program fills stays the same.
        memory = workload.scale * self.chance.uniform(0.97, 1.0, MINUTES)
        for name in columns:
            if name in COUNTS:
                columns[name] = times(picked[name], rate)
            elif name in MEMORY:
                columns[name] = times(picked[name], memory)
        if table == "group_interval":
            limit = None if workload.limit_bytes is None else np.full(MINUTES, workload.limit_bytes)
            images = pa.array([f"registry.example/{workload.name}:{version}" for version in (1, 2)])
            columns["image"] = images.take(pa.array(newer.astype(np.int64)))
            columns["limit_bytes"] = pa.nulls(MINUTES, pa.int64()) if limit is None else pa.array(limit)
        else:
            columns["path"] = repeated(f"/srv/{workload.name}/data", MINUTES)
        return in_order(table, columns)

    def is_newer(self, workload: Workload, minutes: NDArray[Any]) -> NDArray[Any]:
        """In which minutes the workload has its second image: from the afternoon of the last day on, if it gets one."""
        last = self.day == self.last
        return (minutes >= 15 * 60) & (workload.newer_rate != 1.0) & last

    def hosts(self) -> pa.Table:
        """``host``."""
        rows = self.measured.rows["host"][""]
        minutes = np.arange(MINUTES)
        picked = rows.take(WARM + minutes % (rows.num_rows - WARM))
        columns = {name: picked[name] for name in format.TABLES["host"]} | self.keys(minutes, 60_000_000_000)
        columns["memory_bytes"] = pa.array(np.full(MINUTES, 64 * GIB))
        for name in ("lost", "unattributed", "lost_references", "dropped_files"):
            columns[name] = pa.array(np.zeros(MINUTES, np.int64))
        return in_order("host", columns)

    def curves(self) -> pa.Table:
        """``curve``, a span an hour."""
        return pa.concat_tables([self._curve(workload, number) for workload, number in self.replicas])

    def _curve(self, workload: Workload, replica: int) -> pa.Table:
        rows = self.measured.rows["curve"][workload.program]
        ends = rows["sequence"].to_numpy()
        spans = np.unique(ends)[WARM:]
        if len(spans) == 0:
            return schema_of("curve").empty_table()
        picked = [np.flatnonzero(ends == spans[(hour + replica) % len(spans)]) for hour in range(24)]
        minutes = np.repeat(np.arange(24) * 60 + 59, [len(indices) for indices in picked])
        taken = rows.take(np.concatenate(picked))
        columns = {name: taken[name] for name in format.TABLES["curve"] if name in taken.column_names}
        columns |= self.keys(minutes, 3_600_000_000_000) | who(workload, replica, len(minutes))
        # A span was ten minutes long.
        rate = np.full(len(minutes), workload.rate * 6)
        for name in ("sampled_hits", "sampled_references", "sampled_first", "references"):
            columns[name] = times(taken[name], rate)
        columns["limit_pages"] = pa.array(shifted(taken["limit_pages"].to_numpy(), workload.eighths))
        return in_order("curve", columns)

    def findings(self) -> pa.Table:
        """``finding``, a span an hour."""
        return pa.concat_tables([self._finding(workload, number) for workload, number in self.replicas if workload.rule])

    def _finding(self, workload: Workload, replica: int) -> pa.Table:
        rows = self.measured.rows["finding"][workload.rule or ""]
        minutes = np.arange(24) * 60 + 59
        picked = rows.take((np.arange(24) + replica) % rows.num_rows)
        columns = {name: picked[name] for name in format.TABLES["finding"]}
        columns |= self.keys(minutes, 3_600_000_000_000) | who(workload, replica, len(minutes))
        hours = 3_600_000_000_000 / picked["length_ns"].to_numpy()
        for name in ("active_ns", "saving_low_ns", "saving_high_ns"):
            columns[name] = times(picked[name], hours)
        columns["path"] = pa.nulls(24, pa.string()) if workload.rule == "cache-thrash" else repeated(f"/srv/{workload.name}/data", 24)
        return in_order("finding", columns)


def in_order(table: str, columns: dict[str, pa.Array]) -> pa.Table:
    """The columns as files have them."""
    schema = schema_of(table)
    return pa.table({name: columns[name] for name in schema.names}).cast(schema)


def host_id(host: int) -> str:
    """The identity of a host."""
    return hashlib.sha256(f"host {host}".encode()).hexdigest()[:32]


def shifted(limits: NDArray[Any], eighths: int) -> NDArray[Any]:
    """Limits of the common grid, so many eighths of a doubling further; 0 stays, for it is no limit."""
    steps = np.round(8 * np.log2(np.maximum(limits, 1))) + eighths
    return np.where(limits == 0, 0, np.round(2.0 ** (steps / 8))).astype(np.int64)


def who(workload: Workload, replica: int, count: int) -> dict[str, pa.Array]:
    """Whose work rows are: a pod of a Deployment."""
    uid = hashlib.sha256(f"{workload.name} {replica}".encode()).hexdigest()
    texts = {
        "cgroup": f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid[:32]}.slice/cri-containerd-{uid}.scope",
        "namespace": "shop",
        "pod": f"{workload.name}-7d4b9c6f5d-{uid[:5]}",
        "container": "app",
        "image": f"registry.example/{workload.name}:1",
        "unit": None,
        "workload_kind": "deployment",
        "workload": f"shop/{workload.name}/app",
    }
    return {name: repeated(text, count) for name, text in texts.items()}


def repeated(text: str | None, count: int) -> pa.Array:
    """The same text in each row."""
    if text is None:
        return pa.nulls(count, pa.string())
    indices = pa.array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(indices, pa.array([text])).cast(pa.string())
