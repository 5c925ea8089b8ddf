"""The file of a recording: bytes a record, the time and memory of `trace info`, and a query by DuckDB. Used by record.py."""

import json
import os
import subprocess
import sys
from collections import namedtuple

import rounds as take
from rounds import KIB, MIB

SEQUENTIAL_BYTES, RANDOM_BYTES = 4, 12
INFO_SECONDS, INFO_MIB = 3, 256
SLOWER_THAN_DUCKDB = 1.5
# Files that the large trace reads a million times each, and those that it opens twice.
LARGE_FILES, SMALL_FILES = 10, 10_000
QUERY = "select path, sum(misses) from '{}' group by 1"
# Run by a Python that has DuckDB: prints the seconds of each query, in alternating rounds, each by a connection of its own.
ASK = """
import sys, time, duckdb
rounds, query, *files = sys.argv[1:]
answers = set()
for number in range(int(rounds) + 1):
    for file in files[number % len(files):] + files[:number % len(files)]:
        with duckdb.connect() as session:
            session.sql("set enable_progress_bar = false")
            begun = time.perf_counter()
            rows = session.sql(query.replace("{}", file)).fetchall()
            took = time.perf_counter() - begun
        answers.add(tuple(sorted(rows, key=str)))
        if number:
            print(files.index(file), took)
if len(answers) != 1:
    sys.exit("the two files do not give the same rows")
"""
COPY = """
import sys, duckdb
duckdb.sql("set enable_progress_bar = false")
print(duckdb.__version__)
duckdb.sql(f"copy (from '{sys.argv[1]}') to '{sys.argv[2]}' (format parquet)")
"""

Info = namedtuple("Info", "records lost bytes")


def output(argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def info(hotset, path):
    """How many records a trace has, and how many were lost, as it says itself."""
    said = json.loads(output([hotset, "trace", "info", "--json", path]))
    return Info(said["totals"]["records"], said["lost"]["records"], os.path.getsize(path))


def record(bench, argv):
    """Records a command."""
    subprocess.run([*bench.prefix["hotset record"], *argv], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return info(bench.hotset, bench.trace)


def sizes(bench, goals):
    """Bytes a record, all of the file counted."""
    yield "| recorded | records | lost | bytes a record |"
    yield "|---|---|---|---|"
    dd = ["dd", f"if={bench.big}", "of=/dev/null"]
    for title, argv, path, limit in (
        ("1 GiB by `dd bs=4k`, warm", [*dd, "bs=4k"], bench.big, SEQUENTIAL_BYTES),
        ("1 GiB by `dd bs=128k`, warm", [*dd, "bs=128k"], bench.big, SEQUENTIAL_BYTES),
        ("1,000,000 random preads of 4 KiB, warm", [bench.loops, "pread4k", bench.window, "1000000"], bench.window, RANDOM_BYTES),
    ):
        take.warm(path)
        said = record(bench, argv)
        each = said.bytes / said.records
        goals.at_most(f"bytes a record: {title}", each, limit, "bytes", 2)
        yield f"| {title} | {said.records:,} | {said.lost:,} | {each:.2f} |"
    yield ""


def large(bench):
    """Records about 10 million requests: preads in a few files, and small files that are opened, read and closed twice."""
    small, files = os.path.join(bench.directory, "small"), [os.path.join(bench.directory, f"part{number}") for number in range(LARGE_FILES)]
    subprocess.run([bench.loops, "make-files", small, str(SMALL_FILES)], check=True)
    for path in files:
        take.make_file(path, 16 * MIB)
    calls = bench.args.records // LARGE_FILES
    script = 'loops=$1 calls=$2 small=$3; shift 3; "$loops" small-files "$small" %d; for file; do "$loops" pread4k "$file" "$calls"; done' % SMALL_FILES
    return record(bench, ["sh", "-c", script, "sh", bench.loops, str(calls), small, *files])


def reading(bench, goals):
    """`trace info` of the large trace."""
    said = large(bench)
    argv = [bench.hotset, "trace", "info", bench.trace]
    case = take.Case("trace info", bench.loops, argv)
    runs = take.rounds([case], bench.args.rounds)["trace info"]
    seconds, peak = [one.seconds for one in runs], max(one.peak_kib for one in runs) / KIB
    yield "| the large trace | records | lost | bytes a record | `trace info`, s | peak MiB |"
    yield "|---|---|---|---|---|---|"
    yield (f"| {LARGE_FILES} files by preads, {SMALL_FILES:,} small files | {said.records:,} | {said.lost:,} | {said.bytes / said.records:.2f} | "
           f"{take.spread(seconds, 2)} | {peak:.1f} |")
    yield ""
    what = f"`trace info` of {said.records / 1e6:.1f} million records"
    goals.add(what, f"{take.spread(seconds, 2)} s", f"≤ {INFO_SECONDS} s", take.judged(seconds, INFO_SECONDS))
    goals.at_most(f"{what}: peak", peak, INFO_MIB, "MiB")


def queries(bench, goals):
    """DuckDB, over the large trace and over the same table in a file that it wrote itself."""
    what = "DuckDB, misses by path: over the trace, against its own file"
    python = os.environ.get("HOTSET_DUCKDB_PYTHON") or sys.executable
    if subprocess.run([python, "-c", "import duckdb"], stderr=subprocess.DEVNULL, check=False).returncode:
        goals.unknown(what, f"{os.path.basename(python)} has no package duckdb")
        return
    copy = os.path.join(bench.directory, "copy.parquet")
    version = output([python, "-c", COPY, bench.trace, copy]).strip()
    lines = output([python, "-c", ASK, str(bench.args.rounds), QUERY, bench.trace, copy]).splitlines()
    seconds = [[float(took) for which, took in map(str.split, lines) if which == str(file)] for file in range(2)]
    ratios = [ours / theirs for ours, theirs in zip(*seconds)]
    yield f"| DuckDB {version}: misses by path | MB | ms |"
    yield "|---|---|---|"
    for title, path, times in (("hotset's file", bench.trace, seconds[0]), ("the same table as DuckDB writes it by default", copy, seconds[1])):
        yield f"| {title} | {os.path.getsize(path) / 1e6:,.1f} | {take.spread([time * 1e3 for time in times])} |"
    yield ""
    goals.paired(what, ratios, SLOWER_THAN_DUCKDB, "×", 2)
