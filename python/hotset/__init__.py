"""hotset profiles, measures and predicts what the Linux page cache does for programs.

The functions run the program `hotset`, which is in the wheel, and return what it found as objects with dataclasses and frames:

    import hotset
    p = hotset.run(["python3", "app.py"])
    print(p.files.sort_values("from_device"))

`hotset.curves` counts what a cache of any size would do for a column of references, without the program.
"""

from hotset._binary import find as find_binary
from hotset._commands import bench, check, evict, ls, record, run, size, system_cache, warm
from hotset._load import load, load_all
from hotset._recording import Recording
from hotset._results import Bench, Check, Control, Lines, Profile, Residency, Result, Size, SystemCache
from hotset._text import fs_path
from hotset._version import VERSION as __version__
from hotset.errors import BinaryNotFound, CommandError, Error, FormatError, VersionMismatch

__all__ = [
    "Bench",
    "BinaryNotFound",
    "Check",
    "CommandError",
    "Control",
    "Error",
    "FormatError",
    "Lines",
    "Profile",
    "Recording",
    "Residency",
    "Result",
    "Size",
    "SystemCache",
    "VersionMismatch",
    "__version__",
    "bench",
    "check",
    "evict",
    "find_binary",
    "fs_path",
    "load",
    "load_all",
    "ls",
    "record",
    "run",
    "size",
    "system_cache",
    "warm",
]
