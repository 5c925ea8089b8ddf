#!/usr/bin/env python3
"""What a curve costs from Python, beside the same code in Rust: `curves.py CURVE [REFERENCES [ROUNDS]]`.

CURVE is the example of crates/sizing (`cargo build --release -p hotset-sizing --example curve`); the package must be installed for the
Python that runs this. Both count the same references in turn, the first to begin by chance, each in a process of its own. The exit code is 1 where
Python takes over 10 % more CPU time in the median round.
"""

import random
import statistics
import subprocess
import sys
import tempfile

import numpy as np

PAGES = 1_000_000
LIMITS = [1_000, 30_000, 1_000_000]

COUNT = """
import sys, time
import numpy as np
from hotset import curves
keys = np.fromfile(sys.argv[1], np.uint64)
started, cpu_before = time.perf_counter(), time.thread_time()
hits = curves.exact(keys).hits({limits})
print(f"{{time.thread_time() - cpu_before:.3f}} {{time.perf_counter() - started:.3f}} {{hits}}")
"""


def zipf(references: int) -> "np.ndarray":
    """Pages by Zipf's distribution with exponent 0.8, in a random order of pages."""
    generator = np.random.default_rng(1)
    sums = np.cumsum(np.arange(1, PAGES + 1) ** -0.8)
    order = generator.permutation(PAGES).astype(np.uint64)
    parts = []
    for start in range(0, references, 1 << 22):
        drawn = generator.random(min(1 << 22, references - start)) * sums[-1]
        parts.append(order[np.searchsorted(sums, drawn)])
    return np.concatenate(parts)


#: The goal: Python's CPU time by Rust's.
MOST = 1.10


def main() -> int:
    program = sys.argv[1]
    references = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.NamedTemporaryFile(suffix=".u64") as file:
        zipf(references).tofile(file.name)
        commands = {
            "Rust": [program, file.name],
            "Python": [sys.executable, "-c", COUNT.format(limits=LIMITS), file.name],
        }
        taken: dict[str, list[list[float]]] = {name: [] for name in commands}
        for _ in range(rounds):
            said = {}
            for name in random.sample(list(commands), len(commands)):
                out = subprocess.run(commands[name], stdout=subprocess.PIPE, text=True, check=True).stdout
                cpu, wall, said[name] = out.split(" ", 2)
                taken[name].append([float(cpu), float(wall)])
            assert len(set(said.values())) == 1, said
    print(f"{references / 1e6:.0f} million references to {PAGES:,} pages, {rounds} rounds:")
    medians = []
    for index, clock in enumerate(("CPU time", "wall time")):
        of = {name: [one[index] for one in times] for name, times in taken.items()}
        for name, times in of.items():
            print(f"  {clock}, {name:6} median {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})")
        ratios = [python / rust for python, rust in zip(of["Python"], of["Rust"])]
        medians.append(statistics.median(ratios))
        print(f"  {clock}, Python by Rust: median {medians[-1]:.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    is_held = medians[0] <= MOST
    print(f"  goal: at most {MOST} times the CPU time: {'held' if is_held else 'NOT held'}")
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
