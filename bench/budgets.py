#!/usr/bin/env python3
"""How reliable are budgets? Ten commands, each with a budget of `hotset check --init`: how many of many runs hold it, and how many of
the runs with one thing more (a file read, a failed lookup, an fsync, 64 KiB from the device) break it. Needs root.

    budgets.py HOTSET RUNS DIR [COMMAND…] [--state STATE]

Prints a Markdown table. Keep the host busy with other work meanwhile: a budget that holds only on a quiet one is none.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

CHANGES = ["read", "lookup", "sync", "device"]
# Runs with each change: a change must be noticed each time, so that a tenth of the runs tells enough.
PART = 10


def commands(place):
    """Ten commands that developers run, with what they need in `place`."""
    tree = os.path.join(place, "tree")
    source = os.path.join(place, "hello.c")
    database = os.path.join(place, "rows.db")
    numbers = os.path.join(place, "numbers.json")
    os.makedirs(tree)
    for number in range(200):
        with open(os.path.join(tree, f"{number}.txt"), "w", encoding="ascii") as file:
            file.write("needle in a haystack\n" * (10 + number))
    run(["git", "init", "-q", tree])
    run(["git", "-C", tree, "add", "."])
    run(["git", "-C", tree, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"])
    # Files as young as the index are read again until the index is written once more.
    time.sleep(1.1)
    run(["touch", os.path.join(tree, "0.txt")])
    run(["git", "-C", tree, "status", "--short"])
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts(\"hello\") < 0; }\n")
    rows = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) INSERT INTO t SELECT i, hex(i) FROM c;"
    run(["sqlite3", database, f"CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); {rows}"])
    with open(numbers, "w", encoding="ascii") as file:
        json.dump([{"n": n, "text": "x" * 50} for n in range(20000)], file)
    return {
        "git status": ["git", "-C", tree, "status", "--short"],
        "python3": ["/usr/bin/python3", "-c", "import json, asyncio"],
        "node": ["node", "-e", "console.log(1)"],
        "sqlite3": ["sqlite3", database, "SELECT sum(length(v)) FROM t"],
        "grep -r": ["grep", "-rc", "needle", tree],
        "tar": ["tar", "-cf", os.path.join(place, "tree.tar"), "-C", place, "tree"],
        "cc1": ["cc", "-c", "-O1", source, "-o", os.path.join(place, "hello.o")],
        "ruby": ["ruby", "-e", "puts 1"],
        "java": ["java", "-version"],
        "jq": ["jq", "length", numbers],
    }


def run(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def budget(hotset, place, name, words, state):
    """The text of a new budget."""
    asked = [hotset, "check", "--init", "--state", state, "--name", name, "--baseline", "baseline.json", "--"]
    disturb = [os.path.join(place, "disturb"), "none", place]
    made = subprocess.run(asked + disturb + words, cwd=place, stdout=subprocess.PIPE, check=True, text=True)
    return made.stdout


def checked(hotset, place, text, runs, tell=False):
    """Of so many runs of a check, how many held its limits, and which numbers were broken, with how often; tells by what, if asked to."""
    file = os.path.join(place, "hotset.toml")
    head, rest = text.split("\n", 1)
    name = rest.split("\n", 1)[0]
    with open(file, "w", encoding="utf-8") as out:
        for number in range(runs):
            out.write(f"{head}\n{rest.replace(name, f'{name[:-1]} {number}{name[-1]}', 1)}\n")
    done = subprocess.run([hotset, "check", "-q", "--json", "-"], cwd=place, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"budgets: hotset check ended with {done.returncode}")
    held, broken = 0, {}
    for check in json.loads(done.stdout)["checks"]:
        if check["outcome"] == "passed":
            held += 1
            continue
        if check["outcome"] != "failed":
            sys.exit(f"budgets: {check['name']}: {check['outcome']}: {check['error']} {check['attempts']}")
        for limit in check["attempts"][-1]["limits"]:
            if limit["verdict"] != "held":
                broken[limit["number"]] = broken.get(limit["number"], 0) + 1
                if tell:
                    parts = ", ".join(f"{part['amount']:+} {part['name']}" for part in limit["parts"])
                    print(f"{name}: {limit['number']} {limit['value']}, allowed {limit['limit']}: {parts}", file=sys.stderr)
    return held, broken


def measure(hotset, place, name, words, state, runs):
    text = budget(hotset, place, name, words, state)
    held, broken = checked(hotset, place, text, runs, tell=True)
    cells = [f"{held} of {runs}"]
    part = max(1, runs // PART)
    for change in CHANGES:
        if change == "device" and state == "as-is":
            cells.append("–")
            continue
        changed = text.replace('"none"', f'"{change}"', 1)
        still_held, _ = checked(hotset, place, changed, part)
        cells.append(f"{part - still_held} of {part}")
    why = ", ".join(f"{number} ({times})" for number, times in sorted(broken.items()))
    print(f"| {name} | {state} | {' | '.join(cells)} | {why or '–'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hotset")
    parser.add_argument("runs", type=int)
    parser.add_argument("directory")
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--state", action="append", choices=["as-is", "cold"], help="[default: both]")
    asked = parser.parse_args()
    hotset = os.path.abspath(asked.hotset)
    here = os.path.dirname(os.path.abspath(__file__))
    place = tempfile.mkdtemp(prefix="budgets-", dir=asked.directory)
    try:
        run(["cc", "-O1", "-static", "-o", os.path.join(place, "disturb"), os.path.join(here, "disturb.c")])
        for name, size in (("small", 4096), ("large", 1 << 20)):
            with open(os.path.join(place, name), "wb") as file:
                file.write(os.urandom(size))
                os.fsync(file.fileno())
        print("| command | state | held | one more file read | failed lookup | fsync | 64 KiB from the device | broken without a change |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for name, words in commands(place).items():
            if asked.commands and name not in asked.commands:
                continue
            for state in asked.state or ("as-is", "cold"):
                measure(hotset, place, name, words, state, asked.runs)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
