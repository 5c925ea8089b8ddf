"""Pictures of the answers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .fleet import Fleet

#: Bars, and lines, that a picture has at most.
BARS, LINES = 15, 6
#: Limits are so many times the one before (docs/fleet-format.md).
GRID = 2 ** (1 / 8)
#: Where curves begin, in bytes: smaller caches can't be told apart.
LEAST = 1 << 20


def chart(fleet: Fleet, name: str, table: pa.Table) -> dict[str, Any] | None:
    """The picture of an answer; none where there is nothing to see."""
    if name == "workloads":
        wasteful = table.filter(pc.equal(table["verdict"], "wasteful"))
        return bars(wasteful, "saving_bytes", "workload", "What the recommended limits free", "saving", "bytes")
    if name == "starved":
        return curves(fleet, table)
    if name == "files":
        idle = table.filter(pc.equal(table["verdict"], "cached, hardly read"))
        return bars(idle, "cached_bytes", "path", "Page cache of files that are hardly read", "cached", "bytes")
    if name == "findings":
        return savings(table)
    return hours(fleet) if name == "coverage" else None


def axis(title: str, unit: str, log: bool = False) -> dict[str, Any]:
    """An axis."""
    return {"title": title, "unit": unit, "log": log}


def bars(table: pa.Table, column: str, names: str, label: str, title: str, unit: str) -> dict[str, Any] | None:
    """The rows with most."""
    wanted = table.filter(pc.greater(table[column], 0)).slice(0, BARS)
    if wanted.num_rows == 0:
        return None
    values = [float(value) for value in wanted[column].to_pylist()]
    return {
        "label": label,
        "kind": "bars",
        "x": axis(names, "text"),
        "y": axis(title, unit),
        "names": short(wanted[names].to_pylist()),
        "series": [{"name": title, "points": [[place, value] for place, value in enumerate(values)]}],
    }


def savings(table: pa.Table) -> dict[str, Any] | None:
    """What findings would save, each named by its workload and rule."""
    found = table.filter(pc.not_equal(table["severity"], "unknown"))
    workloads = found["workload"].to_pylist()
    known = sorted(set(workloads))
    shorter = dict(zip(known, short(known)))
    named = pa.array([f"{shorter[name]}: {rule}" for name, rule in zip(workloads, found["rule"].to_pylist())], pa.string())
    found = pa.table({"finding": named, "hours": pc.divide(found["saving_ns_per_day"], 3.6e12)})
    return bars(found, "hours", "finding", "What the changes would save at most, in a day", "hours of threads", "number")


def short(names: list[str]) -> list[str]:
    """Names without their namespaces and containers, or files without their directories, where that tells them apart."""
    shorter = [name.split("/")[1] if name.count("/") == 2 and not name.startswith("/") else name.rsplit("/", 1)[-1] for name in names]
    return shorter if len(set(shorter)) == len(names) and all(shorter) else names


def curves(fleet: Fleet, table: pa.Table) -> dict[str, Any] | None:
    """Hit ratios of the most starved workloads by the size of their caches."""
    if table.num_rows == 0:
        return None
    all_curves = fleet.curves()
    series = []
    for row in table.slice(0, LINES).to_pylist():
        mine = pc.and_(pc.equal(all_curves["workload"], row["workload"]), pc.equal(all_curves["workload_kind"], row["workload_kind"]))
        series.append({"name": row["workload"], "points": steps(all_curves.filter(mine).to_pylist())})
    return {
        "label": "Hit ratio by the page cache of a replica",
        "kind": "lines",
        "x": axis("page cache of a replica", "bytes", log=True),
        "y": axis("hit ratio", "ratio"),
        "names": [],
        "series": series,
    }


def steps(points: list[dict[str, Any]]) -> list[list[float]]:
    """The points of a curve, and those where it begins to rise: limits at which nothing more hits have no rows."""
    drawn: list[list[float]] = []
    for point in points:
        if point["cache_bytes"] < LEAST:
            continue
        ratio = point["hits"] / point["all_references"]
        before = drawn[-1][1] if drawn else 0.0
        begins = point["cache_bytes"] / GRID
        if not drawn or begins > drawn[-1][0] * 1.01:
            drawn.append([begins, before])
        drawn.append([float(point["cache_bytes"]), ratio])
    return [[LEAST, 0.0], *drawn] if drawn and drawn[0][0] > LEAST else drawn


def hours(fleet: Fleet) -> dict[str, Any] | None:
    """Hosts that were seen in each hour."""
    seen = fleet.hours().to_pylist()
    if len(seen) < 2:
        return None
    first = seen[0]["hour"]
    by_hour = {row["hour"]: row["hosts"] for row in seen}
    points = [[float(hour - first), float(by_hour.get(hour, 0))] for hour in range(first, seen[-1]["hour"] + 1)]
    return {
        "label": "Hosts that were seen in each hour",
        "kind": "lines",
        "x": axis("hours since the first", "number"),
        "y": axis("hosts", "count"),
        "names": [],
        "series": [{"name": "hosts", "points": points}],
    }
