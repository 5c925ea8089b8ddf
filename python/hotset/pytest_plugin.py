"""The fixture `hotset_budget`: a test that fails where a command does more with files than it may.

    def test_startup(hotset_budget):
        hotset_budget(["python3", "app.py"], files_opened=40, lookups_failed="at most 12")

It writes a budget and runs `hotset check`, whose rules it follows: a number that this host can't count fails, unless its limit says
`, if measured`. The message of a failure is hotset's report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import pytest

from hotset._commands import Path_, check
from hotset._process import Command, words
from hotset._results import Check

#: Numbers of a budget (docs/ci.md) that are in a group; other names have no dot.
_GROUPS = (
    "command",
    "device",
    "direct",
    "files",
    "lookups",
    "mmap",
    "read",
    "readahead",
    "sync",
    "time",
    "totals",
    "write",
)
#: At most so many, or a limit as in hotset.toml: "exactly 37", "at most 4 MiB, if measured".
Limit = Union[int, str]


class Budget:
    """Checks commands against budgets."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0

    def __call__(
        self,
        command: Command,
        *,
        limits: Optional[Mapping[str, Limit]] = None,
        forbid: Sequence[str] = (),
        name: Optional[str] = None,
        state: Optional[str] = None,
        files: Sequence[Path_] = (),
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[Path_] = None,
        prepare: Union[str, Sequence[str], None] = None,
        timeout: Optional[str] = None,
        exit_code: int = 0,
        baseline: Optional[Path_] = None,
        retries: Optional[int] = None,
        sites: bool = False,
        **more_limits: Limit,
    ) -> Check:
        """Runs a command, and fails the test where it does more than a limit allows.

        Limits are keywords, with `_` for the dot (`files_opened`, `device_read_bytes`), or in `limits` as in hotset.toml. `forbid` has
        findings that may not appear, `state` is the cache state to begin from, `files` what it is set on.
        """
        __tracebackhide__ = True
        own = words(command)
        all_limits = {**(limits or {}), **{number_name(key): limit for key, limit in more_limits.items()}}
        if not all_limits and not forbid:
            raise ValueError("a budget without limits holds always; give one, such as files_opened=40")
        keys: dict[str, Any] = {
            "name": name or os.path.basename(own[0]),
            "command": own,
            "directory": os.path.abspath(cwd or os.curdir),
            "exit-code": exit_code,
            "state": state,
            "files": [os.path.abspath(one) for one in files] or None,
            "env": dict(env) if env else None,
            "prepare": prepare if prepare is None or isinstance(prepare, str) else words(prepare),
            "timeout": timeout,
            "baseline": None if baseline is None else os.path.abspath(baseline),
            "forbid": list(forbid) or None,
        }
        self._count += 1
        file = self._directory / f"budget-{self._count}" / "hotset.toml"
        file.parent.mkdir()
        file.write_text(budget_text(keys, all_limits), encoding="utf-8")
        return self.file(file, retries=retries, sites=sites)

    def file(
        self,
        file: Path_ = "hotset.toml",
        *checks: str,
        retries: Optional[int] = None,
        sites: bool = False,
    ) -> Check:
        """Runs the checks of a budget's file, or some of them, and fails the test where one fails."""
        __tracebackhide__ = True
        result = check(checks, file=file, retries=retries, sites=sites)
        if not result.passed:
            pytest.fail("\n".join([result.text.rstrip(), *result.messages]), pytrace=False)
        return result


def number_name(keyword: str) -> str:
    """The name of a number as budgets have it: `device.read_bytes` of `device_read_bytes`."""
    group, _, rest = keyword.partition("_")
    return f"{group}.{number_name(rest) if group == 'totals' else rest}" if group in _GROUPS and rest else keyword


def budget_text(keys: Mapping[str, Any], limits: Mapping[str, Limit]) -> str:
    """A budget with one check."""
    lines = ["[[check]]", *(f"{key} = {toml(value)}" for key, value in keys.items() if value is not None)]
    if limits:
        lines += ["", "[check.limits]"]
        lines += [f"{'.'.join(toml_key(part) for part in key.split('.'))} = {toml(one)}" for key, one in limits.items()]
    return "\n".join(lines) + "\n"


def toml_key(key: str) -> str:
    is_bare = key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return key if is_bare else toml(key)


def toml(value: Any) -> str:
    """A value as TOML, whose texts are JSON's but for one character."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml(one) for one in value)}]"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{value!r} is no UTF-8, which a budget can't hold") from None
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


@pytest.fixture
def hotset_budget(tmp_path: Path) -> Budget:
    """Checks commands against budgets for their file I/O, as `hotset check` does."""
    directory = tmp_path / "hotset"
    directory.mkdir()
    return Budget(directory)
