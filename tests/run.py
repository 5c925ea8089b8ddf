#!/usr/bin/env python3
"""Runs all tests of the workspace once, as many programs side by side as there are CPUs: most of them wait for devices and
intervals, not for a CPU. Those that took longest the last time start first. Prints what failed, whole. `make test` builds what
it needs and calls it; with ONLY="states truth_reads" these programs alone.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import threading
import time

from programs import failures, name_of, passed_in, run_program, test_programs

# In a fresh clone, where nothing is remembered yet.
LONGEST = {"truth_edges": 90, "chains": 60, "pages": 60, "lab_load": 45, "live_sensor": 40, "real_readers": 40, "probes": 35, "explain": 35}


class Remembered:
    """How long each program took, in seconds, from run to run."""

    def __init__(self, file):
        self.file = file
        try:
            self.seconds = json.loads(file.read_text())
        except (OSError, ValueError):
            self.seconds = dict(LONGEST)

    def order(self, programs):
        """The longest first."""
        return sorted(programs, key=lambda one: -self.seconds.get(name_of(one[0]), 0))

    def write(self):
        self.file.write_text(json.dumps(self.seconds))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lanes", type=int, default=os.cpu_count(), help="programs side by side")
    arguments.add_argument("--only", nargs="+", help="programs by name, such as states; all without it")
    asked = arguments.parse_args()
    programs = list(test_programs())
    if asked.only:
        unknown = set(asked.only) - {name_of(program) for program, _ in programs}
        if unknown:
            sys.exit(f"test: no test program is called {', '.join(sorted(unknown))}")
        programs = [one for one in programs if name_of(one[0]) in asked.only]
    remembered = Remembered(pathlib.Path(programs[0][0]).parent / "test-seconds.json")
    lock, failed, total = threading.Lock(), [], 0
    began = time.monotonic()

    def one(program, package):
        nonlocal total
        name, started = name_of(program), time.monotonic()
        code, output = run_program(program, package)
        took = time.monotonic() - started
        with lock:
            remembered.seconds[name] = round(took, 1)
            total += passed_in(output)
            print(f"test: {name}: {passed_in(output)} passed, {took:.1f} s{'' if code == 0 else ': FAILED'}", flush=True)
            if code:
                failed.extend(f"{name} {test}" for test in failures(output) or [f"ended with {code}"])
                print(output, flush=True)

    with concurrent.futures.ThreadPoolExecutor(asked.lanes) as lanes:
        for done in [lanes.submit(one, *program) for program in remembered.order(programs)]:
            done.result()
    remembered.write()
    print(f"test: {total} passed in {len(programs)} programs, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    for name in failed:
        print(f"test: FAILED {name}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
