"""How much memory each workload needs, and what its limit wastes or lacks."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real

MIB = 1 << 20
#: A cache below so many sampled pages can't be told apart from a smaller one (docs/metrics.md).
RESOLUTION_PAGES = 16
#: So many sampled accesses, beyond the share that is left out, make a need certain (docs/metrics.md: 1,000 for 0.99).
ENOUGH_BEYOND = 10
#: A limit that is higher than needed by less than this is not called a waste: what a team would hardly change.
WASTE_SHARE, WASTE_BYTES = real(0.2), 16 * MIB
#: Device reads that a larger limit would end, as a share of what the workload requests, from which it counts as starved.
STARVED_SHARE = real(0.01)
#: Where so many of the pages are written, hits tell nothing of what the device reads.
WRITTEN_SHARE = real(0.9)

#: The bytes of a page, and the kernel's policy, by host.
PAGES = """
    SELECT host_id, max(page_bytes) AS page_bytes, max(CASE WHEN multi_gen_lru THEN 1 ELSE 0 END) AS multi_gen_lru
    FROM hosts GROUP BY host_id
"""
#: Hits of all replicas at each limit: each has a cache of its own, of the same size, so that they add up.
LIMITS = """
    SELECT workload_kind, workload, limit_pages * page_bytes AS cache_bytes,
        max(points.sampling_period_pages * page_bytes) AS period_bytes, sum(sampled_hits) AS sampled_hits,
        sum(sampled_references) AS sampled_references, sum(sampled_first) AS sampled_first, sum(all_references) AS all_references,
        sum(lost_references) AS lost_references, sum(sampled_accesses) AS sampled_accesses, sum(sampled_count) AS sampled_count,
        max(page_bytes) AS page_bytes
    FROM curve_points AS points JOIN fleet_pages AS pages ON pages.host_id = points.host_id
    GROUP BY workload_kind, workload, limit_pages * page_bytes
"""
#: What a curve rests on.
REFERENCES = """
    SELECT workload_kind, workload, sum(all_references) AS all_references, sum(all_references) - sum(sampled_references) AS beyond_sample,
        sum(sampled_first) AS sampled_first, sum(lost_references) AS lost_references, sum(sampled_accesses) AS sampled_accesses,
        sum(sampled_count) AS sampled_count, max(period_bytes) AS period_bytes, max(page_bytes) AS page_bytes
    FROM fleet_limits GROUP BY workload_kind, workload
"""
#: Hits at a limit are those at all smaller ones too; what the sample lacks of all references hits at any (docs/fleet-format.md).
CURVES = """
    SELECT limits.workload_kind, limits.workload, cache_bytes, greatest(0, beyond_sample + sum(sampled_hits) OVER (
            PARTITION BY limits.workload_kind, limits.workload ORDER BY cache_bytes ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )) AS hits
    FROM fleet_limits AS limits JOIN fleet_references AS totals
        ON totals.workload_kind = limits.workload_kind AND totals.workload = limits.workload
    WHERE cache_bytes > 0
"""
BEST = "SELECT workload_kind, workload, max(hits) AS most_hits FROM fleet_curves GROUP BY workload_kind, workload"
MEMORY = """
    SELECT workload_kind, workload, count(DISTINCT host_id) AS hosts, sum(intervals) AS intervals, sum(length_ns) AS length_ns,
        max(must_bytes) AS must_bytes, max(used_bytes) AS used_bytes,
        max(file_bytes) AS file_bytes, sum(file_bytes_sum) / nullif(sum(file_intervals), 0) AS cache_mean_bytes,
        sum(read_pages + write_pages + fault_pages) AS requested_pages, sum(write_pages) AS write_pages,
        sum(read_misses + fault_pages) AS missed_pages, sum(device_read_bytes) AS device_read_bytes,
        sum(refaulted_pages) AS refaulted_pages, sum(read_wait_ns) AS read_wait_ns,
        sum(oom_kills) AS oom_kills, max(hour) AS last_hour
    FROM group_hours WHERE workload_kind <> 'other' GROUP BY workload_kind, workload
"""
#: Limits may change: those of the last hour count.
LAST_LIMITS = """
    SELECT hours.workload_kind, hours.workload, max(hours.limit_bytes) AS limit_bytes
    FROM group_hours AS hours JOIN fleet_memory AS memory
        ON memory.workload_kind = hours.workload_kind AND memory.workload = hours.workload AND memory.last_hour = hours.hour
    GROUP BY hours.workload_kind, hours.workload
"""
SPAN = "SELECT max(ts_us) - min(ts_us) + 1e-3 * max(length_ns) AS span_us FROM hosts"


def steps(options: Options) -> list[Step]:
    """What the analyses of memory have in common."""
    need = f"""
        SELECT curves.workload_kind, curves.workload, min(cache_bytes) AS need_bytes
        FROM fleet_curves AS curves JOIN fleet_best AS best
            ON best.workload_kind = curves.workload_kind AND best.workload = curves.workload
        WHERE hits >= {real(options.target)} * most_hits AND most_hits > 0 GROUP BY curves.workload_kind, curves.workload
    """
    joined = f"""
        SELECT memory.*, limits.limit_bytes, length_ns / (1000 * span_us) AS replicas,
            totals.all_references, totals.sampled_first, totals.lost_references, totals.page_bytes, best.most_hits,
            greatest(need.need_bytes, {RESOLUTION_PAGES} * totals.period_bytes) AS curve_need_bytes,
            {RESOLUTION_PAGES} * totals.period_bytes AS least_bytes,
            CASE WHEN must_bytes IS NULL THEN 'memory was not measured'
                WHEN write_pages > {WRITTEN_SHARE} * requested_pages THEN 'mostly writes'
                WHEN totals.sampled_count * {real(1 - options.target)} >= {ENOUGH_BEYOND}
                    AND coalesce(best.most_hits, 0) <= {real(1 - options.target)} * totals.all_references THEN 'reads once'
                WHEN totals.sampled_accesses IS NULL OR totals.sampled_accesses * {real(1 - options.target)} < {ENOUGH_BEYOND}
                    OR need.need_bytes IS NULL THEN 'few accesses'
                ELSE 'curve' END AS basis
        FROM fleet_memory AS memory
        CROSS JOIN fleet_span AS span
        LEFT JOIN fleet_last_limits AS limits ON limits.workload_kind = memory.workload_kind AND limits.workload = memory.workload
        LEFT JOIN fleet_references AS totals ON totals.workload_kind = memory.workload_kind AND totals.workload = memory.workload
        LEFT JOIN fleet_best AS best ON best.workload_kind = memory.workload_kind AND best.workload = memory.workload
        LEFT JOIN fleet_need AS need ON need.workload_kind = memory.workload_kind AND need.workload = memory.workload
    """
    needs = f"""
        SELECT joined.*, CAST(CEIL(must_bytes * {real(1 + options.margin)} / {MIB}) * {MIB} AS BIGINT) AS request_bytes,
            CASE basis WHEN 'curve' THEN curve_need_bytes WHEN 'reads once' THEN least_bytes WHEN 'few accesses' THEN file_bytes
            END AS cache_need_bytes
        FROM fleet_joined AS joined
    """
    return [
        Step("fleet_pages", PAGES, keep=True),
        Step("fleet_limits", LIMITS, keep=True),
        Step("fleet_references", REFERENCES, keep=True),
        Step("fleet_curves", CURVES, keep=True),
        Step("fleet_best", BEST),
        Step("fleet_need", need),
        Step("fleet_memory", MEMORY, keep=True),
        Step("fleet_last_limits", LAST_LIMITS),
        Step("fleet_span", SPAN),
        Step("fleet_joined", joined),
        Step("fleet_needs", needs, keep=True),
        Step("fleet_limits_set", RECOMMENDED),
        Step("fleet_at_limit", AT_LIMIT),
        Step("fleet_verdicts", VERDICTS, keep=True),
    ]


#: The recommended limit, and what cache there is within the present one.
RECOMMENDED = f"""
    SELECT needs.*, CAST(CEIL((request_bytes + cache_need_bytes) / {MIB}) * {MIB} AS BIGINT) AS recommended_limit_bytes,
        greatest(0, limit_bytes - must_bytes) AS cache_now_bytes
    FROM fleet_needs AS needs
"""
#: Hits that the cache within the present limit has, by the curve.
AT_LIMIT = """
    SELECT curves.workload_kind, curves.workload, max(hits) AS hits_now
    FROM fleet_curves AS curves JOIN fleet_limits_set AS limits
        ON limits.workload_kind = curves.workload_kind AND limits.workload = curves.workload
    WHERE cache_bytes <= cache_now_bytes GROUP BY curves.workload_kind, curves.workload
"""
VERDICTS = f"""
    SELECT limits.*, CAST(recommended_limit_bytes - limit_bytes AS DOUBLE) AS change_bytes,
        greatest(0, limit_bytes - recommended_limit_bytes) * replicas AS saving_bytes,
        1 - missed_pages / nullif(requested_pages, 0) AS hit_ratio,
        most_hits / nullif(all_references, 0) AS best_hit_ratio, coalesce(hits_now, 0) / nullif(all_references, 0) AS limit_hit_ratio,
        CASE WHEN basis = 'curve' AND limit_bytes < recommended_limit_bytes AND refaulted_pages > 0
            THEN least((most_hits - coalesce(hits_now, 0)) * page_bytes, device_read_bytes) ELSE 0 END AS avoidable_bytes,
        CASE WHEN basis IN ('memory was not measured', 'mostly writes') THEN basis
            WHEN limit_bytes IS NULL THEN 'no limit'
            WHEN basis = 'curve' AND limit_bytes < recommended_limit_bytes AND refaulted_pages > {STARVED_SHARE} * requested_pages
                AND most_hits - coalesce(hits_now, 0) > {STARVED_SHARE} * all_references THEN 'starved'
            WHEN limit_bytes - recommended_limit_bytes > greatest({WASTE_BYTES}, {WASTE_SHARE} * limit_bytes) THEN 'wasteful'
            ELSE 'fits' END AS verdict
    FROM fleet_limits_set AS limits LEFT JOIN fleet_at_limit AS at_limit
        ON at_limit.workload_kind = limits.workload_kind AND at_limit.workload = limits.workload
"""

WHO = [
    Column("workload", "Workload", "Namespace, owner and container; or what else it is (workload_kind)"),
    Column("workload_kind", "Kind", "deployment, statefulset, daemonset, cronjob, job, …, pod, container, unit or cgroup"),
]
HOSTS = Column("hosts", "Hosts", "Hosts that ran a part of it", "count")
REPLICAS = Column("replicas", "Replicas", "Control groups of it, on average over the time that is looked at", "number")


def analysis(options: Options) -> Analysis:
    """Need and waste of each workload."""
    return Analysis(
        "workloads",
        "How much memory does each workload need, and what does its limit waste?",
        steps(options),
        [
            WHO[0],
            Column("verdict", "Verdict", "wasteful, fits, starved, no limit, or why it can't be told"),
            Column("limit_bytes", "Limit", "Its highest limit in its last hour; empty where it has none", "bytes"),
            Column("recommended_limit_bytes", "Recommended limit", "The request and the cache that it needs", "bytes"),
            Column("saving_bytes", "Saving", "What the recommended limit frees, over all replicas", "bytes"),
            REPLICAS,
            HOSTS,
            Column("request_bytes", "Request", f"What it must have and {options.margin:.0%} more", "bytes"),
            Column("must_bytes", "Must have", "Peak of anonymous, shared, mapped and kernel memory of a replica", "bytes"),
            Column(
                "cache_need_bytes",
                "Cache need",
                f"Page cache with {options.target:.0%} of the hits that unlimited cache would have",
                "bytes",
            ),
            Column("hit_ratio", "Hit ratio", "Requested pages that were cached, as measured; written ones count as cached", "ratio"),
            Column("best_hit_ratio", "Best", "The hit ratio of unlimited cache, by the curve", "ratio"),
            Column(
                "basis",
                "Basis",
                "What the cache need follows from: its curve, that it reads nothing twice, or what it holds now where few "
                "accesses were sampled",
            ),
            Column("used_bytes", "Used", "Peak of all that is charged to a replica, page cache included", "bytes"),
            Column("intervals", "Intervals", "Intervals of replicas that this rests on", "count"),
            WHO[1],
        ],
        "saving_bytes DESC, recommended_limit_bytes DESC, workload, workload_kind",
        (
            "A limit is for one replica. Memory peaks between two intervals are not seen, nor is what runs less often than the "
            "time that is looked at.",
            "Mapped files count as memory that must be there, because nothing tells which of their pages are used.",
        ),
    )
