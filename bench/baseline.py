#!/usr/bin/env python3
"""How often `hotset bench --baseline` calls an unchanged command slower, and how often it finds one with 10 % more to do.

    bench/baseline.py HOTSET SESSIONS DIR --loops LOOPS

Run by `make bench BENCH=baseline`. Saves SESSIONS sessions of each command, as it is and with 10 % more work, of 15 rounds each and in a random order, in
DIR; then compares every one with baselines of 1, 3 and 10 of the others (`loops baselines`). The host should be quiet; if it is not, --ahead schedules the
sessions before everything else. Sessions that are there from an earlier run count too.
Prints Markdown; exit code 1 where a goal is missed: an unchanged command called slower in at most 1 of 100, 10 % more found in 95 of 100.
"""

import argparse
import os
import random
import subprocess
import sys
import time

from rounds import HELD, MIB, MISSED, REAL_TIME, machine, make_file

ROUNDS = 15
MORE = 1.1
KEPT = [1, 3, 10]
FALSE_CLAIMS, FOUND = 0.01, 0.95


def prepared(directory):
    """Command -> the words of it as it is, and of it with more to do; each takes some tens of milliseconds."""
    commands = {}
    for name, size in {"sha256sum": 10 * MIB, "sort": MIB}.items():
        files = [os.path.join(directory, f"{name}-{kind}") for kind in ("same", "more")]
        for file, times in zip(files, (1, MORE)):
            if name == "sort":
                lines = random.Random(20261127)
                with open(file, "w", encoding="ascii") as out:
                    out.writelines(f"{lines.random():.12f}\n" for _ in range(int(size * times) // 15))
            else:
                make_file(file, int(size * times))
        commands[name] = [[name, file] for file in files]
    loop = "import sys\nfor i in range(int(sys.argv[1])): pass"
    start, step = seconds(["python3", "-c", loop, "0"]), seconds(["python3", "-c", loop, "1000000"])
    count = 700_000
    # What it takes to start is not more for 10 % more of the whole.
    more = count * MORE + 0.1 * start / max(step - start, 1e-9) * 1e6
    commands["python3"] = [["python3", "-c", loop, str(int(number))] for number in (count, more)]
    return commands


def seconds(argv):
    """The least of ten runs."""
    times = []
    for _ in range(10):
        before = time.monotonic()
        subprocess.run(argv, check=True)
        times.append(time.monotonic() - before)
    return min(times)


def session(args, name, kind, number, argv):
    """One session, saved as a baseline of its own."""
    saved = f"{name}.{kind}.{number:06}"
    words = ["bench", "-q", "--state", "as-is", "-r", str(args.rounds), "-n", name, "--baseline-dir", args.directory]
    ahead = ["chrt", "-f", str(REAL_TIME)] if args.ahead else []
    subprocess.run([*ahead, args.hotset, *words, "--save-baseline", saved, "--", *argv], check=True)


def rate(count, of):
    return f"{count:,} of {of:,} ({count / of:.1%})" if of else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hotset", metavar="HOTSET")
    parser.add_argument("sessions", metavar="SESSIONS", type=int, help="of each command and kind")
    parser.add_argument("directory", metavar="DIR", help="where sessions and files are kept")
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--ahead", action="store_true", help="real-time scheduled, on a host that is not quiet; needs root")
    parser.add_argument("--minutes", type=float, default=600, help="start no session later")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    os.makedirs(args.directory, exist_ok=True)
    end = time.monotonic() + args.minutes * 60
    started = int(time.time()) % 10_000 * 100
    todo = [(name, kind, words) for name, both in prepared(args.directory).items() for kind, words in zip(("same", "more"), both)]
    for number in range(args.sessions):
        random.shuffle(todo)
        if time.monotonic() > end:
            break
        for name, kind, argv in todo:
            session(args, name, kind, started + number, argv)
    rows = [
        machine(),
        "",
        "| command | sessions in the baseline | spread between sessions, wall and CPU | unchanged and called slower, wall | CPU | 10 % more and found, wall | CPU | least slow-down that is shown | held |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    held = True
    verb = "baselines-ahead" if args.ahead else "baselines"
    for kept in KEPT:
        lines = subprocess.run([args.loops, verb, args.directory, str(kept)], check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in lines.splitlines():
            name, *numbers = line.split()
            same, wall, cpu, more, found, found_cpu = map(int, numbers[:6])
            spreads = " and ".join(f"{float(number):.2%}" for number in numbers[6:8])
            is_held = wall <= FALSE_CLAIMS * same and found >= FOUND * more
            held &= is_held
            cells = [name, kept, spreads, rate(wall, same), rate(cpu, same), rate(found, more), rate(found_cpu, more), f"{float(numbers[8]):.1%}", HELD if is_held else MISSED]
            rows.append(f"| {' | '.join(map(str, cells))} |")
    text = "\n".join(rows) + "\n"
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
