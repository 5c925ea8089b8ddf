"""The commands, with the real program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import hotset


def test_a_profile_has_files_and_processes(sensor: None, profile: hotset.Profile) -> None:
    assert profile.exit_status == 0
    files = profile.files.set_index("path")
    data = next(path for path in files.index if path.endswith("/data"))
    assert sum(files["read_bytes"][files.index == data]) >= 100_000
    odd = profile.files[profile.files["path_hex"].notna()]
    assert odd["path"].str.endswith("odd-\ufffd-name").all() and len(odd) == 1
    path = hotset.fs_path(odd["path"].iloc[0], odd["path_hex"].iloc[0])
    assert path is not None and os.fsencode(path).endswith(b"odd-\xff-name") and os.path.exists(path)
    assert odd["sync_calls"].iloc[0] == 1
    assert len(profile.processes) >= 1 and profile.processes["pid"].is_unique
    assert profile.processes["lookups_failed"].iloc[0] > 0
    assert profile.tables["lookups_failed_paths"].num_rows > 0


def test_from_device_is_in_bytes(sensor: None, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 20))
    subprocess.run(["sync", str(data)], check=True)
    assert hotset.evict(data).reached
    cold = hotset.run(["cat", data], stdout=subprocess.DEVNULL)
    warm = hotset.run(["cat", data], stdout=subprocess.DEVNULL)
    read: list[Any] = [one.files.set_index("path").loc[str(data), "from_device"] for one in (cold, warm)]
    assert read[0] == 1 << 20
    assert read[1] < 1 << 20
    assert str(cold.files["from_device"].dtype) == "Int64"
    assert cold.files.sort_values("from_device")["from_device"].iloc[-1] >= 1 << 20


def test_streams_are_the_commands_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hotset.run(["sh", "-c", "echo out; echo err >&2"])
    assert capfd.readouterr() == ("out\n", "err\n")
    with open(tmp_path / "out", "wb") as out:
        hotset.run(["cat"], stdin=subprocess.DEVNULL, stdout=out)
        made = hotset.run([sys.executable, "-S", "-c", "print('x' * 100_000_000)"], stdout=out)
    assert made.exit_status == 0 and (tmp_path / "out").stat().st_size == 100_000_001


def test_what_is_captured_is_kept() -> None:
    made = hotset.run(["sh", "-c", "head -c 3000000 /dev/zero; echo err >&2; exit 3"], capture_output=True)
    assert (made.stdout, made.stderr, made.exit_status) == (bytes(3_000_000), b"err\n", 3)


def test_a_command_that_fails_is_no_error() -> None:
    assert hotset.run(["sh", "-c", "exit 125"]).exit_status == 125
    killed = hotset.run(["sh", "-c", "kill -9 $$"])
    assert (killed.exit_status, killed.command.signal) == (137, 9)


def test_directory_and_environment(tmp_path: Path) -> None:
    code = "import os; open('made', 'w').write(os.environ['WORD'])"
    hotset.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "WORD": "z"})
    assert (tmp_path / "made").read_text() == "z"


def test_words_may_be_no_utf8(tmp_path: Path) -> None:
    made = hotset.run([b"touch", b"a\xffb"], cwd=os.fsencode(tmp_path))
    assert made.exit_status == 0 and os.listdir(os.fsencode(tmp_path)) == [b"a\xffb"]
    assert made.command.argv_hex is not None


def test_without_the_sensor_numbers_are_unknown() -> None:
    made = hotset.run([sys.executable, "-S", "-c", "import time; file = open('/etc/passwd'); time.sleep(0.3)"], bpf=False)
    assert len(made.files) > 0
    assert made.files["from_device"].isna().all() and made.totals.read is None
    why = made.tables["missing"].to_pylist()
    assert any(one["table"] == "files" and one["key"] == "read" and one["detail"] for one in why)
    assert list(made.files.columns) == list(hotset.run(["true"]).files.columns)


def test_ls_and_what_changes_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 8192)
    (tmp_path / "b").write_bytes(b"")
    assert hotset.warm([tmp_path]).reached
    listed = hotset.ls(tmp_path)
    files = listed.files.set_index("path")
    assert files.loc[str(tmp_path / "a"), "cached_pages"] == 2 and listed.totals.files == 2
    os.sync()
    hotset.evict([tmp_path / "a"])
    assert hotset.ls(tmp_path, include="a").totals.cached_pages == 0
    assert hotset.ls([tmp_path], dirs=True).directories["files"].max() == 2
    with pytest.raises(FileNotFoundError):
        hotset.ls([tmp_path, tmp_path / "c"])


def test_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 8192)
    os.sync()
    made = hotset.bench(["cat", "data"], vs=[["wc", "a b", "data"]], runs=3, files=["data"], cwd=tmp_path, ignore_failure=True)
    assert {one.state for one in made.document.results} == {"cold", "warm"}
    assert len(made.runs) >= 12 and (made.results["min"] > 0).all()
    assert [command.argv for command in made.document.commands] == [["cat", "data"], ["wc", "a b", "data"]]
    with pytest.raises(hotset.CommandError) as error:
        hotset.bench(["false"], runs=2)
    assert error.value.exit_status == 1


def test_a_recording_and_its_need_of_memory(sensor: None, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"x" * 40960)
    made = hotset.record(["sh", "-c", "cat data data data | wc -c"], cwd=tmp_path, output=tmp_path / "r.parquet", stdout=subprocess.DEVNULL)
    assert made.profile is not None and made.profile.exit_status == 0
    rows = made.frame(["class", "path", "result"])
    reads = rows[(rows["class"] == "read") & (rows["path"] == str(data))]
    assert reads["result"].sum() == 3 * 40960
    files, pages = made.references()
    number = made.table(["file", "path"]).to_pandas().query("path == @data.__str__()")["file"].iloc[0]
    assert sorted(pages[files == number]) == sorted(list(range(10)) * 3)
    assert made.info().document.schema == "hotset.trace-info/1"
    sized = hotset.size(made, limit=["64M", "128M"])
    assert sized.document.path == str(tmp_path / "r.parquet")
    with pytest.raises(hotset.CommandError) as error:
        hotset.record(["true"], output=tmp_path / "r.parquet")
    assert "r.parquet" in str(error.value)
    other = hotset.load(tmp_path / "r.parquet")
    assert isinstance(other, hotset.Recording) and other.json == made.json


def test_a_budget(tmp_path: Path) -> None:
    budget = '[[check]]\nname = "{}"\ncommand = ["cat", "/etc/passwd"]\n[check.limits]\nfiles.opened = "at most {}"\n'
    (tmp_path / "hotset.toml").write_text(budget.format("wide", 100) + budget.format("tight", 0))
    both = hotset.check(cwd=tmp_path)
    assert not both.passed and [one.outcome for one in both.checks] == ["passed", "failed"]
    assert "tight" in both.text and "\x1b" not in both.text
    assert hotset.check("wide", file=tmp_path / "hotset.toml").passed
    with pytest.raises(hotset.CommandError, match="there is no check"):
        hotset.check(["other"], cwd=tmp_path)


def test_frames_are_polars_too(profile: hotset.Profile) -> None:
    import polars
    made = profile.polars("files")
    assert isinstance(made, polars.DataFrame) and made.height == len(profile.files)


def test_every_table_becomes_a_frame(profile: hotset.Profile) -> None:
    for name in profile.tables:
        assert isinstance(profile.frame(name), pd.DataFrame), name
    with pytest.raises(KeyError, match="there are"):
        profile.frame("stars")
    assert "files" in repr(profile)
