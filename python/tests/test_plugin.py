"""The fixture `hotset_budget`, in tests that hold and tests that don't."""

from __future__ import annotations

import os

import pytest

from hotset import __version__
from hotset.pytest_plugin import budget_text, number_name


def outcome(pytester: pytest.Pytester, body: str) -> pytest.RunResult:
    pytester.makepyfile(f"def test_it(hotset_budget):\n    {body}\n")
    plugins = [] if pytester_has_plugin() else ["-p", "hotset.pytest_plugin"]
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugins)


def pytester_has_plugin() -> bool:
    from importlib import metadata

    if __version__ == "unknown":  # not installed
        return False
    return any(one.value == "hotset.pytest_plugin" for one in metadata.distribution("hotset").entry_points)


@pytest.fixture(autouse=True)
def path_of_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def test_a_budget_that_holds(pytester: pytest.Pytester) -> None:
    outcome(pytester, "assert hotset_budget(['cat', '/etc/passwd'], files_opened=50).passed").assert_outcomes(passed=1)


def test_a_broken_limit_fails_with_hotsets_report(pytester: pytest.Pytester) -> None:
    result = outcome(pytester, "hotset_budget(['cat', '/etc/passwd'], files_opened='exactly 0', lookups_failed=1000)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*cat*", "*files.opened*exactly 0*"])
    assert "hotset_budget.__call__" not in result.stdout.str() and "Traceback" not in result.stdout.str()


def test_what_is_not_measured_fails_unless_it_may(pytester: pytest.Pytester) -> None:
    # A count of the sensor alone, and a budget that is checked without it.
    body = (
        "import pathlib; pathlib.Path('hotset.toml').write_text('[[check]]\\nname = \"a\"\\ncommand = [\"true\"]\\n'"
        "'[check.limits]\\nread.calls = \"at most 9999{}\"\\n'); "
        "import hotset; check = hotset.check(bpf=False); print(check.text); assert check.passed"
    )
    outcome(pytester, body.format("")).assert_outcomes(failed=1)
    outcome(pytester, body.format(", if measured")).assert_outcomes(passed=1)


def test_a_file_of_budgets(pytester: pytest.Pytester) -> None:
    (pytester.path / "hotset.toml").write_text(
        '[[check]]\nname = "a"\ncommand = ["true"]\n[check.limits]\nfiles.opened = 99\n'
        '[[check]]\nname = "b"\ncommand = ["false"]\n[check.limits]\nfiles.opened = 99\n'
    )
    outcome(pytester, "hotset_budget.file('hotset.toml', 'a')").assert_outcomes(passed=1)
    result = outcome(pytester, "hotset_budget.file()")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*exit*1*"])


def test_mistakes_are_errors_of_hotset(pytester: pytest.Pytester) -> None:
    result = outcome(pytester, "hotset_budget(['true'], files_opend=3)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*CommandError*files.opend*"])
    outcome(pytester, "hotset_budget(['true'])").stdout.fnmatch_lines(["*a budget without limits holds always*"])


def test_directory_environment_and_state(pytester: pytest.Pytester) -> None:
    (pytester.path / "data").write_bytes(b"x" * 8192)
    os.sync()
    body = (
        "hotset_budget(['sh', '-c', 'test \"$WORD\" = \"a b\" && exec cat data'], state='warm', files=['data'], env={'WORD': 'a b'}, "
        "limits={'files.opened': 60}, name='of data', retries=1, timeout='1m')"
    )
    outcome(pytester, body).assert_outcomes(passed=1)


def test_names_of_numbers() -> None:
    names = ("files_opened", "device_read_bytes", "from_device", "opens", "peak_rss", "totals_read_calls", "command_wall_ns", "sync_calls")
    assert [number_name(one) for one in names] == [
        "files.opened",
        "device.read_bytes",
        "from_device",
        "opens",
        "peak_rss",
        "totals.read.calls",
        "command.wall_ns",
        "sync.calls",
    ]


def test_texts_of_a_budget_are_toml() -> None:
    text = budget_text({"name": 'a "b"\n\x7f', "files": ["x"], "env": {"A B": "c"}, "state": None}, {"files.opened": 3})
    assert text == (
        '[[check]]\nname = "a \\"b\\"\\n\\u007f"\nfiles = ["x"]\nenv = { "A B" = "c" }\n\n[check.limits]\nfiles.opened = 3\n'
    )
    with pytest.raises(ValueError, match="no UTF-8"):
        budget_text({"name": "a\udcff"}, {})
