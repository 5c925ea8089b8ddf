"""The wheel: what is in it, and what an installer makes of it. `HOTSET_WHEEL` names one, as `.ci/python.sh test` does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

import hotset

WHEEL = os.environ.get("HOTSET_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="HOTSET_WHEEL names no wheel")
PACKAGE = ROOT / "python"


def names_of_sources() -> set[str]:
    """The files of the package, as the repository has them."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "hotset"]
    return set(subprocess.check_output(command, cwd=PACKAGE, text=True).split())


@needs_wheel
def test_a_wheel_holds_this_and_nothing_else() -> None:
    version = hotset.__version__
    with zipfile.ZipFile(WHEEL) as wheel:
        names = set(wheel.namelist())
        program = wheel.getinfo(f"hotset-{version}.data/scripts/hotset")
        assert program.external_attr >> 16 & 0o111 == 0o111
        assert wheel.read(program)[:4] == b"\x7fELF"
        metadata = wheel.read(f"hotset-{version}.dist-info/METADATA").decode()
    info = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "sboms/hotset-py.cyclonedx.json"}
    info |= {f"licenses/LICENSE-{name}" for name in ("APACHE", "MIT", "GPL-2.0")}
    wanted = {f"hotset-{version}.dist-info/{name}" for name in info}
    wanted |= {f"hotset-{version}.data/scripts/hotset", "hotset/_native.abi3.so"} | names_of_sources()
    assert names == wanted
    assert "Requires-Python: >=3.9" in metadata and "Requires-Dist: polars>=1 ; extra == 'polars'" in metadata
    assert WHEEL.split("-")[2:4] == ["cp39", "abi3"]


@needs_wheel
def test_the_program_comes_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOTSET_BIN", raising=False)
    assert hotset.find_binary() == os.path.join(sys.prefix, "bin", "hotset")
    said = subprocess.run([hotset.find_binary(), "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"hotset {hotset.__version__}\n"


@needs_wheel
@pytest.mark.parametrize("option", ["--target", "--prefix"])
def test_other_places_of_installation(option: str, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--ignore-installed"]
    subprocess.run([*pip, option, tmp_path, WHEEL], check=True)
    library = tmp_path if option == "--target" else next(tmp_path.glob("lib/*/site-packages"))
    others = [path for path in sys.path if not (Path(path) / "hotset").exists()] + [os.path.dirname(os.path.dirname(hotset.__file__))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(library), *others]), "PATH": "/usr/bin:/bin"}
    environment.pop("HOTSET_BIN", None)
    # The environment's own program would be found first.
    code = (
        "import sysconfig; real = sysconfig.get_path\n"
        "sysconfig.get_path = lambda name, *more: '/nowhere' if name == 'scripts' else real(name, *more)\n"
        "import hotset; print(hotset.find_binary())"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd="/", check=False)
    assert ran.stdout.strip() == str(tmp_path / "bin" / "hotset"), ran.stderr


def backend(question: str, *before: str, root: Path = PACKAGE) -> str:
    """What the build says to a question of pip's."""
    code = f"import sys; sys.path.insert(0, {str(root / 'build_backend')!r}); import hotset_build; hotset_build.{question}"
    ran = subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else "built"


def test_other_hosts_are_told_what_is_supported() -> None:
    assert shutil.which("setarch") is not None, "setarch (util-linux) says to a process that it is on another machine"
    # The kernel says to this process that it is another machine, as it would on one.
    said = backend("get_requires_for_build_wheel()", "setarch", "i686")
    assert said.startswith("hotset has no wheel for this host: it is for Linux on x86-64") and "on i686" in said


def test_a_build_without_the_program_is_refused(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE / "build_backend", tmp_path / "build_backend")
    said = backend("build_wheel('/nowhere')", root=tmp_path)
    assert "hotset.data/scripts/hotset is not there: `make wheel`" in said
