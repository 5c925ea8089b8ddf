#!/usr/bin/env python3
"""What `hotset replay --as` predicts, against what the program gains when its author really changes it.

Run by `make bench BENCH=proofs`. Twelve programs in two forms, as first written and as changed. Each round runs both forms without hotset, from
the same cache state, then records the first and replays the recording as it is and with the change: the time that the replay saves is what
hotset predicts, the time that the program saves is what is true. Prints a Markdown table, and exits with 1 where a prediction overstated
the gain or found too little of it; with --write FILE also puts it there.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import HELD, MISSED, TOO_NOISY, interval, judged

# A prediction may overstate the gain by so much, and has to find so much of its I/O part.
MOST, LEAST = 1.10, 0.80
# Replays of each form in a round: as few as a confidence interval takes.
REPLAYS = 6
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = ["/usr/bin/python3", "-S", "-c"]

SQLITE = """
import sqlite3, sys
rows, group = 400, int(sys.argv[1])
db = sqlite3.connect("rows.db", isolation_level=None)
db.execute("drop table if exists t")
db.execute("create table t(id integer primary key, text text)")
for row in range(rows):
    if row % group == 0: db.execute("begin")
    db.execute("insert into t(text) values(?)", ("x" * 100,))
    if row % group == group - 1: db.execute("commit")
"""
LINES = """
import sys
total = 0
with open("lines.csv", "rb", buffering=int(sys.argv[1])) as lines:
    for line in lines: total += int(line.split(b",")[1])
print(total)
"""
LOADER = """
import json, os, sys
total = 0
if sys.argv[1] == "files":
    for number in range(12000):
        with open("small/%d.json" % number, "rb", buffering=0) as file: total += json.loads(file.read(65536))["value"]
else:
    index = json.load(open("index.json"))
    with open("pack", "rb", buffering=0) as pack:
        for offset, size in index: total += json.loads(os.pread(pack.fileno(), size, offset))["value"]
print(total)
"""


class Program:
    """A program in two forms, the change that leads from one to the other, and the cache state that both begin with."""

    def __init__(self, name, original, changed, changes, state="warm"):
        self.name, self.original, self.changed, self.changes, self.state = name, original, changed, changes, state


def programs(args):
    kind = lambda name, change, **more: Program(name, [args.kinds, name, "original", "."], [args.kinds, name, "changed", "."], change, **more)
    # It would write its index anew. All files were touched, so that it reads them.
    git = ["env", "GIT_OPTIONAL_LOCKS=0", "git", "-C", "tree", "status", "--porcelain"]
    dd = ["dd", "if=reread", "of=/dev/null", "bs=16k", "status=none"]
    twice = lambda flag: ["sh", "-c", " ".join([*dd, *flag, "&&", *dd, *flag])]
    return [
        kind("direct", "cached"),
        kind("small-writes", "buffer=64K"),
        kind("small-reads", "buffer=256K"),
        kind("synced", "sync-every=50"),
        kind("mapped", "mmap"),
        kind("reread", "once"),
        kind("lookups", "known-paths"),
        Program("sqlite3, 400 rows, one transaction for 50", [*PYTHON, SQLITE, "1"], [*PYTHON, SQLITE, "50"], "sync-every=50"),
        Program("Python, lines without a buffer, then with one", [*PYTHON, LINES, "0"], [*PYTHON, LINES, "65536"], "buffer=64K"),
        Program("git status, cold, then with a prefetch", git, [args.kinds, "prefetch", "git.list", *git], "prefetch", "cold"),
        Program("Python, 12,000 small files, then one pack", [*PYTHON, LOADER, "files"], [*PYTHON, LOADER, "pack"], "packed"),
        Program("dd twice with O_DIRECT, then without", twice(["iflag=direct"]), twice([]), "cached"),
    ]


def prepare_kinds(directory):
    """Every file that the programs of proofs.c read."""
    random = os.urandom
    path = lambda name: os.path.join(directory, name)
    for name, size in ("data", 256 << 20), ("config", 30_000), ("reread", 64 << 20):
        with open(path(name), "wb") as file:
            file.write(random(size))
    for number in range(44):
        os.makedirs(path(f"modules/{number}"))
    for number in range(200):
        with open(path(f"modules/43/m{number}"), "wb") as file:
            file.write(random(4_000))
    os.sync()


def prepare(directory):
    """Every file that the programs read."""
    random = os.urandom
    path = lambda name: os.path.join(directory, name)
    prepare_kinds(directory)
    with open(path("lines.csv"), "w", encoding="ascii") as file:
        file.writelines(f"{number},{number * 7},name {number}\n" for number in range(20_000))
    os.mkdir(path("small"))
    index, at = [], 0
    with open(path("pack"), "wb") as pack:
        for number in range(12_000):
            text = json.dumps({"value": number, "text": "x" * (200 + number % 800)}).encode()
            with open(path(f"small/{number}.json"), "wb") as file:
                file.write(text)
            pack.write(text)
            index.append((at, len(text)))
            at += len(text)
    with open(path("index.json"), "w", encoding="ascii") as file:
        json.dump(index, file)
    os.mkdir(path("tree"))
    git = ["git", "-C", path("tree"), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for number in range(2_000):
        os.makedirs(path(f"tree/{number // 50}"), exist_ok=True)
        with open(path(f"tree/{number // 50}/{number}"), "wb") as file:
            file.write(random(3_000))
    for words in ["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]:
        subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)
    with open(path("git.list"), "w", encoding="ascii") as file:
        for number in range(2_000):
            os.utime(path(f"tree/{number // 50}/{number}"))
            file.write(f"tree/{number // 50}/{number}\n")
        file.write("tree/.git/index\n")
    os.sync()


def set_state(args, state):
    verb = "warm" if state == "warm" else "evict"
    subprocess.run([args.hotset, verb, "-q", "."], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def timed(words):
    """Wall seconds, and wall without the CPU time of the program's own code: that of its I/O."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    return wall, wall - (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def replayed(args, program, seed):
    """Seconds that the change is predicted to save, how many times faster it makes I/O, and the fidelity; nothing where hotset makes no claim."""
    words = [args.hotset, "replay", "trace.parquet", "--as", program.changes, "--rounds", str(REPLAYS), "--seed", str(seed), "-q", "--json", "replay.json"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with open("replay.json", encoding="utf-8") as file:
        session = json.load(file)
    saved_ns = session["predictions"][0]["saved_ns"]
    if saved_ns is None:
        return None
    before, after = (cell["io_ns"]["median"] for cell in session["cells"])
    return saved_ns / 1e9, before / after, session["fidelity"]["ratio"]


def measure(args, program):
    """Rounds of the truth and of the prediction, in turns."""
    rows = []
    for number in range(args.rounds):
        set_state(args, program.state)
        original = timed(program.original)
        set_state(args, program.state)
        changed = timed(program.changed)
        set_state(args, program.state)
        words = [args.hotset, "record", "-q", "--lossless", "--force", "-o", "trace.parquet", "--", *program.original]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        claim = replayed(args, program, number)
        if claim:
            rows.append((original, changed, *claim))
    return rows


def with_interval(values, digits=2):
    """The median with its 95 % interval."""
    bounds = interval(values)
    ends = f" ({bounds[0]:,.{digits}f}–{bounds[1]:,.{digits}f})" if bounds else ""
    return f"{statistics.median(values):,.{digits}f}{ends}"


def both(overstated, found):
    """Whether both goals were held."""
    if MISSED in (overstated, found):
        return MISSED
    return TOO_NOISY if TOO_NOISY in (overstated, found) else HELD


def row(program, rows, rounds):
    """The row of a table, and whether the prediction is right."""
    truth = [original[0] - changed[0] for original, changed, *_ in rows]
    io_truth = [original[1] - changed[1] for original, changed, *_ in rows]
    predicted = [saved for _, _, saved, _, _ in rows]
    overstated = judged([said - MOST * true for said, true in zip(predicted, truth)], 0)
    found = judged([LEAST * true - said for said, true in zip(predicted, io_truth)], 0)
    of = lambda whole: with_interval([said / true for said, true in zip(predicted, whole)])
    milliseconds = lambda seconds: f"{statistics.median(seconds) * 1e3:,.1f}"
    held = both(overstated, found)
    cells = [
        program.name, f"`{program.changes}`", with_interval([fidelity for *_, fidelity in rows]), f"{statistics.median(times for *_, times, _ in rows):,.1f}x",
        milliseconds([original[0] for original, *_ in rows]), milliseconds(truth), milliseconds(predicted), of(truth), of(io_truth), f"{len(rows)} of {rounds}", held,
    ]
    return "| " + " | ".join(cells) + " |", held != MISSED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", help="one of the programs, by the beginning of its name")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    args.hotset = os.path.abspath(args.hotset)
    directory = tempfile.mkdtemp(prefix="hotset-proofs-", dir=os.getcwd())
    lines, held = [], True
    try:
        args.kinds = os.path.join(directory, "proofs")
        subprocess.run(["gcc", "-O2", "-o", args.kinds, os.path.join(HERE, "proofs.c")], check=True)
        prepare(directory)
        os.chdir(directory)
        for program in programs(args):
            if args.only and not program.name.startswith(args.only):
                continue
            rows = measure(args, program)
            if len(rows) < 6:
                lines.append(f"| {program.name} | `{program.changes}` | too few rounds with a claim: {len(rows)} of {args.rounds} | | | | | | | | {MISSED} |")
                held = False
            else:
                line, is_held = row(program, rows, args.rounds)
                lines.append(line)
                held &= is_held
            print(lines[-1], flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(directory, ignore_errors=True)
    head = [
        "| program | change | fidelity (95 %) | I/O faster | run, ms | really saved, ms | predicted, ms | predicted / real (95 %) | of its I/O part (95 %) | rounds with a claim | held |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    table = "\n".join([*head, *lines]) + "\n"
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(table)
    print(table)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
