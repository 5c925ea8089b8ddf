#!/usr/bin/env python3
"""What sampled pages cost, as `size` of what runs and `export --curves` take them: time of a warm pread beside a session that takes none, and memory;
and what counting path lookups costs, as `export --parquet` does: time of a lookup that fails beside a session that does not count them.

Run by `make bench` (bench/run.sh sampling), as root. The same session with and without a sample watches the whole host, in rounds that begin with
another each time. How long the programs of the sensor ran is the kernel's count (kernel.bpf_stats_enabled), which is less noisy than the time of the
reader. Then control groups each read a sparse file of more pages than a group's sample holds. Prints Markdown; exit code 1 where a goal is missed.
"""

import argparse
import os
import re
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
LOOKUPS = "lookups"
LOOKUP_MODES = [NOTHING, OFF, LOOKUPS]
LOOKUP_NS = 200
CALLS = 100_000
FILE_BYTES = 64 * MIB
# The host's speed changes within seconds: of so many runs, one is hardly disturbed.
LEAST_OF = 8
EXTRA_NS = 40
GROUPS = 60
# One in 16 of its pages are 8,192, more than a group's sample may hold. Read so slowly that none is lost.
SPARSE_BYTES = 512 * MIB
CHUNK_BYTES, PAUSE_S = MIB, 0.001
GROUP_KIB = 32
# A line comes each second.
WAIT_S = 0.2
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"


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

    def program_ns(self):
        """Nanoseconds that its programs ran so far."""
        total, directory = 0, f"/proc/{self.process.pid}/fdinfo"
        for number in os.listdir(directory):
            with open(os.path.join(directory, number), encoding="ascii") as file:
                found = re.search(r"^run_time_ns:\s+(\d+)", file.read(), re.M)
            total += int(found[1]) if found else 0
        return total

    def line(self):
        """References, lost ones, pages in samples, groups, nanoseconds of CPU time and resident KiB of the next second."""
        return [int(word) for word in self.process.stdout.readline().split()]


def call_ns(loops, loop, path, session):
    """The median of its parts, and what the session's programs ran for each, of the fastest of some runs: what disturbs one only makes it slower."""
    times, programs = [], []
    for _ in range(LEAST_OF):
        before = session.program_ns() if session else 0
        said = subprocess.run(["chrt", "-f", str(REAL_TIME), loops, loop, path, str(CALLS)], check=True, stdout=subprocess.PIPE, text=True)
        times.append(float(said.stdout.split()[1]))
        programs.append(((session.program_ns() if session else 0) - before) / CALLS)
    return min(times), min(programs)


def round_of(loops, modes, loop, path, number):
    """What a call of the loop takes in each mode, a round beginning with another."""
    taken = {}
    first = number % len(modes)
    for mode in modes[first:] + modes[:first]:
        if loop == "pread4k":
            warm(path)
        if mode == NOTHING:
            taken[mode] = call_ns(loops, loop, path, None)
            continue
        with Session(loops, mode) as session:
            taken[mode] = call_ns(loops, loop, path, session)
    return taken


def measure(args, directory):
    path = os.path.join(directory, "data")
    make_file(path, FILE_BYTES)
    rounds, disturbed = [], 0
    for number in range(args.rounds):
        try:
            rounds.append(round_of(args.loops, MODES, "pread4k", path, number))
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
    lines = ["| sample | ns a warm pread of 4 KiB | of it in programs | programs more than without a sample | at most | held |", "|---|---|---|---|---|---|"]
    held = True
    for mode in MODES:
        name = {NOTHING: NOTHING, OFF: "session without"}.get(mode) or f"one page in {1 << int(mode)}"
        row = [name, spread([one[mode][0] for one in rounds]), "", "", "", ""]
        if mode != NOTHING:
            row[2] = spread([one[mode][1] for one in rounds])
        if mode in EXPONENTS:
            more = [one[mode][1] - one[OFF][1] for one in rounds]
            verdict = judged(more, EXTRA_NS)
            held &= verdict != MISSED
            row[3:] = spread(more), f"{EXTRA_NS} ns", verdict
        lines.append(f"| {' | '.join(row)} |")
    return lines, held


def lookups(args, directory):
    """The same of lookups that fail."""
    path = os.path.join(directory, "missing")
    rounds = [round_of(args.loops, LOOKUP_MODES, "access", path, number) for number in range(args.rounds)]
    more = [one[LOOKUPS][0] - one[OFF][0] for one in rounds]
    verdict = judged(more, LOOKUP_NS)
    lines = ["| lookups | ns a failed access(2) | of it in programs | more than without | at most | held |", "|---|---|---|---|---|---|"]
    for mode, name in ((NOTHING, NOTHING), (OFF, "session without"), (LOOKUPS, "counted")):
        row = [name, spread([one[mode][0] for one in rounds]), "", "", "", ""]
        if mode != NOTHING:
            row[2] = spread([one[mode][1] for one in rounds])
        if mode == LOOKUPS:
            row[3:] = spread(more), f"{LOOKUP_NS} ns", verdict
        lines.append(f"| {' | '.join(row)} |")
    return lines, verdict != MISSED


class Statistics:
    """The kernel counts how long programs run, while it is entered."""

    def __enter__(self):
        with open(STATISTICS, encoding="ascii") as file:
            self.before = file.read()
        with open(STATISTICS, "w", encoding="ascii") as file:
            file.write("1")

    def __exit__(self, *_):
        with open(STATISTICS, "w", encoding="ascii") as file:
            file.write(self.before)


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
        """One process in each reads the file, chunk by chunk."""
        for path in self.paths:
            if (pid := os.fork()) == 0:
                read_slowly(os.path.join(path, "cgroup.procs"), file)
            os.waitpid(pid, 0)


def read_slowly(procs, path):
    with open(procs, "w", encoding="ascii") as file:
        file.write("0")
    with open(path, "rb", buffering=0) as file:
        while file.read(CHUNK_BYTES):
            time.sleep(PAUSE_S)
    os._exit(0)


def resident(args, mode, file):
    """Resident KiB of a session when all groups have read, and the pages that came into samples."""
    with Groups(args.groups) as groups, Session(args.loops, mode) as session:
        groups.read(file)
        most, waited = 0, 0
        # The first line that is waited for is of an interval that began before the last group was done, the second of one after.
        while waited < 2:
            began = time.monotonic()
            most = max(most, session.line()[5])
            waited += time.monotonic() - began > WAIT_S
        return most


def memory(args, directory):
    file = os.path.join(directory, "sparse")
    with open(file, "wb") as made:
        made.truncate(SPARSE_BYTES)
    without, with_samples = (resident(args, mode, file) for mode in (OFF, EXPONENTS[1]))
    each = (with_samples - without) / args.groups
    held = each <= GROUP_KIB
    rows = [
        (f"session without, {args.groups} groups", f"{without / KIB:,.1f} MiB", "", ""),
        ("with samples", f"{with_samples / KIB:,.1f} MiB", "", ""),
        ("more a group, what all share included", f"{each:,.1f} KiB", f"{GROUP_KIB} KiB", HELD if held else MISSED),
    ]
    lines = ["| memory | measured | at most | held |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return lines, held


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--groups", type=int, default=GROUPS, help="none: memory is not measured")
    args = parser.parse_args()
    args.loops = os.path.abspath(args.loops)
    print(f"Machine: {machine()}. Medians and their 95 % intervals over {args.rounds} rounds.\n")
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as directory, Statistics():
        cost_lines, costs_held = costs(measure(args, directory))
        lookup_lines, lookups_held = lookups(args, directory)
        memory_lines, memory_held = memory(args, directory) if args.groups else ([], True)
    print("\n".join([*cost_lines, "", *lookup_lines, "", *memory_lines]))
    return 0 if costs_held and lookups_held and memory_held else 1


if __name__ == "__main__":
    sys.exit(main())
