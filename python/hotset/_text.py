"""Paths of documents, which may be no UTF-8."""

from __future__ import annotations

import os
from typing import Optional


def fs_path(path: Optional[str], path_hex: Optional[str] = None) -> Optional[str]:
    """The path that `os` knows a file by, of a document's `path` and `path_hex`; None where it has none.

    `path` alone has U+FFFD for bytes that are no UTF-8, and names no file then.
    """
    # pandas' own mark of what is not known is neither.
    if isinstance(path_hex, str):
        return os.fsdecode(bytes.fromhex(path_hex))
    return path if isinstance(path, str) else None
