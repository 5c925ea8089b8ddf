"""``python -m hotset.fleet``: the answers of a fleet, as a page, as tables, as files for Kubernetes.

With Spark: ``spark-submit $(python -m hotset.fleet script) report s3a://bucket/prefix -o fleet.html``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hotset.errors import Error
from hotset.fleet import kubernetes
from hotset.fleet.analyses import ALL
from hotset.fleet.analysis import Options
from hotset.fleet.compact import compact
from hotset.fleet.engine import Engine
from hotset.fleet.errors import FleetError
from hotset.fleet.fleet import Fleet
from hotset.fleet.listing import BadFile
from hotset.fleet.report import document
from hotset.fleet.submit import hotset_fleet
from hotset.fleet.whole import whole_file, write_whole

#: Files that are named when they were left out.
SAID_FILES = 20


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; the exit status is 1 if it failed, 2 if it makes no sense."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except Error as error:
        print(f"hotset.fleet: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"hotset.fleet: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(prog="python -m hotset.fleet", description="Analyse the tables that `hotset export --parquet` writes.")
    commands = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    one = commands.add_parser(
        "report", help="write a page with all answers", description="Write a page with all answers, which works offline."
    )
    reads(one)
    one.add_argument("-o", "--output", required=True, metavar="FILE", help="write the page to FILE (.html), or its JSON (.json)")
    one.add_argument("--tables", metavar="DIR", type=pathlib.Path, help="also write each table as a file below DIR")
    one.add_argument("--format", choices=["parquet", "csv"], default="parquet", help="format of --tables (default: parquet)")
    one.set_defaults(run=report)
    one = commands.add_parser("tables", help="write each answer as a table", description="Write each answer as a file below DIR.")
    reads(one)
    one.add_argument("-o", "--output", required=True, metavar="DIR", type=pathlib.Path, help="write the tables below DIR")
    one.add_argument("--format", choices=["parquet", "csv"], default="parquet", help="format of the tables (default: parquet)")
    one.add_argument(
        "--only", metavar="NAME", action="append", choices=list(ALL), help=f"write this table alone; repeatable: {', '.join(ALL)}"
    )
    one.set_defaults(run=tables)
    one = commands.add_parser(
        "recommend",
        help="write patches and VPA objects for Kubernetes",
        description="Write a patch and a VerticalPodAutoscaler for each workload.",
    )
    reads(one)
    one.add_argument("-o", "--output", required=True, metavar="DIR", type=pathlib.Path, help="write the files below DIR")
    one.set_defaults(run=recommend)
    one = commands.add_parser(
        "compact", help="write a fleet's files as few large ones", description="Write the files of a fleet as few large ones."
    )
    one.add_argument("root", metavar="ROOT", help="the fleet")
    one.add_argument("-o", "--output", required=True, metavar="DIR", help="write to DIR, a fleet of its own")
    resources(one)
    one.set_defaults(run=compacted)
    one = commands.add_parser("script", help="print the path of a script for spark-submit")
    one.set_defaults(run=lambda _: print(pathlib.Path(hotset_fleet.__file__).resolve()))
    return whole


def reads(one: argparse.ArgumentParser) -> None:
    """What all that read a fleet take."""
    one.add_argument("root", metavar="ROOT", help="what `hotset export --parquet` was given")
    one.add_argument("--engine", choices=["duckdb", "spark"], help="what computes (default: spark below spark-submit, else duckdb)")
    one.add_argument("--from", dest="first", metavar="DAY", type=day, help="begin with this day in UTC, such as 2026-11-21")
    one.add_argument("--to", dest="last", metavar="DAY", type=day, help="end with this day")
    one.add_argument(
        "--changed", metavar="TIME", type=hour, help="compare before and after this hour in UTC (2026-11-21T14); default: by image"
    )
    one.add_argument(
        "--target", metavar="PERCENT", type=percent, default=0.99, help="share of the hits of unlimited cache that is enough (default: 99)"
    )
    one.add_argument("--margin", metavar="PERCENT", type=margin, default=0.10, help="add so much to what must be there (default: 10)")
    resources(one)


def resources(one: argparse.ArgumentParser) -> None:
    """What DuckDB may use."""
    one.add_argument("--memory", metavar="SIZE", help="memory of DuckDB, such as 2GB (default: most of the host's)")
    one.add_argument("--threads", metavar="N", type=int, help="threads of DuckDB (default: one for each CPU)")


def day(text: str) -> datetime.date:
    """A day."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; expected one such as 2026-11-21") from None


def hour(text: str) -> int:
    """An hour in UTC, in hours since 1970."""
    try:
        at = datetime.datetime.strptime(text, "%Y-%m-%dT%H" if "T" in text else "%Y-%m-%d")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no hour; expected one such as 2026-11-21T14, or a day") from None
    return int(at.replace(tzinfo=datetime.timezone.utc).timestamp()) // 3600


def percent(text: str) -> float:
    """A share above 0, below 100 percent."""
    value = _number(text)
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"{text} is no share; expected percent above 0 and below 100, such as 99")
    return value / 100


def margin(text: str) -> float:
    """Percent from 0 on."""
    value = _number(text)
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is no margin; expected percent from 0 to 1000, such as 10")
    return value / 100


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; expected percent") from None


def opened(options: argparse.Namespace) -> Fleet:
    """The fleet that was named."""
    choices = Options(target=options.target, margin=options.margin, changed_hour=options.changed)
    return Fleet(options.root, engine_of(options), choices, first=options.first, last=options.last)


def engine_of(options: argparse.Namespace) -> Engine:
    """The engine that was chosen; below spark-submit there is a session."""
    # Set by spark-submit for the Python that it starts.
    chosen = options.engine or ("spark" if "PYSPARK_GATEWAY_PORT" in os.environ else "duckdb")
    if chosen == "spark":
        from hotset.fleet.spark import Spark

        return Spark()
    from hotset.fleet.duck import Duck

    return Duck(options.memory, options.threads)


def report(options: argparse.Namespace) -> None:
    """A page of all answers."""
    from hotset._binary import find_checked
    from hotset._version import VERSION

    # Looked for first: a large fleet takes minutes.
    program = None if options.output.endswith(".json") else find_checked()
    fleet = opened(options)
    text = json.dumps(document(fleet, VERSION), ensure_ascii=False) + "\n"
    if program is None:
        write_whole(pathlib.Path(options.output), text)
    else:
        write_page(program, text, options.output)
    if options.tables is not None:
        write_tables(fleet, list(ALL), options.tables, options.format)
    say_left_out(fleet.bad_files)


def write_page(program: str, text: str, out: str) -> None:
    """Lets hotset make a page of the document: one program draws all pages."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([program, "report", file.name, "-o", out], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise FleetError(f"the page was not written: {done.stderr.strip()}")


def tables(options: argparse.Namespace) -> None:
    """Each answer as a file."""
    fleet = opened(options)
    write_tables(fleet, options.only or list(ALL), options.output, options.format)
    say_left_out(fleet.bad_files)


def write_tables(fleet: Fleet, names: list[str], out: pathlib.Path, kind: str) -> None:
    """A file a table."""
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        table: pa.Table = fleet.answer(name)
        with whole_file(out / f"{name}.{kind}") as beside:
            if kind == "csv":
                pyarrow.csv.write_csv(table, beside)
            else:
                pq.write_table(table, beside, compression="zstd")


def recommend(options: argparse.Namespace) -> None:
    """Files for Kubernetes."""
    fleet = opened(options)
    found = kubernetes.write(fleet.answer("workloads"), options.output)
    print(f"{len(found)} workloads: patches and VerticalPodAutoscalers in {options.output}; dry-run.sh shows what they would change")
    say_left_out(fleet.bad_files)


def compacted(options: argparse.Namespace) -> None:
    """Few large files."""
    read, written, bad = compact(options.root, options.output, options.memory, options.threads)
    print(f"{read} files became {written} in {options.output}")
    say_left_out(bad)


def say_left_out(bad: list[BadFile]) -> None:
    """Files that were left out."""
    for file in bad[:SAID_FILES]:
        print(f"hotset.fleet: left out: {file.path} {file.reason}", file=sys.stderr)
    if len(bad) > SAID_FILES:
        print(f"hotset.fleet: left out: {len(bad) - SAID_FILES} more", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
