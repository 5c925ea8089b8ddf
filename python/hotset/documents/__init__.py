"""The formats of hotset's documents as dataclasses, a module each.

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

#: Of each format the module, and the classes of its objects.
FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "hotset.baseline/1": ("baseline", ("Baseline",)),
    "hotset.bench/1": ("bench", ("Bench",)),
    "hotset.check/1": ("check", ("Check",)),
    "hotset.control/1": ("control", ("Control",)),
    "hotset.diff/1": ("diff", ("Diff",)),
    "hotset.doctor/1": ("doctor", ("Doctor",)),
    "hotset.explanation/1": ("explanation", ("Explanation",)),
    "hotset.fleet/1": ("fleet", ("Fleet",)),
    "hotset.lab/1": ("lab", ("Lab",)),
    "hotset.lab-baseline/1": ("lab_baseline", ("LabBaseline",)),
    "hotset.profile/1": ("profile", ("Profile",)),
    "hotset.replay/1": ("replay", ("Replay",)),
    "hotset.residency/1": ("residency", ("Residency",)),
    "hotset.restore/1": ("restore", ("Restore",)),
    "hotset.save/1": ("save", ("Save",)),
    "hotset.size/1": ("size", ("Size",)),
    "hotset.stat/1": ("stat", ("Stat",)),
    "hotset.system-cache/1": ("system_cache", ("SystemCache",)),
    "hotset.top/1": ("top", ("TopHeader", "TopLine",)),
    "hotset.trace-info/1": ("trace_info", ("TraceInfo",)),
}
