#!/usr/bin/env python3
"""What `hotset ls` costs, beside its peers and a bare loop of the system calls that it can't do without.

Run by `make bench` (bench/run.sh ls). Prints Markdown; exit code 1 where a goal is missed.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from rounds import (GIB, MIB, Case, Disturbed, Goals, make_file, machine, meminfo_kib, milliseconds, peak_mib, ratio, rounds, run_once,
                    spread, table, usable, warm)

SMALL_FILES = 100_000
MANY_FILES = 1_000_000


def by_xargs(path, command):
    """For programs without recursion (fincore before util-linux 2.42, pcstat)."""
    return ["sh", "-c", f"find {shlex.quote(path)} -xdev -type f -print0 | xargs -0 {command}"]


def count_files(path):
    out = subprocess.run(["find", path, "-xdev", "-type", "f", "-printf", "."], check=True, stdout=subprocess.PIPE)
    return len(out.stdout)


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        self.goals = Goals()
        self.out = []

    def say(self, lines):
        self.out += ["", *lines]
        print("\n".join(["", *lines]), flush=True)

    def case(self, name, argv):
        return Case(name, self.args.loops, argv)

    def hotset(self, *words):
        return [self.args.hotset, "ls", *words]

    def tree_cases(self, path):
        floor = [self.args.loops, "walk-floor", path]
        yield self.case("bare loop, 1 thread", [*floor, "1"])
        yield self.case("bare loop, 2 threads", [*floor, "2"])
        yield self.case("hotset ls -s, 1 thread", self.hotset("-s", "-x", "--threads", "1", path))
        yield self.case("hotset ls -s, 2 threads", self.hotset("-s", "-x", "--threads", "2", path))
        yield self.case("hotset ls, rows", self.hotset("-x", path))
        yield self.case("vmtouch", ["vmtouch", path])
        yield self.case("vmtouch -v", ["vmtouch", "-v", path])
        yield self.case("fincore by xargs", by_xargs(path, "fincore --bytes --noheadings"))
        if shutil.which("pcstat"):
            yield self.case("pcstat by xargs", by_xargs(path, "pcstat -terse"))

    def tree(self, title, path):
        files = count_files(path)
        cases, skipped = usable(list(self.tree_cases(path)))
        samples = rounds(cases, self.args.rounds)
        self.say(table(f"{title}, {files:,} files", samples, "vmtouch", skipped, (files, "files")))
        self.tree_goals(title, samples)

    def tree_goals(self, title, samples):
        def times_as_fast(name, reference):
            return ratio(samples[name], samples[reference]) if name in samples and reference in samples else None
        one, two = "hotset ls -s, 1 thread", "hotset ls -s, 2 threads"
        self.goals.check(f"{title}: `ls -s`, 1 thread, against vmtouch", times_as_fast(one, "vmtouch"), 3, "×", False, 2)
        for name, threads in ((one, "1 thread"), (two, "2 threads")):
            share = times_as_fast(name, f"bare loop, {threads}")
            self.goals.check(f"{title}: `ls -s`, {threads}, of the bare loop's speed", share and share * 100, 80, "%", False)
        self.goals.check(f"{title}: `ls -s`, 2 threads against 1", times_as_fast(two, one), 1, "×", False, 2)

    def file_cases(self, path):
        loops = [self.args.loops, "cachestat", path]
        yield self.case("bare cachestat(2)", [*loops, "1"])
        yield self.case("64 bare cachestat(2)", [*loops, "64"])
        yield self.case("hotset ls", self.hotset(path))
        yield self.case("hotset ls --map --cells 64", self.hotset("--map", "--cells", "64", path))
        yield self.case("vmtouch", ["vmtouch", path])
        yield self.case("fincore", ["fincore", "--bytes", path])
        yield self.case("pcstat", ["pcstat", "-terse", path])

    def file(self, title, path, prepare):
        prepare()
        cases, skipped = usable(list(self.file_cases(path)))
        samples = rounds(cases, self.args.rounds, prepare)
        self.say(table(title, samples, "vmtouch", skipped))
        return samples

    def big_file(self):
        path = os.path.join(self.directory, "big")
        make_file(path, self.args.big_gib * GIB)
        title = f"{self.args.big_gib} GiB cached"
        samples = self.file(title, path, lambda: warm(path))
        extra = [b - a for a, b in zip(milliseconds(samples["bare cachestat(2)"]), milliseconds(samples["hotset ls"]))]
        self.goals.check(f"{title}: `ls` beyond one bare cachestat(2), both as whole programs", statistics.median(extra), 2, "ms", digits=2)
        cells = statistics.median(milliseconds(samples["hotset ls --map --cells 64"]))
        self.goals.check(f"{title}: `ls --map --cells 64`", cells, 10, "ms")
        os.unlink(path)

    def sparse_file(self):
        path = os.path.join(self.directory, "sparse")
        with open(path, "wb") as file:
            file.truncate(8 * GIB)
        samples = self.file("8 GiB sparse, nothing cached", path, lambda: None)
        self.goals.check("8 GiB sparse: `ls`", statistics.median(milliseconds(samples["hotset ls"])), 5, "ms")
        os.unlink(path)

    def make_tree(self, name, files):
        path = os.path.join(self.directory, name)
        subprocess.run([self.args.loops, "make-files", path, str(files)], check=True)
        os.sync()
        return path

    def trees(self):
        self.tree("small files", self.make_tree("small", SMALL_FILES))
        self.tree("/usr", "/usr")

    def million(self):
        """A million cached inodes: the whole machine, and what a listing of as many rows takes in memory."""
        path = self.make_tree("many", self.args.many)
        self.system()
        case = self.case("hotset ls, rows", self.hotset("-x", path))
        runs = [case.run() for _ in range(3)]
        self.say([f"`hotset ls` over {self.args.many:,} files: {spread(milliseconds(runs))} ms, {peak_mib(runs):,.1f} MiB at most."])
        self.goals.check(f"`ls` of {self.args.many:,} files: peak memory", peak_mib(runs), 64, "MiB")

    def system(self):
        answer = os.path.join(self.directory, "system.json")
        argv = self.hotset("--system", "--json")
        runs, offs, source = [], [], "?"
        for _ in range(self.args.rounds + 1):
            before = meminfo_kib("Cached") - meminfo_kib("Shmem")
            result = run_once(self.args.loops, argv, answer)
            after = meminfo_kib("Cached") - meminfo_kib("Shmem")
            with open(answer, encoding="utf-8") as file:
                said = json.load(file)
            explained = explained_kib(said)
            truth = (before + after) / 2
            offs.append(abs(explained - truth) / truth * 100)
            runs.append(result)
            source = said["source"]
        # The first one pays for what is not cached of hotset itself.
        runs, offs = runs[1:], offs[1:]
        self.say([f"`hotset ls --system` with {self.args.many:,} cached inodes more than before ({source}): {spread(milliseconds(runs))} ms, "
                  f"{peak_mib(runs):,.1f} MiB; off Cached − Shmem by {spread(offs, 3)} %."])
        self.goals.check(f"`ls --system` over {self.args.many:,} inodes more", statistics.median(milliseconds(runs)), 500, "ms")
        self.goals.check("`ls --system`: explained, off Cached − Shmem", statistics.median(offs), 1, "%", digits=3)
        self.goals.check("`ls --system`: peak memory", peak_mib(runs), 64, "MiB")


def explained_kib(said):
    """What a listing of the machine's cache explains of Cached − Shmem, in KiB."""
    totals = said["totals"]
    return (totals["explained_bytes"] - totals["parts"]["shared_memory"]) / 1024


PARTS = ("trees", "big_file", "sparse_file", "million")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, with 14 GiB free")
    parser.add_argument("--big-gib", type=int, default=8, help="size of the cached file")
    parser.add_argument("--many", type=int, default=MANY_FILES, help="files of the largest tree")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given more than once")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        bench = Bench(args, directory)
        print(f"Machine: {machine()}. Medians (quartiles) of {args.rounds} alternating rounds, whole programs from start to end, "
              + ("real-time scheduled." if os.geteuid() == 0 else "NOT real-time scheduled: run as root."), flush=True)
        for part in args.part or PARTS:
            try:
                getattr(bench, part)()
            except Disturbed as error:
                bench.say([f"{part}: not measured: {error}."])
                bench.goals.disturbed(part)
        bench.say(bench.goals.table())
    sys.exit(0 if bench.goals.held else 1)


if __name__ == "__main__":
    main()
