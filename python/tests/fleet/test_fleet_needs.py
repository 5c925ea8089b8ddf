"""Needs, waste and starvation are those that were put in."""

from __future__ import annotations

from typing import Any

import pytest
from fleetgen.model import Workload, make_fleet

from hotset.fleet.fleet import Fleet

#: Programs whose need a curve tells.
CURVES = ("loop", "uniform", "skewed", "heap", "starved-loop", "starved-skewed")


@pytest.fixture(scope="module")
def found(fleet: Fleet) -> dict[str, dict[str, Any]]:
    """Rows by workload."""
    return {row["workload"].split("/")[1]: row for row in fleet.answer("workloads").to_pylist()}


def known(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """Workloads whose need is known."""
    return [one for one in truth["workloads"] if one["program"] in CURVES]


def test_a_recommended_limit_is_the_known_need(found: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    ratios = [found[one["name"]]["recommended_limit_bytes"] / one["needed_limit_bytes"] for one in known(truth)]
    assert len(ratios) >= 20
    near = sum(abs(ratio - 1) <= 0.1 for ratio in ratios)
    assert near >= 0.95 * len(ratios), sorted(ratios)
    enough = sum(ratio >= 1 for ratio in ratios)
    assert enough >= 0.99 * len(ratios), sorted(ratios)


def test_every_verdict_is_what_was_put_in(found: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    expected = {"wasteful": "wasteful", "fitting": "fits", "starved": "starved", "unlimited": "no limit"}
    for one in truth["workloads"]:
        row = found[one["name"]]
        wanted = "mostly writes" if one["program"] == "log" else expected[one["verdict"]]
        assert row["verdict"] == wanted, (one, row)


def test_what_is_read_once_needs_no_cache(found: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    once = [found[one["name"]] for one in truth["workloads"] if one["program"] == "once"]
    assert once
    for row in once:
        assert row["basis"] == "reads once"
        assert row["cache_need_bytes"] < 16 << 20 < row["used_bytes"]


def test_savings_are_of_all_replicas(found: dict[str, dict[str, Any]]) -> None:
    for row in found.values():
        if row["verdict"] == "wasteful":
            each = row["limit_bytes"] - row["recommended_limit_bytes"]
            assert row["saving_bytes"] == pytest.approx(each * row["replicas"])
            # Ten hosts, of which hours are missing.
            assert 9 < row["replicas"] <= 10


def test_starved_workloads_are_told_what_a_larger_limit_spares(fleet: Fleet, truth: dict[str, Any]) -> None:
    rows = {row["workload"].split("/")[1]: row for row in fleet.answer("starved").to_pylist()}
    assert set(rows) == {one["name"] for one in truth["workloads"] if one["verdict"] == "starved"}
    for row in rows.values():
        assert 0.9 * row["device_read_bytes_per_day"] < row["avoidable_bytes_per_day"] <= row["device_read_bytes_per_day"]
        # What the curve says of the present limit is what was measured.
        assert abs(row["limit_hit_ratio"] - row["hit_ratio"]) < 0.05


def test_the_same_seed_is_the_same_fleet(truth: dict[str, Any]) -> None:
    needs = {one["program"]: {"must_bytes": 1, "cache_bytes": 1, "limit_bytes": 1} for one in truth["workloads"]}
    one, other, third = (make_fleet(needs, 10, 1, 25, seed) for seed in (7, 7, 8))
    assert one == other != third
    assert all(isinstance(workload, Workload) for workload in one.workloads)
