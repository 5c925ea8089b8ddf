"""Loads one library and says what came with it: the job `library` of docs/probes.md.

Nothing else is imported before, so that what the library needs is not there already; but in Python 2.7 the clock needs ctypes.
"""

import sys

# The script's own directory stands first, unless the interpreter was told to leave it out. Only the clock comes from there.
sys.dont_write_bytecode = True
if getattr(sys.flags, "safe_path", False) or getattr(sys.flags, "isolated", False):
    sys.path.insert(0, __file__.rpartition("/")[0])
from hotset_clock import now
del sys.path[0]


def load(name):
    """Nanoseconds that the import takes, and the modules that it brings."""
    known = set(sys.modules)
    started = now()
    if name:
        __import__(name)
    took = now() - started
    brought = [sys.modules[other] for other in list(sys.modules) if other not in known]
    # None is Python 2's note that there is no such module.
    return took, [module for module in brought if module is not None]


def file_of(module):
    """A module's source, and what was read for it: the compiled module where there is one, else the source or the shared object
    itself. Nothing for a module that has no file."""
    import os
    if sys.version_info[0] == 2:
        read = getattr(module, "__file__", None)
        if read is None:
            return None
        read = os.path.abspath(read)
        source = read[:-1] if read.endswith((".pyc", ".pyo")) else read
        return {"source": source if os.path.exists(source) else read, "read": read}
    spec = getattr(module, "__spec__", None)
    if spec is None or not spec.has_location:
        return None
    is_compiled = spec.cached and os.path.exists(spec.cached)
    return {"source": spec.origin, "read": spec.cached if is_compiled else spec.origin}


def main():
    job, word = sys.argv[1:]
    if job != "library" or not word.startswith("name="):
        raise ValueError("the words must be: library name=NAME")
    took, modules = load(word[len("name="):])
    import json
    import platform
    files = [file for file in map(file_of, modules) if file is not None]
    print(json.dumps({
        "probe": "python", "version": platform.python_version(), "job": "library", "bytes": 0,
        "calls": {}, "operations": 1, "repetitions_ns": [took],
        "modules": len(modules), "files": files,
    }))


try:
    main()
except (EnvironmentError, ValueError, ImportError, SyntaxError) as error:
    sys.exit("{}: {}".format(type(error).__name__, error).replace("\n", " "))
