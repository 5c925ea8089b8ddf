"""What workloads need together, composed of their curves, beside a simulation of their requests in one cache."""

from __future__ import annotations

import datetime
import itertools
import pathlib
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fleetgen.truth import stack_distances
from fleetgen.workloads import loop, skewed, uniform

from hotset.fleet import format
from hotset.fleet.duck import Duck, schema_of
from hotset.fleet.fleet import Fleet

SECONDS = 400
#: Pages and requests per second of the groups that share a host, and where their pages begin.
GROUPS = {
    "/loop": (loop, 900, 60),
    "/uniform": (uniform, 1_500, 100),
    "/skewed": (skewed, 4_000, 200),
}
MUST, PAGE = 1 << 20, 4096


def requests() -> dict[str, list[int]]:
    """Requests of each group, with pages of its own."""
    found = {}
    for number, (name, (order, pages, rate)) in enumerate(GROUPS.items()):
        first = number << 20
        found[name] = [first + page for page in itertools.islice(order(pages), rate * SECONDS)]
    return found


def together(all_requests: dict[str, list[int]]) -> list[int]:
    """All of them as they come: each group at its rate."""
    chance = random.Random(1)
    at = dict.fromkeys(GROUPS, 0.0)
    merged = []
    for name, pages in all_requests.items():
        for page in pages:
            at[name] += chance.expovariate(GROUPS[name][2])
            merged.append((at[name], page))
    return [page for _, page in sorted(merged)]


def rows_of(table: str, rows: list[dict[str, object]]) -> pa.Table:
    """Rows with nothing where nothing is said."""
    schema = schema_of(table)
    return pa.table({name: [row.get(name, 0 if name in format.IO else None) for row in rows] for name in schema.names}, schema=schema)


def write(root: pathlib.Path, memory_pages: int) -> None:
    """A host with the groups and so much memory for their cache."""
    end = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.timezone.utc)
    key = {"ts": end, "length_ns": SECONDS * 10**9, "host": "one", "host_id": "1", "boot_id": "1", "session": 1, "sequence": 0}
    memory = len(GROUPS) * MUST + memory_pages * PAGE
    tables = {
        "host": [{**key, "hotset": "1", "kernel": "6", "page_bytes": PAGE, "multi_gen_lru": False, "memory_bytes": memory, "lost": 0}]
    }
    tables["group_interval"], tables["curve"] = [], []
    for name, pages in requests().items():
        who = {"cgroup": name, "workload": name, "workload_kind": "cgroup"}
        used = {"anon_bytes": MUST, "shmem_bytes": 0, "kernel_bytes": 0, "mapped_bytes": 0, "used_bytes": MUST, "file_bytes": 0}
        tables["group_interval"].append({**key, **who, **used})
        distances = stack_distances(pages, warm=0)
        point = {
            **key,
            **who,
            "policy": "lru",
            "sampling_period_pages": 1,
            "sampled_hits": 0,
            "sampled_references": 0,
            "sampled_first": 0,
            "references": 0,
        }
        first = len(pages) - sum(distances.values())
        tables["curve"].append(
            {
                **point,
                "limit_pages": 0,
                "sampled_references": len(pages),
                "sampled_first": first,
                "references": len(pages),
                "lost_references": 0,
            }
        )
        by_limit: dict[int, int] = {}
        for distance, hits in distances.items():
            limit = next(limit for step in itertools.count() if (limit := round(2 ** (step / 8))) >= distance)
            by_limit[limit] = by_limit.get(limit, 0) + hits
        tables["curve"] += [{**point, "limit_pages": limit, "sampled_hits": hits} for limit, hits in by_limit.items()]
    for table, rows in tables.items():
        folder = root / table / "v=1" / "dt=2026-11-20"
        folder.mkdir(parents=True)
        pq.write_table(rows_of(table, rows), folder / "1-1-0.parquet")


@pytest.mark.parametrize("memory_pages", [800, 2_000, 4_000, 6_000])
def test_a_shared_cache_is_predicted_by_the_curves_of_those_who_share_it(tmp_path: pathlib.Path, memory_pages: int) -> None:
    write(tmp_path, memory_pages)
    [row] = Fleet(str(tmp_path), Duck()).answer("packing").to_pylist()
    merged = together(requests())
    distances = stack_distances(merged, warm=0)
    hits = sum(count for distance, count in distances.items() if distance <= memory_pages)
    assert row["room_bytes"] == memory_pages * PAGE
    assert row["shared_hit_ratio"] == pytest.approx(hits / len(merged), abs=0.03)
    wanted, need, sum_of_hits = 0.99 * sum(distances.values()), 0, 0
    for distance in sorted(distances):
        need, sum_of_hits = distance, sum_of_hits + distances[distance]
        if sum_of_hits >= wanted:
            break
    # Two grids make it larger.
    assert 0.98 * need <= row["shared_need_bytes"] / PAGE <= 1.2 * need
