"""Loads one library and says what came with it: the job `library` of docs/probes.md.

Nothing else is imported before, so that what the library needs is not there already.
"""

import sys
import time


def read_instead(spec):
    """The compiled module where there is one, else the source or the shared object itself."""
    import os
    cached = spec.cached
    return cached if cached and os.path.exists(cached) else spec.origin


def load(name):
    """Nanoseconds that the import takes, and the modules that it brings."""
    known = set(sys.modules)
    started = time.monotonic_ns()
    if name:
        __import__(name)
    took = time.monotonic_ns() - started
    return took, [sys.modules[other] for other in list(sys.modules) if other not in known]


def main():
    sys.dont_write_bytecode = True
    job, word = sys.argv[1:]
    if job != "library" or not word.startswith("name="):
        raise ValueError("the words must be: library name=NAME")
    took, modules = load(word.removeprefix("name="))
    import json
    import platform
    specs = [getattr(module, "__spec__", None) for module in modules]
    specs = [spec for spec in specs if spec is not None and spec.has_location]
    files = [{"source": spec.origin, "read": read_instead(spec)} for spec in specs]
    print(json.dumps({
        "probe": "python", "version": platform.python_version(), "job": "library", "bytes": 0,
        "calls": {}, "operations": 1, "repetitions_ns": [took],
        "modules": len(modules), "files": files,
    }))


try:
    main()
except (OSError, ValueError, ImportError, SyntaxError) as error:
    sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))
