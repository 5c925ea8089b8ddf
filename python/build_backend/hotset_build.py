"""maturin, behind two questions: is this a host that the program is for, and is the program there to be put into the wheel?

pip comes here where no wheel fits the host, or where somebody builds from the source. Without these questions it would compile
for minutes, or install a package without its program.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any, Optional

MATURIN = "maturin>=1.9.4,<2"
PROGRAM = Path(__file__).resolve().parents[1] / "hotset.data" / "scripts" / "hotset"
SUPPORTED = "Linux on x86-64, with CPython 3.9 or later and glibc 2.17 or musl 1.2 or later"


def refuse_unsupported() -> None:
    """Ends with a sentence, which pip shows, on a host that the program can't run on."""
    here = (platform.system(), platform.machine(), sys.implementation.name)
    if here != ("Linux", "x86_64", "cpython") or sys.maxsize < 2**32:
        bits = "" if sys.maxsize > 2**32 else ", 32 bits"
        sys.exit(
            f"hotset has no wheel for this host: it is for {SUPPORTED}. "
            f"This is {here[0]} on {here[1]} with {here[2]} {platform.python_version()}{bits}."
        )


def refuse_without_program() -> None:
    """Ends with a sentence where there is no program to put into the wheel."""
    refuse_unsupported()
    if not PROGRAM.is_file():
        sys.exit(
            f"hotset's wheels have the program, and {PROGRAM} is not there: "
            "`make wheel` in hotset's repository builds it and the wheels"
        )


def get_requires_for_build_wheel(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    refuse_without_program()
    return [MATURIN]


def get_requires_for_build_sdist(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    return [MATURIN]


def prepare_metadata_for_build_wheel(directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    import maturin

    name: str = maturin.prepare_metadata_for_build_wheel(directory, config_settings)
    return name


def build_wheel(
    directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    refuse_without_program()
    import maturin

    name: str = maturin.build_wheel(directory, config_settings, metadata_directory)
    return name


def build_sdist(directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    import maturin

    name: str = maturin.build_sdist(directory, config_settings)
    return name
