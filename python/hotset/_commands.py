"""The commands of hotset as functions: options are keywords, named as on the command line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from hotset._process import Command, Ended, Stream, Word, flag, words
from hotset._process import run as run_hotset
from hotset._recording import Recording
from hotset._results import Bench, Check, Control, Profile, Residency, Result, Size, SystemCache, result_of
from hotset.errors import FormatError

#: A file or directory.
Path_ = Union[str, "os.PathLike[str]"]
#: One thing or several.
Some = Union[Word, Sequence[Word], None]


def _read(path: str, ended: Ended, text: str = "") -> Result[Any]:
    """The document that hotset wrote; raises its own words where it wrote none."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ended.error() from None
    return _result(data, ended, text)


def _result(data: bytes, ended: Ended, text: str = "") -> Result[Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        if not data.strip():
            raise ended.error() from None
        raise FormatError(f"hotset {ended.arguments[0]} wrote no JSON: {error}") from None
    return result_of(document, messages=ended.messages, text=text)


def printed(arguments: list[str]) -> Result[Any]:
    """What a command prints as JSON."""
    ended = run_hotset(arguments, capture=True)
    return _result(ended.stdout, ended)


def _list(some: Some) -> list[str]:
    if some is None:
        return []
    one_or_more = [some] if isinstance(some, (str, bytes, os.PathLike)) else some
    return [os.fsdecode(one) for one in one_or_more]


def _each(name: str, some: Some) -> list[str]:
    return [word for one in _list(some) for word in flag(name, one)]


def run(
    command: Command,
    *,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    capture_output: bool = False,
    sites: bool = False,
    files: Optional[int] = None,
    max_rows: Optional[int] = None,
    bpf: bool = True,
    html: Optional[Path_] = None,
) -> Profile:
    """Profiles a command's page cache use and file I/O: `hotset run`.

    The command has the standard streams that `subprocess.Popen` would give it; hotset writes nothing to them. With `capture_output`
    they are the profile's `stdout` and `stderr`. `env` is its whole environment, and hotset's. `sites` finds the
    functions that read, write and open files, `files` is how many are named, `max_rows` how many pairs of process and file are
    told apart, `bpf=False` does without the sensor, `html` also writes a page.

    That the command fails is no error: see `Profile.exit_status`. Raises `CommandError` where it could not be started, or hotset
    failed.
    """
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch:
        target = os.path.join(scratch, "profile.json")
        options = [
            *flag("--json", target),
            *flag("--html", _absolute(html)),
            *flag("--sites", sites),
            *flag("--files", files),
            *flag("--max-rows", max_rows),
            *flag("--no-bpf", not bpf),
        ]
        if capture_output:
            stdout = stderr = subprocess.PIPE
        arguments = ["run", "--quiet", *options, "--", *words(command)]
        ended = run_hotset(arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
        made = _read(target, ended)
    assert isinstance(made, Profile)
    made.stdout, made.stderr = ended.stdout, ended.stderr
    return made


def record(
    command: Optional[Command] = None,
    *,
    output: Path_,
    force: bool = False,
    pid: Optional[int] = None,
    name: Optional[str] = None,
    cgroup: Optional[Path_] = None,
    unit: Optional[str] = None,
    container: Optional[str] = None,
    system: bool = False,
    duration: Optional[str] = None,
    pages: bool = False,
    sites: bool = False,
    buffer: Optional[str] = None,
    lossless: bool = False,
    max_rows: Optional[int] = None,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> Recording:
    """Records every request of a command, or of what `pid`, `name`, `cgroup`, `unit`, `container` or `system` say, for `duration`
    such as "10s": `hotset record`. Needs the sensor, so root.

    `output` is the file to write, `force` replaces one that is there. `pages` also records pages that enter and leave the page
    cache, `sites` the functions that asked. `buffer` is memory for each CPU; with `lossless`, the command waits instead of losing
    records.
    """
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch:
        target = os.path.join(scratch, "profile.json")
        options = [
            *flag("--output", _absolute(output)),
            *flag("--json", target),
            *flag("--force", force),
            *flag("--pid", pid),
            *flag("--name", name),
            *flag("--cgroup", cgroup),
            *flag("--unit", unit),
            *flag("--container", container),
            *flag("--system", system),
            *flag("--duration", duration),
            *flag("--pages", pages),
            *flag("--sites", sites),
            *flag("--buffer", buffer),
            *flag("--lossless", lossless),
            *flag("--max-rows", max_rows),
        ]
        arguments = ["record", "--quiet", *options, *(["--", *words(command)] if command is not None else [])]
        ended = run_hotset(arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
        profile = _read(target, ended)
    assert isinstance(profile, Profile)
    return Recording(output, profile=profile, messages=ended.messages)


def bench(
    command: Command,
    *,
    vs: Sequence[Command] = (),
    state: Optional[str] = None,
    files: Some = None,
    runs: Optional[int] = None,
    min_runs: Optional[int] = None,
    max_runs: Optional[int] = None,
    max_time: Optional[str] = None,
    warmup: Optional[int] = None,
    seed: Optional[int] = None,
    noise_floor: bool = True,
    prepare: Optional[str] = None,
    conclude: Optional[str] = None,
    setup: Optional[str] = None,
    cleanup: Optional[str] = None,
    ignore_failure: Union[bool, str] = False,
    output: Optional[str] = None,
    bpf: bool = True,
    html: Optional[Path_] = None,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
) -> Bench:
    """Benchmarks a command with cold and warm page cache: `hotset bench`.

    `vs` has commands to compare with, `state` the cache states ("cold,warm"), `files` what they are set on instead of the files of
    a first run. Raises `CommandError` where a command fails, unless `ignore_failure` accepts that.
    """
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch:
        target = os.path.join(scratch, "bench.json")
        options = [
            *flag("--export-json", target),
            *(word for one in vs for word in flag("--vs", shlex.join(words(one)))),
            *flag("--state", state),
            *_each("--files", files),
            *flag("--runs", runs),
            *flag("--min-runs", min_runs),
            *flag("--max-runs", max_runs),
            *flag("--max-time", max_time),
            *flag("--warmup", warmup),
            *flag("--seed", seed),
            *flag("--no-noise-floor", not noise_floor),
            *flag("--prepare", prepare),
            *flag("--conclude", conclude),
            *flag("--setup", setup),
            *flag("--cleanup", cleanup),
            *flag("--ignore-failure", ignore_failure),
            *flag("--output", output),
            *flag("--no-bpf", not bpf),
            *flag("--html", _absolute(html)),
        ]
        # A single word would be split as a shell does.
        own = words(command)
        own = own if len(own) > 1 else [shlex.quote(own[0])]
        ended = run_hotset(["bench", "--quiet", *options, "--", *own], cwd=cwd, env=env, capture=True)
        if ended.exit_status != 0:
            raise ended.error()
        made = _read(target, ended)
    assert isinstance(made, Bench)
    return made


def ls(
    paths: Some = None,
    *,
    pid: Optional[int] = None,
    cgroup: Optional[Path_] = None,
    depth: Optional[int] = None,
    min_size: Union[int, str, None] = None,
    include: Some = None,
    exclude: Some = None,
    one_file_system: bool = False,
    follow: bool = False,
    only: Optional[str] = None,
    dirs: bool = False,
    sort: Optional[str] = None,
    top: Optional[int] = None,
) -> Residency:
    """Lists how much of each file is cached: `hotset ls`, of paths, or of the files that a process or control group has open or mapped.

    A path that is not there is an `OSError`; files below it that can't be read are in `document.unreadable`.
    """
    found = _list(paths)
    for path in found:
        os.stat(path)
    options = [
        *flag("--pid", pid),
        *flag("--cgroup", cgroup),
        *flag("--depth", depth),
        *flag("--min-size", min_size),
        *_each("--include", include),
        *_each("--exclude", exclude),
        *flag("--one-file-system", one_file_system),
        *flag("--follow", follow),
        *flag("--only", only),
        *flag("--dirs", dirs),
        *flag("--sort", sort),
        *flag("--top", top),
    ]
    made = printed(["ls", "--json", *options, "--", *found])
    assert isinstance(made, Residency)
    return made


def system_cache(*, top: Optional[int] = None) -> SystemCache:
    """Lists the files that occupy the page cache of the whole host, the largest first, 30 or `top`: `hotset ls --system`.

    Only root sees all files.
    """
    made = printed(["ls", "--system", "--json", *flag("--top", top)])
    assert isinstance(made, SystemCache)
    return made


def warm(paths: Some, *, budget: Optional[str] = None) -> Control:
    """Reads what is not cached of files, and of all files below directories: `hotset warm`."""
    return _control("warm", paths, flag("--budget", budget))


def evict(paths: Some) -> Control:
    """Evicts files, and all files below directories, from the page cache: `hotset evict`."""
    return _control("evict", paths, [])


def _control(name: str, paths: Some, options: list[str]) -> Control:
    found = _list(paths)
    for path in found:
        os.stat(path)
    made = printed([name, "--json", *options, "--", *found])
    assert isinstance(made, Control)
    return made


def size(
    trace: Union[Path_, Recording, None] = None,
    *,
    command: Optional[Command] = None,
    verify: bool = False,
    prepare: Optional[str] = None,
    output: Optional[Path_] = None,
    limit: Some = None,
    target: Optional[float] = None,
    kernel: Optional[str] = None,
    policy: Optional[str] = None,
    device_rate: Optional[str] = None,
    other: Optional[str] = None,
    html: Optional[Path_] = None,
    pid: Optional[int] = None,
    name: Optional[str] = None,
    cgroup: Optional[Path_] = None,
    unit: Optional[str] = None,
    container: Optional[str] = None,
    duration: Optional[str] = None,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
) -> Size:
    """Predicts how much memory a recorded program needs: `hotset size`, of a recording, of `command` which it records first, or of
    what runs (`pid`, `name`, `cgroup`, `unit`, `container`).

    `limit` adds memory limits such as "512M", `target` is the share of hits to reach in percent. With `verify`, `command` is run
    under limits, too.
    """
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch:
        written = os.path.join(scratch, "size.json")
        options = [
            *flag("--json", written),
            *flag("--verify", verify),
            *flag("--prepare", prepare),
            *flag("--output", _absolute(output)),
            *_each("--limit", limit),
            *flag("--target", target),
            *flag("--kernel", kernel),
            *flag("--policy", policy),
            *flag("--device-rate", device_rate),
            *flag("--other", other),
            *flag("--html", _absolute(html)),
            *flag("--pid", pid),
            *flag("--name", name),
            *flag("--cgroup", cgroup),
            *flag("--unit", unit),
            *flag("--container", container),
            *flag("--duration", duration),
        ]
        traces = [] if trace is None else [trace.path if isinstance(trace, Recording) else os.fspath(trace)]
        behind = [] if command is None else ["--", *words(command)]
        ended = run_hotset(
            ["size", "--quiet", *options, *(os.path.abspath(one) for one in traces), *behind], cwd=cwd, env=env
        )
        made = _read(written, ended)
    assert isinstance(made, Size)
    return made


def check(
    checks: Iterable[str] = (),
    *,
    file: Optional[Path_] = None,
    retries: Optional[int] = None,
    update: bool = False,
    junit: Optional[Path_] = None,
    tap: Optional[Path_] = None,
    sites: bool = False,
    bpf: bool = True,
    cwd: Optional[Word] = None,
    env: Optional[Mapping[str, str]] = None,
) -> Check:
    """Checks file I/O against a budget, `hotset.toml` of the directory or `file`: `hotset check`. All checks, or some by name.

    That a limit is broken is no error: see `Check.passed`, and `Check.text` for hotset's report. Raises `CommandError` for a
    budget that can't be meant.
    """
    with tempfile.TemporaryDirectory(prefix="hotset-") as scratch:
        target = os.path.join(scratch, "check.json")
        options = [
            *flag("--json", target),
            *flag("--file", _absolute(file)),
            *flag("--retries", retries),
            *flag("--update", update),
            *flag("--junit", _absolute(junit)),
            *flag("--tap", _absolute(tap)),
            *flag("--sites", sites),
            *flag("--no-bpf", not bpf),
            "--color=never",
        ]
        names = [checks] if isinstance(checks, str) else list(checks)
        ended = run_hotset(["check", *options, *names], cwd=cwd, env=env, capture=True)
        if ended.exit_status not in (0, 1):
            raise ended.error()
        made = _read(target, ended, ended.stdout.decode(errors="replace"))
    assert isinstance(made, Check)
    return made


def _absolute(path: Optional[Path_]) -> Optional[str]:
    """hotset may run in another directory: a path is of the caller's."""
    return None if path is None else os.path.abspath(path)


