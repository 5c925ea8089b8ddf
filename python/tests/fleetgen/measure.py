"""Measures the programs of :mod:`fleetgen.workloads` with ``hotset export --parquet``.

``sudo python -m fleetgen.measure OUT`` runs all of them at once for 41 minutes, each in a control group of its own, and packs the tables
    that
hotset wrote below OUT into ``fleetgen/measured``, of which fleets are made (:mod:`fleetgen`). With ``--findings`` it runs those that rules
have something to say of for six minutes, and packs what hotset says of each minute.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from .measured import FOLDER, TABLES
from .truth import need_pages
from .workloads import ALL, MIB, PAGE, PROGRAMS, Program, once

MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
#: Python itself, in MiB, beside what a program fills.
PYTHON_MIB = 12


@contextlib.contextmanager
def group_of(program: Program) -> Iterator[pathlib.Path]:
    """A control group, with the limit of the program."""
    folder = MEMORY / "fleet" / program.name
    folder.mkdir(parents=True, exist_ok=True)
    if program.cache_limit_mib:
        limit = (program.cache_limit_mib + program.anon_mib + PYTHON_MIB) * MIB
        (folder / "memory.limit_in_bytes").write_text(str(limit))
    try:
        yield folder
    finally:
        folder.rmdir()


def start(program: Program, group: pathlib.Path, folder: pathlib.Path) -> subprocess.Popen[bytes]:
    """Starts the program in its group."""
    return subprocess.Popen(
        [sys.executable, "-m", "fleetgen.workloads", program.name, str(folder)],
        preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())) and None,
    )


def measure(hotset: str, out: pathlib.Path, programs: dict[str, Program], minutes: int, every: str) -> None:
    """Runs programs beside hotset, which writes files of so much time."""
    with contextlib.ExitStack() as stack:
        scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir=out.parent)))
        groups = {name: stack.enter_context(group_of(program)) for name, program in programs.items()}
        running = [start(programs[name], group, scratch) for name, group in groups.items()]
        while not all((scratch / f"{name}.ready").exists() for name in programs):
            time.sleep(0.1)
        (scratch / "go").touch()
        spool = scratch / "spool"
        export = subprocess.Popen(
            [
                hotset,
                "export",
                "--listen",
                "127.0.0.1:0",
                "--parquet",
                str(out),
                "--spool",
                str(spool),
                "--interval",
                "60s" if every == "10m" else "10s",
                "--parquet-every",
                every,
            ],
        )
        try:
            time.sleep(minutes * 60)
        finally:
            export.send_signal(signal.SIGTERM)
            export.wait()
            for process in running:
                process.kill()
                process.wait()
            shutil.rmtree(spool, ignore_errors=True)


def pack(out: pathlib.Path) -> None:
    """Keeps the rows of the programs, and what they need."""
    FOLDER.mkdir(exist_ok=True)
    tables = {name: pyarrow.dataset.dataset(out / name, format="parquet").to_table() for name in TABLES}
    for name, table in tables.items():
        if name != "host":
            table = table.filter(pc.starts_with(table["cgroup"], "/fleet/"))
        keys = ["sequence"] if name == "host" else ["cgroup", "sequence"]
        table = table.sort_by([(key, "ascending") for key in keys])
        pa.parquet.write_table(table, FOLDER / f"{name}.parquet", compression="zstd")
    groups = tables["group_interval"]
    needs = {name: needs_of(program, groups.filter(pc.equal(groups["cgroup"], f"/fleet/{name}"))) for name, program in PROGRAMS.items()}
    (FOLDER / "needs.json").write_text(json.dumps(needs, indent=1) + "\n")


def pack_findings(out: pathlib.Path) -> None:
    """Keeps what rules say of the programs, without the first minute, in which they begin."""
    FOLDER.mkdir(exist_ok=True)
    table = pyarrow.dataset.dataset(out / "finding", format="parquet").to_table()
    table = table.filter(pc.starts_with(table["cgroup"], "/fleet/faulty-"))
    table = table.filter(pc.greater(table["sequence"], pc.min(table["sequence"])))
    table = table.sort_by([("cgroup", "ascending"), ("sequence", "ascending")])
    # Where it was measured is nobody's business; fleets have paths of their own.
    table = table.set_column(table.schema.get_field_index("path"), "path", pa.nulls(table.num_rows, pa.string()))
    pa.parquet.write_table(table, FOLDER / "finding.parquet", compression="zstd")


def needs_of(program: Program, rows: pa.Table) -> dict[str, int]:
    """What the program must have, as it was measured, and what its cache needs, as it follows from what it reads. Accesses to mapped
    pages can't be
    seen, so that these pages are in what must be there."""
    must = max(sum(row[name] or 0 for name in ("anon_bytes", "shmem_bytes", "kernel_bytes", "mapped_bytes")) for row in rows.to_pylist())
    reads = program.how in ("read", "search") and program.order is not once
    limit = max(row["limit_bytes"] or 0 for row in rows.to_pylist())
    return {"must_bytes": must, "cache_bytes": need_pages(program) * PAGE if reads else 0, "limit_bytes": limit}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--hotset", default=os.environ.get("HOTSET_BIN", "hotset"))
    parser.add_argument("--minutes", type=int, help="41, or 6 with --findings")
    parser.add_argument("--findings", action="store_true", help="run programs that rules have something to say of")
    parser.add_argument("--pack-only", action="store_true", help="pack what OUT has")
    options = parser.parse_args()
    programs = {name: program for name, program in ALL.items() if (name not in PROGRAMS) == options.findings}
    if not options.pack_only:
        minutes = options.minutes or (6 if options.findings else 41)
        measure(options.hotset, options.out.absolute(), programs, minutes, "1m" if options.findings else "10m")
    (pack_findings if options.findings else pack)(options.out)
