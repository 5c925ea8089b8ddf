"""The same answers by Spark: run by `make test-fleet`, which has a JVM and Spark."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from fleetgen.compare import assert_same
from fleetgen.submit import spark_submit

from hotset.fleet import ANALYSES, Fleet, Spark

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def by_spark(fleet_root: pathlib.Path) -> Iterator[Fleet]:
    """The fleet, read by Spark in this process."""
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 2, "spark.driver.memory": "2g"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # Times of results don't depend on where a driver is.
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield Fleet(str(fleet_root), Spark(session))
    session.stop()


@pytest.mark.parametrize("name", ANALYSES)
def test_both_engines_answer_the_same(by_spark: Fleet, fleet: Fleet, name: str) -> None:
    assert by_spark.answer(name).schema == fleet.answer(name).schema
    assert_same(by_spark.answer(name), fleet.answer(name))


def test_both_leave_out_the_same_files(by_spark: Fleet, fleet: Fleet) -> None:
    assert {file.path for file in by_spark.bad_files} == {file.path for file in fleet.bad_files}


def test_spark_submit_writes_the_page(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "fleet.html"
    done = spark_submit("--conf", "spark.sql.shuffle.partitions=2", command=["report", str(fleet_root), "-o", str(page)])
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Spark" in page.read_text()
