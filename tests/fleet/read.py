"""Reads a bucket's host rows through its server with PyArrow and DuckDB: `read.py HOST:PORT KEY SECRET BUCKET/PREFIX`.

Prints how many intervals there are, and the sum of their read calls.
"""

import sys

import duckdb
import pyarrow.dataset
from pyarrow.fs import S3FileSystem

endpoint, key, secret, root = sys.argv[1:]
store = S3FileSystem(access_key=key, secret_key=secret, endpoint_override=endpoint, scheme="http", region="us-east-1")
host = pyarrow.dataset.dataset(f"{root}/host", filesystem=store, format="parquet", partitioning="hive").to_table()
days = set(host.column("dt").to_pylist())
assert host.column("v").to_pylist()[0] == 1 and all(len(str(day)) == 10 for day in days), days
intervals, calls = duckdb.sql("SELECT count(*), sum(read_calls) FROM host").fetchall()[0]
print(intervals, calls)
