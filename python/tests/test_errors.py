"""What goes wrong, in hotset's own words."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from conftest import run_python

import hotset
from hotset import _binary


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_missing_program_names_every_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOTSET_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_binary, "directories", lambda: [tmp_path / "bin"])
    with pytest.raises(hotset.BinaryNotFound) as error:
        hotset.run(["true"])
    assert str(tmp_path / "bin" / "hotset") in str(error.value) and f"PATH ({tmp_path})" in str(error.value)
    assert len(error.value.searched) == 2
    monkeypatch.setenv("HOTSET_BIN", "/nowhere/hotset")
    with pytest.raises(hotset.BinaryNotFound, match=r"/nowhere/hotset \(by HOTSET_BIN\)"):
        hotset.ls("/etc/passwd")


def test_programs_lie_beside_the_environments_python() -> None:
    assert _binary.directories()[0] == Path(sys.prefix, "bin")
    assert len(_binary.directories()) == len(set(_binary.directories()))


def test_a_program_on_the_path_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str) -> None:
    monkeypatch.delenv("HOTSET_BIN", raising=False)
    monkeypatch.setattr(_binary, "directories", list)
    (tmp_path / "hotset").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert hotset.find_binary() == str(tmp_path / "hotset")


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOTSET_BIN", raising=False)
    monkeypatch.setattr(_binary, "directories", lambda: [tmp_path])
    script(tmp_path / "hotset", "#!/bin/sh\necho hotset 9.8.7\n")
    with pytest.raises(hotset.VersionMismatch, match=f"{tmp_path}/hotset is hotset 9.8.7, and this package is of"):
        hotset.run(["true"])
    time.sleep(0.01)
    script(tmp_path / "hotset", "#!/bin/sh\necho something else\n")
    with pytest.raises(hotset.Error, match="is another program than hotset"):
        hotset.run(["true"])


def test_a_program_for_other_hosts_is_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    arm = bytearray(Path("/bin/true").read_bytes())
    arm[18:20] = (183).to_bytes(2, "little")
    program = tmp_path / "hotset"
    program.write_bytes(arm)
    program.chmod(0o755)
    monkeypatch.setenv("HOTSET_BIN", str(program))
    with pytest.raises(hotset.Error, match="for Linux on x86-64, and this is Linux on"):
        hotset.run(["true"])


def test_a_program_that_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOTSET_BIN", str(script(tmp_path / "hotset", "#!/bin/sh\nexit 4\n")))
    with pytest.raises(hotset.CommandError, match="hotset run ended without a result") as error:
        hotset.run(["true"])
    assert error.value.exit_status == 4
    monkeypatch.setenv("HOTSET_BIN", str(script(tmp_path / "hotset", "#!/bin/sh\necho '{\"schema\":'\n")))
    with pytest.raises(hotset.FormatError, match="hotset ls wrote no JSON"):
        hotset.ls("/etc/passwd")


def test_a_command_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(hotset.CommandError) as error:
        hotset.run(["no-such-program", "x"])
    assert (error.value.exit_status, error.value.message) == (127, "no-such-program: command not found")
    assert capfd.readouterr() == ("", ""), "the message is the exception's"
    with pytest.raises(hotset.CommandError) as error:
        hotset.run(["/etc/passwd"])
    assert error.value.exit_status == 126
    copy = pickle.loads(pickle.dumps(error.value))
    assert (copy.message, copy.exit_status) == (error.value.message, 126)


def test_options_are_refused_in_hotsets_words() -> None:
    with pytest.raises(hotset.CommandError, match="expected a whole number from 16 to") as error:
        hotset.run(["true"], max_rows=3)
    assert error.value.exit_status == 2 and error.value.message.startswith("invalid value '3' for '--max-rows")
    assert "--help" not in error.value.message
    with pytest.raises(hotset.CommandError, match="--state"):
        hotset.bench(["true"], state="lukewarm")


def test_a_command_is_a_list_of_words() -> None:
    with pytest.raises(TypeError, match=r"shlex\.split"):
        hotset.run("python3 app.py")
    with pytest.raises(ValueError, match="without words"):
        hotset.run([])
    with pytest.raises(ValueError, match="null byte"):
        hotset.run(["a\0b"])


def test_the_systems_errors_stay_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hotset.run(["true"], cwd=tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        hotset.load(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError):
        hotset.load(tmp_path)


@pytest.mark.parametrize("to_group", [True, False], ids=["terminal", "python-alone"])
def test_ctrl_c_ends_the_command_too(to_group: bool) -> None:
    mark = f"30{os.getpid()}"
    child = run_python(f"import hotset; print('go', flush=True); hotset.run(['sleep', '{mark}'])", start_new_session=True)
    assert child.stdout is not None and child.stdout.readline() == "go\n"
    deadline = time.monotonic() + 20
    while not (found := running(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found, "sleep runs"
    (os.killpg if to_group else os.kill)(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
    assert not running(mark)


def running(word: str) -> list[str]:
    """Processes with `sleep WORD` as command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes() == f"sleep\0{word}\0".encode():
                found.append(process.name)
        except OSError:
            continue
    return found


WITHOUT_ROOT = """
import os, subprocess, tempfile, hotset
# The interpreter's own files may be root's alone: all is imported before.
hotset.run(["true"]).frame("missing")
os.setgid(65534); os.setuid(65534)
os.environ.update(HOTSET_BIN={program!r}, TMPDIR="/tmp", HOME="/")
tempfile.tempdir = None
os.chdir("/")
made = hotset.run(["/bin/sleep", "0.3"])
why = set(one["detail"] for one in made.tables["missing"].to_pylist())
print(len(made.files) > 0, made.files["from_device"].isna().all(), made.exit_status, sorted(why))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root")
def test_without_root_numbers_are_unknown_and_say_why(tmp_path: Path, program: str) -> None:
    own = shutil.copy(program, tmp_path / "hotset")
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    out, err = run_python(WITHOUT_ROOT.format(program=str(own))).communicate()
    assert out.startswith("True True 0 ") and "the sensor was not loaded" in out, out + err


def test_python_m_hotset_is_the_program() -> None:
    child = run_python("import sys, runpy; sys.argv = ['hotset', '--version']; runpy.run_module('hotset', run_name='__main__')")
    assert child.communicate()[0].startswith("hotset ")
