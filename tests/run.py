#!/usr/bin/env python3
"""Runs all tests of the workspace once. Those that compare times with earlier ones run alone, first. Then two lanes run side by
side, as tests wait for devices and intervals more than for a CPU: one of programs that measure, of which hotset lets one run at
a time, and one of all others. Prints what failed, whole. `make test` builds what it needs and calls it; with ONLY="states
truth_reads" these programs alone. `--alone` runs the first part, `--lanes` the second; both without them.
"""

import argparse
import concurrent.futures
import sys
import threading
import time

from programs import failures, name_of, passed_in, run_program, test_programs

# What a busy host leaves undecided: hotset then says that no difference is detectable, which is right, and not what they test.
ALONE = ("bench_baseline", "lab_baseline")
# They take turns by hotset's own lock, and some wait for it no longer than a test may.
MEASURE = ("bench", "explain", "lab", "replay", "size_verify")


def is_alone(program):
    return name_of(program) in ALONE


def measures(program):
    return name_of(program).startswith(MEASURE)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alone", action="store_true", help="those alone that need a quiet host")
    arguments.add_argument("--lanes", action="store_true", help="all others")
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

    def lane(chosen):
        for program in chosen:
            one(*program)

    both = asked.alone == asked.lanes
    if asked.alone or both:
        lane([program for program in programs if is_alone(program[0])])
    if asked.lanes or both:
        others = [program for program in programs if not is_alone(program[0])]
        measuring = [program for program in others if measures(program[0])]
        with concurrent.futures.ThreadPoolExecutor(2) as lanes:
            for done in [lanes.submit(lane, measuring), lanes.submit(lane, [one for one in others if one not in measuring])]:
                done.result()
    print(f"test: {total} passed in {ran} programs, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    for name in failed:
        print(f"test: FAILED {name}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
