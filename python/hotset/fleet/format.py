"""The tables that hosts write (docs/fleet-format.md), as far as the analyses know them: version 1."""

from __future__ import annotations

#: The version of the layout that is read.
VERSION = 1

KEY = ["ts", "length_ns", "host", "host_id", "boot_id", "session", "sequence"]

#: Whose work a row is.
WHO = ["cgroup", "namespace", "pod", "container", "image", "unit", "workload_kind", "workload"]

#: What was counted of reads, writes and the device; all of it adds up.
IO = [
    "read_calls",
    "read_bytes",
    "read_pages",
    "read_zeros",
    "read_misses",
    "readahead_hits",
    "sequential_reads",
    "write_calls",
    "write_bytes",
    "write_pages",
    "new_pages",
    "write_misses",
    "dirtied_pages",
    "sequential_writes",
    "faults",
    "major_faults",
    "fault_pages",
    "direct_read_calls",
    "direct_read_bytes",
    "direct_write_calls",
    "direct_write_bytes",
    "readahead_pages",
    "sync_calls",
    "device_read_bytes",
    "device_write_bytes",
    "read_hit_ns",
    "read_wait_ns",
    "direct_ns",
    "write_ns",
    "sync_ns",
]

#: Path lookups, of hosts and control groups; they add up, too.
LOOKUPS = ["lookups", "failed_lookups"]

HOST = [
    "hotset",
    "kernel",
    "machine",
    "cpus",
    "page_bytes",
    "multi_gen_lru",
    "not_measured",
    "memory_bytes",
    "free_bytes",
    "cached_bytes",
    "shmem_bytes",
    "dirty_bytes",
    "refaulted_pages",
    "reclaimed_pages",
    "evicted_pages",
    "written_back_pages",
    "memory_some_ns",
    "io_some_ns",
    "cpu_some_ns",
    "unattributed",
    "lost",
    "lost_references",
    "groups",
    "dropped_files",
]

GROUP_INTERVAL = [
    "limit_bytes",
    "high_bytes",
    "low_bytes",
    "used_bytes",
    "file_bytes",
    "mapped_bytes",
    "anon_bytes",
    "shmem_bytes",
    "kernel_bytes",
    "refaulted_pages",
    "oom_kills",
    "memory_some_ns",
    "io_some_ns",
]

FILE_INTERVAL = ["path", "device", "inode", "deleted", "size_bytes", "cached_pages"]

CURVE = [
    "policy",
    "limit_pages",
    "sampling_period_pages",
    "sampled_hits",
    "sampled_references",
    "sampled_first",
    "references",
    "lost_references",
]

FINDING = [
    "rule",
    "severity",
    "title",
    "advice",
    "active_ns",
    "saving_low_ns",
    "saving_high_ns",
    "evidence",
    "path",
    "other_paths",
]

#: The columns of each table.
TABLES: dict[str, list[str]] = {
    "host": [*KEY, *HOST[:7], *IO, *HOST[7:], *LOOKUPS],
    "group_interval": [*KEY, *WHO, *IO, *GROUP_INTERVAL, *LOOKUPS],
    "file_interval": [*KEY, *WHO, *FILE_INTERVAL[:4], *IO, *FILE_INTERVAL[4:]],
    "curve": [*KEY, *WHO, *CURVE],
    "finding": [*KEY, *WHO, *FINDING],
}

#: Columns that are no numbers.
TIMES = {"ts"}
FLAGS = {"multi_gen_lru", "deleted"}
TEXTS = {
    *("host", "host_id", "boot_id", "hotset", "kernel", "machine", "not_measured", "path", "device", "policy"),
    *("rule", "severity", "title", "advice", "evidence", "other_paths"),
    *WHO,
}

#: Which rows are the same one, delivered twice: these columns, with those of the interval.
IDENTITY: dict[str, list[str]] = {
    "host": [],
    "group_interval": ["cgroup"],
    "file_interval": ["cgroup", "device", "inode", "path"],
    "curve": ["cgroup", "sampling_period_pages", "limit_pages"],
    "finding": ["cgroup", "rule"],
}
