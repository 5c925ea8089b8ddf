#!/usr/bin/env python3
"""What observation costs: the same work with and without it, alternating, medians.

Run by `make bench`. Prints a Markdown table; with --write FILE also puts it there.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import GIB, MIB, machine


def run(argv, **kwargs):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


class Watchers:
    """How each instrument is put before a command."""

    def __init__(self, hotset):
        self.prefix = {"none": [], "hotset": [hotset, "run", "-q", "--"]}
        if shutil.which("strace"):
            self.prefix["strace -f -c"] = ["strace", "-f", "-c", "-o", "/dev/null", "--"]
        if shutil.which("perf"):
            self.prefix["perf trace -s"] = ["perf", "trace", "-s", "-o", "/dev/null", "--"]

    def command(self, name, argv):
        return self.prefix[name] + argv


def dd_seconds(result):
    """dd says itself how long it copied; a tracer's start-up is not in it."""
    return float(re.search(r", ([0-9.]+) s,", result.stderr).group(1)) * 1e9


def loop_ns(result):
    return float(result.stdout.split()[0])


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        self.watchers = Watchers(args.hotset)
        self.big = os.path.join(directory, "big")
        self.small = os.path.join(directory, "small")

    def prepare(self):
        block = os.urandom(MIB)
        with open(self.big, "wb") as file:
            for _ in range(GIB // MIB):
                file.write(block)
            os.fsync(file.fileno())
        run([self.args.loops, "make-files", self.small, "20000"])
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
        window = os.path.join(self.directory, "window")
        with open(window, "wb") as file:
            file.write(os.urandom(64 * MIB))
        warm_files = [loops, "small-files", self.small, "20000"]
        yield ("`dd bs=1M`, 1 GiB, warm", "ms", 1e6, lambda: self.warm(self.big), self.dd("1M", GIB), dd_seconds,
               ("percent", 5), True)
        yield ("`dd bs=1M`, 512 MiB, cold", "ms", 1e6, lambda: self.evict(self.big), self.dd("1M", GIB // 2), dd_seconds,
               ("percent", 2), False)
        yield ("200,000 warm preads of 4 KiB, each", "ns", 1, lambda: self.warm(window),
               [loops, "pread4k", window, "200000"], loop_ns, ("plus", 350), True)
        yield ("20,000 small files opened, read, closed, each", "ns", 1, lambda: run(warm_files), warm_files, loop_ns,
               ("plus", 1500), True)

    def measure(self, row, names):
        title, unit, scale, prepare, argv, read, limit, traced = row
        samples = {name: [] for name in names}
        for _ in range(self.args.rounds):
            for name in names:
                prepare()
                samples[name].append(read(run(self.watchers.command(name, argv))) / scale)
        return samples

    def startup(self):
        """Milliseconds from hotset's first instruction to the command's."""
        plain, watched = [], []
        for _ in range(self.args.rounds):
            for argv, into in ((["true"], plain), ([self.args.hotset, "run", "-q", "--", "true"], watched)):
                start = time.perf_counter()
                run(argv)
                into.append((time.perf_counter() - start) * 1e3)
        said = []
        for _ in range(self.args.rounds):
            text = run([self.args.hotset, "run", "-q", "-v", "--", "true"]).stderr
            said.append(float(re.search(r"attached in (\d+) ms", text).group(1)))
        return plain, watched, said

    def memory(self):
        """hotset's own peak over 100,000 files."""
        many = os.path.join(self.directory, "many")
        run([self.args.loops, "make-files", many, "100000"])
        argv = [self.args.hotset, "run", "-v", "--json", os.path.join(self.directory, "many.json"), "--", self.args.loops, "small-files", many, "100000"]
        text = run(argv).stderr
        return float(re.search(r"hotset itself: ([0-9.]+) MiB", text).group(1))


def spread(values):
    low, high = min(values), max(values)
    return f"{statistics.median(values):,.1f} ({low:,.1f}–{high:,.1f})"


def verdict(plain, watched, limit):
    """The median over the rounds of what each round says, for rounds see the same noise on both sides."""
    kind, bound = limit
    if kind == "percent":
        delta = statistics.median((b / a - 1) * 100 for a, b in zip(plain, watched))
        return f"{delta:+.1f} %", delta <= bound, f"≤ {bound} %"
    delta = statistics.median(b - a for a, b in zip(plain, watched))
    return f"{delta:+,.0f} ns", delta <= bound, f"≤ {bound:,} ns"


def report(bench):
    out = [f"Machine: {machine()}. Medians (least–most) of {bench.args.rounds} alternating runs.", ""]
    names = list(bench.watchers.prefix)
    out.append("| work | " + " | ".join(names) + " | hotset costs | goal | held | beside the others |")
    out.append("|---|" + "---|" * (len(names) + 4))
    held = True
    for row in bench.rows():
        title, unit, *_, limit, traced = row
        used = names if traced else ["none", "hotset"]
        samples = bench.measure(row, used)
        median = {name: statistics.median(samples[name]) for name in used}
        delta, ok, goal = verdict(samples["none"], samples["hotset"], limit)
        held &= ok
        cells = [f"{spread(samples[name])} {unit}" if name in samples else "–" for name in names]
        cost = median["hotset"] - median["none"]
        factors = [f"{(median[name] - median['none']) / cost:,.0f}× {name.split()[0]}" for name in used[2:] if cost > 0]
        beside = ", ".join(factors) or ("not slower than unobserved" if cost <= 0 else "–")
        out.append(f"| {title} | " + " | ".join(cells) + f" | {delta} | {goal} | {'yes' if ok else '**no**'} | {beside} |")
    plain, watched, said = bench.startup()
    ok = statistics.median(said) <= 80
    held &= ok
    out.append("")
    out.append(f"Start-up: load and attach {spread(said)} ms (goal ≤ 80 ms: {'held' if ok else '**missed**'}); "
               f"`true` whole {spread(plain)} ms, under hotset {spread(watched)} ms.")
    peak, size = bench.memory(), os.path.getsize(bench.args.hotset) / MIB
    held &= peak <= 64 and size < 10
    out.append(f"Memory: {peak:.1f} MiB at most over 100,000 files (goal ≤ 64). Binary: {size:.1f} MiB (goal < 10).")
    return "\n".join(out) + "\n", held


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=15)
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
