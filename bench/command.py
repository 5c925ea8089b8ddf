#!/usr/bin/env python3
"""What hotset's benchmark engine adds to a short command, and how long it takes to set and verify cache states.

Run by `make bench`. Starts a program that does nothing over and over: by bare posix_spawn and wait4, by the engine, and
by `hyperfine -N`, in alternating rounds; then evicts, warms and verifies 10,000 small files. Prints a Markdown table, and
exits with 1 where a goal was not held; with --write FILE also puts it there.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

GOAL_ADDED_US = 25
GOAL_COLD_MS = 500
GOAL_VERIFY_MS = 50
FILES = 10_000
COMMAND = "/bin/true"


def output(words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def by_loop(loops, verb, runs):
    return [int(word) / 1e3 for word in output([loops, verb, COMMAND, str(runs)]).split()]


def by_hyperfine(directory, runs):
    path = os.path.join(directory, "hyperfine.json")
    words = ["hyperfine", "-N", "--style", "none", "--runs", str(runs), "--export-json", path, COMMAND]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return [seconds * 1e6 for seconds in json.load(file)["results"][0]["times"]]


def spawns(args, directory):
    """Medians of all runs in microseconds, by who started them."""
    times = {"bare posix_spawn and wait4": [], "hotset's engine": [], "hyperfine -N": []}
    bare, engine, hyperfine = times
    for _ in range(args.rounds):
        times[bare] += by_loop(args.loops, "spawn", args.runs)
        times[engine] += by_loop(args.loops, "lab", args.runs)
        if shutil.which("hyperfine"):
            times[hyperfine] += by_hyperfine(directory, args.runs)
    return {who: (min(each), statistics.median(each)) for who, each in times.items() if each}


def states(args, directory):
    """Medians in milliseconds: setting each state, and verifying it."""
    files = os.path.join(directory, "files")
    subprocess.run([args.loops, "make-files", files, str(FILES)], check=True)
    os.sync()
    lines = [line.split() for line in output([args.loops, "states", files, str(args.rounds)]).splitlines()]
    # The first round brings in directories and inodes.
    later = lines[len(lines) // args.rounds:] or lines
    of = lambda state, column: statistics.median(float(line[column]) for line in later if line[0] == state)
    return {state: (of(state, 3), of(state, 4)) for state in ("cold", "warm", "50%")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--runs", type=int, default=150, help="of the command, a round")
    parser.add_argument("--directory", default="/var/tmp", help="on a disk")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        spawned = spawns(args, directory)
        reached = states(args, directory)
    bare, engine = spawned["bare posix_spawn and wait4"], spawned["hotset's engine"]
    hyperfine = spawned.get("hyperfine -N")
    rows = [f"| `{COMMAND}` by | fastest | median |", "|---|---|---|"]
    rows += [f"| {who} | {least:.0f} us | {median:.0f} us |" for who, (least, median) in spawned.items()]
    rows += ["", f"| {FILES:,} files | set and verified | verified |", "|---|---|---|"]
    rows += [f"| {state} | {set_ms:.0f} ms | {verify_ms:.0f} ms |" for state, (set_ms, verify_ms) in reached.items()]
    held = {
        f"adds at most {GOAL_ADDED_US} us": engine[1] - bare[1] <= GOAL_ADDED_US,
        f"cold in {GOAL_COLD_MS} ms": reached["cold"][0] <= GOAL_COLD_MS,
        f"verified in {GOAL_VERIFY_MS} ms": all(verify <= GOAL_VERIFY_MS for _, verify in reached.values()),
    }
    if hyperfine:
        held["adds no more than hyperfine -N"] = engine[1] <= hyperfine[1]
    else:
        print("hyperfine is not installed: no comparison with it", file=sys.stderr)
    rows += [""] + [f"{'held' if is_held else 'NOT HELD'}: {goal}" for goal, is_held in held.items()]
    text = "\n".join(rows) + "\n"
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(0 if all(held.values()) else 1)


if __name__ == "__main__":
    main()
