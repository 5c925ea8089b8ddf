#!/usr/bin/env python3
"""What watching a host costs: busy readers beside `hotset top` and `hotset export`, a crowd of processes, bursts of files, and a long run.

Run by `make bench` (bench/run.sh live), as root; with HOTSET_BEFORE, another hotset whose memory is shown beside. Prints Markdown; exit
code 1 where a goal is missed.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from rounds import MIB, NOW, Goals, add_before, machine, spread, versions

ROUNDS = 9
CALLS = 4_000_000
EXTRA_NS = 350
CORE_PERCENT = 3
PROCESSES = 10_000
FILES = 100_000
REFRESH_MS = 100
TOP_MIB = 96
# Of `stat` and `export`, which tell no files apart.
LINES_MIB = 64
BURSTS = 3
# At 0.1 s, so many samples are a quarter of an hour of the usual interval; growth that lasts shows in the second half.
SOAK_SAMPLES = 900
GROWTH_KIB = 1_024
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


def memory_kib(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.M)[1])


class Watcher:
    """One of hotset's live views, and what it used while it ran."""

    def __init__(self, argv, ready):
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ready:
            for line in self.process.stderr:
                if ready in line:
                    break
        else:
            time.sleep(1.0)
        self.began, self.cpu = time.monotonic(), cpu_seconds(self.process.pid)

    def core_percent(self):
        used = cpu_seconds(self.process.pid) - self.cpu
        return 100 * used / (time.monotonic() - self.began)

    def memory(self):
        """The most that was resident so far, and what is on the heap now, in MiB."""
        return [memory_kib(self.process.pid, name) / 1024 for name in ("VmHWM", "RssAnon")]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def two(memory):
    peak, anonymous = memory
    return f"{peak:,.0f} (heap {anonymous:,.0f})"


def memory_table(found, goals, limits):
    """What -> version -> memory."""
    names = list(next(iter(found.values())))
    out = ["| peak resident, MiB | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for what, of_each in found.items():
        goals.check(f"{what}: peak resident memory", of_each[NOW][0], limits[what], "MiB")
        out.append(f"| {what} | " + " | ".join(two(of_each[name]) for name in names) + " |")
    return [*out, ""]


def readers(loops, path):
    """A reader on each core, all at once; the mean time of a call."""
    argv = lambda cpu: ["taskset", "-c", str(cpu), loops, "pread4k", path, str(CALLS)]
    running = [subprocess.Popen(argv(cpu), stdout=subprocess.PIPE, text=True) for cpu in sorted(os.sched_getaffinity(0))]
    return statistics.mean(float(one.communicate()[0].split()[0]) for one in running)


def cost(args, path, goals):
    """Alternating rounds: nobody watches, top does, export does."""
    views = {
        "top": ([args.hotset, "top", "--batch", "0", "1"], None),
        "export": ([args.hotset, "export", "--listen", "127.0.0.1:0", "--interval", "1"], "/metrics"),
    }
    plain, watched, used = [], {name: [] for name in views}, {name: [] for name in views}
    for _ in range(args.rounds):
        plain.append(readers(args.loops, path))
        for name, (argv, ready) in views.items():
            watcher = Watcher(argv, ready)
            watched[name].append(readers(args.loops, path))
            used[name].append(watcher.core_percent())
            watcher.stop()
    out = ["| watched by | ns a warm pread of 4 KiB | more, by rounds | of a core |", "|---|---|---|---|", f"| nobody | {spread(plain)} | – | – |"]
    for name in views:
        more = [with_it - without for with_it, without in zip(watched[name], plain)]
        out.append(f"| `hotset {name}` | {spread(watched[name])} | {spread(more)} | {spread(used[name], 2)} % |")
        goals.check(f"{name}: more a call", statistics.median(more), EXTRA_NS, "ns")
        goals.check(f"{name}: of a core, a reader on each core", statistics.median(used[name]), CORE_PERCENT, "%", digits=2)
    return out


def crowd(args, directory, goals):
    """Many processes that use many files in each second: what a refresh takes, by the time on a CPU of one interval."""
    many = os.path.join(directory, "many")
    os.mkdir(many)
    subprocess.run([args.loops, "make-files", many, str(FILES)], check=True)
    people = subprocess.Popen([args.loops, "crowd", many, str(PROCESSES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    people.stdout.readline()
    time.sleep(3)
    sampler = subprocess.run([args.loops, "live", "1000", "20"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[1:]
    samples = [[int(word) for word in line.split()] for line in sampler][8:]
    memory = {}
    for name, binary in reversed(versions(args).items()):
        watcher = Watcher([binary, "top", "--batch", "0", "-n", "50", "1"], None)
        time.sleep(8)
        ticks, heap = [], 0
        for _ in range(10):
            before = cpu_seconds(watcher.process.pid)
            time.sleep(1)
            ticks.append((cpu_seconds(watcher.process.pid) - before) * 1e3)
            peak, now = watcher.memory()
            heap = max(heap, now)
        watcher.stop()
        memory[name] = peak, heap
    people.stdin.close()
    people.wait()
    refresh = [sample[0] / 1e6 for sample in samples]
    goals.check("a sample of 10,000 processes and 100,000 files", statistics.median(refresh), REFRESH_MS, "ms")
    goals.check("top: time on a CPU an interval, refresh, drawing and draining", statistics.median(ticks), REFRESH_MS, "ms")
    lost = samples[-1][4] - samples[0][4]
    return [
        *memory_table({"top": memory}, goals, {"top": TOP_MIB}),
        f"In an interval: {samples[-1][1]:,} processes, {samples[-1][2]:,} files, {samples[-1][3]:,} rows; requests for nobody in the last {len(samples)}: {lost:,}. "
        f"A sample takes {spread(refresh)} ms; `top --batch` is on a CPU for {spread(ticks, 0)} ms a second."
    ]


def bursts(args, directory, goals):
    """Many processes that each read many files once: `stat` and `export` of each version, each beside the same."""
    many = os.path.join(directory, "burst")
    os.mkdir(many)
    subprocess.run([args.loops, "make-files", many, str(FILES)], check=True)
    burst = [args.loops, "small-files", many, str(FILES)]
    commands = {"stat": (["stat", "0.5"], None), "export": (["export", "--listen", "127.0.0.1:0", "--interval", "0.5"], "/metrics")}
    found = {what: {} for what in commands}
    for name, binary in versions(args).items():
        for what, (words, ready) in commands.items():
            watcher, heap = Watcher([binary, *words], ready), 0
            for _ in range(BURSTS):
                readers = [subprocess.Popen(burst, stdout=subprocess.DEVNULL) for _ in range(3)]
                while any(reader.poll() is None for reader in readers):
                    time.sleep(0.05)
                    peak, now = watcher.memory()
                    heap = max(heap, now)
            watcher.stop()
            found[what][name] = peak, heap
    return memory_table(found, goals, dict.fromkeys(found, LINES_MIB))


def soak(args, goals):
    """Many short intervals: memory and the sum of the intervals against the clock."""
    out = []
    stat = subprocess.Popen([args.hotset, "stat", "--json", "0.1", str(SOAK_SAMPLES)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    export = subprocess.Popen([args.hotset, "export", "--listen", "127.0.0.1:0", "--interval", "0.1"], stderr=subprocess.PIPE, text=True)
    seconds, middle, lines = 0.0, {}, 0
    began = None
    for line in stat.stdout:
        lines += 1
        seconds += float(re.search(r'"seconds":([0-9.]+)', line)[1])
        began = began or time.monotonic()
        if lines == SOAK_SAMPLES // 2:
            middle = {one.pid: memory_kib(one.pid, "RssAnon") for one in (stat, export)}
        if lines == SOAK_SAMPLES - 1:
            growth = {one.pid: memory_kib(one.pid, "RssAnon") - middle[one.pid] for one in (stat, export)}
            clock, told = time.monotonic() - began, seconds
    export.send_signal(signal.SIGTERM)
    export.wait(10)
    stat.wait(10)
    # The first line's own interval lies before the first look at the clock.
    drift = abs(clock - told + 0.1)
    for name, one in (("stat", stat), ("export", export)):
        goals.check(f"{name}: growth in the second half of {SOAK_SAMPLES} intervals", growth[one.pid], GROWTH_KIB, "KiB", digits=0)
    goals.check("stat: intervals against the clock", drift * 1e3, 100, "ms")
    out.append(f"{lines} lines of `stat` at 0.1 s tell of {told:.2f} s in {clock + 0.1:.2f} s by the clock.")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--loops", required=True)
    add_before(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=["cost", "crowd", "bursts", "soak"])
    args = parser.parse_args()
    goals, out = Goals(), [f"Live, on {machine()}", ""]
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="hotset-bench-") as directory:
        path = os.path.join(directory, "warm")
        with open(path, "wb") as file:
            for _ in range(256):
                file.write(os.urandom(MIB))
        parts = {"cost": lambda: cost(args, path, goals), "crowd": lambda: crowd(args, directory, goals), "bursts": lambda: bursts(args, directory, goals), "soak": lambda: soak(args, goals)}
        for name, part in parts.items():
            if args.only in (None, name):
                out += [*part(), ""]
    print("\n".join(out + goals.table()))
    sys.exit(0 if goals.held else 1)


if __name__ == "__main__":
    main()
