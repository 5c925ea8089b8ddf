"""What tests share: the program is real everywhere, and most tests need root for its sensor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hotset

pytest_plugins = ["pytester", "fleetgen.fixtures"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def program() -> str:
    """The program under test. Tests without it would prove nothing."""
    return hotset.find_binary()


@pytest.fixture(scope="session")
def sensor() -> None:
    """For tests that need the sensor."""
    if os.geteuid() != 0:
        pytest.fail("needs root, for the sensor")


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> hotset.Profile:
    """A profile of a program that reads and writes files, with a name that is no UTF-8, and looks for one that is not there."""
    folder = tmp_path_factory.mktemp("profiled")
    (folder / "data").write_bytes(b"x" * 100_000)
    code = (
        "import os\n"
        "open('data', 'rb').read()\n"
        "file = open(b'odd-\\xff-name', 'wb'); file.write(b'y' * 5000); file.flush(); os.fsync(file.fileno())\n"
        "os.path.exists('missing')\n"
    )
    return hotset.run([sys.executable, "-S", "-c", code], cwd=folder)


def run_python(code: str, **options: object) -> subprocess.Popen[str]:
    """A Python of its own, with this package."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )
