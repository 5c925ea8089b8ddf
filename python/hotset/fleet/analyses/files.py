"""Files that are cached on many hosts and read on few, and those that are read on many and cached on none."""

from __future__ import annotations

from ..analysis import Analysis, Column, Options, Step

MIB = 1 << 20

HOSTS = """
    SELECT files.host_id, path, max(workload) AS workload, count(DISTINCT nullif(workload, '')) AS workloads,
        sum(read_pages + fault_pages) AS requested_pages, sum(read_misses + fault_pages) AS missed_pages, sum(faults) AS faults,
        sum(read_bytes) AS read_bytes, sum(device_read_bytes) AS device_read_bytes,
        sum(cached_page_seconds) * max(page_bytes) / nullif(sum(cached_seconds), 0) AS cached_bytes, max(size_bytes) AS size_bytes
    FROM files_by_host AS files JOIN fleet_pages AS pages ON pages.host_id = files.host_id GROUP BY files.host_id, path
"""
FILES = """
    SELECT path, max(workload) AS workload, max(workloads) AS workloads, count(*) AS hosts,
        sum(CASE WHEN cached_bytes > 0 THEN 1 ELSE 0 END) AS cached_hosts,
        sum(CASE WHEN requested_pages > 0 OR faults > 0 THEN 1 ELSE 0 END) AS read_hosts,
        sum(cached_bytes) AS cached_bytes, max(size_bytes) AS size_bytes, sum(read_bytes) AS read_bytes,
        sum(device_read_bytes) AS device_read_bytes, sum(requested_pages) AS requested_pages,
        1 - sum(missed_pages) / nullif(sum(requested_pages), 0) AS hit_ratio
    FROM files_of_hosts GROUP BY path
"""
#: Less than half of the hosts, or of the bytes, is "few"; 16 MiB in all are worth a look.
VERDICTS = f"""
    SELECT files.*, CASE
        WHEN cached_bytes >= {16 * MIB} AND read_hosts < 0.5 * cached_hosts THEN 'cached, hardly read'
        WHEN read_hosts > 1 AND device_read_bytes >= {16 * MIB} AND hit_ratio < 0.5 THEN 'read, hardly cached'
        END AS verdict
    FROM files_of_fleet AS files
"""


def analysis(options: Options) -> Analysis:
    """Files of the whole fleet, by path."""
    del options
    from .memory import PAGES

    return Analysis(
        "files",
        "Which files take page cache on many hosts and are read on few, or the other way round?",
        [
            Step("fleet_pages", PAGES, keep=True),
            Step("files_of_hosts", HOSTS),
            Step("files_of_fleet", FILES),
            Step("files_verdicts", VERDICTS),
        ],
        [
            Column("path", "File", "Its path, as a process used it"),
            Column(
                "verdict",
                "Verdict",
                "'cached, hardly read': fewer than half of the hosts that cache it read it; 'read, hardly cached': most of it "
                "comes from devices",
            ),
            Column("hosts", "Hosts", "Hosts on which it was among the busiest files, or the largest cached that nothing used", "count"),
            Column("cached_hosts", "Cached on", "Hosts that had pages of it cached", "count"),
            Column("read_hosts", "Read on", "Hosts that read it", "count"),
            Column("cached_bytes", "Cached", "Page cache that it takes on all hosts, on average of the time that is known", "bytes"),
            Column("size_bytes", "Size", "Its size where it is largest", "bytes"),
            Column("read_bytes", "Read", "Bytes that buffered reads returned", "bytes"),
            Column("device_read_bytes", "From devices", "Bytes that were read from devices for it", "bytes"),
            Column("hit_ratio", "Hit ratio", "Pages that were cached when they were requested", "ratio"),
            Column("workload", "Workload", "One that uses it"),
            Column("workloads", "Workloads", "The most workloads that use it on a host", "count"),
        ],
        "verdict IS NULL, cached_bytes DESC, path",
        (
            "Only the busiest files of each interval have rows (--parquet-files), and the 20 largest that were cached for an hour without "
            "being used or mapped: hosts on which a file is neither are not counted.",
        ),
    )
