"""What goes wrong in a fleet: hours are missing, files are cut off or there twice, clocks are wrong, names are given twice."""

from __future__ import annotations

import datetime
import pathlib
import shutil

import pyarrow as pa
import pyarrow.parquet as pq

from hotset.fleet import format

from .model import Fleet
from .rows import host_id

#: Which host has which fault.
MISSING, TWICE, CUT_OFF, DAMAGED, NAMESAKE, CLOCK, OLD, LOSSES = range(8)


def put_in(out: pathlib.Path, fleet: Fleet, day: datetime.date) -> dict[str, str]:
    """Damages the fleet, and says how; hosts must have twelve files a day or more."""
    files = {host: files_of(out, host, day) for host in range(min(fleet.hosts, 8))}
    if len(files) < 8:
        raise ValueError("faults need 8 hosts")
    for path in files[MISSING][5:7]:
        for table in ("host", "group_interval", "file_interval", "curve", "finding"):
            (out / table / "v=1" / f"dt={day}" / path.name).unlink(missing_ok=True)
    shutil.copy(files[TWICE][3], files[TWICE][3].with_name("copied-by-hand.parquet"))
    cut = files[CUT_OFF][4]
    cut.write_bytes(cut.read_bytes()[:-100])
    spoilt = bytearray(files[DAMAGED][4].read_bytes())
    # All columns, for those that no analysis reads are never looked at.
    spoilt[100 : len(spoilt) // 2] = b"\xff" * (len(spoilt) // 2 - 100)
    files[DAMAGED][4].write_bytes(spoilt)
    newer = out / "group_interval" / "v=2" / f"dt={day}"
    newer.mkdir(parents=True)
    shutil.copy(files[OLD][6], newer / "future.parquet")
    for path in out.glob(f"*/v=1/dt=*/{host_id(NAMESAKE)}-*.parquet"):
        change(path, host=lambda rows: pa.array(["node-0000"] * rows.num_rows))
    for path in files[OLD]:
        rows = pq.read_table(path)
        pq.write_table(rows.drop_columns(["mapped_bytes", *format.LOOKUPS]), path)
    step_back(out / "host" / "v=1" / f"dt={day}" / files[CLOCK][8].name)
    lose(out / "host" / "v=1" / f"dt={day}" / files[LOSSES][2].name)
    return {"cut_off": str(cut), "damaged": str(files[DAMAGED][4]), "newer": str(newer / "future.parquet")} | {
        name.lower(): host_id(globals()[name]) for name in ("MISSING", "TWICE", "NAMESAKE", "CLOCK", "OLD", "LOSSES")
    }


def files_of(out: pathlib.Path, host: int, day: datetime.date) -> list[pathlib.Path]:
    """The files of a host's control groups, by time."""
    return sorted(
        (out / "group_interval" / "v=1" / f"dt={day}").glob(f"{host_id(host)}-*.parquet"), key=lambda path: int(path.stem.split("-")[-1])
    )


def change(path: pathlib.Path, **columns: object) -> None:
    """Writes a file with other columns."""
    rows = pq.read_table(path)
    for name, make in columns.items():
        index = rows.schema.get_field_index(name)
        rows = rows.set_column(index, name, make(rows))  # type: ignore[operator]
    pq.write_table(rows, path)


def step_back(path: pathlib.Path) -> None:
    """The clock of the host is set back by five minutes, half an hour into the file."""

    def earlier(rows: pa.Table) -> pa.Array:
        times = rows["ts"].cast(pa.int64()).to_pylist()
        late = [ts - 300_000_000 if index >= 30 else ts for index, ts in enumerate(times)]
        return pa.array(late, pa.int64()).cast(pa.timestamp("us", tz="UTC"))

    change(path, ts=earlier)


def lose(path: pathlib.Path) -> None:
    """Events were lost in each interval of the file."""
    change(path, lost=lambda rows: pa.array([7] * rows.num_rows))
