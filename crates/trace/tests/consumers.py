#!/usr/bin/env python3
"""consumers.py TRACE: real readers of Parquet agree on a trace.

TRACE is what `cargo run --release -p hotset-trace --example measure -- mixed 10000000 TRACE` writes. Needs the Python
packages duckdb, pandas and pyarrow; with pyspark and a Java runtime, Spark is asked too. Each check that fails ends the
program with what was found; --time besides measures `group by path` against DuckDB's own file.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.parquet

INT32 = "pid tid process file pages hits ahead_hits misses zeros read_ahead site".split()
INT64 = """start_ns duration_ns open_file offset asked_bytes result device_read_bytes
device_write_bytes""".split()
STRING = "command op class path new_path error flags".split()
BINARY = "path_bytes new_path_bytes".split()
COLUMNS = len(INT32) + len(INT64) + len(STRING) + len(BINARY)


def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found!r}, expected {wanted!r}")
    print(f"ok: {what}")


def types(of):
    """The type of each column, by kind."""
    return {
        name: kind
        for kind, names in zip(of, (INT32, INT64, STRING, BINARY))
        for name in names
    }


def check_duckdb(connection, trace):
    rows = connection.execute("describe select * from read_parquet(?)", [trace]).fetchall()
    found = {name: kind for name, kind, *_ in rows}
    same("DuckDB: types", found, types(("INTEGER", "BIGINT", "VARCHAR", "BLOB")))
    query = "select path, sum(misses) from read_parquet(?) group by 1 order by 2 desc, 1"
    return connection.execute(query, [trace]).fetchall()


def check_pyarrow(trace, connection):
    table = pyarrow.parquet.read_table(trace)
    found = {field.name: str(field.type) for field in table.schema}
    same("pyarrow: types", found, types(("int32", "int64", "string", "binary")))
    same("pyarrow: columns", len(found), COLUMNS)
    same("pyarrow: only op, class and start_ns are never null",
         sorted(field.name for field in table.schema if not field.nullable),
         ["class", "op", "start_ns"])
    for name in found:
        counted = connection.execute(
            f'select count("{name}"), min("{name}")::varchar, max("{name}")::varchar '
            "from read_parquet(?)", [trace]).fetchone()
        column = table[name]
        bounds = pyarrow.compute.min_max(column) if name not in BINARY else {}
        wanted = (len(column) - column.null_count,) + tuple(
            None if value is None else str(value)
            for value in (bounds[key].as_py() for key in ("min", "max"))
        ) if name not in BINARY else (len(column) - column.null_count, None, None)
        if name in BINARY:
            counted = (counted[0], None, None)
        same(f"pyarrow and DuckDB: {name}", counted, wanted)
    return table


def check_pandas(table, wanted):
    frame = table.to_pandas(types_mapper=None)
    sums = frame.groupby("path", dropna=False)["misses"].sum(min_count=1)
    found = {(None if path != path else path): (None if total != total else int(total))
             for path, total in sums.items()}
    same("pandas: sum of misses by path", found,
         {path: None if total is None else int(total) for path, total in wanted})


def check_spark(trace, wanted):
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("not checked: Spark, pyspark is not installed")
        return
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(trace)
    same("Spark: types", dict(frame.dtypes), types(("int", "bigint", "string", "binary")))
    found = frame.groupBy("path").sum("misses").collect()
    same("Spark: sum of misses by path", {row[0]: row[1] for row in found},
         {path: None if total is None else int(total) for path, total in wanted})
    for name in frame.columns:
        frame.selectExpr(f"count(`{name}`)", f"max(`{name}`)").collect()
    print("ok: Spark reads every column")
    spark.stop()


def measure(connection, trace, rounds=9):
    """`group by path` over the trace, and over the same table as DuckDB writes it, in turns."""
    with tempfile.TemporaryDirectory() as scratch:
        own = os.path.join(scratch, "own.parquet")
        connection.execute(
            f"copy (select * from read_parquet('{trace}')) to '{own}' (format parquet, compression zstd)")
        times = {trace: [], own: []}
        for _ in range(rounds):
            for path in times:
                begun = time.perf_counter()
                connection.execute(
                    f"select path, sum(misses), sum(duration_ns) from '{path}' group by 1").fetchall()
                times[path].append(time.perf_counter() - begun)
        ours, theirs = (statistics.median(times[path]) for path in (trace, own))
        print(f"group by path, median of {rounds}: {ours:.3f} s; of DuckDB's own file {theirs:.3f} s; "
              f"{ours / theirs:.2f} times; bytes {os.path.getsize(trace)} and {os.path.getsize(own)}")
        if ours > 1.5 * theirs:
            sys.exit("slower than 1.5 times DuckDB's own file")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("--time", action="store_true", help="measure `group by path` instead")
    arguments = parser.parse_args()
    connection = duckdb.connect()
    if arguments.time:
        measure(connection, arguments.trace)
        return
    wanted = check_duckdb(connection, arguments.trace)
    table = check_pyarrow(arguments.trace, connection)
    check_pandas(table, wanted)
    check_spark(arguments.trace, wanted)


if __name__ == "__main__":
    main()
