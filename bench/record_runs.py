#!/usr/bin/env python3
"""Records the wall times of consecutive runs of one command, for the simulations in crates/analysis.

Usage: record_runs.py LOOPS FILE CALLS RUNS, where LOOPS is the built `loops` and FILE a cached file of 64 MiB.
Prints a line a run, in nanoseconds; then, on stderr, how busy the host's CPUs were with anything.
"""

import os
import sys
import time


def cpu_ticks():
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def main():
    loops, file, calls, runs = sys.argv[1:]
    null = os.open("/dev/null", os.O_WRONLY)
    quiet = [(os.POSIX_SPAWN_DUP2, null, 1)]
    all_before, idle_before = cpu_ticks()
    for _ in range(int(runs)):
        start = time.perf_counter_ns()
        words = [loops, "pread4k", file, calls]
        os.waitpid(os.posix_spawn(loops, words, os.environ, file_actions=quiet), 0)
        print(time.perf_counter_ns() - start)
    all_after, idle_after = cpu_ticks()
    idle = (idle_after - idle_before) / max(1, all_after - all_before)
    print(f"CPUs busy: {100 * (1 - idle):.0f} %", file=sys.stderr)


if __name__ == "__main__":
    main()
