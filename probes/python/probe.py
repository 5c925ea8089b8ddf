"""A probe of hotset for Python: one job, one line of JSON. docs/probes.md has the contract."""

import builtins
import importlib
import importlib.util
import io
import json
import os
import platform
import py_compile
import sys
import time
import zipfile

ENCODINGS = {"text": "utf-8", "legacy": "cp932"}
SUPPORTS = [
    "read:binary", "read:text", "read:legacy", "parse", "write",
    "load:import", "load:zip", "load:known", "readall:binary", "readall:text", "readall:legacy",
    "exists", "compile", "prepare:pyc", "prepare:zip", "prepare:zip-pyc", "compilefiles",
]


def timed(work):
    """Nanoseconds that `work` takes, and what it answers."""
    started = time.monotonic_ns()
    answer = work()
    return time.monotonic_ns() - started, answer


def read_whole(path, how):
    """The file's contents: bytes, or text in an encoding."""
    if how == "binary":
        with open(path, "rb") as file:
            return file.read()
    with open(path, encoding=ENCODINGS[how]) as file:
        return file.read()


def names_of(words):
    """`prefix000`, `prefix001` and so on."""
    return [f"{words['prefix']}{number:03}" for number in range(int(words["count"]))]


def paths_of(words, suffix):
    """The files that the names stand for."""
    return [os.path.join(words["dir"], name + suffix) for name in names_of(words)]


def job_about(_words):
    return {"executable": sys.executable, "supports": SUPPORTS}


def job_read(words):
    path, how, count = words["file"], words.get("how", "binary"), int(words["count"])
    times = [timed(lambda: read_whole(path, how))[0] for _ in range(count)]
    size = os.stat(path).st_size
    return {"bytes": size * count, "calls": {"open": count}, "operations": count, "repetitions_ns": times}


def job_parse(words):
    path, count, what = words["file"], int(words["count"]), words["what"]
    document = read_whole(path, "binary")
    work = {
        "read": lambda: read_whole(path, "binary"),
        "read+parse": lambda: json.loads(read_whole(path, "binary")),
        "parse": lambda: json.loads(document),
    }[what]
    times = [timed(work)[0] for _ in range(count)]
    opened = 0 if what == "parse" else count
    return {
        "bytes": len(document) * opened, "calls": {"open": opened}, "operations": count,
        "repetitions_ns": times,
    }


def job_write(words):
    total, piece, buffer = int(words["total"]), int(words["piece"]), int(words["buffer"])
    sizes = [piece] * (total // piece) + ([total % piece] if total % piece else [])
    pieces = [b"x" * size for size in sizes]

    def work():
        raw = io.FileIO(words["file"], "w")
        with io.BufferedWriter(raw, buffer) if buffer else raw as file:
            for data in pieces:
                file.write(data)
            if words.get("sync", "none") == "fsync":
                file.flush()
                os.fsync(file.fileno())

    took, _ = timed(work)
    calls = {"open": 1} if buffer else {"open": 1, "write": len(pieces)}
    return {"bytes": total, "calls": calls, "operations": len(pieces), "repetitions_ns": [took]}


def load_known(paths):
    """What a cache of paths would do: no directory is searched."""
    for name, path in paths:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


def job_load(words):
    how, names = words["how"], names_of(words)
    before = [os.path.join(words["before"], f"d{number:03}")
              for number in range(int(words.get("directories", "0")))]
    place = words["dir"] + ".zip" if how == "zip" else words["dir"]
    sys.path[:0] = [*before, place]
    if how == "known":
        paths = list(zip(names, paths_of(words, ".py")))
        took, _ = timed(lambda: load_known(paths))
    elif how in ("import", "zip"):
        took, _ = timed(lambda: [importlib.import_module(name) for name in names])
    else:
        raise ValueError(f"how={how} is not one of import, zip, known")
    return {"operations": len(names), "repetitions_ns": [took]}


def job_readall(words):
    how, paths = words.get("how", "binary"), paths_of(words, words["suffix"])
    took, _ = timed(lambda: [read_whole(path, how) for path in paths])
    size = sum(os.stat(path).st_size for path in paths)
    return {
        "bytes": size, "calls": {"open": len(paths)}, "operations": len(paths),
        "repetitions_ns": [took],
    }


def job_exists(words):
    paths, times = paths_of(words, words["suffix"]), int(words["times"])
    took, found = timed(lambda: sum(os.path.exists(path) for _ in range(times) for path in paths))
    asked = len(paths) * times
    return {"calls": {"exists": asked}, "notes": {"found": found}, "operations": asked,
            "repetitions_ns": [took]}


def compile_all(paths):
    """Nanoseconds of compiling sources that were read before, and their bytes."""
    sources = [(read_whole(path, "binary"), path) for path in paths]
    took, _ = timed(lambda: [builtins.compile(source, path, "exec", dont_inherit=True)
                             for source, path in sources])
    return took, sum(len(source) for source, _ in sources)


def job_compile(words):
    paths = paths_of(words, ".py")
    took, size = compile_all(paths)
    return {"bytes": size, "operations": len(paths), "repetitions_ns": [took]}


def job_compilefiles(words):
    with open(words["list"], encoding="utf-8") as file:
        paths = file.read().splitlines()
    took, size = compile_all(paths)
    return {"bytes": size, "operations": len(paths), "repetitions_ns": [took]}


def write_archive(words, how):
    """An archive beside the directory: of sources, or of compiled modules alone."""
    with zipfile.ZipFile(words["dir"] + ".zip", "w") as archive:
        for path in paths_of(words, ".py"):
            if how == "zip":
                archive.write(path, os.path.basename(path))
            else:
                compiled = py_compile.compile(path, path + "c", doraise=True)
                archive.write(compiled, os.path.basename(compiled))
                os.unlink(compiled)


def job_prepare(words):
    paths, how = paths_of(words, ".py"), words["how"]

    def work():
        if how == "pyc":
            for path in paths:
                py_compile.compile(path, doraise=True)
        elif how in ("zip", "zip-pyc"):
            write_archive(words, how)
        else:
            raise ValueError(f"how={how} is not one of pyc, zip, zip-pyc")

    took, _ = timed(work)
    return {"operations": len(paths), "repetitions_ns": [took]}


def main():
    sys.dont_write_bytecode = True
    job, *rest = sys.argv[1:] or [""]
    words = dict(word.split("=", 1) for word in rest)
    work = globals().get(f"job_{job}")
    if work is None:
        raise ValueError(f"there is no job {job!r}")
    answer = {"probe": "python", "version": platform.python_version(), "job": job, "bytes": 0,
              "calls": {}, "operations": 0, "repetitions_ns": []}
    print(json.dumps(answer | work(words)))


try:
    main()
except (OSError, ValueError, KeyError, ImportError, SyntaxError) as error:
    sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))
