"""The questions, one a file."""

from __future__ import annotations

from . import changes, coverage, files, findings, memory, outliers, packing, requests, starved

#: In the order in which a report has them.
ALL = {
    "workloads": memory.analysis,
    "starved": starved.analysis,
    "packing": packing.analysis,
    "files": files.analysis,
    "findings": findings.analysis,
    "requests": requests.analysis,
    "changes": changes.analysis,
    "outliers": outliers.analysis,
    "coverage": coverage.analysis,
}
