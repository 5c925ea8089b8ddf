"""check.py SERIAL_LOG RESULTS: compares what hotset counted in a guest with what the workload knows, and prints a table.

Exit code: 0 all passed; 1 a case failed, the guest did not finish, or nothing passed.
"""

import json
import re
import sys
from pathlib import Path

from cases import CASES, CURVES, ESSENTIAL, LOOKUPS, LOSS, MEASURED_SINCE, OTHER_LOOKUPS, OTHER_PAGES, QUIRKS

PAGE = 4096


class Missing(Exception):
    """A number that was not measured, and why."""


class Unknown(Missing):
    """A number that the workload can't know on this kernel: cachestat(2) is there from 6.5 on."""


class Wrong(Exception):
    """A number that breaks the contract or differs from the truth; by how much, where it does, and of what."""

    def __init__(self, message, surplus=None, whole=None):
        super().__init__(message)
        self.surplus = surplus
        self.whole = whole


class Numbers:
    """One case's numbers by name: `read.pages` is hotset's, in its row of the workload's file; `truth.pages` the workload's."""

    def __init__(self, profile, truth, info):
        sensor = profile["sensor"]
        self.not_measured = sensor["not_measured"]
        self.lost = sum(lost for cause, lost in sensor["losses"].items() if cause != "events")
        if sensor["level"] == "unprivileged":
            reasons = "; ".join(gap["reason"] for gap in self.not_measured)
            raise Wrong(f"hotset ran as root, yet without its sensor (results/loader says more): {reasons}")
        self.truth = {**truth, "block_read_pages": pages(truth.get("block_read_bytes"))}
        self.row = row_of(profile["files"], truth["file"])
        self.trace = info and trace_of(info, truth["file"])

    def get(self, name):
        if name.isdecimal():
            return int(name)
        if name.startswith("truth."):
            value = self.truth[name.removeprefix("truth.")]
            if value is None:
                raise Unknown(f"{name}: the workload can't know it here")
            return value
        if name.startswith("trace."):
            # What the trace has no record of, it says nothing about.
            return member(self.trace, name.removeprefix("trace.")) or 0
        value = member(self.row, name)
        if value is None:
            raise Missing(f"{name}: {self.reason(name)}")
        return value

    def reason(self, name):
        for gap in self.not_measured:
            what = gap["what"].rstrip(".*")
            if name == what or name.startswith(f"{what}.") or what.startswith(f"{name}."):
                return gap["reason"]
        raise Wrong(f"{name} is null, and sensor.not_measured does not say why")

    def whole_gap(self, subject):
        """Why nothing about a subject, such as `io_uring`, was measured; or None."""
        return next((gap["reason"] for gap in self.not_measured if gap["what"] == subject), None)

    def sum(self, terms):
        return sum(self.get(name) for name in terms.split(" + "))

    def check(self, equation):
        left, right = (self.sum(side) for side in equation.split(" == "))
        if left != right:
            raise Wrong(f"{equation}: {left} is not {right}", left - right, max(left, right))


def member(value, name):
    for key in name.split("."):
        if value is not None:
            value = value[key]
    return value


def trace_of(info, wanted):
    """A file's numbers in what `hotset trace info` says, and two of the whole trace."""
    rows = [row for row in info["files"] if row["file"]["path"] == wanted["path"]]
    if len(rows) != 1:
        raise Wrong(f"{len(rows)} files of the trace are {wanted['path']}: {[row['file']['path'] for row in info['files']]}")
    unwound = any(len(row["site"]["frames"]) > 1 for row in info["sites"])
    return {**rows[0], "lost": info["lost"]["records"], "unwound": int(unwound)}


def pages(count):
    return None if count is None else count // PAGE


def row_of(files, wanted):
    rows = [row for row in files if (row["dev"], row["ino"]) == (wanted["dev"], wanted["ino"])]
    if len(rows) == 1:
        return rows[0]
    seen = [(row["path"], row["dev"], row["ino"]) for row in files]
    raise Wrong(f"{len(rows)} rows for {wanted['path']} (device {wanted['dev']}, inode {wanted['ino']}) among {seen}")


def must_be_measured(case, equation, kernel):
    """From some kernel on, a case's numbers may not go missing; the essential ones may not on any."""
    if case in MEASURED_SINCE:
        return kernel >= MEASURED_SINCE[case][1]
    return any(name in ESSENTIAL for name in re.findall(r"[\w.]+", equation))


def quirk_of(equation, surplus, kernel):
    """What this kernel is known to do, if it explains exactly this difference; or None."""
    before, known_surplus, why = QUIRKS.get(equation, ((), None, None))
    return why if kernel < before and surplus == known_surplus else None


def loss_of(error, lost, kernel):
    """The loss that the profile tells, if it may explain this difference; or None."""
    since, share = LOSS
    if kernel < since or not lost or error.surplus is None or abs(error.surplus) > share * error.whole:
        return None
    return f"the profile says that {lost} events were lost"


def judge(case, folder, kernel):
    """→ (checks that held, whether the headline was skipped, what was skipped, what failed), the latter two as sentences."""
    held, headless, skipped, failed = 0, False, [], []
    try:
        profile, truth = (json.loads((folder / name).read_text()) for name in ("profile.json", "truth.json"))
        info = json.loads((folder / "info.json").read_text()) if case.startswith("record-") else None
        numbers = Numbers(profile, truth, info)
    except (OSError, ValueError, KeyError, TypeError, Wrong) as error:
        return 0, False, [], [str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"]
    subject, since = MEASURED_SINCE.get(case, (None, ()))
    gap = numbers.whole_gap(subject)
    if gap and kernel < since:
        return 0, True, [f"not measured: {subject}: {gap}"], []
    for place, equation in enumerate(CASES[case]):
        try:
            numbers.check(equation)
            held += 1
        except Missing as gap:
            excused = isinstance(gap, Unknown) or not must_be_measured(case, equation, kernel)
            headless |= excused and place == 0
            (skipped if excused else failed).append(f"not measured: {gap}")
        except KeyError as error:
            failed.append(f"{equation}: no key {error}")
        except Wrong as error:
            loss = loss_of(error, numbers.lost, kernel)
            headless |= loss is not None
            excuse = quirk_of(equation, error.surplus, kernel) or loss
            (skipped if excuse else failed).append(f"{error} ({excuse})" if excuse else str(error))
    return held, headless, list(dict.fromkeys(skipped)), list(dict.fromkeys(failed))


def judge_curves(folder, exponent):
    """What is wrong with the sample of a live session, as sentences: nothing if it has the file's pages, and none was lost."""
    try:
        pages_read = json.loads((folder / "truth.json").read_text())["pages"]
        lines = intervals(folder)
        references, lost = (sum(int(line[at]) for line in lines) for at in (0, 1))
        # Each group's are shown in the intervals in which it did something.
        sampled = max(int(line[2]) for line in lines)
    except (OSError, ValueError, KeyError, IndexError) as error:
        return [f"{type(error).__name__}: {error}"]
    if exponent is None:
        return [] if not any((references, lost, sampled)) else [f"sampled without being asked to: {lines}"]
    wanted = {"references": (references, pages_read, OTHER_PAGES), "lost": (lost, 0, 0)}
    wanted["pages in the sample"] = (sampled, pages_read >> exponent, OTHER_PAGES >> exponent)
    return unlike(wanted)


def judge_lookups(folder):
    """What is wrong with the path lookups of a live session, as sentences: nothing if it has the workload's."""
    try:
        truth = json.loads((folder / "truth.json").read_text())["lookups"]
        lines = intervals(folder)
        calls, failed = (sum(int(line[at]) for line in lines) for at in (6, 7))
        return unlike({"lookups": (calls, truth["calls"], OTHER_LOOKUPS), "failed": (failed, truth["failed"], OTHER_LOOKUPS)})
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        return [f"{type(error).__name__}: {error}"]


def intervals(folder):
    """The numbers of each interval of `loops curves`."""
    return [line.split() for line in (folder / "intervals").read_text().splitlines()[1:]]


def unlike(wanted):
    """Of numbers found, least and those that others may add, a sentence for each that is not so."""
    return [
        f"{name}: {found} is not {least} and up to {others} of others"
        for name, (found, least, others) in wanted.items()
        if not least <= found <= least + others
    ]


def judge_live(case, folder):
    """What is wrong with a case of a live session."""
    return judge_lookups(folder) if case in LOOKUPS else judge_curves(folder, CURVES[case])


def verdicts(log, results, kernel):
    """Yields (case, verdict, detail, further lines) for every case that should have run."""
    said = dict(re.findall(r"^CASE (\S+): (.*)$", log, re.MULTILINE))
    live = {*CURVES, *LOOKUPS}
    for case in [*CASES, *sorted(live), *(name for name in said if name not in CASES and name not in live)]:
        word, _, reason = said.get(case, "FAIL the guest never came to it").partition(" ")
        if case in live and word == "RAN":
            failed = judge_live(case, results / case)
            yield case, "FAIL" if failed else "PASS", f"{len(failed)} failed", failed
        elif case not in CASES and case not in live:
            yield case, "FAIL", "cases.py does not say what to expect", []
        elif word != "RAN":
            yield case, word, reason, []
        else:
            held, headless, skipped, failed = judge(case, results / case, kernel)
            verdict = "FAIL" if failed else "SKIP" if headless else "PASS"
            yield case, verdict, f"{held} checks held, {len(skipped)} skipped, {len(failed)} failed", failed + skipped


def main():
    log = Path(sys.argv[1]).read_text(errors="replace").replace("\r", "") if Path(sys.argv[1]).exists() else ""
    results = Path(sys.argv[2])
    booted = re.search(r"^.*GUEST (\d+)\.(\d+)\S* up after", log, re.MULTILINE)
    kernel = tuple(int(part) for part in booted.groups()) if booted else (0, 0)

    counts = {"PASS": 0, "SKIP": 0, "FAIL": 0}
    for case, verdict, detail, lines in verdicts(log, results, kernel):
        counts[verdict] += 1
        print(f"  {case:<20} {verdict:<5} {detail}")
        for line in lines:
            print(f"  {'':<20}       {line}")
    print("  " + ", ".join(f"{count} {verdict.lower()}" for verdict, count in counts.items()))

    finished = re.search(r"^KERNEL-TESTS done$", log, re.MULTILINE)
    if not finished:
        print("  the guest did not finish; its console ended with:")
        print("\n".join(f"    {line}" for line in log.splitlines()[-15:]))
    return 0 if finished and counts["PASS"] and not counts["FAIL"] else 1


sys.exit(main())
