#!/usr/bin/env python3
"""Runs all tests of the workspace several times, in a new order each time, every second time beside load: as many busy
loops as there are CPUs, a process that evicts page cache at random, one that calls sync(2), and SIGHUP and SIGINT ignored, as
a job runner may do.
A test whose verdict hangs on the host's mood fails here. `make test-repeat ROUNDS=10` builds what it needs and calls it; with
ONLY="states truth_reads" these programs alone, so that a fault comes up in minutes.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import signal
import sys
import time

from programs import failures, name_of, passed_in, run_program, test_programs


def busy():
    while True:
        pass


def evict(directory, seed):
    """Evicts the tests' files at random, whole or some pages, and now and then the whole page cache."""
    chosen = random.Random(seed)
    while True:
        time.sleep(chosen.uniform(0.02, 2))
        if chosen.random() < 0.2:
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")
            continue
        for folder, _, names in os.walk(directory):
            for name in chosen.sample(names, len(names) // 2):
                try:
                    file = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                except OSError:
                    continue
                try:
                    pages = os.fstat(file).st_size // 4096
                    first = chosen.choice((0, chosen.randint(0, pages)))
                    # A length of 0 means all that follows.
                    count = chosen.choice((0, 1, chosen.randint(0, pages)))
                    os.posix_fadvise(file, first * 4096, count * 4096, os.POSIX_FADV_DONTNEED)
                except OSError:
                    pass
                os.close(file)


def write_back(seed):
    """Writes back whatever is dirty, of the whole host, at random times."""
    chosen = random.Random(seed)
    while True:
        time.sleep(chosen.uniform(0.2, 4))
        os.sync()


class Load:
    """What runs beside the tests of a round."""

    def __init__(self, directory, seed):
        jobs = [(busy, ())] * os.cpu_count() + [(evict, (directory, seed)), (write_back, (seed,))]
        self.processes = [multiprocessing.Process(target=job, args=of, daemon=True) for job, of in jobs]

    def __enter__(self):
        for process in self.processes:
            process.start()

    def __exit__(self, *_):
        if not all(process.is_alive() for process in self.processes):
            sys.exit("test-repeat: the load ended before the tests (evicting the page cache needs root)")
        for process in self.processes:
            process.kill()
            process.join()


def ignore_signals():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run(programs, seed, is_loaded, logs):
    """One round: how many tests passed, and the names of those that did not."""
    passed, failed = 0, []
    order = random.Random(seed)
    for program, package in order.sample(programs, len(programs)):
        name = name_of(program)
        # The option for the order is only for a toolchain that allows it.
        options = ["-Z", "unstable-options", f"--shuffle-seed={seed}"]
        code, output, _ = run_program(
            program,
            package,
            options,
            RUSTC_BOOTSTRAP="1",
            before=ignore_signals if is_loaded else None,
        )
        passed += passed_in(output)
        if code:
            (logs / f"{name}.log").write_text(output)
            failed += [f"{name} {test}" for test in failures(output) or [f"ended with {code}"]]
    return passed, failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=10)
    arguments.add_argument("--first", type=int, default=1, help="number of the first round; even ones are beside load")
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--only", nargs="+", help="programs by name, such as states; all without it")
    asked = arguments.parse_args()
    programs = sorted(test_programs())
    if asked.only:
        unknown = set(asked.only) - {name_of(program) for program, _ in programs}
        if unknown:
            sys.exit(f"test-repeat: no test program is called {', '.join(sorted(unknown))}")
        programs = [one for one in programs if name_of(one[0]) in asked.only]
    target = pathlib.Path(programs[0][0]).parent.parent.parent
    clean = True
    for number in range(asked.first, asked.first + asked.rounds):
        seed, is_loaded = asked.seed + number, number % 2 == 0
        logs = target / "test-repeat" / f"round-{number}"
        logs.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        if is_loaded:
            with Load(target / "test-scratch", seed):
                passed, failed = run(programs, seed, is_loaded, logs)
        else:
            passed, failed = run(programs, seed, is_loaded, logs)
        where = "beside load" if is_loaded else "alone"
        took = time.monotonic() - started
        print(f"round {number}, {where}, order {seed}: {passed} passed, {len(failed)} failed, {took:.0f} s", flush=True)
        for name in failed:
            print(f"  {name} (see {logs})", flush=True)
        clean = clean and not failed
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
