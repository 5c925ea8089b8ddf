"""What is recommended, as files for Kubernetes: a patch of each workload, and a VerticalPodAutoscaler in its mode "Off".

Nothing is applied. ``kubectl patch --dry-run=server`` shows what would become of it.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from .numbers import size
from .whole import write_whole

MIB = 1 << 20
#: Kinds of workloads whose pod template can be patched, by the name that the tables give them. That of a Job can't be changed, and
#: objects of other APIs take no strategic merge patch.
KINDS = {
    "deployment": ("apps/v1", "Deployment"),
    "statefulset": ("apps/v1", "StatefulSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "replicaset": ("apps/v1", "ReplicaSet"),
    "cronjob": ("batch/v1", "CronJob"),
}
#: What Kubernetes takes for a name (RFC 1123). Names come from hosts: another one stands in no file that is to be applied.
NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")


@dataclasses.dataclass(frozen=True)
class Advice:
    """What to set for a container of a workload."""

    kind: str
    namespace: str
    owner: str
    container: str
    row: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.namespace}_{self.kind}_{self.owner}_{self.container}"


def advice(workloads: pa.Table) -> Iterator[Advice]:
    """What is recommended to workloads whose limit is wrong or missing, and of which a curve tells the need."""
    for row in workloads.to_pylist():
        if (
            row["workload_kind"] not in KINDS
            or row["verdict"] not in ("wasteful", "starved", "no limit")
            or row["basis"] not in ("curve", "reads once")
        ):
            continue
        parts = row["workload"].split("/")
        if len(parts) == 3 and all(NAME.fullmatch(part) for part in parts):
            namespace, owner, container = parts
            yield Advice(row["workload_kind"], namespace, owner, container, row)


def patch(one: Advice) -> dict[str, Any]:
    """A strategic merge patch."""
    memory = {
        "requests": {"memory": quantity(one.row["request_bytes"])},
        "limits": {"memory": quantity(one.row["recommended_limit_bytes"])},
    }
    template = {"spec": {"template": {"spec": {"containers": [{"name": one.container, "resources": memory}]}}}}
    return {"spec": {"jobTemplate": template}} if one.kind == "cronjob" else template


def autoscaler(one: Advice) -> dict[str, Any]:
    """A VerticalPodAutoscaler with a recommendation as a recommender of one's own writes it; it changes nothing. The target is the limit: a
    VerticalPodAutoscaler requests its target, and keeps the ratio of limit to request."""
    api, kind = KINDS[one.kind]
    limit = {"memory": quantity(one.row["recommended_limit_bytes"])}
    request = {"memory": quantity(one.row["request_bytes"])}
    recommendation = {"containerName": one.container, "target": limit, "lowerBound": request, "upperBound": limit, "uncappedTarget": limit}
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": f"{one.owner}-{one.container}-hotset", "namespace": one.namespace},
        "spec": {
            "targetRef": {"apiVersion": api, "kind": kind, "name": one.owner},
            "recommenders": [{"name": "hotset"}],
            "updatePolicy": {"updateMode": "Off"},
            "resourcePolicy": {"containerPolicies": [{"containerName": one.container, "controlledResources": ["memory"]}]},
        },
        "status": {"recommendation": {"containerRecommendations": [recommendation]}},
    }


def quantity(count: int) -> str:
    """Bytes as Kubernetes writes them, rounded up to MiB."""
    return f"{-(-count // MIB)}Mi"


def reasons(one: Advice) -> str:
    """Why, as comments."""
    row = one.row
    now = "no limit" if row["limit_bytes"] is None else f"limit {size(row['limit_bytes'])}"
    lines = [
        f"{one.namespace}/{one.owner}, container {one.container}: {row['verdict']} ({now}, {row['replicas']:.1f} replicas on "
        f"{row['hosts']} hosts)",
        f"request: it must have {size(row['must_bytes'])}, and a margin",
        f"limit: the request, and {size(row['cache_need_bytes'])} of page cache ({row['basis']})",
        f"it rests on {row['intervals']:,} intervals; peaks between them were not seen",
    ]
    return "".join(f"# {line}\n" for line in lines)


def write(workloads: pa.Table, out: pathlib.Path) -> list[Advice]:
    """Writes two files for each workload, and a script that shows what they would change."""
    out.mkdir(parents=True, exist_ok=True)
    found = list(advice(workloads))
    commands = []
    for one in found:
        for ending, content in (("patch", patch(one)), ("vpa", autoscaler(one))):
            # JSON is YAML.
            write_whole(out / f"{one.name}.{ending}.yaml", reasons(one) + json.dumps(content, indent=2) + "\n")
        file = f"{one.name}.patch.yaml"
        words = ["kubectl", "--namespace", one.namespace, "patch", one.kind, one.owner, "--patch-file", file]
        commands.append(shlex.join([*words, "--dry-run=server", "--output", "yaml"]) + "\n")
    head = '#!/bin/sh\n# Shows what the patches would change; applies none.\nset -e\ncd "$(dirname "$0")"\n'
    write_whole(out / "dry-run.sh", head + "".join(commands))
    return found
