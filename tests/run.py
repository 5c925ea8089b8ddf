#!/usr/bin/env python3
"""Runs all tests of the workspace once, several programs at a time, as tests wait for devices and intervals more than for a CPU: of
programs that measure one, as hotset lets one run at a time, and of all others as many as LANES says; then those alone that disturb whatever
watches the whole host. Prints what failed, whole.
`make test` builds what it needs and calls it; with ONLY="states truth_reads" these programs alone.
"""

import argparse
import collections
import concurrent.futures
import sys
import threading
import time

from programs import failures, name_of, passed_in, run_program, test_programs

# They take turns by hotset's own lock, and some wait for it no longer than a test may.
MEASURE = ("bench", "explain", "lab", "replay", "size_verify")
LANES = 2
# It fills the tables of every sensor that does not watch some processes only.
ALONE = ("floods",)


def measures(program):
    return name_of(program).startswith(MEASURE)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", nargs="+", help="programs by name, such as states; all without it")
    asked = arguments.parse_args()
    programs = list(test_programs())
    if asked.only:
        unknown = set(asked.only) - {name_of(program) for program, _ in programs}
        if unknown:
            sys.exit(f"test: no test program is called {', '.join(sorted(unknown))}")
        programs = [one for one in programs if name_of(one[0]) in asked.only]
    lock, failed, total, ran = threading.Lock(), [], 0, 0
    began = time.monotonic()

    def one(program, package):
        nonlocal total, ran
        name, started = name_of(program), time.monotonic()
        code, output, cpu = run_program(program, package)
        took = time.monotonic() - started
        with lock:
            total, ran = total + passed_in(output), ran + 1
            print(f"test: {name}: {passed_in(output)} passed, {took:.1f} s, CPU {cpu:.1f} s{'' if code == 0 else ': FAILED'}", flush=True)
            if code:
                failed.extend(f"{name} {test}" for test in failures(output) or [f"ended with {code}"])
                print(output, flush=True)

    def lane(waiting):
        while True:
            with lock:
                if not waiting:
                    return
                next_one = waiting.popleft()
            one(*next_one)

    alone = collections.deque(program for program in programs if name_of(program[0]) in ALONE)
    beside = [program for program in programs if name_of(program[0]) not in ALONE]
    measuring = collections.deque(program for program in beside if measures(program[0]))
    others = collections.deque(program for program in beside if not measures(program[0]))
    with concurrent.futures.ThreadPoolExecutor(1 + LANES) as lanes:
        for done in [lanes.submit(lane, waiting) for waiting in [measuring] + [others] * LANES]:
            done.result()
    lane(alone)
    print(f"test: {total} passed in {ran} programs, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    for name in failed:
        print(f"test: FAILED {name}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
