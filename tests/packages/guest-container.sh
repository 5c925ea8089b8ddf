#!/bin/bash
# guest-container.sh: inside the virtual machine of container.sh, once it is up.
# shellcheck source=tests/packages/said.sh
. "$(dirname "$0")/said.sh"
# As in deploy/kubernetes/daemonset.yaml.
CAPABILITIES=(BPF PERFMON DAC_READ_SEARCH)
IMAGE=localhost/hotset

# hotset_in CAPABILITIES ARGUMENTS…: the image's program, with the rights that the manifest of Kubernetes gives, but these capabilities. Podman's own
# profile for system calls may forbid bpf(2) to those who have CAP_BPF.
hotset_in() {
    local capabilities=$1
    shift
    podman run --rm --pid=host --cgroupns=host --network=none --read-only --cap-drop=all ${capabilities:+"--cap-add=$capabilities"} \
        --security-opt=no-new-privileges --security-opt=seccomp=unconfined --cgroups=split \
        --volume=/sys/kernel/tracing:/sys/kernel/tracing:ro --volume=/sys/fs/cgroup:/sys/fs/cgroup:ro \
        --volume=/var/lib/containers/storage:/var/lib/containers/storage:ro --volume=/run/containers/storage:/run/containers/storage:ro "$IMAGE" "$@"
}

# says CAPABILITIES PATTERN ARGUMENTS…
says() {
    local capabilities=$1 pattern=$2 said
    shift 2
    said=$(hotset_in "$capabilities" "$@" 2>&1)
    grep -qE -- "$pattern" <<<"$said" || { echo "$said"; return 1; }
}

# All but one.
without() {
    local capability kept=()
    for capability in "${CAPABILITIES[@]}"; do
        [[ $capability == "$1" ]] || kept+=("$capability")
    done
    (IFS=,; echo "${kept[*]}")
}

load() {
    local name
    name=$(podman load --quiet --input /packages/hotset-*.oci.tar | sed 's/^Loaded image: //') && podman tag "$name" "$IMAGE"
}

all=$(IFS=,; echo "${CAPABILITIES[*]}")
table=$(stat -c %s /guest/shop/data/table)
pages=$((table / 4096))
check "the image is loaded" load
check "nothing but the binary is in it" test "$(podman image mount "$IMAGE" | xargs -I{} find {} -type f | wc -l)" = 1
check "the image says its version" says "" '^hotset [0-9]' --version
check "a container starts" podman run --detach --name shop --user 1000:1000 --rootfs /guest/shop /bin/busybox sh -c 'while :; do /bin/busybox cat /data/table >/dev/null; /bin/busybox sleep 1; done'
group=$(podman inspect --format '{{.State.CgroupPath}}' shop)
check "attach by the container's name" says "$all" "/data/table" attach --container shop --duration 6s
check "attach by its control group" says "$all" "/data/table" attach --cgroup "/sys/fs/cgroup$group" --duration 6s
check "top has the container's name" says "$all" "shop" top 2 --batch 2 --view cgroups
hotset_in "$all" attach --container shop --duration 6s --json - -q >/guest/profile.json 2>/guest/words
check "whole reads of the file" test "$(grep -o '"pages":[0-9]*' /guest/profile.json | head -1 | cut -d: -f2)" -ge "$pages"
check "nothing is missing" says "$all" "sensor loads and attaches" doctor
# Each capability is needed: what is lost without it.
refused="give it CAP_BPF and CAP_PERFMON"
check "without CAP_BPF it is refused, and says what it needs" says "$(without BPF)" "$refused" attach --container shop --duration 3s
check "without CAP_PERFMON it is refused, and says what it needs" says "$(without PERFMON)" "$refused" attach --container shop --duration 3s
hotset_in "$(without DAC_READ_SEARCH)" attach --container shop --duration 6s 2>&1 | sed 's/^/GUEST log without DAC_READ_SEARCH: /' >/dev/console
check "without CAP_DAC_READ_SEARCH it counts" says "$(without DAC_READ_SEARCH)" 'requested +[1-9]' attach --container shop --duration 6s
finish
