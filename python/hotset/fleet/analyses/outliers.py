"""Hosts on which a workload behaves unlike on its other hosts."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real
from .memory import WHO

HOUR_NS = 3_600_000_000_000
#: So many hosts are needed to say what is usual.
LEAST_HOSTS = 5
#: An outlier is farther from the median than so many standard deviations, as the median absolute deviation tells them (1.4826 MAD;
#: Leys et al.
#: 2013 suggest 2.5 to 3), and than a fifth of it.
DEVIATIONS, SHARE = 5, real(0.2)
MAD_TO_SD = 1.4826

#: What is compared, and below which difference nobody cares.
METRICS = {
    "device_read_bytes_per_hour": (f"sum(device_read_bytes) / (sum(length_ns) / {HOUR_NS})", 64 << 20),
    "device_write_bytes_per_hour": (f"sum(device_write_bytes) / (sum(length_ns) / {HOUR_NS})", 64 << 20),
    "miss_ratio": ("sum(read_misses + fault_pages) / nullif(sum(read_pages + write_pages + fault_pages), 0)", 0.05),
    "must_bytes": ("max(must_bytes)", 16 << 20),
    "requested_pages_per_hour": (f"sum(read_pages + write_pages + fault_pages) / (sum(length_ns) / {HOUR_NS})", 100_000),
    "sync_calls_per_hour": (f"sum(sync_calls) / (sum(length_ns) / {HOUR_NS})", 1_000),
    "failed_lookups_per_hour": (f"sum(failed_lookups) / (sum(looked_ns) / {HOUR_NS})", 10_000),
    "oom_kills": ("sum(oom_kills)", 0.5),
}
VALUES = " UNION ALL ".join(
    f"SELECT workload_kind, workload, host_id, '{name}' AS metric, CAST({sql} AS DOUBLE) AS host_value, CAST({least} AS DOUBLE) AS least "
    "FROM group_hours WHERE workload_kind <> 'other' GROUP BY workload_kind, workload, host_id HAVING sum(length_ns) > 0"
    for name, (sql, least) in METRICS.items()
)
USUAL = f"""
    SELECT workload_kind, workload, metric, median(host_value) AS usual, count(host_value) AS hosts
    FROM outlier_values GROUP BY workload_kind, workload, metric HAVING count(host_value) >= {LEAST_HOSTS}
"""
APART = """
    SELECT host_values.*, usual, hosts, abs(host_value - usual) AS apart
    FROM outlier_values AS host_values JOIN outlier_usual AS usuals ON usuals.workload_kind = host_values.workload_kind
        AND usuals.workload = host_values.workload AND usuals.metric = host_values.metric
"""
SPREADS = """
    SELECT workload_kind, workload, metric, median(apart) AS mad FROM outlier_apart GROUP BY workload_kind, workload, metric
"""
OUTLIERS = f"""
    SELECT apart.*, mad * {real(MAD_TO_SD)} AS spread, names.host, host_value / nullif(usual, 0) AS times_usual
    FROM outlier_apart AS apart
    JOIN outlier_spreads AS spreads ON spreads.workload_kind = apart.workload_kind
        AND spreads.workload = apart.workload AND spreads.metric = apart.metric
    JOIN (SELECT host_id, max(host) AS host FROM hosts GROUP BY host_id) AS names ON names.host_id = apart.host_id
    WHERE apart > least AND apart > {SHARE} * abs(usual) AND apart > {real(DEVIATIONS * MAD_TO_SD)} * mad
"""


def analysis(options: Options) -> Analysis:
    """Workloads and hosts, farthest first."""
    del options
    return Analysis(
        "outliers",
        "On which hosts does a workload behave unlike on the others?",
        [
            Step("outlier_values", VALUES, keep=True),
            Step("outlier_usual", USUAL),
            Step("outlier_apart", APART, keep=True),
            Step("outlier_spreads", SPREADS),
            Step("outliers", OUTLIERS),
        ],
        [
            Column("host", "Host", "The host's name"),
            *WHO,
            Column("metric", "What", "What is unlike: per hour of a replica, or a share, or the peak of a replica (must_bytes)"),
            Column("host_value", "Here", "Its value on this host", "number"),
            Column("usual", "Usual", "The median of all hosts that run the workload", "number"),
            Column(
                "spread", "Spread", "How far hosts usually are from it: a standard deviation, from the median absolute deviation", "number"
            ),
            Column("times_usual", "Times", "Its value, as a multiple of the median", "number"),
            Column("hosts", "Hosts", "Hosts that were compared", "count"),
            Column("host_id", "Identity", "A hash of the host's machine-id"),
        ],
        "apart DESC, workload, metric, host_id",
        (
            f"Compared where at least {LEAST_HOSTS} hosts run a workload. Named is what is {DEVIATIONS} standard deviations and a "
            f"fifth of the median away from it.",
        ),
    )
