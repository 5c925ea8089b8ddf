"""What goes wrong in a fleet is named, and damages nothing else."""

from __future__ import annotations

import datetime
import pathlib
import shutil
from typing import Any

import pyarrow.parquet as pq
import pytest

from hotset.fleet.analysis import Options
from hotset.fleet.duck import Duck
from hotset.fleet.errors import FleetError
from hotset.fleet.fleet import Fleet


@pytest.fixture(scope="module")
def hosts(fleet: Fleet) -> dict[str, dict[str, Any]]:
    """Coverage by host."""
    return {row["host_id"]: row for row in fleet.answer("coverage").to_pylist()}


def test_damaged_files_are_left_out_and_named(fleet: Fleet, truth: dict[str, Any]) -> None:
    reasons = {file.path: file.reason for file in fleet.bad_files}
    faults = truth["faults"]
    assert set(reasons) == {faults["cut_off"], faults["damaged"], faults["newer"]}
    assert reasons[faults["cut_off"]] == "is cut off: its footer is missing"
    assert reasons[faults["damaged"]].startswith("is damaged: ")
    assert reasons[faults["newer"]] == "is of version 2; this hotset reads version 1"


def test_missing_hours_are_those_of_the_host(hosts: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    missing = {host: row["missing_hours"] for host, row in hosts.items() if row["missing_hours"]}
    assert missing == {truth["faults"]["missing"]: 4}
    assert hosts[truth["faults"]["missing"]]["missing_intervals"] == 240


def test_a_copied_file_is_counted_once(hosts: dict[str, dict[str, Any]], truth: dict[str, Any], fleet: Fleet) -> None:
    twice = {host: row["duplicate_rows"] for host, row in hosts.items() if row["duplicate_rows"]}
    assert twice == {truth["faults"]["twice"]: 25 * 120}
    intervals = sum(row["intervals"] for row in fleet.answer("workloads").to_pylist())
    # 25 groups a minute on ten hosts; four hours of one host and two files of two hours are missing.
    assert intervals == 25 * 60 * (10 * 24 - 4 - 2 * 2)


def test_hosts_of_one_name_are_two(hosts: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    assert len(hosts) == 10
    namesakes = {host for host, row in hosts.items() if row["namesakes"] == 2}
    assert truth["faults"]["namesake"] in namesakes
    assert len(namesakes) == 2


def test_clocks_and_losses_are_told(hosts: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    assert {host for host, row in hosts.items() if row["clock_steps"]} == {truth["faults"]["clock"]}
    assert {host: row["lost"] for host, row in hosts.items() if row["lost"]} == {truth["faults"]["losses"]: 7 * 120}


def test_a_column_that_an_old_host_lacks_is_not_zero(fleet_root: pathlib.Path, truth: dict[str, Any], tmp_path: pathlib.Path) -> None:
    old = truth["faults"]["old"]
    copied = tmp_path / "fleet"
    for path in fleet_root.glob(f"*/v=1/dt=*/{old}-*.parquet"):
        target = copied / path.relative_to(fleet_root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    rows = Fleet(str(copied), Duck()).answer("workloads").to_pylist()
    assert rows
    assert {row["must_bytes"] for row in rows} == {None}
    assert {row["verdict"] for row in rows} == {"memory was not measured"}


def test_the_outlier_is_found(fleet: Fleet, truth: dict[str, Any]) -> None:
    rows = fleet.answer("outliers").to_pylist()
    found = {(row["host"], row["workload"].split("/")[1]) for row in rows}
    assert found == {(f"node-{truth['outlier']['host']:04}", truth["outlier"]["workload"])}
    times = [row["times_usual"] for row in rows if row["metric"] == "requested_pages_per_hour"]
    assert times == [pytest.approx(3, rel=0.05)]


def test_a_second_image_is_a_change(fleet: Fleet, truth: dict[str, Any]) -> None:
    changed = {one["name"] for one in truth["workloads"] if one["newer_rate"] != 1}
    rows = fleet.answer("changes").to_pylist()
    assert {row["workload"].split("/")[1] for row in rows} == changed
    requested = [row["times_before"] for row in rows if row["metric"] == "requested_pages"]
    assert requested
    assert all(times == pytest.approx(2, rel=0.05) for times in requested)


def test_a_change_can_be_looked_for_at_an_hour(fleet_root: pathlib.Path, truth: dict[str, Any]) -> None:
    at = datetime.datetime(2026, 11, 20, 15, tzinfo=datetime.timezone.utc)
    options = Options(changed_hour=int(at.timestamp()) // 3600)
    rows = Fleet(str(fleet_root), Duck(), options).answer("changes").to_pylist()
    changed = {one["name"] for one in truth["workloads"] if one["newer_rate"] != 1}
    assert changed <= {row["workload"].split("/")[1] for row in rows}


def test_days_without_files_are_an_error_that_names_them(fleet_root: pathlib.Path) -> None:
    with pytest.raises(FleetError, match="has no files of a fleet from 2026-11-21 to the end"):
        Fleet(str(fleet_root), Duck(), first=datetime.date(2026, 11, 21))


def test_a_directory_of_something_else_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FleetError, match=r"expected TABLE/v=1/dt=DAY/\*\.parquet"):
        Fleet(str(tmp_path), Duck())
    with pytest.raises(FleetError, match="is not a directory"):
        Fleet(str(tmp_path / "nothing"), Duck())


def test_a_fleet_without_a_table_has_empty_answers(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shutil.copytree(fleet_root / "host", tmp_path / "host")
    fleet = Fleet(str(tmp_path), Duck())
    assert fleet.answer("coverage").num_rows == 10
    for name in ("workloads", "starved", "files", "requests", "changes", "outliers"):
        assert fleet.answer(name).num_rows == 0, name


def test_paths_may_be_anything(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = next(fleet_root.glob("file_interval/v=1/dt=*/*.parquet"))
    rows = pq.read_table(source)
    names = ["/srv/../etc/\U0001f600", '/srv/it\'s "quoted"', "relative/..", "/srv/new\nline", "/" + "x" * 4000]
    index = rows.schema.get_field_index("path")
    paths = [names[number % len(names)] for number in range(rows.num_rows)]
    target = tmp_path / source.relative_to(fleet_root)
    target.parent.mkdir(parents=True)
    pq.write_table(rows.set_column(index, rows.schema.field("path"), [paths]), target)
    shutil.copytree(fleet_root / "host", tmp_path / "host")
    found = Fleet(str(tmp_path), Duck()).answer("files").to_pylist()
    assert {row["path"] for row in found} == set(names)


def test_a_directory_may_look_like_a_pattern(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other, odd = tmp_path / "fleet1", tmp_path / "fleet[1]*?'"
    shutil.copytree(fleet_root / "host", odd / "host")
    shutil.copytree(fleet_root / "host", other / "host")
    rows = Fleet(str(odd), Duck()).answer("coverage").to_pylist()
    assert len(rows) == 10
    assert {row["duplicate_rows"] for row in rows} == {0}
    assert sum(row["intervals"] for row in rows) == 10 * 24 * 60 - 4 * 60


def test_what_duckdb_refuses_is_told_in_its_words() -> None:
    with pytest.raises(FleetError, match="DuckDB: .*memory"):
        Duck(memory="a lot")
