"""What hotset's BPF programs hang on, and what each takes. Used by overhead.py."""

import collections
import glob
import os
import shutil
import subprocess

STATS = "/proc/sys/kernel/bpf_stats_enabled"


def descriptors(pid):
    """What /proc says of each of a process's descriptors, as words."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as lines:
                yield dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
        except OSError:
            continue


def events(pid):
    """The id of each program -> what it hangs on, as `empty` takes it: a tracepoint, or perf:TYPE:CONFIG."""
    found = {}
    for said in descriptors(pid):
        if said.get("link_type") == "raw_tracepoint":
            found[said["prog_id"]] = said["tp_name"]
        elif said.get("link_type") == "perf":
            found[said["prog_id"]] = f"perf:{said['type']}:{said['config']}"
    return found


def spent(pid):
    """The event of each program -> (nanoseconds in it, how often it ran), while the kernel counts that."""
    hangs = events(pid)
    total = collections.defaultdict(lambda: (0, 0))
    for said in descriptors(pid):
        if "run_cnt" in said and said["prog_id"] in hangs:
            event = hangs[said["prog_id"]]
            nanoseconds, times = total[event]
            total[event] = nanoseconds + int(said["run_time_ns"]), times + int(said["run_cnt"])
    return total


def others():
    """Processes that have programs on tracepoints now: while they do, every system call of the host is slower, and what
    hotset adds to it smaller."""
    processes = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [pid for pid in processes if events(pid)]


class Held:
    """A command under an observer, that waits until it is told to begin and ends when it is told so."""

    def __init__(self, prefix, argv):
        script = 'echo ready; read -r word; "$@" >/dev/null; echo done; read -r word'
        self.process = subprocess.Popen([*prefix, "sh", "-c", script, "sh", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.wait_for("ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate("\n", timeout=60)

    def wait_for(self, word):
        said = self.process.stdout.readline().strip()
        if said != word:
            raise RuntimeError(f"{self.process.args[0]}: said {said!r} instead of {word!r}")

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.wait_for("done")


def attached(hotset):
    """The events that `hotset run` uses on this host, one for each program."""
    with Held([hotset, "run", "-q", "--"], ["true"]) as held:
        return sorted(events(held.process.pid).values())


class Statistics:
    """Has the kernel count what programs take, which takes time itself, for as long as needed."""

    def __enter__(self):
        with open(STATS, encoding="ascii") as file:
            self.before = file.read()
        with open(STATS, "w", encoding="ascii") as file:
            file.write("1")

    def __exit__(self, *_):
        with open(STATS, "w", encoding="ascii") as file:
            file.write(self.before)


def costs(prefix, argv):
    """The event of each program -> (nanoseconds, runs) during a command."""
    with Statistics(), Held(prefix, argv) as held:
        before = spent(held.process.pid)
        held.run()
        after = spent(held.process.pid)
    return {event: (nanoseconds - before[event][0], times - before[event][1]) for event, (nanoseconds, times) in after.items()}


def build_empty(directory):
    """Compiles the floor."""
    if not shutil.which("cc"):
        raise RuntimeError("cc is not installed")
    binary = os.path.join(directory, "empty")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "empty.c")
    subprocess.run(["cc", "-O2", "-Wall", "-o", binary, source, "-lbpf"], check=True)
    return binary
