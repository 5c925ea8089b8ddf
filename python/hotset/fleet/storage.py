"""Directories and buckets, by Arrow: for an engine that reads no bucket by itself without being given more."""

from __future__ import annotations

import pyarrow.fs
import pyarrow.parquet as pq

from .errors import FleetError
from .listing import is_local


class Storage:
    """Where the files of a fleet are: a directory, or a bucket such as ``s3://BUCKET/PREFIX``."""

    def __init__(self, root: str) -> None:
        self.scheme = "" if is_local(root) else root.split("://", 1)[0]
        try:
            if self.scheme:
                # Spark's name for the same.
                self.files, self.base = pyarrow.fs.FileSystem.from_uri(root.replace("s3a://", "s3://", 1))
            else:
                self.files, self.base = pyarrow.fs.LocalFileSystem(), root
        except (OSError, ValueError) as error:
            raise FleetError(f"{root} can't be opened: {error}") from error
        #: Bytes of each file that was listed, as the listing has them: nothing is opened for that.
        self.sizes: dict[str, int] = {}

    def below(self, root: str) -> list[str]:
        """All Parquet files below the root, as an engine names them."""
        try:
            found = self.files.get_file_info(pyarrow.fs.FileSelector(self.base, recursive=True))
        except OSError as error:
            raise FleetError(f"{root} can't be listed: {error}") from error
        prefix = f"{self.scheme}://" if self.scheme else ""
        self.sizes = {prefix + one.path: one.size or 0 for one in found if one.is_file and one.path.endswith(".parquet")}
        return sorted(self.sizes)

    def damage(self, path: str) -> str | None:
        """Why a file can't be read to its end; none if it can. One that can't be opened is no damaged one."""
        name = path.split("://", 1)[-1]
        try:
            file = self.files.open_input_file(name)
        except OSError as error:
            raise FleetError(f"{path} can't be opened: {error}") from error
        try:
            with file:
                pq.ParquetFile(file).read()
        except Exception as error:
            return f"is damaged: {str(error).splitlines()[0]}"
        return None
