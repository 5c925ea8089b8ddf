"""Where the program `hotset` is: in a wheel, and after its installation beside the environment's Python."""

from __future__ import annotations

import os
import platform
import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

from hotset._version import VERSION
from hotset.errors import BinaryNotFound, Error, VersionMismatch

#: Names the program to use instead of the one that came with the package.
VARIABLE = "HOTSET_BIN"

#: What is known of a program, by its path and the time of its last change.
_versions: dict[tuple[str, int], str] = {}


def find() -> str:
    """The path of the program: what `HOTSET_BIN` names, else that of this environment, else the first in `PATH`.

    Raises `BinaryNotFound` with all places where it was searched for.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not is_program(named):
            raise BinaryNotFound([f"{named} (by {VARIABLE})"])
        return named
    searched = [str(directory / "hotset") for directory in directories()]
    for place in searched:
        if is_program(place):
            return place
    on_path = shutil.which("hotset")
    if on_path is not None:
        return on_path
    raise BinaryNotFound([*searched, f"PATH ({os.environ.get('PATH', '')})"])


def is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def directories() -> list[Path]:
    """Where installers put programs of a package, the likeliest first, each once."""
    package = Path(__file__).resolve().parent
    library = package.parent
    found = [Path(sysconfig.get_path("scripts"))]
    # pip install --user
    found.append(Path(sysconfig.get_path("scripts", f"{os.name}_user")))
    # pip install --prefix: PREFIX/lib/pythonX.Y/site-packages/hotset
    if library.name in ("site-packages", "dist-packages") and len(library.parents) > 2:
        found.append(library.parents[2] / "bin")
    # pip install --target: TARGET/hotset
    found.append(library / "bin")
    if site.ENABLE_USER_SITE and site.USER_BASE:
        found.append(Path(site.USER_BASE) / "bin")
    return list(dict.fromkeys(found))


def find_checked() -> str:
    """The path of the program, of this package's version, unless `HOTSET_BIN` names it: who sets that has a reason."""
    path = find()
    if os.environ.get(VARIABLE):
        return path
    version = version_of(path)
    if version != VERSION:
        raise VersionMismatch(
            f"{path} is hotset {version}, and this package is of {VERSION} ({Path(__file__).parent}); "
            f"install both from one wheel, or name another program by {VARIABLE}"
        )
    return path


def version_of(path: str) -> str:
    """What a program calls its version."""
    key = (path, os.stat(path).st_mtime_ns)
    if key not in _versions:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False)
        words = ran.stdout.split()
        if ran.returncode != 0 or len(words) != 2 or words[0] != "hotset":
            raise Error(f"{path} is another program than hotset: --version says {ran.stdout.strip()!r}")
        _versions[key] = words[1]
    return _versions[key]


def exec_format_error(path: str) -> Error:
    """Why the kernel may refuse to run the program."""
    return Error(
        f"{path}: this host can't execute it; the program in the wheels is for Linux on x86-64, "
        f"and this is {platform.system()} on {platform.machine()} ({sys.platform})"
    )
