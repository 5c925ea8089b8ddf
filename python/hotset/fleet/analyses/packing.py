"""What a host's workloads need when they share its page cache, instead of each having a limit of its own.

Each curve tells how fast a control group fills a cache of any size: as fast as it misses in it. In a shared cache all of them have been
    filled
for the same time, so that the sizes at which each is after that time add up to the cache, and their misses to those of the host (footprint
composition: Xiang, Ding, Luo and Bao, HOTL, ASPLOS 2013). That holds for programs whose requests don't depend on each other's phases.
"""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step, real
from .memory import PAGES

#: Times that a cache is looked back, in seconds: each 2^(1/8) times the one before, from a sixteenth of a second to 97 days.
STEPS = range(-32, 185)
TIMES = "SELECT pow(2, step / 8e0) AS seconds FROM (VALUES " + ", ".join(f"({step})" for step in STEPS) + ") AS steps(step)"
#: Pages that miss per second with each size of cache, up to the next size.
SEGMENTS = """
    SELECT points.host_id, points.cgroup, limit_pages,
        lead(limit_pages) OVER (PARTITION BY points.host_id, points.cgroup ORDER BY limit_pages) - limit_pages AS width_pages,
        greatest(0, totals.all_references - greatest(0, totals.all_references - totals.sampled_references + sum(points.sampled_hits) OVER (
            PARTITION BY points.host_id, points.cgroup ORDER BY limit_pages ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ))) / seconds AS misses_per_second
    FROM curve_points AS points JOIN packing_totals AS totals ON totals.host_id = points.host_id AND totals.cgroup = points.cgroup
"""
TOTALS = """
    SELECT points.host_id, points.cgroup, all_references, sampled_references, length_ns / 1e9 AS seconds
    FROM (
        SELECT host_id, cgroup, sum(all_references) AS all_references, sum(sampled_references) AS sampled_references
        FROM curve_points WHERE limit_pages = 0 GROUP BY host_id, cgroup
    ) AS points JOIN (
        SELECT host_id, cgroup, sum(length_ns) AS length_ns FROM group_hours GROUP BY host_id, cgroup
    ) AS groups ON groups.host_id = points.host_id AND groups.cgroup = points.cgroup
    WHERE length_ns > 0
"""
#: When each size begins to be filled, and the pages that are full by then.
FILLS = """
    SELECT segments.*, coalesce(sum(width_pages / nullif(misses_per_second, 0)) OVER smaller, 0) AS begins,
        coalesce(sum(CASE WHEN misses_per_second > 0 THEN width_pages END) OVER smaller, 0) AS full_pages
    FROM packing_segments AS segments
    WINDOW smaller AS (PARTITION BY host_id, cgroup ORDER BY limit_pages ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
"""
#: Until when: the last size of a group for ever.
SPANS = """
    SELECT fills.*, coalesce(lead(begins) OVER (PARTITION BY host_id, cgroup ORDER BY limit_pages), 1e300) AS ends
    FROM packing_fills AS fills
"""
#: At each time, each group is within one of its sizes. A group that misses no more keeps its size for ever.
SIZES = """
    SELECT host_id, seconds, sum(full_pages + misses_per_second * (seconds - begins)) AS cache_pages,
        sum(misses_per_second) AS misses_per_second
    FROM packing_spans JOIN packing_times ON seconds > begins AND seconds <= ends GROUP BY host_id, seconds
"""
#: The rates of all and of first requests, which no cache has.
RATES = """
    SELECT host_id, sum(all_references / seconds) AS requests_per_second, sum(least_misses) AS least_misses FROM (
        SELECT totals.host_id, totals.cgroup, max(all_references) AS all_references, max(seconds) AS seconds, min(misses_per_second) AS
            least_misses
        FROM packing_totals AS totals JOIN packing_segments AS segments ON segments.host_id = totals.host_id AND segments.cgroup =
            totals.cgroup
        GROUP BY totals.host_id, totals.cgroup
    ) AS groups GROUP BY host_id
"""
#: What must be there for all groups of a host, at its peak hour.
MUST = """
    SELECT host_id, max(must_bytes) AS must_bytes, max(limit_bytes) AS limit_bytes, max(control_groups) AS control_groups FROM (
        SELECT host_id, hour, sum(must_bytes) AS must_bytes, sum(limit_bytes) AS limit_bytes, count(*) AS control_groups
        FROM group_hours WHERE workload_kind <> 'other' GROUP BY host_id, hour
    ) AS hours GROUP BY host_id
"""
ROOM = """
    SELECT musts.host_id, max(host) AS host, max(memory_bytes) AS memory_bytes, max(must_bytes) AS must_bytes, max(limit_bytes) AS
        limit_bytes,
        max(control_groups) AS control_groups, greatest(0, max(memory_bytes) - max(must_bytes)) AS room_bytes, max(page_bytes) AS page_bytes
    FROM packing_must AS musts JOIN hosts ON hosts.host_id = musts.host_id GROUP BY musts.host_id
"""


def analysis(options: Options) -> Analysis:
    """Hosts, those first that have most room."""
    packed = f"""
        SELECT room.host_id, max(room.host) AS host, max(control_groups) AS control_groups, max(memory_bytes) AS memory_bytes,
            max(must_bytes) AS must_bytes, max(limit_bytes) AS limits_bytes, max(room_bytes) AS room_bytes,
            min(CASE WHEN requests_per_second - misses_per_second >= {real(options.target)} * (requests_per_second - least_misses)
                THEN CAST(round(cache_pages) AS BIGINT) * page_bytes END) AS shared_need_bytes,
            1 - min(CASE WHEN cache_pages * page_bytes <= room_bytes THEN misses_per_second END)
                / nullif(max(requests_per_second), 0) AS shared_hit_ratio,
            1 - max(least_misses) / nullif(max(requests_per_second), 0) AS best_hit_ratio
        FROM packing_room AS room LEFT JOIN packing_sizes AS sizes ON sizes.host_id = room.host_id
        LEFT JOIN packing_rates AS rates ON rates.host_id = room.host_id GROUP BY room.host_id
    """
    answer = "SELECT packed.*, room_bytes - shared_need_bytes AS spare_bytes FROM packing_hosts AS packed"
    return Analysis(
        "packing",
        "How much page cache do the workloads of a host need together, and which hosts have room for more?",
        [
            Step("fleet_pages", PAGES, keep=True),
            Step("packing_times", TIMES),
            Step("packing_totals", TOTALS, keep=True),
            Step("packing_segments", SEGMENTS, keep=True),
            Step("packing_fills", FILLS),
            Step("packing_spans", SPANS),
            Step("packing_sizes", SIZES),
            Step("packing_rates", RATES),
            Step("packing_must", MUST),
            Step("packing_room", ROOM),
            Step("packing_hosts", packed),
            Step("packing", answer),
        ],
        [
            Column("host", "Host", "The host's name"),
            Column("host_id", "Identity", "A hash of its machine-id"),
            Column("control_groups", "Groups", "Control groups that ran at once, at the most", "count"),
            Column("memory_bytes", "Memory", "Memory of the host", "bytes"),
            Column("limits_bytes", "Limits", "Limits of its groups, summed, at the most", "bytes"),
            Column("must_bytes", "Must have", "Memory that can't be taken from its groups, summed, in the hour that has most", "bytes"),
            Column("room_bytes", "Room", "What is left for page cache", "bytes"),
            Column(
                "shared_need_bytes", "Need together", f"Shared page cache with {options.target:.0%} of the hits of unlimited cache", "bytes"
            ),
            Column("spare_bytes", "Spare", "Room beyond that need", "bytes"),
            Column("shared_hit_ratio", "Hit ratio", "The hit ratio of that room, shared", "ratio"),
            Column("best_hit_ratio", "Best", "The hit ratio of unlimited cache", "ratio"),
        ],
        "spare_bytes IS NULL, spare_bytes DESC, host, host_id",
        (
            "Composed of the curves of the groups, as if the requests of one did not depend on those of another. The need is "
            "rather too large, "
            "by up to a fifth: sizes of the curves and times are those of grids, 9 % apart.",
        ),
    )
