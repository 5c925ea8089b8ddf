"""What the analyses set in a Spark session, and what they leave alone; with a session that only keeps settings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hotset.fleet.spark import PARTITIONS, Spark


class Settings(dict[str, str]):
    """Settings, as a session and its context have them."""

    def set(self, name: str, value: str) -> None:
        self[name] = value

    def contains(self, name: str) -> bool:
        return name in self


def session(cores: int, of_cluster: dict[str, str], of_session: dict[str, str]) -> Any:
    """A session on so many cores; settings of its start are those of the session, too."""
    context = SimpleNamespace(defaultParallelism=cores, getConf=lambda: Settings(of_cluster))
    return SimpleNamespace(conf=Settings({PARTITIONS: "200", **of_cluster, **of_session}), sparkContext=context)


@pytest.mark.parametrize(("cores", "tasks"), [(1, "2"), (2, "4"), (400, "800")])
def test_steps_are_as_wide_as_the_cluster(cores: int, tasks: str) -> None:
    assert Spark(session(cores, {}, {})).session.conf.get(PARTITIONS) == tasks


@pytest.mark.parametrize("chosen", ["200", "7"])
def test_what_was_chosen_for_the_cluster_stays(chosen: str) -> None:
    assert Spark(session(4, {PARTITIONS: chosen}, {})).session.conf.get(PARTITIONS) == chosen


def test_what_was_chosen_for_the_session_stays() -> None:
    assert Spark(session(4, {}, {PARTITIONS: "auto"})).session.conf.get(PARTITIONS) == "auto"


def test_hours_are_those_of_utc() -> None:
    assert Spark(session(1, {}, {})).session.conf.get("spark.sql.session.timeZone") == "UTC"
