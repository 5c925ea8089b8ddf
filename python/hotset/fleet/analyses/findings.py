"""What the diagnosis rules of the hosts say, by workload and rule."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real
from . import memory

DAY_US = real(86_400_000_000)
#: Severities in their order: the worst that was said of any span counts.
RANK = "CASE severity WHEN 'critical' THEN 3 WHEN 'warning' THEN 2 WHEN 'unknown' THEN 0 ELSE 1 END"
WORDS = "CASE max(severity_rank) WHEN 3 THEN 'critical' WHEN 2 THEN 'warning' WHEN 1 THEN 'info' ELSE 'unknown' END"
#: Sums of nanoseconds of thousands of hosts exceed 64 bits. They are exact, so that equal ones stand in one order, however they were added.
SUM = "CAST(sum(CAST({column} AS DECIMAL(20, 0))) AS DOUBLE)"

RANKED = f"""
    SELECT findings.*, {RANK} AS severity_rank, row_number() OVER (
        PARTITION BY workload_kind, workload, rule ORDER BY coalesce(saving_high_ns, 0) DESC, title, host_id, hour
    ) AS place
    FROM findings AS findings
"""
PATHS = f"""
    SELECT workload_kind, workload, rule, path, row_number() OVER (
        PARTITION BY workload_kind, workload, rule ORDER BY {SUM.format(column="saving_high_ns")} DESC, path
    ) AS place
    FROM findings WHERE path IS NOT NULL GROUP BY workload_kind, workload, rule, path
"""
SUMS = f"""
    SELECT workload_kind, workload, rule, {WORDS} AS severity, count(DISTINCT host_id) AS hosts,
        CASE WHEN max(severity_rank) > 0 THEN count(DISTINCT concat(host_id, ' ', cgroup)) END AS groups_found,
        count(DISTINCT hour) AS hours,
        {SUM.format(column="saving_low_ns")} AS saving_low, {SUM.format(column="saving_high_ns")} AS saving_high,
        {SUM.format(column="active_ns")} AS active,
        max(CASE WHEN place = 1 THEN title END) AS title, max(CASE WHEN place = 1 THEN advice END) AS advice
    FROM findings_ranked GROUP BY workload_kind, workload, rule
"""
FOUND = f"""
    SELECT sums.*, saving_low * {DAY_US} / span_us AS saving_low_ns_per_day, saving_high * {DAY_US} / span_us AS saving_ns_per_day,
        saving_high / nullif(active, 0) AS saving_ratio, paths.path
    FROM findings_sums AS sums CROSS JOIN fleet_span AS span
    LEFT JOIN findings_paths AS paths ON paths.workload_kind = sums.workload_kind AND paths.workload = sums.workload
        AND paths.rule = sums.rule AND paths.place = 1
"""


def analysis(options: Options) -> Analysis:
    """Findings of the whole fleet, those first that would save most; at the end the rules that could not be asked."""
    del options
    return Analysis(
        "findings",
        "What do the rules of the hosts say of each workload, on how many hosts, and what would a change save?",
        [
            Step("fleet_span", memory.SPAN),
            Step("findings_ranked", RANKED),
            Step("findings_paths", PATHS),
            Step("findings_sums", SUMS),
            Step("findings_found", FOUND),
        ],
        [
            memory.WHO[0],
            Column("rule", "Rule", "Its id (docs/rules.md)"),
            Column(
                "severity", "Severity", "The worst of any host and hour: critical, warning or info; unknown where the rule was not asked"
            ),
            Column("saving_ns_per_day", "Saving per day", "What the change would save at most, in time of all threads", "ns"),
            Column("saving_low_ns_per_day", "At least", "What it would save at least", "ns"),
            Column("saving_ratio", "Share", "The saving at most, of the time in which the replicas did anything to files", "ratio"),
            Column("hosts", "Hosts", "Hosts on which it was said", "count"),
            Column("groups_found", "Replicas", "Control groups of which it was said", "count"),
            Column("hours", "Hours", "Hours in which it was said of any of them", "count"),
            Column("path", "Worst file", "The file on which most would be saved; empty where none is known"),
            Column("title", "Finding", "What was said where most would be saved; of unknown why the rule could not be asked"),
            Column("advice", "Advice", "What to change"),
            memory.WHO[1],
        ],
        "severity = 'unknown', coalesce(saving_ns_per_day, 0) DESC, workload, rule, workload_kind",
        (
            "Savings are time of threads and not of the clock: threads that wait at once would each wait less. Those of two rules "
            "for one workload may be the same time.",
            "Hosts whose hotset writes no findings are not in here; which rules a host can answer is in docs/fleet-format.md.",
        ),
    )
