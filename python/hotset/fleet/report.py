"""The answers as a document that ``hotset report`` makes a page of (``hotset.fleet/1``)."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import charts
from .analyses import ALL
from .fleet import Fleet
from .numbers import plural, size

SCHEMA = "hotset.fleet/1"
#: Rows of a table on the page; the tables themselves have all.
ROWS = 50
#: Failed lookups an hour and replica from which a workload is named: one a second.
FAILED_LOOKUPS = 3_600
#: Files that are named one by one.
NAMED_FILES = 20


def document(fleet: Fleet, version: str) -> dict[str, Any]:
    """Computes all answers."""
    tables = {name: fleet.answer(name) for name in ALL}
    coverage = tables["coverage"]
    return {
        "schema": SCHEMA,
        "hotset": version,
        "root": fleet.root,
        "days": fleet.days,
        "hosts": coverage.num_rows,
        "intervals": total(coverage, "intervals"),
        "headline": headline(tables),
        "analyses": [section(fleet, name, table) for name, table in tables.items()],
        "warnings": warnings(fleet, coverage),
        "conditions": conditions(fleet),
        "missing": [],
    }


def section(fleet: Fleet, name: str, table: pa.Table) -> dict[str, Any]:
    """A question with its table."""
    analysis = fleet.analysis(name)
    return {
        "name": name,
        "question": analysis.question,
        "answer": SENTENCES[name](table),
        "columns": [
            {"name": column.name, "title": column.title, "meaning": column.meaning, "unit": column.unit} for column in analysis.columns
        ],
        "rows": [[cell(value) for value in row.values()] for row in table.slice(0, ROWS).to_pylist()],
        "row_count": table.num_rows,
        "chart": charts.chart(fleet, name, table),
        "notes": list(analysis.notes),
    }


def cell(value: Any) -> Any:
    """A value in JSON, which has no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def total(table: pa.Table, column: str) -> int:
    """The sum of a column, as a whole number."""
    return int(pc.sum(table[column]).as_py() or 0)


def count(table: pa.Table, verdict: str) -> int:
    """Rows with a verdict."""
    return int(pc.sum(pc.equal(table["verdict"], verdict)).as_py() or 0)


def workloads_of(table: pa.Table) -> int:
    """Workloads that a table has rows of: those of one name and several kinds are several."""
    return int(table.group_by(["workload_kind", "workload"]).aggregate([]).num_rows)


def headline(tables: dict[str, pa.Table]) -> list[dict[str, str]]:
    """What a reader must know first."""
    workloads, starved, coverage = tables["workloads"], tables["starved"], tables["coverage"]
    wasteful = workloads.filter(pc.equal(workloads["verdict"], "wasteful"))
    missing = total(coverage, "missing_hours")
    return [
        {
            "question": "How much memory do limits reserve that nothing needs?",
            "number": size(total(wasteful, "saving_bytes")),
            "sentence": SENTENCES["workloads"](workloads),
        },
        {
            "question": "How much do devices read that a larger limit would keep in memory?",
            "number": f"{size(total(starved, 'avoidable_bytes_per_day'))} a day",
            "sentence": SENTENCES["starved"](starved),
        },
        {
            "question": "Is all of it known?",
            "number": "no" if missing or total(coverage, "missing_intervals") else "yes",
            "sentence": SENTENCES["coverage"](coverage),
        },
    ]


def _workloads(table: pa.Table) -> str:
    verdicts = [(verdict, count(table, verdict)) for verdict in ("wasteful", "starved", "fits", "no limit")]
    told = sum(number for _, number in verdicts)
    found = ", ".join(
        f"{number} {word}" for (verdict, number), word in zip(verdicts, ("too high", "too low", "right", "not set")) if number
    )
    rest = table.num_rows - told
    unknown = f" Of {plural(rest, 'workload')} it can't be told." if rest else ""
    return f"Limits of {plural(told, 'workload')}: {found or 'none'}.{unknown}"


def _starved(table: pa.Table) -> str:
    if table.num_rows == 0:
        return "No workload reads again and again what its limit evicted."
    what = "reads" if table.num_rows == 1 else "read"
    return f"{plural(table.num_rows, 'workload')} {what} again and again what the limit evicted."


def _packing(table: pa.Table) -> str:
    tight = int(pc.sum(pc.less(table["spare_bytes"], 0)).as_py() or 0)
    spare = sum(value for value in table["spare_bytes"].to_pylist() if value is not None and value > 0)
    return f"{plural(table.num_rows, 'host')}: together they have {size(spare)} more than their workloads need; {tight} have less."


def _files(table: pa.Table) -> str:
    idle = table.filter(pc.equal(table["verdict"], "cached, hardly read"))
    missed = count(table, "read, hardly cached")
    return (
        f"{plural(idle.num_rows, 'file')} cached and hardly read, {size(total(idle, 'cached_bytes'))} in all; "
        f"{plural(missed, 'file')} read and hardly cached."
    )


def _findings(table: pa.Table) -> str:
    found = table.filter(pc.not_equal(table["severity"], "unknown"))
    unknown = len(pc.unique(table.filter(pc.equal(table["severity"], "unknown"))["rule"]))
    rest = f" {plural(unknown, 'rule')} could not be asked everywhere." if unknown else ""
    if found.num_rows == 0:
        return f"No rule has anything to say.{rest}"
    workloads = workloads_of(found)
    critical = workloads_of(found.filter(pc.equal(found["severity"], "critical")))
    return f"{plural(found.num_rows, 'finding')} in {plural(workloads, 'workload')}, critical in {critical}.{rest}"


def _requests(table: pa.Table) -> str:
    direct = workloads_of(table.filter(pc.greater(table["direct_ratio"], 0.5)))
    often = pc.greater_equal(table["failed_lookups_per_hour"], FAILED_LOOKUPS)
    failing = table.filter(pc.and_(often, pc.greater(table["failed_lookup_ratio"], 0.5)))
    lookups = ""
    if failing.num_rows:
        first = max(failing.to_pylist(), key=lambda row: row["failed_lookups_per_hour"])
        lookups = (
            f" In {plural(workloads_of(failing), 'workload')} most path lookups fail, most often in {first['workload']}: "
            f"{first['failed_lookups_per_hour']:,.0f} an hour and replica."
        )
    return f"{plural(direct, 'workload')} with more direct I/O than buffered.{lookups}"


def _changes(table: pa.Table) -> str:
    workloads = workloads_of(table)
    return f"{plural(workloads, 'workload')} changed." if workloads else "Nothing that is larger than what the hours before differ by."


def _outliers(table: pa.Table) -> str:
    hosts = len(pc.unique(table["host_id"]))
    return f"{plural(hosts, 'host')} with workloads unlike on the others." if hosts else "None."


def _coverage(table: pa.Table) -> str:
    parts = [
        f"{plural(table.num_rows, 'host')} with {plural(total(table, 'intervals'), 'interval')}",
        f"{plural(total(table, 'missing_hours'), 'hour')} and {plural(total(table, 'missing_intervals'), 'interval')} missing",
    ]
    lossy = int(pc.sum(pc.greater(table["lost"], 0)).as_py() or 0)
    if lossy:
        parts.append(f"{plural(lossy, 'host')} lost events")
    return "; ".join(parts) + "."


SENTENCES = {
    "workloads": _workloads,
    "starved": _starved,
    "packing": _packing,
    "files": _files,
    "findings": _findings,
    "requests": _requests,
    "changes": _changes,
    "outliers": _outliers,
    "coverage": _coverage,
}


def warnings(fleet: Fleet, coverage: pa.Table) -> list[dict[str, str]]:
    """Why to doubt the numbers."""
    found = []
    bad = fleet.bad_files
    if bad:
        named = "; ".join(f"{file.path} {file.reason}" for file in bad[:NAMED_FILES])
        more = f"; and {len(bad) - NAMED_FILES} more" if len(bad) > NAMED_FILES else ""
        found.append((f"{plural(len(bad), 'file')} left out", named + more))
    for column, text, advice in DOUBTS:
        hosts = coverage.filter(pc.greater(coverage[column], 1 if column == "namesakes" else 0))
        if hosts.num_rows:
            names = ", ".join(hosts["host"].to_pylist()[:5]) + (", ..." if hosts.num_rows > 5 else "")
            found.append((f"{plural(hosts.num_rows, 'host')} {text} ({names})", advice))
    return [{"text": text, "advice": advice} for text, advice in found]


DOUBTS = [
    ("lost", "lost events", "The counts of these intervals are too low; a larger --interval or fewer files help."),
    (
        "unattributed",
        "have requests that belong to no process and no file",
        "Tables were full: sums of hosts are right, those of groups too low.",
    ),
    (
        "dropped_files",
        "dropped files that could not be delivered",
        "These hours are missing: look at what hotset says on the host, and at --spool-limit.",
    ),
    ("missing_hours", "lack hours that other hosts have", "Sums over the fleet are too low by what happened then."),
    (
        "multi_gen_lru",
        "evict by the multi-gen LRU",
        "Its hit ratios differ more from the curves: by up to 8 points in runs of real kernels.",
    ),
    ("duplicate_rows", "have rows that were there twice", "They were counted once."),
    ("clock_steps", "set their clocks back", "Hours of these hosts may overlap; no interval is counted twice."),
    ("namesakes", "have a name that another has", "They are told apart by host_id."),
]


def conditions(fleet: Fleet) -> list[dict[str, str]]:
    """What the numbers hold for."""
    options = fleet.options
    return [
        {"name": "Engine", "value": fleet.engine.name},
        {"name": "Enough", "value": f"{options.target:.4g} of the hits of unlimited cache"},
        {"name": "Margin", "value": f"{options.margin:.4g} of what must be there"},
    ]
