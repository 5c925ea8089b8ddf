"""What rules of hosts say is told by workload, as it was put in."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fleetgen.measured import load
from fleetgen.workloads import FAULTY

from hotset.fleet.compact import compact
from hotset.fleet.duck import Duck
from hotset.fleet.fleet import Fleet
from hotset.fleet.report import SENTENCES, document


@pytest.fixture(scope="module")
def found(fleet: Fleet) -> list[dict[str, Any]]:
    """All rows."""
    rows: list[dict[str, Any]] = fleet.answer("findings").to_pylist()
    return rows


def only(root: pathlib.Path, out: pathlib.Path, *tables: str) -> pathlib.Path:
    """A fleet of some of the tables."""
    for table in tables:
        shutil.copytree(root / table, out / table)
    return out


def change(root: pathlib.Path, **columns: Any) -> None:
    """Changes columns of all findings."""
    for path in root.glob("finding/v=1/dt=*/*.parquet"):
        set_columns(path, **columns)


def set_columns(path: pathlib.Path, **columns: Any) -> None:
    """Changes columns of a file: one value for all rows."""
    rows = pq.read_table(path, partitioning=None)
    for name, value in columns.items():
        index = rows.schema.get_field_index(name)
        field = rows.schema.field(name)
        rows = rows.set_column(index, field, pa.array([value] * rows.num_rows, field.type))
    pq.write_table(rows, path)


def test_each_rule_is_said_of_the_workloads_that_it_was_put_into(found: list[dict[str, Any]], truth: dict[str, Any]) -> None:
    said = {(row["workload"].split("/")[1], row["rule"]) for row in found}
    assert said == {(one["name"], one["rule"]) for one in truth["workloads"] if one["rule"]}
    assert {rule for _, rule in said} == set(FAULTY)


def test_hosts_hours_and_savings_add_up(found: list[dict[str, Any]], truth: dict[str, Any]) -> None:
    measured = load().rows["finding"]
    replicas = {one["name"]: one["replicas"] for one in truth["workloads"]}
    for row in found:
        assert (row["hosts"], row["groups_found"], row["hours"]) == (10, 10, 24), row
        rows = measured[row["rule"]].to_pylist()
        # Measured spans in turn, each as if it had lasted for an hour; of ten days of hosts, at most eight hours are missing.
        hours = 24 * replicas[row["workload"].split("/")[1]]
        high, active = (sum(one[name] / one["length_ns"] for one in rows) / len(rows) for name in ("saving_high_ns", "active_ns"))
        assert row["saving_ns_per_day"] == pytest.approx(high * hours * 3.6e12, rel=0.06)
        assert 0 <= row["saving_low_ns_per_day"] <= row["saving_ns_per_day"]
        assert row["saving_ratio"] == pytest.approx(high / active, rel=0.06)
        severities = {one["severity"] for one in rows}
        assert row["severity"] == next(word for word in ("critical", "warning", "info") if word in severities)
    savings = [row["saving_ns_per_day"] for row in found]
    assert savings == sorted(savings, reverse=True)


def test_the_worst_file_and_what_to_do_are_told(found: list[dict[str, Any]]) -> None:
    for row in found:
        name = row["workload"].split("/")[1]
        assert row["path"] == (None if row["rule"] == "cache-thrash" else f"/srv/{name}/data")
        assert row["title"] and row["advice"]


def test_the_page_has_the_findings(fleet: Fleet, found: list[dict[str, Any]]) -> None:
    [section] = [one for one in document(fleet, "1")["analyses"] if one["name"] == "findings"]
    assert section["answer"].startswith(f"{len(found)} findings in {len(found)} workloads, critical in ")
    names = section["chart"]["names"]
    first = found[0]
    assert names[0] == f"{first['workload'].split('/')[1]}: {first['rule']}"


def test_workloads_of_one_name_and_two_kinds_are_two(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A Deployment and a CronJob, say."""
    root = only(fleet_root, tmp_path, "host", "finding")
    change(root, workload="shop/search/app", severity="critical")
    for number, path in enumerate(root.glob("finding/v=1/dt=*/*.parquet")):
        set_columns(path, workload_kind="cronjob" if number % 2 else "deployment")
    [section] = [one for one in document(Fleet(str(root), Duck()), "1")["analyses"] if one["name"] == "findings"]
    assert section["row_count"] == 2 * len(FAULTY)
    assert section["answer"] == f"{2 * len(FAULTY)} findings in 2 workloads, critical in 2."


def test_workloads_are_counted_and_not_their_rows() -> None:
    """Rows are of images and of metrics, too."""
    rows = pa.table({"workload": ["shop/search/app"] * 3, "workload_kind": ["deployment", "cronjob", "cronjob"]})
    assert SENTENCES["changes"](rows) == "2 workloads changed."
    columns = {"direct_ratio": [0.9, 0.8, 0.7], "failed_lookup_ratio": [0.9, 0.8, 0.7], "failed_lookups_per_hour": [9e3, 8e3, 7e3]}
    for name, values in columns.items():
        rows = rows.append_column(name, pa.array(values))
    assert SENTENCES["requests"](rows) == (
        "2 workloads with more direct I/O than buffered. In 2 workloads most path lookups fail, most often in shop/search/app: "
        "9,000 an hour and replica."
    )


def test_a_fleet_of_hosts_without_findings_has_none(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    fleet = Fleet(str(only(fleet_root, tmp_path, "host")), Duck())
    assert fleet.answer("findings").num_rows == 0
    [section] = [one for one in document(fleet, "1")["analyses"] if one["name"] == "findings"]
    assert (section["answer"], section["chart"]) == ("No rule has anything to say.", None)


def test_rules_that_could_not_be_asked_come_last_with_the_reason(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root = only(fleet_root, tmp_path, "host", "finding")
    one = next(root.glob("finding/v=1/dt=*/*.parquet"))
    rows = pq.read_table(one, partitioning=None).slice(0, 1)
    empty = {"severity": "unknown", "rule": "small-writes", "title": "unsupported: an old kernel", "workload": "", "workload_kind": ""}
    for name, value in {**empty, "cgroup": "", "saving_low_ns": None, "saving_high_ns": None, "path": None}.items():
        index = rows.schema.get_field_index(name)
        rows = rows.set_column(index, rows.schema.field(name), pa.array([value], rows.schema.field(name).type))
    pq.write_table(rows, one.with_name("0-1-2.parquet"))
    fleet = Fleet(str(root), Duck())
    *others, last = fleet.answer("findings").to_pylist()
    assert (last["rule"], last["severity"], last["hosts"]) == ("small-writes", "unknown", 1)
    assert (last["title"], last["saving_ns_per_day"], last["groups_found"]) == ("unsupported: an old kernel", None, None)
    assert "unknown" not in {row["severity"] for row in others}
    [section] = [one for one in document(fleet, "1")["analyses"] if one["name"] == "findings"]
    assert section["answer"].endswith(" 1 rule could not be asked everywhere.")
    assert not any(name.startswith(":") for name in section["chart"]["names"])


def test_findings_that_are_there_twice_count_once(fleet_root: pathlib.Path, tmp_path: pathlib.Path, found: list[dict[str, Any]]) -> None:
    root = only(fleet_root, tmp_path, "host", "finding")
    for path in list(root.glob("finding/v=1/dt=*/*.parquet")):
        shutil.copy(path, path.with_name(f"copy-of-{path.name}"))
    again = Fleet(str(root), Duck()).answer("findings").to_pylist()
    savings = {(row["workload"], row["rule"]): row["saving_ns_per_day"] for row in again}
    assert savings == {(row["workload"], row["rule"]): pytest.approx(row["saving_ns_per_day"]) for row in found}


def test_a_severity_of_tomorrow_and_sums_beyond_64_bits_are_read(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root = only(fleet_root, tmp_path, "host", "finding")
    change(root, severity="catastrophic", saving_high_ns=2**62)
    rows = Fleet(str(root), Duck()).answer("findings").to_pylist()
    assert rows
    assert all(row["saving_ns_per_day"] > 2**64 for row in rows)


def test_equal_savings_stand_in_one_order(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """As floating-point numbers, the same sums would differ by the order in which they are added."""
    root = only(fleet_root, tmp_path, "host", "finding")
    kept, *others = root.glob("finding/v=1/dt=*/*.parquet")
    for path in others:
        path.unlink()
    row = pq.read_table(kept, partitioning=None).slice(0, 1)
    savings = {"a": [2**60, *[100] * 20], "b": [2**60 + 2000, *[0] * 20]}
    parts = []
    for workload, values in savings.items():
        columns = {"workload": [workload] * 21, "saving_high_ns": values, "sequence": range(21)}
        part = pa.concat_tables([row] * 21)
        for name, column in columns.items():
            field = part.schema.field(name)
            part = part.set_column(part.schema.get_field_index(name), field, pa.array(column, field.type))
        parts.append(part)
    pq.write_table(pa.concat_tables(parts), kept)
    rows = Fleet(str(root), Duck()).answer("findings").to_pylist()
    assert [row["workload"] for row in rows] == list(savings)
    assert len({row["saving_ns_per_day"] for row in rows}) == 1


def test_a_compacted_fleet_has_the_same_findings(fleet_root: pathlib.Path, tmp_path: pathlib.Path, found: list[dict[str, Any]]) -> None:
    root = only(fleet_root, tmp_path / "fleet", "host", "finding")
    compact(str(root), str(tmp_path / "out"))
    again = Fleet(str(tmp_path / "out"), Duck()).answer("findings").to_pylist()
    assert [(row["workload"], row["rule"], row["hosts"]) for row in again] == [
        (row["workload"], row["rule"], row["hosts"]) for row in found
    ]
