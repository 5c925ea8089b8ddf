#!/usr/bin/env python3
"""What observation costs: the same work without it, with it, and with programs that do nothing at the same places, alternating.

Run by `make bench`; with HOTSET_BEFORE, another hotset whose start-up, memory and size are shown beside. Prints Markdown tables, and exits with 1 where a goal was missed; with --write FILE also puts them there.
"""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import programs
from rounds import BEFORE, GIB, HELD, KIB, MIB, MISSED, NOW, REAL_TIME, Disturbed, add_before, interval, judged, machine, run_once, versions

SMALL_FILES = 20_000
STARTUP_MS = 60
STARTUP_OF_BEFORE = 0.5
RUN_MIB = 64
REPORT_MIB = 100
PROFILE_BYTES = 49_000_000
BINARY_MIB = 16


def run(argv, **kwargs):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


NONE, FLOOR, HOTSET = "none", "empty programs", "hotset"
OURS = (NONE, FLOOR, HOTSET)
# Runs of which a round keeps the fastest.
LEAST_OF = 3
# Peers are slow: a goal needs many rounds, a factor of fifty does not.
PEERS_EVERY = 3


class Watchers:
    """How each instrument is put before a command."""

    def __init__(self, hotset, directory):
        self.events = programs.attached(hotset)
        self.floor = [programs.build_empty(directory), *self.events, "--"]
        self.prefix = {NONE: [], FLOOR: self.floor, HOTSET: [hotset, "run", "-q", "--"]}
        if shutil.which("strace"):
            self.prefix["strace -f -c"] = ["strace", "-f", "-c", "-o", "/dev/null", "--"]
        if shutil.which("perf"):
            self.prefix["perf trace -s"] = ["perf", "trace", "-s", "-o", "/dev/null", "--"]

    def command(self, name, argv):
        """Above everything that is not real-time, so that a neighbour costs little; the instrument too."""
        return ["chrt", "-f", str(REAL_TIME), *self.prefix[name], *argv]

    def order(self, names, number):
        """Those of a round, each round beginning with another."""
        used = [name for name in names if name in OURS or number % PEERS_EVERY == 0]
        first = number % len(used)
        return used[first:] + used[:first]


def dd_seconds(result):
    """dd says itself how long it copied; a tracer's start-up is not in it."""
    return float(re.search(r", ([0-9.]+) s,", result.stderr).group(1)) * 1e9


def pread_ns(result):
    _, median_part = passes(result)
    return median_part


def file_ns(result):
    first_pass, _ = passes(result)
    return first_pass


def passes(result):
    return [float(word) for word in result.stdout.split()]


class Row:
    """A piece of work: how it is prepared, run and timed, and what it may take under hotset: so many per cent more, or so many times
    as long as beside empty programs."""

    def __init__(self, title, unit, scale, prepare, argv, read, percent=None, floors=None, traced=True):
        self.title, self.unit, self.scale = title, unit, scale
        self.prepare, self.argv, self.read = prepare, argv, read
        self.percent, self.floors, self.traced = percent, floors, traced

    def names(self, prefixes):
        if not self.traced:
            return [NONE, HOTSET]
        return [name for name in prefixes if name != FLOOR or self.floors]


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        self.watchers = Watchers(args.hotset, directory)
        self.big = os.path.join(directory, "big")
        self.small = os.path.join(directory, "small")
        self.window = os.path.join(directory, "window")

    def prepare(self):
        block = os.urandom(MIB)
        with open(self.big, "wb") as file:
            for _ in range(GIB // MIB):
                file.write(block)
            os.fsync(file.fileno())
        run([self.args.loops, "make-files", self.small, str(SMALL_FILES)])
        run(["sync", "-f", self.directory])

    def evict(self, path):
        fd = os.open(path, os.O_RDONLY)
        os.fdatasync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)

    def warm(self, path, length=None):
        with open(path, "rb", buffering=0) as file:
            left = length or os.path.getsize(path)
            while left > 0:
                left -= len(file.read(min(MIB, left))) or left

    def dd(self, block, bytes_):
        return ["dd", f"if={self.big}", "of=/dev/null", f"bs={block}", f"count={bytes_ // MIB}"]

    def rows(self):
        loops = self.args.loops
        with open(self.window, "wb") as file:
            file.write(os.urandom(64 * MIB))
        yield Row("`dd bs=1M`, 1 GiB, warm", "ms", 1e6, lambda: self.warm(self.big), self.dd("1M", GIB), dd_seconds, percent=5)
        yield Row("`dd bs=1M`, 512 MiB, cold", "ms", 1e6, lambda: self.evict(self.big), self.dd("1M", GIB // 2), dd_seconds,
                  percent=2, traced=False)
        yield Row("200,000 warm preads of 4 KiB, each", "ns", 1, lambda: self.warm(self.window),
                  [loops, "pread4k", self.window, "200000"], pread_ns, floors=1.5)
        yield Row("20,000 small files opened, read, closed, each", "ns", 1, lambda: run(self.small_files()), self.small_files(), file_ns,
                  floors=1.6)

    def small_files(self):
        return [self.args.loops, "small-files", self.small, str(SMALL_FILES)]

    def measure(self, row):
        """Name -> the figure of each round, None where it was not its turn."""
        names = row.names(self.watchers.prefix)

        def once(name):
            row.prepare()
            return row.read(self.undisturbed(name, row.argv)) / row.scale

        def sample(name):
            """The least of some runs where nanoseconds are asked for: what disturbs a run only adds to it."""
            repeats = LEAST_OF if row.floors and name in OURS else 1
            return min(once(name) for _ in range(repeats))

        said = list(self.rounds(names, sample))
        return {name: [one.get(name) for one in said] for name in names}

    def rounds(self, names, sample):
        """Name -> what `sample` says of it, for each round that nobody disturbed."""
        for number in range(self.args.rounds):
            try:
                yield {name: sample(name) for name in self.watchers.order(names, number)}
            except Disturbed:
                continue

    def undisturbed(self, name, argv):
        """Somebody else's programs on the tracepoints make the unobserved run slower, and hotset look cheaper."""
        for _ in range(600):
            if not programs.others():
                break
            time.sleep(0.1)
        result = run(self.watchers.command(name, argv))
        if programs.others():
            raise Disturbed("somebody else has programs on tracepoints")
        return result

    def startup(self):
        """Of each version, in alternating rounds: milliseconds until all is attached, as it says itself, and of the whole
        `run -- true`; and of `true` alone."""
        said, whole = ({name: [] for name in versions(self.args)} for _ in range(2))
        plain = []
        for number in range(self.args.rounds):
            plain.append(self.milliseconds(["true"])[0])
            for name, binary in versions(self.args, number).items():
                whole[name].append(self.milliseconds([binary, "run", "-q", "--", "true"])[0])
                _, text = self.milliseconds([binary, "run", "-q", "-v", "--", "true"])
                said[name].append(float(re.search(r"attached in (\d+) ms", text).group(1)))
        return said, whole, plain

    def milliseconds(self, argv):
        """How long a command takes, and what it says."""
        start = time.perf_counter()
        text = run(argv).stderr
        return (time.perf_counter() - start) * 1e3, text

    def memory(self, binary):
        """hotset's own peak over 100,000 files."""
        many = os.path.join(self.directory, "many")
        if not os.path.exists(many):
            run([self.args.loops, "make-files", many, "100000"])
        path = os.path.join(self.directory, "many.json")
        text = run([binary, "run", "-v", "--json", path, "--", self.args.loops, "small-files", many, "100000"]).stderr
        return float(re.search(r"hotset itself: ([0-9.]+) MiB", text).group(1))

    def report_memory(self, binary):
        """The peak of `report` of a profile whose files are one file's row over and over, by its own `run`."""
        path = os.path.join(self.directory, "large.json")
        run([binary, "run", "-q", "--json", path, "--", "dd", f"if={self.window}", "of=/dev/null", "bs=1M"])
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        row = next(row for row in profile["files"] if row["path"] == self.window)
        length = len(json.dumps(row)) + 8
        profile["files"] = [{**row, "ino": ino} for ino in range(PROFILE_BYTES // length)]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(profile, file)
        result = run_once(self.args.loops, [binary, "report", path, "-o", os.path.join(self.directory, "page.html")])
        if result.code != 0:
            raise RuntimeError(f"{binary} report ended with {result.code}")
        return result.peak_kib / KIB


def taken(values):
    return [value for value in values if value is not None]


def median(values):
    return statistics.median(taken(values) or [math.nan])


def spread(values):
    values = taken(values)
    if not values:
        return "no round that counts"
    return f"{statistics.median(values):,.1f} ({min(values):,.1f}–{max(values):,.1f})"


def within(values, digits, unit):
    """Median and its 95 % interval."""
    if not values:
        return "no round that counts"
    bounds = interval(values)
    span = f" ({bounds[0]:,.{digits}f}–{bounds[1]:,.{digits}f})" if bounds else " (too few rounds for an interval)"
    return f"{statistics.median(values):,.{digits}f}{span}{unit}"


def verdict(row, samples):
    """What hotset costs, its goal, and whether that is held: by what each round says, for rounds see the same noise on all sides."""
    bare, watched = samples[NONE], samples[HOTSET]
    if row.percent is not None:
        values = [(b / a - 1) * 100 for a, b in zip(bare, watched)]
        return within(values, 1, " %"), f"≤ {row.percent} %", judged(values, row.percent)
    floor = samples[FLOOR]
    values = [b / a for a, b in zip(floor, watched)]
    added, least = ([b - a for a, b in zip(bare, other)] for other in (watched, floor))
    cost = f"{within(values, 2, '')}× as long as with empty programs; adds {within(added, 0, ' ns')}, they {within(least, 0, ' ns')}"
    return cost, f"≤ {row.floors}× as long as with empty programs", judged(values, row.floors)


def beside(samples):
    """How many times what hotset costs the peers cost."""
    cost = median(samples[HOTSET]) - median(samples[NONE])
    if not cost > 0:
        return "not slower than unobserved"
    peers = [name for name in samples if name not in OURS and taken(samples[name])]
    return ", ".join(f"{(median(samples[name]) - median(samples[NONE])) / cost:,.0f}× {name.split()[0]}" for name in peers) or "–"


def work(bench, verdicts):
    names = list(bench.watchers.prefix)
    yield "| work | " + " | ".join(names) + " | hotset costs (95 %) | goal | held | beside the others |"
    yield "|---|" + "---|" * (len(names) + 4)
    for row in bench.rows():
        samples = bench.measure(row)
        cost, goal, held = verdict(row, samples)
        verdicts.append(held)
        cells = [f"{spread(samples[name])} {row.unit}" if name in samples else "–" for name in names]
        yield f"| {row.title} | " + " | ".join(cells) + f" | {cost} | {goal} | {held} | {beside(samples)} |"


def whole(bench, verdicts):
    """Start-up, memory and size, of both versions where there are two."""
    said, whole_run, plain = bench.startup()
    names = list(said)
    yield "| | " + " | ".join(names) + " | goal | held |"
    yield "|---|" + "---|" * (len(names) + 2)

    def line(title, cells, goal="", held=""):
        verdicts.append(held)
        return f"| {title} | " + " | ".join(cells[name] for name in names) + f" | {goal} | {held} |"

    def at_most(title, figure, limit):
        figures = {name: figure(binary) for name, binary in versions(bench.args).items()}
        cells = {name: f"{value:.1f} MiB" for name, value in figures.items()}
        return line(title, cells, f"≤ {limit} MiB", HELD if figures[NOW] <= limit else MISSED)

    best = min(said[NOW])
    yield line("load and attach, ms", {name: spread(values) for name, values in said.items()}, f"the least ≤ {STARTUP_MS}",
               HELD if best <= STARTUP_MS else MISSED)
    yield line(f"`run -- true` whole, ms (`true` alone {spread(plain)})", {name: spread(values) for name, values in whole_run.items()})
    if BEFORE in said:
        for title, values in (("load and attach", said), ("`run -- true` whole", whole_run)):
            ratios = [now / before for now, before in zip(values[NOW], values[BEFORE])]
            cells = {NOW: within(ratios, 2, "×"), BEFORE: "1"}
            yield line(f"{title}, by rounds", cells, f"≤ {STARTUP_OF_BEFORE}×", judged(ratios, STARTUP_OF_BEFORE))
    yield at_most("`run` over 100,000 files, at its peak", bench.memory, RUN_MIB)
    yield at_most(f"`report` of a profile of {PROFILE_BYTES // 1_000_000} MB, at its peak", bench.report_memory, REPORT_MIB)
    yield at_most("binary", lambda binary: os.path.getsize(binary) / MIB, BINARY_MIB)


PARTS = ["unobserved", "the tracepoints, with programs that do nothing", "counting its calls", "its row and its name", "hotset, together"]


def parts_of(said):
    """Each process makes two passes over the same files. The first makes the rows and sends the names; the second only counts. What
    differs between passes without an observer is none of its cost."""
    bare, floor, hotset = said[NONE], said[FLOOR], said[HOTSET]
    first, again = (watched - unwatched for watched, unwatched in zip(hotset, bare))
    tracepoints = floor[1] - bare[1]
    return dict(zip(PARTS, [bare[0], tracepoints, again - tracepoints, first - again, first]))


def small_file(bench):
    """What a small file costs, by passes over the same files that differ in one thing only; and which programs take it."""
    watchers, argv = bench.watchers, bench.small_files()
    parts = {name: [] for name in PARTS}
    run(argv)

    def least(name):
        """Of each pass, the fastest of some runs."""
        return [min(times) for times in zip(*(passes(bench.undisturbed(name, argv)) for _ in range(LEAST_OF)))]

    for said in bench.rounds(OURS, least):
        for name, nanoseconds in parts_of(said).items():
            parts[name].append(nanoseconds)
    yield "| of a small file | ns (95 %) |"
    yield "|---|---|"
    for name, values in parts.items():
        yield f"| {name} | {within(values, 0, '')} |"
    yield ""
    yield "| tracepoint | runs a file | ns a run, hotset | ns a run, empty | ns a file, hotset |"
    yield "|---|---|---|---|---|"
    ours, nothing = (programs.costs(watchers.prefix[name], argv) for name in (HOTSET, FLOOR))
    for event, (nanoseconds, times) in sorted(ours.items(), key=lambda item: -item[1][0]):
        files = 2 * SMALL_FILES
        if times / files < 0.01:
            continue
        bare, often = nothing.get(event, (0, 0))
        yield f"| {event} | {times / files:.2f} | {nanoseconds / times:.0f} | {bare / often if often else math.nan:.0f} | {nanoseconds / files:.0f} |"


def report(bench):
    verdicts = []
    out = [f"Machine: {machine()}. Medians (least–most) of {bench.args.rounds} alternating runs.", "", *work(bench, verdicts), ""]
    out += [*whole(bench, verdicts), "", *small_file(bench)]
    return "\n".join(out) + "\n", MISSED not in verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--loops", required=True)
    add_before(parser)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, with 2 GiB free")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        bench = Bench(args, directory)
        bench.prepare()
        text, held = report(bench)
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
