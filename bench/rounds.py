"""Running commands in alternating rounds, and saying what the rounds say. Used by the other scripts here."""

import ctypes
import math
import os
import platform
import statistics
import subprocess
import time

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
PAGE = os.sysconf("SC_PAGE_SIZE")
SYS_CACHESTAT = 451
LIBC = ctypes.CDLL(None, use_errno=True)
NOW, BEFORE = "hotset", "before"
# Above everything that is not real-time, so that a neighbour costs nothing; far below the kernel's own threads.
REAL_TIME = 10


class Disturbed(Exception):
    """The host evicts pages, or keeps them: what was to be measured can't be. No fault of what is measured."""


def add_before(parser):
    """Another version, with which this one takes turns."""
    parser.add_argument("--before", metavar="BINARY", default=os.environ.get("HOTSET_BEFORE") or None, help="another hotset, of the same kind of build")


def versions(args, number=0):
    """Name -> binary, each round beginning with another."""
    both = {NOW: args.hotset, **({BEFORE: args.before} if args.before else {})}
    return dict(reversed(both.items())) if number % 2 else both


class Run:
    """One run of a command: wall seconds, peak resident KiB of the largest process in it, exit code."""

    def __init__(self, seconds, peak_kib, code):
        self.seconds = seconds
        self.peak_kib = peak_kib
        self.code = code


def run_once(loops, argv, output="/dev/null"):
    """Runs argv, both streams into `output`, real-time scheduled where root may, measured by `loops timed`."""
    prefix = ["chrt", "-f", str(REAL_TIME)] if os.geteuid() == 0 else []
    said = subprocess.run([*prefix, loops, "timed", output, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode != 0:
        raise RuntimeError(said.stderr.strip().removeprefix("Error: ").strip('"'))
    nanoseconds, peak_bytes, code = said.stdout.split()
    return Run(int(nanoseconds) / 1e9, int(peak_bytes) / KIB, int(code))


class Case:
    """A command under a name."""

    def __init__(self, name, loops, argv):
        self.name = name
        self.loops = loops
        self.argv = argv

    def run(self):
        result = run_once(self.loops, self.argv)
        if result.code != 0:
            raise RuntimeError(f"{self.name}: exit code {result.code}")
        return result


def usable(cases):
    """Splits cases into those that run here and (name, why not) of the rest; an untimed run of each warms what it needs."""
    there, not_there = [], []
    for case in cases:
        try:
            case.run()
            there.append(case)
        except RuntimeError as error:
            not_there.append((case.name, error))
    if not there:
        raise RuntimeError(f"nothing runs: {not_there}")
    return there, not_there


def rounds(cases, count, prepare=lambda: None):
    """Runs every case once a round, each round beginning with another; answers name -> runs, in the order of rounds. A round
    that the host disturbed is left out; Disturbed where that is more than every second one."""
    samples = {case.name: [] for case in cases}
    disturbed = 0
    for number in range(count):
        first = number % len(cases)
        taken = {}
        try:
            for case in cases[first:] + cases[:first]:
                prepare()
                taken[case.name] = case.run()
        except Disturbed as error:
            disturbed += 1
            if disturbed * 2 > count:
                raise Disturbed(f"in {disturbed} of {number + 1} rounds {error}") from error
            continue
        for name, run in taken.items():
            samples[name].append(run)
    return samples


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def spread(values, digits=1):
    """Median and the quartiles around it."""
    low, middle, high = quartiles(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f}–{high:,.{digits}f})"


def interval(values):
    """The exact order-statistic 95 % interval of the median; none below 6 values."""
    values, n = sorted(values), len(values)
    outside = 0.0
    for low in range(n // 2):
        outside += 2 * math.comb(n, low) / 2**n
        if outside > 0.05:
            return (values[low - 1], values[n - low]) if low else None
    return None


HELD, MISSED, TOO_NOISY = "yes", "**no**", "too noisy to judge"


def judged(values, limit):
    """Whether the median over the rounds is at most the limit: held or missed where the whole 95 % interval is on one side of it.
    Where the limit lies within the interval, the host's noise decides and not what is measured."""
    bounds = interval(values)
    if not bounds or bounds[0] <= limit < bounds[1]:
        return TOO_NOISY
    return HELD if bounds[1] <= limit else MISSED


def ratio(runs, reference):
    """Median over the rounds of reference time by time: how many times as fast, from runs that saw the same noise."""
    return statistics.median(b.seconds / a.seconds for a, b in zip(runs, reference))


def milliseconds(runs):
    return [run.seconds * 1e3 for run in runs]


def peak_mib(runs):
    return max(run.peak_kib for run in runs) / KIB


class Goals:
    """Goals and whether they were held, for the table and the exit code."""

    def __init__(self):
        self.lines = []
        self.held = True

    def check(self, what, value, limit, unit, at_most=True, digits=1):
        if value is None or math.isnan(value):
            self.lines.append(f"| {what} | not measured | {'≤' if at_most else '≥'} {limit} {unit} | **no** |")
            self.held = False
            return
        held = value <= limit if at_most else value >= limit
        self.held &= held
        sign = "≤" if at_most else "≥"
        self.lines.append(f"| {what} | {value:,.{digits}f} {unit} | {sign} {limit} {unit} | {'yes' if held else '**no**'} |")

    def disturbed(self, what):
        """A goal on which a host like this one allows no verdict."""
        self.lines.append(f"| {what} | not measured: the host disturbed it | | not judged |")

    def table(self):
        return ["| goal | measured | limit | held |", "|---|---|---|---|", *self.lines]


def table(title, samples, reference, skipped, per=None):
    """Rows of a Markdown table: wall time, throughput if `per` = (count, unit), factor against `reference`, peak memory."""
    rate = f" {per[1]} a second |" if per else ""
    out = [f"| {title} | ms |{rate} as fast as {reference} | peak MiB |", "|---|---|" + ("---|" if per else "") + "---|---|"]
    for name, runs in samples.items():
        times = milliseconds(runs)
        speed = f" {per[0] / statistics.median(times) * 1e3:,.0f} |" if per else ""
        factor = f"{ratio(runs, samples[reference]):,.2f}×" if reference in samples else "–"
        out.append(f"| {name} | {spread(times)} |{speed} {factor} | {peak_mib(runs):,.1f} |")
    for name, why in skipped:
        out.append(f"| {name} | not run: {why} |" + (" – |" if per else "") + " – | – |")
    return out


def cached_pages(path):
    """Pages of a file in the cache, by cachestat(2)."""
    fd = os.open(path, os.O_RDONLY)
    try:
        span = (ctypes.c_uint64 * 2)(0, os.fstat(fd).st_size)
        answer = (ctypes.c_uint64 * 5)()
        if LIBC.syscall(SYS_CACHESTAT, fd, span, answer, 0) != 0:
            raise OSError(ctypes.get_errno(), "cachestat", path)
        return answer[0]
    finally:
        os.close(fd)


def warm(path):
    """Reads a file until every page of it is cached; hosts that evict idle pages undo that within seconds."""
    pages = -(-os.path.getsize(path) // PAGE)
    for _ in range(5):
        if cached_pages(path) == pages:
            return
        subprocess.run(["dd", f"if={path}", "of=/dev/null", "bs=1M"], check=True, stderr=subprocess.DEVNULL)
    raise Disturbed(f"{path} does not stay in the cache")


def evict(path):
    """Throws a file out of the cache."""
    fd = os.open(path, os.O_RDONLY)
    try:
        for _ in range(5):
            os.fdatasync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            if cached_pages(path) == 0:
                return
            time.sleep(0.02)
    finally:
        os.close(fd)
    raise Disturbed(f"{path} stays in the cache")


def make_file(path, size_bytes):
    """A file of random bytes, on its device."""
    block = os.urandom(MIB)
    with open(path, "wb", buffering=0) as file:
        for _ in range(size_bytes // MIB):
            file.write(block)
        os.fsync(file.fileno())


def machine():
    """One line about the host."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "?")
    memory = meminfo_kib("MemTotal") / MIB
    load = " ".join(open("/proc/loadavg", encoding="utf-8").read().split()[:3])
    return f"{os.cpu_count()} CPUs {model}, {memory:.0f} GiB, Linux {platform.release()}, load before {load}"


def meminfo_kib(name):
    with open("/proc/meminfo", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
