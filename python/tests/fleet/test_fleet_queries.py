"""The queries that the documents print, run by DuckDB over a fleet of these days."""

from __future__ import annotations

import datetime
import pathlib
import re
from typing import Any

import duckdb
import pyarrow.compute as pc
import pyarrow.dataset
import pytest
from fleetgen.rows import host_id
from fleetgen.write import write_fleet

DOCS = pathlib.Path(__file__).parents[3] / "docs"
#: What a document calls the directory of the tables, and how many queries it has.
DOCUMENTS = {"fleet.md": ("/srv/fleet", 3), "fleet-format.md": ("DIR", 2)}
SILENT = 0


def queries(name: str) -> list[str]:
    """The queries of a document, as printed."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", (DOCS / name).read_text(), re.MULTILINE)
    found = [block for block in blocks if block.split()[0] in ("SELECT", "WITH")]
    assert len(found) == DOCUMENTS[name][1], f"{name}: {found}"
    return found


PRINTED = [pytest.param(name, query, id=f"{name}-{number}") for name in DOCUMENTS for number, query in enumerate(queries(name))]


@pytest.fixture(scope="module")
def recent(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Two hosts of the last two whole days, of which one wrote nothing after the second noon."""
    out = tmp_path_factory.mktemp("recent")
    first = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(2)
    write_fleet(out=out, hosts=2, days=2, groups=12, seed=7, hours_per_file=12, first_day=first, faults=False)
    of_day = (out / "host" / "v=1" / f"dt={first + datetime.timedelta(1)}").glob(f"{host_id(SILENT)}-*.parquet")
    _, late = sorted(of_day, key=lambda path: int(path.stem.rsplit("-", 1)[1]))
    late.unlink()
    return out


def ask(name: str, query: str, root: pathlib.Path, workload: str) -> dict[str, list[Any]]:
    """What DuckDB answers, by column. The directory and the workload's name are the reader's to put in."""
    printed, _ = DOCUMENTS[name]
    assert printed in query
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    answer = db.sql(query.replace(printed, str(root)).replace("shop/search/app", workload)).to_arrow_table()
    columns: dict[str, list[Any]] = answer.to_pydict()
    return columns


def rows(root: pathlib.Path, table: str) -> Any:
    """The rows of a table, read without DuckDB."""
    return pyarrow.dataset.dataset(root / table, partitioning="hive").to_table()


@pytest.fixture(scope="module")
def workload(recent: pathlib.Path) -> str:
    """One that reads."""
    sums = rows(recent, "group_interval").group_by("workload").aggregate([("read_misses", "sum")]).sort_by("read_misses_sum")
    return str(sums["workload"][-1].as_py())


@pytest.mark.parametrize(("name", "query"), PRINTED)
def test_every_query_answers(recent: pathlib.Path, workload: str, name: str, query: str) -> None:
    for column, values in ask(name, query, recent, workload).items():
        assert any(value is not None for value in values), column


def test_device_reads_are_all_there(recent: pathlib.Path, workload: str) -> None:
    found = ask("fleet.md", queries("fleet.md")[0], recent, workload)
    table = rows(recent, "group_interval")
    assert sum(found["device_read_bytes"]) == pc.sum(table["device_read_bytes"]).as_py() > 0
    assert len(found["time"]) == 48 * len(set(table["workload"].to_pylist()))


def test_a_hit_ratio_is_of_its_hour_and_image(recent: pathlib.Path, workload: str) -> None:
    found = ask("fleet.md", queries("fleet.md")[1], recent, workload)
    table = rows(recent, "group_interval")
    table = table.filter(pc.equal(table["workload"], workload))
    hour = pc.floor_temporal(table["ts"], unit="hour")
    assert len(found["time"]) >= 48
    for time, image, ratio in zip(*found.values()):
        one = table.filter(pc.and_(pc.equal(hour, time), pc.equal(table["image"], image)))
        missed, asked = (
            sum(pc.sum(one[name]).as_py() for name in names)
            for names in (("read_misses", "fault_pages"), ("read_pages", "write_pages", "fault_pages"))
        )
        assert 0 < missed < asked
        assert ratio == pytest.approx(1 - missed / asked)


def test_the_silent_host_is_found(recent: pathlib.Path, workload: str) -> None:
    found = ask("fleet.md", queries("fleet.md")[2], recent, workload)
    table = rows(recent, "host")
    last = table.group_by("host").aggregate([("ts", "max")]).sort_by("ts_max")
    assert found["host"][0] in table["host"].to_pylist()
    assert dict(zip(found["host"], found["last"]))[last["host"][0].as_py()] == last["ts_max"][0].as_py()
