"""Files that were saved, and files that are something else."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hotset


def test_what_is_saved_is_loaded(profile: hotset.Profile, tmp_path: Path) -> None:
    for name in ("p.json", "p.json.gz"):
        profile.save(tmp_path / name)
        loaded = hotset.load(tmp_path / name)
        assert isinstance(loaded, hotset.Profile) and loaded.json == profile.json
    assert gzip.decompress((tmp_path / "p.json.gz").read_bytes()) == (tmp_path / "p.json").read_bytes()


def test_intervals_are_lines(sensor: None, program: str, tmp_path: Path) -> None:
    with open(tmp_path / "stat.json", "wb") as out:
        subprocess.run([program, "stat", "--json", "0.1", "3"], stdout=out, check=True)
    made = hotset.load(tmp_path / "stat.json")
    assert isinstance(made, hotset.Lines) and len(made.documents) == 3
    frame = made.frame("intervals")
    assert len(frame) == 3 and (frame["total"] == frame["hits"] + frame["misses"]).all()
    made.save(tmp_path / "again.json")
    again = hotset.load(tmp_path / "again.json")
    assert isinstance(again, hotset.Lines) and again.lines == made.lines


def test_a_recording_of_top_has_a_header(sensor: None, program: str, tmp_path: Path) -> None:
    target = tmp_path / "top.jsonl"
    subprocess.run([program, "top", "--batch", "2", "--record", str(target), "0.2"], check=True, stdout=subprocess.DEVNULL)
    made = hotset.load(target)
    assert isinstance(made, hotset.Lines) and made.schema == "hotset.top/1"
    assert made.document.interval_ns == 200_000_000 and len(made.documents) == 2
    assert set(made.frame("processes")["interval"]) <= {0, 1}
    made.save(tmp_path / "again.jsonl")
    assert json.loads((tmp_path / "again.jsonl").read_text().splitlines()[0]) == made.json


def test_several_documents(profile: hotset.Profile, tmp_path: Path) -> None:
    profile.save(tmp_path / "p.json")
    text = (tmp_path / "p.json").read_text()
    (tmp_path / "two.json").write_text(text * 2)
    with pytest.raises(hotset.FormatError, match=r"2 documents; hotset\.load_all"):
        hotset.load(tmp_path / "two.json")
    assert len(hotset.load_all(tmp_path / "two.json")) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "not a document of hotset, or a damaged one"),
        (b"[" * 100_000, "not a document of hotset, or a damaged one"),
        (b"[1]", "no JSON object"),
        (b'{"a": 1}', "its \"schema\" is None"),
        (b'{"schema": "other/1"}', "its \"schema\" is 'other/1'"),
        (b'{"schema": "hotset.profile/2"}', "hotset.profile/2: this package knows hotset.profile/1; a newer one may read it"),
        (b'{"schema": "hotset.moon/1"}', "hotset.moon/1: no format of this package"),
        (b"\xff\xfe", "neither text nor a recording"),
        (b"\x7fELF\x02\x01\x01", "not a document of hotset"),
        (gzip.compress(b'{"schema": "hotset.profile/1"}' * 99)[:-20], "damaged"),
        (b"PAR1" + bytes(100), "damaged"),
    ],
)
def test_other_files_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(hotset.FormatError) as error:
        hotset.load(path)
    assert said in str(error.value) and str(error.value).startswith(str(path))


def test_a_damaged_document_is_known_when_it_is_read(profile: hotset.Profile, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps({"schema": "hotset.profile/1", "hotset": "0.1.0"}))
    with pytest.raises(hotset.FormatError, match='the key "started_at" is missing'):
        _ = hotset.load(tmp_path / "p.json").document  # type: ignore[union-attr]


def test_parquet_of_others_is_no_recording(tmp_path: Path) -> None:
    def written(metadata: dict[str, Any]) -> Path:
        table = pa.table({"a": [1]}).replace_schema_metadata(metadata)
        pq.write_table(table, tmp_path / "file.parquet")
        return tmp_path / "file.parquet"

    for metadata in ({}, {"hotset.trace": "[]"}, {"hotset.trace": "{"}):
        with pytest.raises(hotset.FormatError, match="a Parquet file, but no recording of hotset"):
            hotset.load(written(metadata))
    with pytest.raises(hotset.FormatError, match="this package knows hotset.trace/1"):
        hotset.load(written({"hotset.trace": '{"schema": "hotset.trace/2"}'}))
