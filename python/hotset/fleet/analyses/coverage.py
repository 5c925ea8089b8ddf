"""What is known of each host, and what is missing."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step

#: A clock that goes back shows in the order of intervals.
ORDERED = """
    SELECT hosts.*, lag(ts_us) OVER (PARTITION BY host_id, session ORDER BY sequence) AS before_us FROM hosts
"""
SESSIONS = """
    SELECT host_id, session, max(host) AS host, min(hotset) AS hotset, max(kernel) AS kernel, max(boot_id) AS boot_id,
        max(not_measured) AS not_measured, max(CASE WHEN multi_gen_lru THEN 1 ELSE 0 END) AS multi_gen_lru,
        count(*) AS intervals, max(sequence) - min(sequence) + 1 - count(*) AS missing_intervals,
        sum(CASE WHEN ts_us <= before_us THEN 1 ELSE 0 END) AS clock_steps, sum(lost) AS lost,
        sum(CASE WHEN lost > 0 THEN 1 ELSE 0 END) AS lossy_intervals, max(dropped_files) AS dropped_files,
        sum(lost_references) AS lost_references, sum(unattributed) AS unattributed
    FROM coverage_ordered GROUP BY host_id, session
"""
HOURS = "SELECT host_id, count(DISTINCT hour) AS hours FROM hosts GROUP BY host_id"
#: A group that ran all the hour has a row in each interval of it.
GROUPS = """
    SELECT host_id, sum(intervals) AS group_intervals FROM (
        SELECT host_id, hour, max(intervals) AS intervals FROM group_hours GROUP BY host_id, hour
    ) AS hours GROUP BY host_id
"""
#: Rows that files have, and those that were taken.
TWICE = """
    SELECT stretches.host_id, max(stretches.row_count) - max(taken.row_count) AS duplicate_rows
    FROM (SELECT host_id, sum(row_count) AS row_count FROM group_interval_stretches GROUP BY host_id) AS stretches
    JOIN (SELECT host_id, sum(intervals) AS row_count FROM group_hours GROUP BY host_id) AS taken ON taken.host_id = stretches.host_id
    GROUP BY stretches.host_id
"""
NAMES = "SELECT host, count(DISTINCT host_id) AS namesakes FROM hosts GROUP BY host"
HOSTS = """
    SELECT sessions.host_id, max(sessions.host) AS host, count(*) AS sessions, count(DISTINCT boot_id) AS boots,
        min(hotset) AS hotset, max(kernel) AS kernel, max(not_measured) AS not_measured, max(multi_gen_lru) AS multi_gen_lru,
        sum(sessions.intervals) AS intervals, sum(missing_intervals) AS missing_intervals, sum(clock_steps) AS clock_steps,
        sum(lost) AS lost, sum(lossy_intervals) AS lossy_intervals, max(dropped_files) AS dropped_files,
        sum(lost_references) AS lost_references, sum(unattributed) AS unattributed
    FROM coverage_sessions AS sessions GROUP BY sessions.host_id
"""
COVERAGE = """
    SELECT hosts.*, hours.hours, fleet.fleet_hours - hours.hours AS missing_hours, coalesce(group_intervals, 0) AS group_intervals,
        coalesce(duplicate_rows, 0) AS duplicate_rows, namesakes
    FROM coverage_hosts AS hosts
    JOIN coverage_hours AS hours ON hours.host_id = hosts.host_id
    CROSS JOIN (SELECT max(hour) - min(hour) + 1 AS fleet_hours FROM hosts) AS fleet
    LEFT JOIN coverage_groups AS host_groups ON host_groups.host_id = hosts.host_id
    LEFT JOIN coverage_twice AS twice ON twice.host_id = hosts.host_id
    LEFT JOIN coverage_names AS names ON names.host = hosts.host
"""


def analysis(options: Options) -> Analysis:
    """Hosts, those first of which most is missing."""
    del options
    return Analysis(
        "coverage",
        "Which hosts and hours are missing, and where were events lost?",
        [
            Step("coverage_ordered", ORDERED),
            Step("coverage_sessions", SESSIONS),
            Step("coverage_hours", HOURS),
            Step("coverage_groups", GROUPS),
            Step("coverage_twice", TWICE),
            Step("coverage_names", NAMES),
            Step("coverage_hosts", HOSTS),
            Step("coverage", COVERAGE),
        ],
        [
            Column("host", "Host", "The host's name"),
            Column("host_id", "Identity", "A hash of its machine-id: names may be given twice"),
            Column("namesakes", "Of that name", "Hosts of this name, this one included", "count"),
            Column("hours", "Hours", "Hours of which there are intervals", "count"),
            Column("missing_hours", "Missing hours", "Hours of the fleet of which there are none", "count"),
            Column("intervals", "Intervals", "Intervals of the host", "count"),
            Column("missing_intervals", "Missing", "Intervals between the first and the last of a session that are not there", "count"),
            Column(
                "group_intervals",
                "With groups",
                "Intervals with rows of control groups: fewer than intervals where files are missing",
                "count",
            ),
            Column("duplicate_rows", "Left out", "Rows that were there twice", "count"),
            Column("sessions", "Sessions", "Starts of hotset", "count"),
            Column("boots", "Boots", "Boots of the host", "count"),
            Column("clock_steps", "Clock steps", "Times that its clock went back", "count"),
            Column("lost", "Lost", "Events that hotset lost: the counts of these intervals are too low", "count"),
            Column("lossy_intervals", "With losses", "Intervals in which it lost events", "count"),
            Column("unattributed", "Of nobody", "Requests that were counted for no process and no file, because tables were full", "count"),
            Column("dropped_files", "Dropped", "Finished files that it dropped because they could not be delivered", "count"),
            Column(
                "multi_gen_lru",
                "MGLRU",
                "1 where the kernel evicts by the multi-gen LRU, whose hit ratios differ more from the curve",
                "count",
            ),
            Column("hotset", "hotset", "The oldest version of hotset that ran"),
            Column("kernel", "Kernel", "The newest release of its kernel"),
            Column("not_measured", "Not measured", "What can't be counted on it"),
        ],
        "missing_hours DESC, missing_intervals DESC, intervals - group_intervals DESC, lost DESC, host, host_id",
        ("An hour is missing on a host if any other host has it. A host that is not there at all can't be named.",),
    )
