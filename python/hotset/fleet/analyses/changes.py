"""What changed of each workload from one time, or one image, to the next."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real
from .memory import WHO

HOUR_NS = 3_600_000_000_000
#: Changes of less than a tenth are not named.
SHARE = real(0.1)
#: So many hours are needed before, to know how much they differ.
LEAST_HOURS = 3

#: What is compared, per hour of a replica, and below which difference nobody cares.
METRICS = {
    "requested_pages": ("sum(read_pages + write_pages + fault_pages)", 10_000),
    "missed_pages": ("sum(read_misses + fault_pages)", 1_000),
    "device_read_bytes": ("sum(device_read_bytes)", 16 << 20),
    "device_write_bytes": ("sum(device_write_bytes)", 16 << 20),
    "direct_bytes": ("sum(direct_read_bytes + direct_write_bytes)", 16 << 20),
    "sync_calls": ("sum(sync_calls)", 100),
    # Older hosts do not count them: of the time in which they were counted.
    "failed_lookups": ("sum(failed_lookups) * (sum(length_ns) / nullif(sum(looked_ns), 0))", 10_000),
    "read_wait_ns": ("sum(read_wait_ns)", 10_000_000_000),
    "refaulted_pages": ("sum(refaulted_pages)", 1_000),
}
#: Memory is a peak, not a sum.
PEAKS = {"must_bytes": ("max(must_bytes)", 16 << 20)}


def _of_hours(side: str) -> str:
    def one(name: str, sql: str, least: int) -> str:
        return (
            f"SELECT workload_kind, workload, {side} AS side, hour, '{name}' AS metric, CAST({sql} AS DOUBLE) AS hour_value, "
            f"CAST({least} AS DOUBLE) AS least FROM changes_rows WHERE {side} IS NOT NULL "
            f"GROUP BY workload_kind, workload, {side}, hour HAVING sum(length_ns) > 0"
        )

    rates = [one(name, f"{sql} / (sum(length_ns) / {HOUR_NS})", least) for name, (sql, least) in METRICS.items()]
    return " UNION ALL ".join([*rates, *(one(name, sql, least) for name, (sql, least) in PEAKS.items())])


#: An image is "after" where it is the last that a workload ran, if it ran another.
IMAGES = """
    SELECT workload_kind, workload, max(last_image) AS last_image FROM (
        SELECT workload_kind, workload, first_value(image) OVER (
            PARTITION BY workload_kind, workload ORDER BY hour DESC, image DESC
        ) AS last_image FROM group_hours WHERE image IS NOT NULL
    ) AS images GROUP BY workload_kind, workload
"""
SIDES = """
    SELECT workload_kind, workload, side, metric, avg(hour_value) AS mean_value, min(hour_value) AS least_value, max(hour_value) AS
        most_value,
        count(*) AS hours, max(least) AS least
    FROM changes_hours GROUP BY workload_kind, workload, side, metric
"""
CHANGES = f"""
    SELECT older.workload_kind, older.workload, older.metric, older.mean_value AS before_value, newer.mean_value AS after_value,
        newer.mean_value / nullif(older.mean_value, 0) AS times_before, older.least_value AS before_least, older.most_value AS before_most,
        older.hours AS before_hours, newer.hours AS after_hours
    FROM changes_sides AS older JOIN changes_sides AS newer ON newer.workload_kind = older.workload_kind
        AND newer.workload = older.workload AND newer.metric = older.metric
    WHERE older.side = 'before' AND newer.side = 'after' AND older.hours >= {LEAST_HOURS}
        AND abs(newer.mean_value - older.mean_value) > older.least AND abs(newer.mean_value - older.mean_value) > {SHARE} *
            abs(older.mean_value)
        AND (newer.mean_value > older.most_value OR newer.mean_value < older.least_value)
"""


def analysis(options: Options) -> Analysis:
    """Workloads and what changed, largest first: from the hour ``options.changed_hour`` on, or with the last image where a workload ran
    two."""
    hour = options.changed_hour
    by_time = "NULL" if hour is None else f"CASE WHEN hour < {hour} THEN 'before' ELSE 'after' END"
    rows = f"""
        SELECT hours.*, CASE WHEN {hour is not None} THEN {by_time}
            WHEN last_image IS NULL THEN NULL WHEN image = last_image THEN 'after' ELSE 'before' END AS side
        FROM group_hours AS hours LEFT JOIN changes_images AS images
            ON images.workload_kind = hours.workload_kind AND images.workload = hours.workload
        WHERE hours.workload_kind <> 'other'
    """
    what = "the last image of a workload, where it ran another before" if hour is None else "the time that was given"
    return Analysis(
        "changes",
        "What changed of each workload with its last image, or since a date?",
        [
            Step("changes_images", IMAGES),
            Step("changes_rows", rows),
            Step("changes_hours", _of_hours("side"), keep=True),
            Step("changes_sides", SIDES, keep=True),
            Step("changes", CHANGES),
        ],
        [
            *WHO,
            Column("metric", "What", "What changed, per hour of a replica; of must_bytes, its peak"),
            Column("before_value", "Before", "The mean of the hours before", "number"),
            Column("after_value", "After", "The mean of the hours after", "number"),
            Column("times_before", "Times", "After, as a multiple of before", "number"),
            Column("before_least", "Least before", "The hour before with the least", "number"),
            Column("before_most", "Most before", "The hour before with the most", "number"),
            Column("before_hours", "Hours before", "Hours that were looked at", "count"),
            Column("after_hours", "Hours after", "Hours that were looked at", "count"),
        ],
        "abs(ln(greatest(times_before, 1e-6))) DESC, workload, metric",
        (
            f"After is {what}. Named is what is, on average, outside of all hours before, and differs by a tenth. With few hours "
            f"before, that can be chance.",
        ),
    )
