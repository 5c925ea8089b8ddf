"""The command line, as a user types it."""

from __future__ import annotations

import datetime
import json
import pathlib
import shutil
import subprocess
import sys

import jsonschema
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from fleetgen.compare import assert_same, assert_same_rows, rows_of
from fleetgen.rows import host_id
from fleetgen.write import write_fleet

from hotset.fleet import compact as compaction
from hotset.fleet import format
from hotset.fleet.__main__ import main
from hotset.fleet.analyses import ALL
from hotset.fleet.duck import Duck
from hotset.fleet.fleet import Fleet
from hotset.fleet.kubernetes import advice, autoscaler, patch


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs ``python -m hotset.fleet``."""
    command = [sys.executable, "-m", "hotset.fleet", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def call(*arguments: object) -> int:
    """The same in this process, which has read its modules."""
    return main([str(argument) for argument in arguments])


def test_a_report_is_a_page_that_names_what_was_found(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "fleet.html"
    done = run("report", fleet_root, "-o", page, "--tables", tmp_path / "tables")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("left out: ") == 3
    text = page.read_text()
    for part in ("How much memory does each workload need", "3 files left out", "shop/", "recommended limits free"):
        assert part in text, part
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(ALL)


def test_a_report_begins_with_a_look_for_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOTSET_BIN", "/nonexistent/hotset")
    assert call("report", "/nonexistent/fleet", "-o", "fleet.html") == 1
    assert "/nonexistent/hotset" in capsys.readouterr().err


def test_the_document_fits_its_schema(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "fleet.json"
    assert call("report", fleet_root, "-o", file) == 0
    schema = pathlib.Path(__file__).parents[3] / "schema" / "fleet-1.schema.json"
    jsonschema.validate(json.loads(file.read_text()), json.loads(schema.read_text()))


def test_tables_are_written_as_csv_and_parquet(fleet_root: pathlib.Path, tmp_path: pathlib.Path, fleet: Fleet) -> None:
    assert call("tables", fleet_root, "-o", tmp_path / "csv", "--format", "csv", "--only", "workloads") == 0
    assert [path.name for path in (tmp_path / "csv").iterdir()] == ["workloads.csv"]
    assert pyarrow.csv.read_csv(tmp_path / "csv" / "workloads.csv").num_rows == fleet.answer("workloads").num_rows
    assert call("tables", fleet_root, "-o", tmp_path / "parquet") == 0
    for name in ALL:
        assert_same(pq.read_table(tmp_path / "parquet" / f"{name}.parquet"), fleet.answer(name))


def test_a_compacted_fleet_has_the_same_answers_in_fewer_files(fleet_root: pathlib.Path, tmp_path: pathlib.Path, fleet: Fleet) -> None:
    out = tmp_path / "compact"
    # What an earlier compaction left of the day goes.
    before = out / "host" / "v=1" / "dt=2026-11-20" / "compact-0007.parquet"
    before.parent.mkdir(parents=True)
    before.write_bytes(b"")
    assert call("compact", fleet_root, "-o", out) == 0
    assert sorted(path.name for path in out.rglob("*.parquet")) == ["compact-0000.parquet"] * 5
    assert not list(out.rglob(".*"))
    again = Fleet(str(out), Duck())
    for name in ALL:
        one, other = fleet.answer(name), again.answer(name)
        if name == "coverage":
            one, other = one.drop_columns(["duplicate_rows"]), other.drop_columns(["duplicate_rows"])
        assert_same(one, other)


def test_the_script_for_spark_runs_as_one(fleet_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = run("script").stdout.strip()
    # Python looks for modules beside a script first: none of ours may stand in the place of one of its own.
    done = subprocess.run([sys.executable, script, "tables", str(fleet_root), "-o", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.iterdir()} == set(ALL)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A fleet without faults."""
    root = tmp_path_factory.mktemp("small") / "fleet"
    day = datetime.date(2026, 11, 20)
    write_fleet(out=root, hosts=4, days=1, groups=12, seed=1, hours_per_file=8, first_day=day, faults=False)
    return root


def set_portions(monkeypatch: pytest.MonkeyPatch, root: pathlib.Path, count: int) -> None:
    """Makes about so many portions of the files of control groups."""
    size_bytes = sum(path.stat().st_size for path in (root / "group_interval").rglob("*.parquet"))
    monkeypatch.setattr(compaction, "PORTION_BYTES", size_bytes // count)


def test_large_fleets_are_compacted_in_portions(small: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_portions(monkeypatch, small, 3)
    read, written, bad = compaction.compact(str(small), str(tmp_path))
    assert (read, bad) == (len(list(small.rglob("*.parquet"))), []) and len(format.TABLES) < written < read
    assert len(list((tmp_path / "group_interval").rglob("*.parquet"))) > 2
    assert_same_rows(tmp_path, small)


def test_rows_that_are_there_twice_are_found_in_portions(
    small: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compacted already, with all hosts in each file, beside what the hosts wrote."""
    root, out = tmp_path / "fleet", tmp_path / "out"
    compaction.compact(str(small), str(root))
    assert len(list((root / "group_interval").rglob("*.parquet"))) == 1
    shutil.copytree(small, root, dirs_exist_ok=True)
    set_portions(monkeypatch, root, 3)
    # One host has rows that are nowhere else.
    for path in (root / "group_interval").rglob(f"{host_id(1)}-*"):
        rows = pq.read_table(path, partitioning=None)
        index = rows.schema.get_field_index("session")
        pq.write_table(rows.set_column(index, rows.schema.field("session"), pa.array([2] * rows.num_rows)), path)
    compaction.compact(str(root), str(out))
    assert len(list((out / "group_interval").rglob("*.parquet"))) > 2
    for table in format.TABLES:
        expected = rows_of(small, table)
        if table == "group_interval":
            mine = expected.filter(pc.equal(expected["host_id"], host_id(1)))
            index = mine.schema.get_field_index("session")
            expected = pa.concat_tables([expected, mine.set_column(index, "session", pa.array([2] * mine.num_rows))])
            expected = expected.sort_by([(name, "ascending") for name in expected.column_names])
        assert rows_of(out, table).equals(expected), table


def test_a_fleet_is_not_compacted_into_itself(fleet_root: pathlib.Path) -> None:
    done = run("compact", fleet_root, "-o", fleet_root)
    assert done.returncode == 1
    assert "is the fleet itself" in done.stderr


def test_recommendations_are_patches_and_autoscalers(fleet_root: pathlib.Path, tmp_path: pathlib.Path, fleet: Fleet) -> None:
    assert call("recommend", fleet_root, "-o", tmp_path) == 0
    rows = {row["workload"]: row for row in fleet.answer("workloads").to_pylist()}
    patches = sorted(tmp_path.glob("*.patch.yaml"))
    wanted = [
        row for row in rows.values() if row["verdict"] in ("wasteful", "starved", "no limit") and row["basis"] in ("curve", "reads once")
    ]
    assert len(patches) == len(wanted) > 10
    commands = (tmp_path / "dry-run.sh").read_text()
    for path in patches:
        namespace, kind, owner, container = path.name.removesuffix(".patch.yaml").split("_")
        row = rows[f"{namespace}/{owner}/{container}"]
        patch = json.loads("\n".join(line for line in path.read_text().splitlines() if not line.startswith("#")))
        [one] = patch["spec"]["template"]["spec"]["containers"]
        assert one["resources"]["limits"]["memory"] == f"{row['recommended_limit_bytes'] >> 20}Mi"
        assert one["resources"]["requests"]["memory"] == f"{row['request_bytes'] >> 20}Mi"
        assert f"patch {kind} {owner} --patch-file {path.name} --dry-run=server" in commands
        vpa = json.loads(
            "\n".join(line for line in (tmp_path / path.name.replace("patch", "vpa")).read_text().splitlines() if not line.startswith("#"))
        )
        assert vpa["spec"]["updatePolicy"] == {"updateMode": "Off"}
        assert vpa["spec"]["targetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner}


def test_no_file_has_a_name_that_kubernetes_refuses(fleet: Fleet) -> None:
    rows = fleet.answer("workloads").filter(pc.equal(fleet.answer("workloads")["verdict"], "wasteful"))
    assert len(list(advice(rows))) == rows.num_rows > 0
    for name in ("shop/../app", "shop/web\n# evil/app", "shop/$(reboot)/app", "Shop/web/app", "shop/web", "a/b/c/d", "shop//app"):
        index = rows.schema.get_field_index("workload")
        assert not list(advice(rows.set_column(index, "workload", pa.array([name] * rows.num_rows)))), name


def test_what_has_a_template_of_kubernetes_own_is_patched(fleet: Fleet) -> None:
    answer = fleet.answer("workloads")
    rows = answer.filter(pc.equal(answer["verdict"], "wasteful")).slice(0, 1)
    index = rows.schema.get_field_index("workload_kind")
    for kind, api, name in (
        ("deployment", "apps/v1", "Deployment"),
        ("statefulset", "apps/v1", "StatefulSet"),
        ("daemonset", "apps/v1", "DaemonSet"),
        ("replicaset", "apps/v1", "ReplicaSet"),
        ("cronjob", "batch/v1", "CronJob"),
    ):
        [one] = advice(rows.set_column(index, "workload_kind", pa.array([kind])))
        target = autoscaler(one)["spec"]["targetRef"]
        assert (target["apiVersion"], target["kind"]) == (api, name)
        spec = patch(one)["spec"]
        pods = (spec["jobTemplate"]["spec"] if kind == "cronjob" else spec)["template"]["spec"]
        assert pods["containers"][0]["name"] == one.container
    # The template of a job can't be changed, and others take no such patch.
    for kind in ("job", "rollout", "controller", "pod", "statefulset.apps.kruise.io", "container"):
        assert not list(advice(rows.set_column(index, "workload_kind", pa.array([kind])))), kind


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("report", "/nonexistent", "-o", "x.html"), 1, "/nonexistent is not a directory"),
        (("report", "/tmp", "-o", "x.html", "--from", "yesterday"), 2, "'yesterday' is no day; expected one such as 2026-11-21"),
        (("report", "/tmp", "-o", "x.html", "--target", "100"), 2, "100 is no share; expected percent above 0 and below 100"),
        (("report", "/tmp", "-o", "x.html", "--changed", "noon"), 2, "'noon' is no hour"),
        (("tables", "/tmp", "-o", "x", "--only", "nothing"), 2, "invalid choice: 'nothing'"),
    ],
)
def test_errors_name_the_value_and_what_would_be_right(arguments: tuple[str, ...], status: int, message: str) -> None:
    done = run(*arguments)
    assert (done.returncode, message in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr
