"""The test programs of the workspace: which there are, and how one is run."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The longest takes a minute on an idle host.
LIMIT_SECONDS = 900
# For the tests to fail, and to say so, after what they wait for was killed.
GRACE_SECONDS = 30


def test_programs():
    """Every test program that cargo built, with the directory of its package."""
    # The Python module has tests of its own, in Python.
    command = ["cargo", "test", "--workspace", "--exclude", "hotset-py", "--locked", "--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            package = os.path.dirname(message["manifest_path"])
            yield message["executable"], package


def name_of(program):
    """What cargo calls it, without the hash of the build."""
    return os.path.basename(program).rsplit("-", 1)[0]


def failures(output):
    """The tests that failed, or the program as a whole where it says nothing of tests."""
    return re.findall(r"^test (\S+)(?: - should panic)? \.\.\. FAILED$", output, re.M)


def passed_in(output):
    """How many tests passed."""
    return sum(map(int, re.findall(r"^test result: \S+ (\d+) passed", output, re.M)))


def kill_descendants(pid):
    """Kills whatever the process has started, the youngest first."""
    children = subprocess.run(["pgrep", "--parent", str(pid)], stdout=subprocess.PIPE, text=True, check=False)
    for child in map(int, children.stdout.split()):
        kill_descendants(child)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def end_late(running, ended):
    """A program that hangs most often waits for a process of its own: when that is killed, its test fails and is named."""
    if ended.wait(LIMIT_SECONDS):
        return
    print(f"test: {name_of(running.args[0])} takes more than {LIMIT_SECONDS} s: what it has started is killed", flush=True)
    kill_descendants(running.pid)
    while not ended.wait(GRACE_SECONDS):
        kill_descendants(running.pid)
        os.kill(running.pid, signal.SIGKILL)


def run_program(program, package, options=(), **changes):
    """The program's exit code, what it printed, and the CPU seconds of it and all that it has waited for. `changes` are those of its
    environment, and a function before it starts."""
    before = changes.pop("before", None)
    running = subprocess.Popen(
        [program, *options],
        cwd=package,
        env=dict(os.environ, CARGO_MANIFEST_DIR=package, **changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=before,
    )
    ended = threading.Event()
    threading.Thread(target=end_late, args=(running, ended), daemon=True).start()
    with running.stdout:
        output = running.stdout.read()
    ended.set()
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    return running.returncode, output, usage.ru_utime + usage.ru_stime
