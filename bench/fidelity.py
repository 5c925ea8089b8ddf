#!/usr/bin/env python3
"""Whether `hotset replay` takes as long as the I/O of a program that nobody records, by that program's own clock.

Run by `make bench BENCH=fidelity`. A recording makes calls slower, and is one run of many: beside it, nobody can tell whether a replay is
right. Each round therefore runs the program twice with a clock around each of its calls (clock.c) and without hotset, then records it, replays the
recording, and runs it twice with the clock again. Prints a Markdown table, and exits with 1 where a replay takes less than 0.9 or more than 1.1
times as long; with --write FILE also puts it there.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from proofs import HERE, REPLAYS, prepare_kinds, set_state, with_interval
from rounds import HELD, MISSED, TOO_NOISY, judged

LEAST, MOST = 0.9, 1.1
# A name for the table, one of the kinds of proofs.c, and the state of the cache before it.
CASES = [
    ("cached reads of 512 bytes", "small-reads", "warm"),
    ("cold reads, in order", "small-reads", "cold"),
    ("direct reads", "direct", "cold"),
    ("small writes", "small-writes", "warm"),
    ("write and fsync", "synced", "warm"),
    ("open, read, close", "reread", "warm"),
]


def clocked(args, kind, state):
    """Seconds of the program's calls, by its own clock."""
    set_state(args, state)
    environment = {**os.environ, "LD_PRELOAD": args.clock}
    told = subprocess.run(kind, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    return float(told.stderr.split()[1])


def replayed(args, kind, state, seed):
    """Seconds of I/O of a replay, and that by what was recorded."""
    set_state(args, state)
    words = [args.hotset, "record", "-q", "--lossless", "--force", "-o", "trace.parquet", "--", *kind]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    words = [args.hotset, "replay", "trace.parquet", "--rounds", str(REPLAYS), "--seed", str(seed), "-q", "--json", "replay.json"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with open("replay.json", encoding="utf-8") as file:
        session = json.load(file)
    recorded, read = session["fidelity"], session["fidelity"]["device_read_ratio"]
    return recorded["ratio"] * recorded["recorded_io_ns"] / 1e9, recorded["ratio"], read


def within(ratios):
    """Whether the median is within the goal."""
    verdicts = {judged(ratios, MOST), judged([-ratio for ratio in ratios], -LEAST)}
    if MISSED in verdicts:
        return MISSED
    return TOO_NOISY if TOO_NOISY in verdicts else HELD


def measure(args, name, kind, state):
    """The row of a table, and whether the goal is not missed."""
    own, by_own, by_recorded, read = [], [], [], []
    for number in range(args.rounds):
        clocks = [clocked(args, kind, state) for _ in range(2)]
        seconds, fidelity, device = replayed(args, kind, state, number)
        clocks += [clocked(args, kind, state) for _ in range(2)]
        own += clocks
        by_own.append(seconds / statistics.median(clocks))
        by_recorded.append(fidelity)
        read += [device] if device is not None else []
    held = within(by_own)
    spread = f"{statistics.median(own) * 1e3:,.1f} ({min(own) * 1e3:,.1f}–{max(own) * 1e3:,.1f})"
    cells = [name, spread, with_interval(by_own), with_interval(by_recorded), with_interval(read, 3) if read else "–", held]
    return "| " + " | ".join(cells) + " |", held != MISSED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", help="one of the cases, by the beginning of its name")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    args.hotset = os.path.abspath(args.hotset)
    directory = tempfile.mkdtemp(prefix="hotset-fidelity-", dir=os.getcwd())
    lines, held = [], True
    try:
        args.kinds, args.clock = os.path.join(directory, "proofs"), os.path.join(directory, "clock.so")
        subprocess.run(["gcc", "-O2", "-o", args.kinds, os.path.join(HERE, "proofs.c")], check=True)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", args.clock, os.path.join(HERE, "clock.c")], check=True)
        prepare_kinds(directory)
        os.chdir(directory)
        for name, kind, state in CASES:
            if not args.only or name.startswith(args.only):
                line, is_held = measure(args, name, [args.kinds, kind, "original", "."], state)
                print(line, flush=True)
                lines.append(line)
                held &= is_held
    finally:
        os.chdir("/")
        shutil.rmtree(directory, ignore_errors=True)
    head = [
        "| program | its calls by its own clock, ms (all runs) | replay by that (95 %) | replay by recorded (95 %) | device bytes of a replay by recorded (95 %) | held |",
        "|---|---|---|---|---|---|",
    ]
    table = "\n".join([*head, *lines]) + "\n"
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(table)
    print(table)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
