"""The examples of the documents, and the notebook, as they are printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

DOCUMENTS = ("docs/python.md", "python/README.md")


def environment(**more: str) -> dict[str, str]:
    """With this package, and `python3` as this Python: another version can't use its modules."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": path, **more}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_examples_of_a_document_run(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    assert blocks
    (tmp_path / "app.py").write_text("import json\n")
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    # What stands behind a print is what it prints.
    said = re.findall(r"print\(.*\) +# (?!limit_pages)(.+)", "\n".join(blocks))
    assert all(line in ran.stdout for line in said), ran.stdout


def test_the_line_works_as_printed(tmp_path: Path) -> None:
    line = "python -c \"import hotset; p = hotset.run(['python3','app.py']); print(p.files.sort_values('from_device'))\""
    (tmp_path / "app.py").write_text("print('out of the program')\n")
    ran = subprocess.run(
        [sys.executable, *shlex.split(line)[1:]], cwd=tmp_path, env=environment(COLUMNS="80"), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    assert "out of the program\n" in ran.stdout
    # Both columns that matter are to be seen on a narrow terminal.
    assert re.search(r"^ +path +\.\.\. +from_device$", ran.stdout, re.MULTILINE), ran.stdout
    if os.geteuid() == 0:
        assert "app.py" in ran.stdout or "[" in ran.stdout


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient
    import nbformat
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    # A kernel by this Python, whatever others are registered.
    kernels = tmp_path / "kernels" / "python3"
    kernels.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernels / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "tests", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for path in sorted((ROOT / "python" / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        assert not any(cell.get("outputs") for cell in notebook.cells), f"{path}: clear its outputs"
        nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
        printed = "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", []))
        assert "enough for 99 %: 2048" in printed
