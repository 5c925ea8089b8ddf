"""Workloads whose limit is too small: what they read again and again because it was evicted."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real
from . import memory

DAY_US = real(86_400_000_000)

STARVED = f"""
    SELECT verdicts.*, avoidable_bytes * {DAY_US} / span_us AS avoidable_bytes_per_day,
        device_read_bytes * {DAY_US} / span_us AS device_read_bytes_per_day,
        read_wait_ns / nullif(length_ns, 0) AS wait_ratio, refaulted_pages / nullif(requested_pages, 0) AS refault_ratio
    FROM fleet_verdicts AS verdicts CROSS JOIN fleet_span AS span WHERE verdict = 'starved'
"""


def analysis(options: Options) -> Analysis:
    """Starved workloads, those first whose devices would be spared most."""
    return Analysis(
        "starved",
        "Which workloads read from the device what a larger limit would keep in memory?",
        [*memory.steps(options), Step("fleet_starved", STARVED)],
        [
            *memory.WHO,
            memory.HOSTS,
            memory.REPLICAS,
            Column("limit_bytes", "Limit", "Its highest limit in its last hour", "bytes"),
            Column("recommended_limit_bytes", "Recommended limit", "The limit at which it has the cache that it needs", "bytes"),
            Column("hit_ratio", "Hit ratio", "Requested pages that were cached, as measured; written ones count as cached", "ratio"),
            Column("limit_hit_ratio", "Predicted now", "The same at its limit, by the curve: how far the curve can be trusted", "ratio"),
            Column("best_hit_ratio", "Best", "The hit ratio of unlimited cache, by the curve", "ratio"),
            Column("device_read_bytes_per_day", "Read per day", "What all replicas read from devices in a day", "bytes"),
            Column(
                "avoidable_bytes_per_day", "Avoidable per day", "What they would not read at the recommended limit, by the curve", "bytes"
            ),
            Column(
                "refault_ratio", "Read again", "Pages that were read back after they had been evicted, of all that were requested", "ratio"
            ),
            Column("wait_ratio", "Waiting", "Time in reads that waited for a device, summed over threads, per time of a replica", "ratio"),
            Column("oom_kills", "OOM kills", "Processes that were killed because the limit left too little", "count"),
        ],
        "avoidable_bytes_per_day DESC, workload, workload_kind",
        (
            "Starved is what was read back after an eviction, and of which the curve says that a larger limit would end it. Each "
            "must be at least 1 % of what it requests.",
        ),
    )
