"""What a fleet is made of: hosts, workloads, and what is wrong with them, all of it following from a seed."""

from __future__ import annotations

import dataclasses
import math
import random

from .truth import ENOUGH
from .workloads import MIB, PROGRAMS

__all__ = ["ENOUGH", "Fleet", "Workload", "make_fleet"]

#: What ``hotset size`` adds to what must be there.
MARGIN = 1.1
#: Programs whose need a curve tells.
READERS = ["loop", "uniform", "skewed", "heap"]
GIB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Workload:
    """A Deployment with its replicas."""

    name: str
    program: str
    #: Memory is that of the program times 2^(eighths/8).
    eighths: int
    #: Counts are those of the program times this.
    rate: float
    replicas: int
    #: ``wasteful``, ``fitting``, ``starved``, or ``unlimited``.
    verdict: str
    limit_bytes: int | None
    #: What it must have and what its cache needs, known from the program.
    must_bytes: int
    cache_bytes: int
    #: Counts with its second image are so many times as high; 1 where it has one image.
    newer_rate: float = 1.0
    #: What a rule says of it in each hour; none where no rule says anything.
    rule: str | None = None

    @property
    def scale(self) -> float:
        """How much more memory than that of the program."""
        return math.pow(2.0, self.eighths / 8)

    @property
    def needed_limit_bytes(self) -> float:
        """The limit that it needs: the rule of ``hotset size``."""
        return self.must_bytes * MARGIN + self.cache_bytes


@dataclasses.dataclass(frozen=True)
class Fleet:
    """Hosts and what runs on them."""

    hosts: int
    days: int
    seed: int
    groups: int
    workloads: tuple[Workload, ...]

    @property
    def outlier(self) -> tuple[int, str]:
        """A host on which a workload does three times as much as on the others."""
        return self.hosts - 1, self.workloads[1].name

    def replicas_of(self, host: int) -> list[tuple[Workload, int]]:
        """The replicas on a host: the workloads in turn over all hosts."""
        found = []
        position = 0
        for workload in self.workloads:
            for replica in range(workload.replicas):
                if position % self.hosts == host:
                    found.append((workload, replica))
                position += 1
        return found


def make_fleet(measured: dict[str, dict[str, int]], hosts: int, days: int, groups: int, seed: int) -> Fleet:
    """A fleet of so many hosts with so many control groups each; ``measured`` says what the programs need."""
    chance = random.Random(seed)
    count = max(12, groups)
    replicas = max(1, round(hosts * groups / count))
    workloads = [_workload(chance, measured, number, replicas) for number in range(count)]
    return Fleet(hosts, days, seed, groups, tuple(workloads))


def _workload(chance: random.Random, measured: dict[str, dict[str, int]], number: int, replicas: int) -> Workload:
    # Every kind is there in the smallest fleet.
    verdict = ["wasteful", "fitting", "starved", "wasteful", "unlimited"][number % 5]
    starved = ["starved-loop", "starved-skewed"]
    others = ["once", "mapped", "log", "direct", "search"]
    program = starved[number // 5 % 2] if verdict == "starved" else READERS[(number * 7 + number // 5) % 4]
    if verdict == "unlimited":
        program = others[number // 5 % 5]
    eighths = chance.randrange(0, 25)
    need = measured[program]
    must, cache = (math.ceil(value * 2.0 ** (eighths / 8)) for value in (need["must_bytes"], need["cache_bytes"]))
    needed = must * MARGIN + cache
    limit: int | None = {
        "wasteful": math.ceil(needed * chance.uniform(1.6, 4)),
        "fitting": math.ceil(needed * chance.uniform(1.0, 1.15)),
        "starved": math.ceil(need["limit_bytes"] * 2.0 ** (eighths / 8)),
    }.get(verdict)
    name = f"{program}-{number:03}"
    # Every eleventh gets a second image, which does twice as much.
    newer = 2.0 if number % 11 == 3 else 1.0
    # What is done beside what the program does is not in its counts: findings are rows of their own.
    rule = "cache-thrash" if verdict == "starved" else {1: "small-reads", 8: "fsync-per-write"}.get(number % 16)
    limit = limit and -(-limit // MIB) * MIB
    return Workload(name, program, eighths, chance.uniform(0.3, 3), replicas, verdict, limit, must, cache, newer, rule)


def programs() -> list[str]:
    """All that a fleet can be made of."""
    return list(PROGRAMS)
