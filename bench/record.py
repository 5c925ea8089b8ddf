#!/usr/bin/env python3
"""What recording every request costs, and what its file costs those who read it: the same work unobserved, under `run`, under
`record`, and under strace and perf trace where they are installed, alternating; then the trace itself (traces.py).

Run by `make bench`. Prints Markdown tables, and exits with 1 where a goal was missed; with --write FILE also puts them there. The
comparison with DuckDB needs its Python package: that of python3, or of the Python that HOTSET_DUCKDB_PYTHON names.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import programs
import rounds as take
import traces
from rounds import GIB, HELD, MIB, MISSED, REAL_TIME, Disturbed, interval, judged

MORE_THAN_RUN_NS = 300
SITES_NS = 150
COLD_PERCENT = 2
WARM_PERCENT = 6
RECORDS_A_SECOND = 500_000
RESIDENT_MIB = 128

NONE, RUN, RECORD, SITES = "none", "hotset run", "hotset record", "hotset record --sites"
STRACE, PERF = "strace -f -ttt -T -y -o FILE", "perf trace -o FILE"
PEERS = (STRACE, PERF)
# Peers are slow: a goal needs many rounds, a factor of fifty does not.
PEERS_EVERY = 3
# Runs of which a round keeps the fastest: what disturbs a run only adds to it.
LEAST_OF = 3
CALLS, CALLS_OF_PEERS = 200_000, 20_000


def run(argv, **kwargs):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.hotset, self.loops = args.hotset, args.loops
        self.directory = directory
        self.big = os.path.join(directory, "big")
        self.window = os.path.join(directory, "window")
        self.trace = os.path.join(directory, "trace.parquet")
        take.make_file(self.big, GIB)
        take.make_file(self.window, 64 * MIB)
        self.prefix, self.absent = self.observers()

    def observers(self):
        """How each is put before a command, and why some are not."""
        record = [self.hotset, "record", "-q", "--force", "-o", self.trace]
        prefix = {NONE: [], RUN: [self.hotset, "run", "-q", "--"], RECORD: [*record, "--"]}
        absent = {}
        if "--sites" in run([self.hotset, "record", "--help"]).stdout:
            prefix[SITES] = [*record, "--sites", "--"]
        else:
            absent[SITES] = "this hotset has no --sites"
        output = os.path.join(self.directory, "peer")
        for name, argv in ((STRACE, ["strace", "-f", "-ttt", "-T", "-y", "-o", output, "--"]), (PERF, ["perf", "trace", "-o", output, "--"])):
            try:
                run([*argv, "true"])
                prefix[name] = argv
            except (OSError, subprocess.CalledProcessError) as error:
                absent[name] = "not installed" if isinstance(error, OSError) else last_line(error.stderr)
        return prefix, absent

    def under(self, name, argv):
        """Runs a command under an observer. The command is above everything that is not real-time, so that a neighbour costs little. An
        observer is not, as nobody has it so: one of its threads would keep the others from a CPU for as long as it has work."""
        for _ in range(600):
            if not programs.others():
                break
            time.sleep(0.1)
        result = run([*self.prefix[name], "chrt", "-f", str(REAL_TIME), *argv])
        if programs.others():
            raise Disturbed("somebody else has programs on tracepoints")
        return result

    def rounds(self, names, sample):
        """Name -> what `sample` says of it in each round that nobody disturbed; each round begins with another."""
        for number in range(self.args.rounds):
            used = [name for name in names if name not in PEERS or number % PEERS_EVERY == 0]
            first = number % len(used)
            try:
                yield {name: sample(name) for name in used[first:] + used[:first]}
            except Disturbed:
                continue

    def cold(self):
        """Evicts the large file, and asks whether all of it is gone."""
        for _ in range(5):
            run([self.hotset, "evict", "-q", self.big])
            if take.cached_pages(self.big) == 0:
                return
        raise Disturbed(f"{self.big} stays in the cache")


def last_line(text):
    return (text.strip().splitlines() or ["failed"])[-1]


def of(said, name):
    return [one[name] for one in said if name in one]


def differences(said, more, less):
    return [one[more] - one[less] for one in said if more in one and less in one]


def percents(said, more, less):
    return [(one[more] / one[less] - 1) * 100 for one in said if more in one and less in one]


def spread(values, digits=1):
    """Median, least and most."""
    if not values:
        return "no round that counts"
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def within(values, unit, digits=0):
    """Median and its 95 % interval."""
    if not values:
        return "no round that counts"
    bounds = interval(values)
    span = f" ({bounds[0]:,.{digits}f}–{bounds[1]:,.{digits}f})" if bounds else " (too few rounds for an interval)"
    return f"{statistics.median(values):,.{digits}f}{span} {unit}"


class Goals:
    """Rows of the goals' table, and whether all were held that could be judged."""

    def __init__(self):
        self.lines, self.verdicts = [], []

    def paired(self, what, values, limit, unit, digits=0):
        """A difference within rounds."""
        self.add(what, within(values, unit, digits), f"≤ {limit:,} {unit}", judged(values, limit))

    def at_most(self, what, value, limit, unit, digits=1):
        """A figure that noise does not change much."""
        self.add(what, f"{value:,.{digits}f} {unit}", f"≤ {limit:,} {unit}", HELD if value <= limit else MISSED)

    def unknown(self, what, why):
        self.add(what, f"not measured: {why}", "", "not judged")

    def add(self, *cells):
        self.lines.append("| " + " | ".join(cells) + " |")
        self.verdicts.append(cells[-1])

    def table(self):
        return ["| goal | measured | limit | held |", "|---|---|---|---|", *self.lines]


def observed(bench, names, title, samples, unit):
    """A row for each of these observers, with what it adds within rounds."""
    yield f"| {title} | {unit} | more than unobserved, by rounds |"
    yield "|---|---|---|"
    for name in names:
        if of(samples, name):
            more = "–" if name == NONE else within(differences(samples, name, NONE), unit, 1 if unit == "ms" else 0)
            yield f"| {name} | {spread(of(samples, name))} | {more} |"
    for name in names:
        if name in bench.absent:
            yield f"| {name} | not measured: {bench.absent[name]} | – |"
    yield ""


def small_reads(bench, goals):
    """A warm pread of 4 KiB, in nanoseconds."""
    def once(name):
        take.warm(bench.window)
        calls = CALLS_OF_PEERS if name in PEERS else CALLS
        _, median_part = bench.under(name, [bench.loops, "pread4k", bench.window, str(calls)]).stdout.split()
        return float(median_part)

    said = list(bench.rounds(list(bench.prefix), lambda name: min(once(name) for _ in range(1 if name in PEERS else LEAST_OF))))
    goals.paired("a warm pread of 4 KiB: `record` beyond `run`", differences(said, RECORD, RUN), MORE_THAN_RUN_NS, "ns")
    what = "the same: `record --sites` beyond `record`, one call site"
    if SITES in bench.prefix:
        goals.paired(what, differences(said, SITES, RECORD), SITES_NS, "ns")
    else:
        goals.unknown(what, bench.absent[SITES])
    yield from observed(bench, (NONE, RUN, RECORD, SITES, *PEERS), "warm pread of 4 KiB", said, "ns")


def dd_ms(result):
    """dd says itself how long it copied; an observer's start-up is not in it."""
    return float(re.search(r", ([0-9.]+) s,", result.stderr).group(1)) * 1e3


def copies(bench, goals):
    """dd bs=1M from the device and from the cache."""
    names = (NONE, RECORD, STRACE)
    for title, prepare, mebibytes, limit in (
        ("`dd bs=1M`, 512 MiB, cold", bench.cold, 512, COLD_PERCENT),
        ("`dd bs=1M`, 1 GiB, warm", lambda: take.warm(bench.big), 1024, WARM_PERCENT),
    ):
        def once(name):
            prepare()
            return dd_ms(bench.under(name, ["dd", f"if={bench.big}", "of=/dev/null", "bs=1M", f"count={mebibytes}"]))

        def sample(name):
            return min(once(name) for _ in range(1 if name in PEERS else LEAST_OF))

        said = list(bench.rounds([name for name in names if name in bench.prefix], sample))
        goals.paired(title, percents(said, RECORD, NONE), limit, "%", 1)
        yield from observed(bench, names, title, said, "ms")


class Watched(threading.Thread):
    """The peak memory and the CPU time of a process itself, as long as it runs."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.peak_kib, self.cpu_seconds = pid, 0, 0.0

    def run(self):
        ticks = os.sysconf("SC_CLK_TCK")
        while True:
            try:
                with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as lines:
                    peak = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
                with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as file:
                    words = file.read().rpartition(")")[2].split()
            except OSError:
                return
            if not peak:
                return
            self.peak_kib = max(self.peak_kib, *peak)
            self.cpu_seconds = (int(words[11]) + int(words[12])) / ticks
            time.sleep(0.05)


def build_paced(directory):
    if not shutil.which("cc"):
        raise RuntimeError("cc is not installed")
    binary = os.path.join(directory, "paced")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "paced.c")
    subprocess.run(["cc", "-O2", "-Wall", "-pthread", "-o", binary, source], check=True)
    return binary


def at_rate(bench, goals):
    """Many records a second for long: are any lost, and what does hotset take? With usual priorities: a program of equal real-time
    priority that is behind would never let hotset run."""
    paced = build_paced(bench.directory)
    yield "| 4 KiB reads by 2 threads | calls made | a second | records | lost | hotset's peak | hotset's CPU time |"
    yield "|---|---|---|---|---|---|---|"
    take.warm(bench.window)
    argv = [paced, bench.window, str(RECORDS_A_SECOND), str(bench.args.seconds), "2"]
    observer = subprocess.Popen([*bench.prefix[RECORD], *argv], stdout=subprocess.PIPE, text=True)
    watched = Watched(observer.pid)
    watched.start()
    said, _ = observer.communicate()
    watched.join()
    if observer.returncode:
        raise RuntimeError(f"record ended with {observer.returncode}")
    calls, milliseconds = map(int, said.split())
    info = traces.info(bench.hotset, bench.trace)
    records, lost, peak = info.records, info.lost, watched.peak_kib / 1024
    rate = calls / milliseconds * 1e3
    yield (f"| {bench.args.seconds} s | {calls:,} | {rate:,.0f} | {records:,} | {lost:,} | {peak:,.1f} MiB | "
           f"{watched.cpu_seconds:.1f} s, {watched.cpu_seconds / max(1, records) * 1e9:,.0f} ns a record |")
    yield ""
    title = f"{RECORDS_A_SECOND:,} records a second for {bench.args.seconds} s"
    if rate < 0.98 * RECORDS_A_SECOND and not lost:
        goals.unknown(f"{title}: lost", f"none, but the threads made {rate:,.0f} a second")
    else:
        goals.at_most(f"{title}: lost", lost, 0, "records", 0)
    goals.at_most(f"{title}: resident", peak, RESIDENT_MIB, "MiB")


def report(bench):
    goals = Goals()
    out = [f"Machine: {take.machine()}. Medians (least–most) of {bench.args.rounds} alternating rounds; of small reads and dd, each the fastest of {LEAST_OF} runs; "
           f"of strace and perf trace, every third round.", ""]
    for part in (small_reads, copies, at_rate, traces.sizes, traces.reading, traces.queries):
        out += part(bench, goals)
    return "\n".join([*out, *goals.table()]) + "\n", MISSED not in goals.verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hotset", required=True)
    parser.add_argument("--loops", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=30, help="of the recording at a fixed rate")
    parser.add_argument("--records", type=int, default=10_000_000, help="of the trace that is read")
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, with 4 GiB free")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotset-bench-", dir=args.directory) as directory:
        text, held = report(Bench(args, directory))
    print(text)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
