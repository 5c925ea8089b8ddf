#!/bin/bash
# run.sh [KERNEL…]: runs hotset on real kernels in virtual machines and checks its counts against what the workload knows.
# Exit code: 0 all passed; 1 a case failed, a guest did not finish, or a kernel can't be had; 2 bad usage or set-up.
set -euo pipefail
DEFAULT_KERNELS=(6.1 6.12)
BOOT_SECONDS=${HOTSET_GUEST_SECONDS:-600}
PROBE_SECONDS=10

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
export HOTSET_KERNEL_CACHE=${HOTSET_KERNEL_CACHE:-$top/target/kernels}
HOTSET_BIN=${HOTSET_BIN:-$top/target/release/hotset}
WORKLOAD_BIN=${WORKLOAD_BIN:-$top/target/release/workload}
LOOPS_BIN=${LOOPS_BIN:-$top/target/release/loops}
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$here/packages.sh"

usage() {
    cat <<END
Usage: tests/kernels/run.sh [KERNEL…]

KERNEL is a series that Debian packages, such as 5.10, 6.1, 6.12 or 6.18, or "newest". Without one: ${DEFAULT_KERNELS[*]}.
README.md beside this script says what the environment variables do.
END
}

die() {
    echo "test-kernels: $*" >&2
    exit 2
}

# KVM is used only where a guest really boots under it: /dev/kvm alone proves nothing.
choose_accelerator() {
    local kernel=$1 initramfs=$2 log=$3
    if [ -n "${HOTSET_QEMU_ACCEL:-}" ]; then
        echo "$HOTSET_QEMU_ACCEL"
    elif [ -w /dev/kvm ] && ACCEL=kvm "$here/boot.sh" "$kernel" "$initramfs" "$log" "$PROBE_SECONDS" hotset.probe 2>/dev/null &&
        grep -q '^GUEST .* up after' "$log"; then
        echo kvm
    else
        echo tcg
    fi
}

make_drives() {
    rm -f "$1" "$2"
    truncate -s 1G "$1" && truncate -s 64M "$2" && mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

# Fetches, packs, boots and checks one kernel (as a condition, where `set -e` does not act); its serial log and results stay in the cache for whoever looks into a failure.
test_kernel() {
    local series=$1 kernel work started
    kernel=$("$here/fetch.sh" "$series") || return 1
    work=$HOTSET_KERNEL_CACHE/run/$series
    rm -rf "$work" && mkdir -p "$work/results" || return 1
    "$here/initramfs.sh" "$kernel" "$work/initramfs" "hotset=$HOTSET_BIN" "workload=$WORKLOAD_BIN" "loops=$LOOPS_BIN" || return 1
    ACCEL=${ACCEL:-$(choose_accelerator "$kernel" "$work/initramfs" "$work/probe.log")}
    export ACCEL
    make_drives "$work/disk" "$work/results.tar" || return 1
    started=$SECONDS
    "$here/boot.sh" "$kernel" "$work/initramfs" "$work/serial.log" "$BOOT_SECONDS" "" "$work/disk" "$work/results.tar" ||
        echo "test-kernels: QEMU ended with code $? after $((SECONDS - started)) s" >&2
    tar -xf "$work/results.tar" -C "$work/results" 2>/dev/null || true
    rm -f "$work/disk" "$work/results.tar" "$work/initramfs"
    echo
    echo "kernel $series ($(<"$kernel/version"), $ACCEL, $((SECONDS - started)) s)"
    python3 -B "$here/check.py" "$work/serial.log" "$work/results"
}

case ${1:-} in -h | --help) usage && exit ;; -*) usage >&2 && exit 2 ;; esac
kernels=("$@")
((${#kernels[@]})) || kernels=("${DEFAULT_KERNELS[@]}")
for name in "${kernels[@]}"; do
    [[ $name == newest || $name =~ ^[0-9]+\.[0-9]+$ ]] || die "\"$name\" is no kernel series; right are 6.1, 6.12 or newest"
done
[ -x "$HOTSET_BIN" ] || die "no hotset at $HOTSET_BIN; build it with cargo build --release, or set HOTSET_BIN"
[ -x "$WORKLOAD_BIN" ] || die "no workload at $WORKLOAD_BIN; build it with cargo build --release -p hotset-tests, or set WORKLOAD_BIN"
[ -x "$LOOPS_BIN" ] || die "no loops at $LOOPS_BIN; build it with cargo build --release -p hotset-bench, or set LOOPS_BIN"
ensure_packages || exit 2
mkdir -p "$HOTSET_KERNEL_CACHE"
exec 9>"$HOTSET_KERNEL_CACHE/lock"
flock -n 9 || die "another run uses $HOTSET_KERNEL_CACHE"

failed=()
for name in "${kernels[@]}"; do
    test_kernel "$name" || failed+=("$name")
done
echo
if ((${#failed[@]})); then
    echo "test-kernels: FAILED on ${failed[*]}; serial logs and results are in $HOTSET_KERNEL_CACHE/run"
    exit 1
fi
echo "test-kernels: passed on ${kernels[*]}"
