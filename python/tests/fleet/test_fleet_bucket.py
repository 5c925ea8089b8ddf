"""A fleet in a bucket: run by `make test-fleet`, which has an S3 server and a JVM."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import time
from collections.abc import Iterator

import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from fleetgen.compare import assert_same, assert_same_rows
from fleetgen.submit import spark_submit

from hotset.fleet import ANALYSES, Duck, Fleet, FleetError
from hotset.fleet import compact as compaction
from hotset.fleet.__main__ import main

pytestmark = pytest.mark.external

KEY, SECRET, BUCKET = "local", "secret", "fleet"
#: How long the server may take to start, in seconds.
PATIENCE = 120


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory, fleet_root: pathlib.Path) -> Iterator[str]:
    """The fleet in a bucket of a server of its own, which the environment names."""
    folder = tmp_path_factory.mktemp("s3")
    folder.chmod(0o700)
    (folder / "data" / BUCKET).mkdir(parents=True, mode=0o700)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.endpoint": f"http://127.0.0.1:{port}",
        "s3proxy.identity": KEY,
        "s3proxy.credential": SECRET,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": folder / "data",
    }
    (folder / "conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    with open(folder / "log", "wb") as log:
        command = ["java", "-Xmx256m", "-jar", os.environ["HOTSET_S3PROXY"], "--properties", str(folder / "conf")]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        try:
            wait_for(port)
            pyarrow.fs.copy_files(str(fleet_root), f"s3://{BUCKET}/pages")
            yield f"s3://{BUCKET}/pages"
        finally:
            server.kill()
            server.wait()


def wait_for(port: int) -> None:
    """Until something listens."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < until, "the S3 server did not start"
            time.sleep(0.2)


def test_a_bucket_has_the_answers_of_the_directory(bucket: str, fleet: Fleet) -> None:
    found = Fleet(bucket, Duck())
    for name in ANALYSES:
        assert_same(found.answer(name), fleet.answer(name))
    # Nothing of an object is looked at before it is read, so that one that is cut off is damaged.
    assert {file.path.rsplit("/", 1)[1] for file in found.bad_files} == {file.path.rsplit("/", 1)[1] for file in fleet.bad_files}


def test_a_bucket_is_compacted_into_a_directory(bucket: str, fleet: Fleet, tmp_path: pathlib.Path) -> None:
    assert main(["compact", bucket, "-o", str(tmp_path)]) == 0
    assert_same(Fleet(str(tmp_path), Duck()).answer("workloads"), fleet.answer("workloads"))


def test_a_large_bucket_is_compacted_in_portions(
    bucket: str, fleet_root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compaction.compact(str(fleet_root), str(tmp_path / "of-directory"))
    monkeypatch.setattr(compaction, "PORTION_BYTES", 1 << 20)
    compaction.compact(bucket, str(tmp_path / "of-bucket"))
    # Of these a file was copied, so that portions are those of hosts; of the others names tell that no row is there twice.
    for table in ("group_interval", "curve"):
        made = {root: len(list((tmp_path / root / table).rglob("*.parquet"))) for root in ("of-directory", "of-bucket")}
        assert made["of-directory"] == 1 and made["of-bucket"] > 1, table
    assert_same_rows(tmp_path / "of-bucket", tmp_path / "of-directory")


def test_spark_reads_a_bucket(bucket: str, fleet: Fleet, tmp_path: pathlib.Path) -> None:
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.hadoop.fs.s3a.endpoint": os.environ["AWS_ENDPOINT_URL"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    submitted = spark_submit(
        *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
        *("--jars", os.environ["HOTSET_S3A"]),
        command=["tables", bucket.replace("s3://", "s3a://"), "-o", str(tmp_path)],
    )
    assert submitted.returncode == 0, submitted.stderr[-3000:]
    for name in ANALYSES:
        assert_same(pq.read_table(tmp_path / f"{name}.parquet"), fleet.answer(name))


def test_what_is_wrong_with_a_bucket_is_told(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FleetError, match="s3://nothing-there/pages can't be listed: .*NO_SUCH_BUCKET"):
        Fleet("s3://nothing-there/pages", Duck())
    with pytest.raises(FleetError, match=f"s3://{BUCKET}/empty has no files of a fleet|can't be listed"):
        Fleet(f"s3://{BUCKET}/empty", Duck())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(FleetError, match=f"{bucket} can't be listed: .*SIGNATURE_DOES_NOT_MATCH"):
        Fleet(bucket, Duck())
    with pytest.raises(FleetError, match="ftp://host/fleet can't be opened"):
        Fleet("ftp://host/fleet", Duck())
