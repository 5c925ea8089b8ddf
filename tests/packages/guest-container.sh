#!/bin/bash
# guest-container.sh: inside the virtual machine of container.sh, once it is up.
# shellcheck source=tests/packages/said.sh
. "$(dirname "$0")/said.sh"
# As in deploy/kubernetes/daemonset.yaml.
OBSERVE=BPF,PERFMON
# What `ls`, and `export --watch`, need for another user's files.
LOOK=DAC_READ_SEARCH,FOWNER
IMAGE=localhost/hotset

# start CAPABILITIES OPTIONS… -- ARGUMENTS…: the image's program, with the rights that the manifest of Kubernetes gives, but these capabilities. Podman's
# own profile for system calls may forbid bpf(2) to those who have CAP_BPF.
start() {
    local capabilities=$1 options=()
    shift
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    podman run --rm --pid=host --cgroupns=host --read-only --cap-drop=all ${capabilities:+"--cap-add=$capabilities"} \
        --security-opt=no-new-privileges --security-opt=seccomp=unconfined --cgroups=split \
        --volume=/sys/kernel/tracing:/sys/kernel/tracing:ro --volume=/sys/fs/cgroup:/sys/fs/cgroup:ro --volume=/guest/shop/data:/data:ro \
        --volume=/var/lib/containers/storage:/var/lib/containers/storage:ro --volume=/run/containers/storage:/run/containers/storage:ro \
        "${options[@]}" "$IMAGE" "$@"
}

hotset_in() {
    local capabilities=$1
    shift
    start "$capabilities" --network=none -- "$@"
}

# says CAPABILITIES PATTERN ARGUMENTS…
says() {
    local capabilities=$1 pattern=$2 said
    shift 2
    said=$(hotset_in "$capabilities" "$@" 2>&1)
    grep -qE -- "$pattern" <<<"$said" || { echo "$said"; return 1; }
}

# series CAPABILITIES: which metrics there are, and which series of the observed container, without their values.
series() {
    local page='' _
    start "$1" --network=host --detach --name metrics -- export --listen 127.0.0.1:9467 --interval 1 --cgroups 50 --mounts >/dev/null
    soon has_shop
    # Not every interval has every kind of request.
    for _ in {1..15}; do
        page+=$(scrape)$'\n'
        sleep 1
    done
    podman stop --time 5 metrics >/dev/null
    { grep -o '^# TYPE [a-z_]*' <<<"$page"; grep -v '^#' <<<"$page" | grep shop | sed 's/ [^ ]*$//'; } | sort --unique
}

scrape() {
    busybox wget -q -O - http://127.0.0.1:9467/metrics
}

has_shop() {
    scrape 2>/dev/null | grep -q 'container="\?[^"]*shop'
}

load() {
    local name
    name=$(podman load --quiet --input /packages/hotset-*.oci.tar | sed 's/^Loaded image: //') && podman tag "$name" "$IMAGE"
}

table=$(stat -c %s /guest/shop/data/table)
pages=$((table / 4096))
check "the image is loaded" load
check "nothing but the binary is in it" test "$(podman image mount "$IMAGE" | xargs -I{} find {} -type f | wc -l)" = 1
check "the image says its version" says "" '^hotset [0-9]' --version
check "a container starts" podman run --detach --name shop --network=none --user 1000:1000 --rootfs /guest/shop /bin/busybox sh -c 'while :; do /bin/busybox cat /data/table >/dev/null; /bin/busybox sleep 1; done'
group=$(podman inspect --format '{{.State.CgroupPath}}' shop)
check "attach by the container's name" says $OBSERVE "/data/table" attach --container shop --duration 6s
check "attach by its control group" says $OBSERVE "/data/table" attach --cgroup "/sys/fs/cgroup$group" --duration 6s
check "top has the container's name" says $OBSERVE "shop" top 2 --batch 2 --view cgroups
hotset_in $OBSERVE attach --container shop --duration 6s --json - -q >/guest/profile.json 2>/guest/words
check "whole reads of the file" test "$(grep -o '"pages":[0-9]*' /guest/profile.json | head -1 | cut -d: -f2)" -ge "$pages"
check "nothing is missing" says $OBSERVE "sensor loads and attaches" doctor
# Debian's level is 3, and its kernel gives perf events to CAP_PERFMON up to 2; Ubuntu's level is 4, and its kernel gives them at any.
case $(. /etc/os-release && echo "$ID") in
ubuntu) check "doctor says that Ubuntu gives perf events at its level" says $OBSERVE "yes +faults can be timed .*perf_event_paranoid = 4" doctor ;;
*) check "doctor says that Debian refuses perf events" says $OBSERVE "no +faults can be timed" doctor ;;
esac
sysctl --quiet --write kernel.perf_event_paranoid=2
check "doctor says that they are given now" says $OBSERVE "yes +faults can be timed" doctor
# Faults have tracepoints since Linux 6.12.
if [[ -e /sys/kernel/tracing/events/filemap/mm_filemap_fault ]]; then
    check "faults are counted" says $OBSERVE "mappings +[0-9]+ faults" attach --container shop --duration 6s
fi
# Each capability is needed: what is lost without it.
refused="give it CAP_BPF and CAP_PERFMON"
check "without CAP_BPF it is refused, and says what it needs" says PERFMON "$refused" attach --container shop --duration 3s
check "without CAP_PERFMON it is refused, and says what it needs" says BPF "$refused" attach --container shop --duration 3s
check "it sees another user's file" says $LOOK '8.00 MiB +2,048 +[0-9.]+ MiB .*/data/table' ls /data/table
check "without CAP_DAC_READ_SEARCH it can't open that" says FOWNER "/data/table.*Permission denied" ls /data/table
check "without CAP_FOWNER the kernel does not say how much is cached" says DAC_READ_SEARCH "unknown: no write permission +/data/table" ls /data/table
# More would be a right that nothing uses.
series $OBSERVE >/guest/series
series $OBSERVE,$LOOK >/guest/series-of-more
check "there are series of the container" grep -q shop /guest/series
check "more capabilities give no more series" diff /guest/series /guest/series-of-more
finish
