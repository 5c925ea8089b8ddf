"""A probe of hotset for Python from 2.7 on: one job, one line of JSON. docs/probes.md has the contract."""

import sys

# The script's own directory stands first, unless the interpreter was told to leave it out. Only the clock comes from there.
sys.dont_write_bytecode = True
if getattr(sys.flags, "safe_path", False) or getattr(sys.flags, "isolated", False):
    sys.path.insert(0, __file__.rpartition("/")[0])
from hotset_clock import now
del sys.path[0]

import importlib
import io
import json
import os
import platform
import py_compile
import zipfile

try:
    from importlib.util import module_from_spec, spec_from_file_location

    def load_file(name, path):
        """Loads a module from its file, or from the compiled one that belongs to it. No directory is searched."""
        spec = spec_from_file_location(name, path)
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
except ImportError:
    # Before Python 3.5 it does the same in one call.
    from imp import load_source as load_file

# Of a file that is not timed.
WARM_UPS = 3
ENCODINGS = {"text": "utf-8", "legacy": "cp932"}
SUPPORTS = [
    "read:binary", "read:text", "read:legacy", "write",
    "load:import", "load:zip", "load:known", "readall:binary", "readall:text", "readall:legacy",
    "exists", "compile", "prepare:pyc", "prepare:zip", "prepare:zip-pyc", "compilefiles",
]
try:
    json.loads(b"[]")
    SUPPORTS.append("parse")
except TypeError:
    pass  # Python 3 before 3.6 parses only what was decoded


def timed(work):
    """Nanoseconds that `work` takes, and what it answers."""
    started = now()
    answer = work()
    return now() - started, answer


def read_whole(path, how):
    """The file's contents: bytes, or text in an encoding."""
    if how == "binary":
        with io.open(path, "rb") as file:
            return file.read()
    with io.open(path, encoding=ENCODINGS[how]) as file:
        return file.read()


def numbered(prefix, count):
    """`prefix000`, `prefix001` and so on."""
    return ["{}{:03}".format(prefix, number) for number in range(count)]


def names_of(words):
    """The names of the wanted files, without their endings."""
    return numbered(words["prefix"], int(words["count"]))


def paths_of(words, suffix):
    """The files that the names stand for."""
    return [os.path.join(words["dir"], name + suffix) for name in names_of(words)]


def before_of(words):
    """The empty directories before the one that has the files."""
    count = int(words.get("directories", "0"))
    return [os.path.join(words["before"], name) for name in numbered("d", count)] if count else []


def job_about(_words):
    return {"executable": sys.executable, "supports": SUPPORTS}


def warm_up(words, work):
    """The same work with another file, so that the first timed part has none of the program's own first times."""
    if "prime" in words:
        for _ in range(WARM_UPS):
            work(words["prime"])


def job_read(words):
    path, how, count = words["file"], words.get("how", "binary"), int(words["count"])
    warm_up(words, lambda other: read_whole(other, how))
    times = [timed(lambda: read_whole(path, how))[0] for _ in range(count)]
    size = os.stat(path).st_size
    return {"bytes": size * count, "calls": {"open": count}, "operations": count, "repetitions_ns": times}


def job_parse(words):
    path, count, what = words["file"], int(words["count"]), words["what"]
    document = read_whole(path, "binary") if what == "parse" else None
    work = {
        "read": lambda path: read_whole(path, "binary"),
        "read+parse": lambda path: json.loads(read_whole(path, "binary")),
        "parse": lambda _: json.loads(document),
    }[what]
    warm_up(words, work)
    times = [timed(lambda: work(path))[0] for _ in range(count)]
    opened = 0 if what == "parse" else count
    return {
        "bytes": os.stat(path).st_size * opened, "calls": {"open": opened}, "operations": count,
        "repetitions_ns": times,
    }


def write_calls():
    """Write calls of this process so far, as the kernel counted them; None where it doesn't tell."""
    try:
        with io.open("/proc/self/io", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"syscw:"))
    except (EnvironmentError, StopIteration):
        return None


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

    before = write_calls()
    took, _ = timed(work)
    answer = {"bytes": total, "calls": {"open": 1}, "operations": len(pieces), "repetitions_ns": [took]}
    if before is not None:
        answer["write_calls"] = write_calls() - before
    return answer


def job_load(words):
    how, names = words["how"], names_of(words)
    place = words["dir"] + ".zip" if how == "zip" else words["dir"]
    sys.path[:0] = before_of(words) + [place]
    if how == "known":
        paths = list(zip(names, paths_of(words, ".py")))
        took, _ = timed(lambda: [load_file(name, path) for name, path in paths])
    elif how in ("import", "zip"):
        took, _ = timed(lambda: [importlib.import_module(name) for name in names])
    else:
        raise ValueError("how={} is not one of import, zip, known".format(how))
    return {"operations": len(names), "repetitions_ns": [took]}


def job_readall(words):
    how, paths = words.get("how", "binary"), paths_of(words, words["suffix"])
    took, _ = timed(lambda: [read_whole(path, how) for path in paths])
    size = sum(os.stat(path).st_size for path in paths)
    return {
        "bytes": size, "calls": {"open": len(paths)}, "operations": len(paths),
        "repetitions_ns": [took],
    }


def look_up(searches, times):
    """How many names are found, and how many paths are asked for: those of a name in order, until one exists."""
    found = asked = 0
    for _ in range(times):
        for paths in searches:
            for path in paths:
                asked += 1
                if os.path.exists(path):
                    found += 1
                    break
    return found, asked


def job_exists(words):
    places, times = before_of(words) + [words["dir"]], int(words["times"])
    searches = [[os.path.join(place, name + words["suffix"]) for place in places]
                for name in names_of(words)]
    took, (found, asked) = timed(lambda: look_up(searches, times))
    return {"calls": {"exists": asked}, "notes": {"found": found},
            "operations": len(searches) * times, "repetitions_ns": [took]}


def compile_all(paths):
    """Nanoseconds of compiling sources that were read before, and their bytes."""
    sources = [(read_whole(path, "binary"), path) for path in paths]
    took, _ = timed(lambda: [compile(source, path, "exec", dont_inherit=True)
                             for source, path in sources])
    return took, sum(len(source) for source, _ in sources)


def job_compile(words):
    paths = paths_of(words, ".py")
    took, size = compile_all(paths)
    return {"bytes": size, "operations": len(paths), "repetitions_ns": [took]}


def job_compilefiles(words):
    with io.open(words["list"], encoding="utf-8") as file:
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
                compiled = path + "c"
                py_compile.compile(path, compiled, doraise=True)
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
            raise ValueError("how={} is not one of pyc, zip, zip-pyc".format(how))

    took, _ = timed(work)
    return {"operations": len(paths), "repetitions_ns": [took]}


def main():
    job = sys.argv[1] if len(sys.argv) > 1 else ""
    words = dict(word.split("=", 1) for word in sys.argv[2:])
    work = globals().get("job_" + job)
    if work is None:
        raise ValueError("there is no job {!r}".format(job))
    answer = {"probe": "python", "version": platform.python_version(), "job": job, "bytes": 0,
              "calls": {}, "operations": 0, "repetitions_ns": []}
    answer.update(work(words))
    print(json.dumps(answer))


try:
    main()
except (EnvironmentError, ValueError, KeyError, ImportError, SyntaxError) as error:
    sys.exit("{}: {}".format(type(error).__name__, error).replace("\n", " "))
