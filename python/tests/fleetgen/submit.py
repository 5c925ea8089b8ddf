"""A program by `spark-submit`, as documented."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def spark_submit(*options: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of ``hotset.fleet`` with the Spark that is installed beside this Python."""
    script = subprocess.run([sys.executable, "-m", "hotset.fleet", "script"], capture_output=True, text=True, check=True).stdout.strip()
    submit = pathlib.Path(sys.executable).with_name("spark-submit")
    # As where the environment is activated: Spark's scripts ask the first Python that they find where Spark is.
    path = os.pathsep.join([str(submit.parent), os.environ["PATH"]])
    arguments = [str(submit), "--master", "local[2]", *options, script, *command]
    return subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, "PATH": path})
