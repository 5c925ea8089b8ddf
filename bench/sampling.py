#!/usr/bin/env python3
"""What sampled pages cost, as `size` of what runs and `export --curves` take them: time of a warm pread beside a session that takes none, and memory.

Run by `make bench` (bench/run.sh sampling), as root. The same session with and without a sample watches the whole host, in rounds that begin with
another each time. Then as many control groups as a host may have each read a sparse file of more pages than a group's sample holds. Prints
Markdown; exit code 1 where a goal is missed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import HELD, KIB, MIB, MISSED, REAL_TIME, Disturbed, interval, judged, machine, make_file, warm

NOTHING, OFF = "no session", "off"
# Powers of two: one page in 128, in 16 as `export` and `top` take them, in 8 as `size`.
EXPONENTS = ["7", "4", "3"]
MODES = [NOTHING, OFF, *EXPONENTS]
CALLS = 400_000
FILE_BYTES = 64 * MIB
LEAST_OF = 3
EXTRA_NS = 40
GROUPS = 250
# One in 16 of its pages are 8,192, more than a group's sample may hold.
SPARSE_BYTES = 512 * MIB
GROUP_KIB, ALL_MIB = 32, 8
# A line comes each second.
WAIT_S = 0.2


class Session:
    """A session of the whole host, while it is entered."""

    def __init__(self, loops, mode):
        self.argv = ["chrt", "-f", str(REAL_TIME), loops, "curves", mode, "100000"]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{' '.join(self.argv)}: ended before it watched")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def line(self):
        """References, lost ones, pages in samples, groups, nanoseconds of CPU time and resident KiB of the next second."""
        return [int(word) for word in self.process.stdout.readline().split()]


def pread_ns(loops, path):
    """The median of its parts, of the fastest of some runs: what disturbs one only makes it slower."""
    runs = []
    for _ in range(LEAST_OF):
        said = subprocess.run(["chrt", "-f", str(REAL_TIME), loops, "pread4k", path, str(CALLS)], check=True, stdout=subprocess.PIPE, text=True)
        runs.append(float(said.stdout.split()[1]))
    return min(runs)


def round_of(loops, path, number):
    taken = {}
    first = number % len(MODES)
    for mode in MODES[first:] + MODES[:first]:
        warm(path)
        if mode == NOTHING:
            taken[mode] = pread_ns(loops, path)
            continue
        with Session(loops, mode):
            taken[mode] = pread_ns(loops, path)
    return taken


def measure(args, directory):
    path = os.path.join(directory, "data")
    make_file(path, FILE_BYTES)
    rounds, disturbed = [], 0
    for number in range(args.rounds):
        try:
            rounds.append(round_of(args.loops, path, number))
        except Disturbed:
            disturbed += 1
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
    if disturbed * 2 > args.rounds:
        raise Disturbed(f"{path} did not stay in the cache in {disturbed} rounds of {args.rounds}")
    return rounds


def spread(values):
    bounds = interval(values)
    text = f"{bounds[0]:,.0f} to {bounds[1]:,.0f}" if bounds else "too few rounds"
    return f"{statistics.median(values):,.0f} ({text})"


def costs(rounds):
    """Rows of the table, and whether no goal was missed."""
    lines, held = ["| sample | ns a warm pread of 4 KiB | more than the same session without | at most | held |", "|---|---|---|---|---|"], True
    for mode in MODES:
        name = {NOTHING: NOTHING, OFF: "session without"}.get(mode) or f"one page in {1 << int(mode)}"
        row = [name, spread([one[mode] for one in rounds]), "", "", ""]
        if mode in EXPONENTS:
            more = [one[mode] - one[OFF] for one in rounds]
            verdict = judged(more, EXTRA_NS)
            held &= verdict != MISSED
            row[2:] = spread(more), f"{EXTRA_NS} ns", verdict
        lines.append(f"| {' | '.join(row)} |")
    return lines, held


class Groups:
    """Control groups, while they are entered."""

    def __init__(self, count):
        with open("/proc/mounts", encoding="utf-8") as mounts:
            mount = next(words[1] for line in mounts if (words := line.split())[2] == "cgroup2")
        self.paths = [os.path.join(mount, f"hotset-bench-{os.getpid()}-{number}") for number in range(count)]

    def __enter__(self):
        for path in self.paths:
            os.mkdir(path)
        return self

    def __exit__(self, *_):
        for path in self.paths:
            if os.path.isdir(path):
                os.rmdir(path)

    def read(self, file):
        """One process in each reads the file."""
        for path in self.paths:
            shell = 'echo $$ > "$1/cgroup.procs" && exec cat "$2"'
            subprocess.run(["sh", "-c", shell, "sh", path, file], check=True, stdout=subprocess.DEVNULL)


def resident(args, mode, file):
    """Resident KiB of a session that has seen all groups, pages in its samples, groups."""
    with Groups(args.groups) as groups, Session(args.loops, mode) as session:
        groups.read(file)
        lines, waited = [], 0
        # The first line that is waited for is of an interval that began before the last group was done, the second of one after.
        while waited < 2:
            began = time.monotonic()
            lines.append(session.line())
            waited += time.monotonic() - began > WAIT_S
        most = max(lines, key=lambda line: line[5])
        return most[5], max(line[2] for line in lines), max(line[3] for line in lines)


def memory(args, directory):
    file = os.path.join(directory, "sparse")
    with open(file, "wb") as made:
        made.truncate(SPARSE_BYTES)
    without, _, _ = resident(args, OFF, file)
    with_samples, pages, groups = resident(args, EXPONENTS[1], file)
    more = (with_samples - without) / KIB
    rows = [
        ("groups whose samples were kept", f"{groups} of {args.groups}", "", ""),
        ("pages in all samples", f"{pages:,}", "", ""),
        ("resident memory of the session without", f"{without / KIB:,.1f} MiB", "", ""),
        ("more with samples", f"{more:,.2f} MiB", f"{ALL_MIB} MiB", HELD if more <= ALL_MIB else MISSED),
        ("of it a group", f"{more * KIB / max(groups, 1):,.1f} KiB", f"{GROUP_KIB} KiB", HELD if more * KIB <= GROUP_KIB * groups else MISSED),
    ]
    lines = ["| memory | measured | at most | held |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return lines, all(row[3] != MISSED for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--groups", type=int, default=GROUPS)
    args = parser.parse_args()
    args.loops = os.path.abspath(args.loops)
    print(f"Machine: {machine()}. Medians and their 95 % intervals over {args.rounds} rounds.\n")
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as directory:
        cost_lines, costs_held = costs(measure(args, directory))
        memory_lines, memory_held = memory(args, directory)
    print("\n".join([*cost_lines, "", *memory_lines]))
    return 0 if costs_held and memory_held else 1


if __name__ == "__main__":
    sys.exit(main())
