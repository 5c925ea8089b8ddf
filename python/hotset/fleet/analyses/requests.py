"""Direct I/O, syncs, path lookups and what devices read and write, by workload and image."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step
from .memory import HOSTS, WHO

HOUR_NS = 3_600_000_000_000

REQUESTS = f"""
    SELECT workload_kind, workload, image, count(DISTINCT host_id) AS hosts, sum(length_ns) / {HOUR_NS} AS replica_hours,
        sum(read_bytes) / (sum(length_ns) / {HOUR_NS}) AS read_bytes_per_hour,
        sum(write_bytes) / (sum(length_ns) / {HOUR_NS}) AS write_bytes_per_hour,
        sum(direct_read_bytes) / (sum(length_ns) / {HOUR_NS}) AS direct_read_bytes_per_hour,
        sum(direct_write_bytes) / (sum(length_ns) / {HOUR_NS}) AS direct_write_bytes_per_hour,
        sum(device_read_bytes) / (sum(length_ns) / {HOUR_NS}) AS device_read_bytes_per_hour,
        sum(device_write_bytes) / (sum(length_ns) / {HOUR_NS}) AS device_write_bytes_per_hour,
        sum(sync_calls) / (sum(length_ns) / {HOUR_NS}) AS sync_calls_per_hour,
        sum(sync_ns) / nullif(sum(sync_calls), 0) AS sync_mean_ns,
        sum(lookups) / (sum(looked_ns) / {HOUR_NS}) AS lookups_per_hour,
        sum(failed_lookups) / (sum(looked_ns) / {HOUR_NS}) AS failed_lookups_per_hour,
        sum(failed_lookups) / nullif(sum(lookups), 0) AS failed_lookup_ratio,
        sum(read_bytes) / nullif(sum(read_calls), 0) AS read_mean_bytes, sum(write_bytes) / nullif(sum(write_calls), 0) AS write_mean_bytes,
        (sum(direct_read_bytes) + sum(direct_write_bytes))
            / nullif(sum(direct_read_bytes) + sum(direct_write_bytes) + sum(read_bytes) + sum(write_bytes), 0) AS direct_ratio
    FROM group_hours GROUP BY workload_kind, workload, image HAVING sum(length_ns) > 0
"""


def analysis(options: Options) -> Analysis:
    """What each workload asks of the kernel."""
    del options
    return Analysis(
        "requests",
        "Which workloads bypass the page cache, sync often, look for files that are not there, or read and write in small pieces?",
        [Step("requests", REQUESTS)],
        [
            *WHO,
            Column("image", "Image", "The container's image, where the host's files tell"),
            HOSTS,
            Column("direct_ratio", "Direct", "Bytes of direct I/O, of all that was read and written", "ratio"),
            Column("direct_read_bytes_per_hour", "Direct reads", "Bytes per hour of a replica", "bytes"),
            Column("direct_write_bytes_per_hour", "Direct writes", "Bytes per hour of a replica", "bytes"),
            Column("sync_calls_per_hour", "Syncs", "Calls of fsync and the like per hour of a replica", "number"),
            Column("sync_mean_ns", "Time of a sync", "On average", "ns"),
            Column(
                "failed_lookups_per_hour",
                "Failed lookups",
                "Calls with a path that found nothing, per hour of a replica; of hours in which they were counted",
                "number",
            ),
            Column("failed_lookup_ratio", "Failed", "Failed lookups, of all path lookups", "ratio"),
            Column("lookups_per_hour", "Lookups", "Calls with a path, such as open and stat, per hour of a replica", "number"),
            Column("read_bytes_per_hour", "Reads", "Bytes that buffered reads returned, per hour of a replica", "bytes"),
            Column("read_mean_bytes", "Of a read", "Bytes of a buffered read, on average", "bytes"),
            Column("write_bytes_per_hour", "Writes", "Bytes that buffered writes accepted, per hour of a replica", "bytes"),
            Column("write_mean_bytes", "Of a write", "Bytes of a buffered write, on average", "bytes"),
            Column("device_read_bytes_per_hour", "Device reads", "Bytes that devices were asked to read, per hour of a replica", "bytes"),
            Column("device_write_bytes_per_hour", "Device writes", "The same of writes", "bytes"),
        ],
        "device_read_bytes_per_hour + device_write_bytes_per_hour DESC, workload, workload_kind, image NULLS LAST",
    )
