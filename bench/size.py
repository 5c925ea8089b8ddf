#!/usr/bin/env python3
"""How fast `hotset size` predicts, beside libCacheSim on the same traces.

Run by `make bench BENCH=size`. Three traces of 10 million references each, made from fixed seeds: exact curves of least recently used, and
simulations of twelve limits at once, by the policies of the kernel. The peer is not installed with the other packages; docs/performance.md says
how to build it. Its programs mrcProfiler and cachesim are taken from the directory that HOTSET_LIBCACHESIM names, or from PATH. Prints a
Markdown table, and exits with 1 where a goal is missed; with --write FILE also puts it there.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile

from rounds import HELD, MIB, MISSED, TOO_NOISY, judged, machine, run_once

TRACES = ["zipf-0.8", "zipf-1.0", "zipf-0.9-and-a-loop"]
CURVES = {"size-dense": "page numbers", "size-hashed": "64-bit keys"}
SIMULATED = {"size-lists": "`lists`", "size-lists-6.12": "`lists-6.12`, 5 moments of each limit", "size-mglru": "`mglru`"}
LIMITS, THREADS = 12, 2
# Goals: millions of references a second, how many times the peer's, seconds.
FASTEST = {"size-dense": 40, "size-hashed": 20}
TIMES_THE_PEER = 15
LONGEST_S = 2
PROFILER, SIMULATOR = "mrcProfiler", "cachesim"
ONE_SIZE = 100_000


class Timed:
    """One run: seconds of what is measured, the bytes that it took beyond the references if they are known, and the whole program."""

    def __init__(self, seconds, added, whole):
        self.seconds = seconds
        self.added = added
        self.whole = whole


def peer(name):
    """Where a program of libCacheSim is, if it is here."""
    found = shutil.which(name, path=os.environ.get("HOTSET_LIBCACHESIM") or None)
    return found and os.path.abspath(found)


class Bench:
    def __init__(self, args):
        self.args = args
        # In the directory of the traces, which is the current one then.
        self.output = "output"
        self.samples = {}
        self.peers = {name: found for name in (PROFILER, SIMULATOR) if (found := peer(name))}

    def run(self, argv):
        whole = run_once(self.args.loops, argv, self.output)
        with open(self.output, encoding="utf-8", errors="replace") as file:
            said = file.read()
        if whole.code != 0:
            raise RuntimeError(f"{argv[0]}: exit code {whole.code}: {said[-500:]}")
        return whole, said

    def ours(self, verb, trace):
        whole, said = self.run([self.args.loops, verb, trace, str(THREADS)])
        nanoseconds, added = said.split()
        return Timed(int(nanoseconds) / 1e9, int(added), whole)

    def profiler(self, trace):
        """Every object (a rate of 1), at a hundred sizes, each given so that the peer need not count the objects first."""
        sizes = ["--size=10000B,1000000B,100", "--ignore-obj-size"]
        return self.run([self.peers[PROFILER], trace, "oracleGeneral", "--algo=LRU", "--profiler=SHARDS", "--profiler-params=FIX_RATE,1,42", *sizes])

    def simulator(self, trace):
        return self.run([self.peers[SIMULATOR], trace, "oracleGeneral", "lru", str(ONE_SIZE), "--ignore-obj-size", "1"])

    def keep(self, what, trace, run):
        self.samples.setdefault((what, trace), []).append(run)

    def round(self, number):
        """Everything once, beginning with another trace each time, and the peer before or after hotset by turns."""
        first = number % len(TRACES)
        for trace in TRACES[first:] + TRACES[:first]:
            parts = [self.round_of_hotset, self.round_of_the_peer]
            for part in reversed(parts) if number % 2 else parts:
                part(trace)

    def round_of_hotset(self, trace):
        for verb in [*CURVES, *SIMULATED]:
            self.keep(verb, trace, self.ours(verb, trace))

    def round_of_the_peer(self, trace):
        for name, run in (PROFILER, self.profiler), (SIMULATOR, self.simulator):
            if name in self.peers:
                whole, _ = run(trace)
                self.keep(name, trace, Timed(whole.seconds, None, whole))

    def furthest_apart(self, trace):
        """The largest difference of the miss ratios of hotset's curve and the peer's, which is as exact."""
        _, said = self.run([self.args.loops, "size-curve", trace, "0"])
        ours = [int(line.split()[1]) / self.args.references for line in said.splitlines()]
        _, said = self.profiler(trace)
        rows = (line.split() for line in said.splitlines())
        theirs = [float(row[1]) for row in rows if len(row) == 3 and row[0].endswith("B") and row[0][:-1].isdigit()]
        if len(ours) != len(theirs):
            raise RuntimeError(f"{PROFILER} gave {len(theirs)} sizes of {len(ours)}: {said[-500:]}")
        return max(abs(a - b) for a, b in zip(ours, theirs))

    def table(self):
        out = [
            "| trace | what | M references/s | whole program, s | peak MiB | of it beyond the references | times the peer's speed |",
            "|---|---|---|---|---|---|---|",
        ]
        for trace in TRACES:
            for verb, name in CURVES.items():
                out.append(self.row(trace, verb, f"exact curve, {name}, 1 thread", 1, PROFILER))
            out.append(self.row(trace, PROFILER, f"libCacheSim {PROFILER}, exact, 1 thread", 1, None))
            for verb, name in SIMULATED.items():
                out.append(self.row(trace, verb, f"{LIMITS} limits by {name}, {THREADS} threads", LIMITS, SIMULATOR))
            out.append(self.row(trace, SIMULATOR, f"libCacheSim {SIMULATOR}, LRU, 1 size", 1, None))
        return out

    def row(self, trace, what, name, limits, reference):
        runs = self.samples.get((what, trace))
        if not runs:
            return f"| {trace} | {name} | not installed | | | | |"
        rates = [self.args.references * limits / run.seconds / 1e6 for run in runs]
        whole = [run.whole.seconds for run in runs]
        peak = max(run.whole.peak_kib for run in runs) / 1024
        added = f"{max(run.added for run in runs) / MIB:,.0f}" if runs[0].added is not None else ""
        others = self.samples.get((reference, trace))
        times = least_and_most([limits * other.seconds / run.seconds for run, other in zip(runs, others)]) if others else ""
        return f"| {trace} | {name} | {least_and_most(rates)} | {least_and_most(whole, 2)} | {peak:,.0f} | {added} | {times} |"

    def goals(self):
        """Rows of goals, missed ones first, and whether none was missed."""
        rows = []
        for trace in TRACES:
            for verb, name in CURVES.items():
                runs = self.samples[verb, trace]
                rows.append(self.rate_goal(f"{trace}: exact curve, {name}", runs, FASTEST[verb]))
                rows.append(self.peer_goal(f"{trace}: exact curve, {name}, beside {PROFILER}", runs, self.samples.get((PROFILER, trace))))
            for verb, name in SIMULATED.items():
                seconds = [run.seconds for run in self.samples[verb, trace]]
                text = f"{least_and_most(seconds, 2)} s"
                rows.append((f"{trace}: {LIMITS} limits by {name}", text, f"≤ {LONGEST_S} s", judged(seconds, LONGEST_S)))
        rows.sort(key=lambda row: [MISSED, TOO_NOISY, HELD].index(row[3]) if row[3] in (MISSED, TOO_NOISY, HELD) else 3)
        lines = ["| goal | measured | limit | held |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
        return lines, all(row[3] != MISSED for row in rows)

    def rate_goal(self, name, runs, goal):
        rates = [self.args.references / run.seconds / 1e6 for run in runs]
        return name, f"{least_and_most(rates)} M/s", f"≥ {goal} M/s", judged([-rate for rate in rates], -goal)

    @staticmethod
    def peer_goal(name, runs, others):
        limit = f"≥ {TIMES_THE_PEER}×"
        if not others:
            return name, "not measured: not installed", limit, "not judged"
        times = [other.seconds / run.seconds for run, other in zip(runs, others)]
        return name, f"{least_and_most(times)}×", limit, judged([-one for one in times], -TIMES_THE_PEER)


def least_and_most(values, digits=1):
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def measure(args, bench):
    head = f"Machine: {machine()}. Medians (least–most) of {args.rounds} alternating rounds, {args.references:,} references a trace."
    bench.run([args.loops, "size-traces", ".", str(args.references)])
    apart = ""
    if PROFILER in bench.peers:
        most = max(bench.furthest_apart(trace) for trace in TRACES)
        apart = f"The curves of hotset and {PROFILER}, at 100 sizes of each trace, are at most {most:.6f} of miss ratio apart."
    for number in range(args.rounds):
        bench.round(number)
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
    goals, held = bench.goals()
    return [head, "", *goals, "", *bench.table(), "", apart], held


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--references", type=int, default=10_000_000, help="of each trace; the goals are for the default")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    args.loops = os.path.abspath(args.loops)
    args.write = args.write and os.path.abspath(args.write)
    bench = Bench(args)
    directory = tempfile.mkdtemp(prefix="hotset-size-", dir=os.getcwd())
    try:
        # cachesim writes its results into a directory of its own below this one.
        os.chdir(directory)
        lines, held = measure(args, bench)
    finally:
        os.chdir("/")
        shutil.rmtree(directory, ignore_errors=True)
    print("\n".join(lines))
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
