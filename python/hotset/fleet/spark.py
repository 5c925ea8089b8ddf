"""Spark, on the cluster that a team has, or in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import format
from .engine import HOUR_US
from .errors import FleetError, in_a_line
from .listing import is_local
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Into how many parts rows are grouped, what Spark does where nobody has chosen, and how many a core has here.
PARTITIONS, USUAL_PARTITIONS, TASKS_OF_A_CORE = "spark.sql.shuffle.partitions", "200", 2
#: Types of result columns.
ARROW = {
    "bigint": pa.int64(),
    "int": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
}


class Spark:
    """A Spark session: that of the program, of ``spark-submit``, or a new one."""

    name = "Spark"

    def __init__(self, session: SparkSession | None = None) -> None:
        self.session = session or _new_session()
        # Hours and days are those of UTC, wherever the cluster is.
        self.session.conf.set("spark.sql.session.timeZone", "UTC")
        self._shuffle_as_wide_as_the_cluster()

    def _shuffle_as_wide_as_the_cluster(self) -> None:
        """Tables are small after the first step, and steps are many: Spark's 200 tasks for each would take most of the time on a few
        cores, and are few on many. What whoever set up the cluster has chosen stays."""
        context = self.session.sparkContext
        chosen = context.getConf().contains(PARTITIONS) or self.session.conf.get(PARTITIONS) != USUAL_PARTITIONS
        if not chosen:
            self.session.conf.set(PARTITIONS, str(TASKS_OF_A_CORE * context.defaultParallelism))

    def files(self, root: str) -> list[str]:
        if is_local(root):
            return Storage(root).below(root)
        # By what the cluster reads with, and with its credentials.
        java: Any = self.session._jvm
        path = java.org.apache.hadoop.fs.Path(root)
        try:
            found = path.getFileSystem(self.session._jsc.hadoopConfiguration()).listFiles(path, True)
            paths = []
            while found.hasNext():
                paths.append(found.next().getPath().toString())
        except Exception as error:
            raise FleetError(f"{root} can't be listed: {in_a_line(error)}") from error
        return sorted(path for path in paths if path.endswith(".parquet"))

    def damage(self, path: str) -> str | None:
        if is_local(path):
            return Storage("/").damage(path)
        try:
            self.session.read.parquet(path).write.format("noop").mode("overwrite").save()
        except Exception as error:
            return f"is damaged: {in_a_line(error)}"
        return None

    def scan(self, view: str, table: str, files: Sequence[str]) -> None:
        from pyspark.sql import functions as F

        schema = ", ".join(f"`{column}` {_kind(column)}" for column in format.TABLES[table])
        if files:
            # A cluster may be set up to leave out silently what it can't read.
            reader = self.session.read.schema(schema).options(ignoreCorruptFiles="false", ignoreMissingFiles="false")
            rows = reader.parquet(*files)
            rows = rows.withColumn("filename", F.input_file_name())
        else:
            rows = self.session.createDataFrame([], schema).withColumn("filename", F.lit(""))
        rows = rows.withColumn("ts_us", F.expr("unix_micros(ts)")).withColumn("hour", F.expr(f"(unix_micros(ts) - 1) DIV {HOUR_US}"))
        if table == "curve":
            rows = rows.withColumn("all_references", F.col("references"))
        rows.createOrReplaceTempView(view)

    def mixed(self, view: str) -> bool:
        del view
        return False

    def columns(self, table: str) -> list[str]:
        added = ["ts_us", "hour", *(["all_references"] if table == "curve" else [])]
        return [f"`{column}`" for column in [*format.TABLES[table], *added]]

    def view(self, name: str, sql: str) -> None:
        self.session.sql(sql).createOrReplaceTempView(name)

    def keep(self, name: str, sql: str) -> None:
        rows = self.session.sql(sql).persist()
        rows.count()
        rows.createOrReplaceTempView(name)

    def table(self, sql: str) -> pa.Table:
        return _to_arrow(self.session.sql(sql))


def _new_session() -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise FleetError("Spark is not installed; install it with: pip install 'hotset[spark]'") from error
    return SparkSession.builder.appName("hotset fleet").getOrCreate()


def _kind(column: str) -> str:
    if column in format.TIMES:
        return "TIMESTAMP"
    if column in format.TEXTS:
        return "STRING"
    return "BOOLEAN" if column in format.FLAGS else "BIGINT"


def _to_arrow(rows: DataFrame) -> pa.Table:
    schema = pa.schema([(name, ARROW[kind]) for name, kind in rows.dtypes])
    collected: list[Any] = rows.collect()
    columns = [[row[index] for row in collected] for index in range(len(schema))]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema)
