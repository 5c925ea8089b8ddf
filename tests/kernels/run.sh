#!/bin/bash
# run.sh [--counts|--sizing|--sizing-wide|--sizing-full] [KERNEL…]: runs hotset on real kernels in virtual machines, checks its counts against what the
# workload knows, and what it predicts of memory limits against what the kernel does.
# Exit code: 0 all passed; 1 a case failed, a guest did not finish, or a kernel can't be had; 2 bad usage or set-up.
set -euo pipefail
DEFAULT_KERNELS=(6.1 6.12)
BOOT_SECONDS=${HOTSET_GUEST_SECONDS:-600}
# Emulated programs that read hundreds of thousands of pages take their time; the larger sets have up to ten times as many runs.
SIZING_SECONDS=${HOTSET_GUEST_SECONDS:-1800}
LONG_SECONDS=${HOTSET_GUEST_SECONDS:-14400}
PROBE_SECONDS=10

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
export HOTSET_KERNEL_CACHE=${HOTSET_KERNEL_CACHE:-$top/target/kernels}
HOTSET_BIN=${HOTSET_BIN:-$top/target/release/hotset}
WORKLOAD_BIN=${WORKLOAD_BIN:-$top/target/release/workload}
LOOPS_BIN=${LOOPS_BIN:-$top/target/release/loops}
SIZING_BIN=${SIZING_BIN:-$top/target/release/sizing}
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$here/packages.sh"

usage() {
    cat <<END
Usage: tests/kernels/run.sh [--counts|--sizing|--sizing-wide|--sizing-full] [KERNEL…]

  --counts       only compare counts of I/O
  --sizing       only compare predictions of memory limits
  --sizing-wide  the same with more cases, whose results can become fixtures (README.md)
  --sizing-full  the same with all cases, which takes hours under emulation

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

make_disk() {
    rm -f "$1"
    truncate -s "$2" "$1" && mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

# run_guest KERNEL_DIR WORK SECONDS COMMAND_LINE [DRIVE…]: boots a guest with a disk and further drives; its serial log and what it leaves
# stay in WORK, for whoever looks into a failure.
run_guest() {
    local kernel=$1 work=$2 seconds=$3 append=$4
    local programs=("hotset=$HOTSET_BIN" "workload=$WORKLOAD_BIN" "loops=$LOOPS_BIN")
    shift 4
    [[ $part == --counts ]] || programs+=("sizing=$SIZING_BIN")
    rm -rf "$work" && mkdir -p "$work/results" || return 1
    "$here/initramfs.sh" "$kernel" "$work/initramfs" "${programs[@]}" || return 1
    ACCEL=${ACCEL:-$(choose_accelerator "$kernel" "$work/initramfs" "$work/probe.log")}
    export ACCEL
    make_disk "$work/disk" 1G && truncate -s 256M "$work/results.tar" || return 1
    started=$SECONDS
    "$here/boot.sh" "$kernel" "$work/initramfs" "$work/serial.log" "$seconds" "$append" "$work/disk" "$work/results.tar" "$@" ||
        echo "test-kernels: QEMU ended with code $? after $((SECONDS - started)) s" >&2
    tar -xf "$work/results.tar" -C "$work/results" 2>/dev/null || true
    rm -f "$work/disk" "$work/results.tar" "$work/initramfs" "$@"
}

# Compares the counts of one kernel (as a condition, where `set -e` does not act).
test_counts() {
    local series=$1 kernel=$2 work=$HOTSET_KERNEL_CACHE/run/$1 started
    run_guest "$kernel" "$work" "$BOOT_SECONDS" "" || return 1
    echo
    echo "kernel $series ($(<"$kernel/version"), $ACCEL, $((SECONDS - started)) s)"
    python3 -B "$here/check.py" "$work/serial.log" "$work/results"
}

# Compares predictions of memory limits with one kernel (as a condition).
test_sizing() {
    local series=$1 kernel=$2 set=$3 seconds=$4 work=$HOTSET_KERNEL_CACHE/run/$1-sizing started version code=0
    local disk=$HOTSET_KERNEL_CACHE/run/$1-sizing.disk
    mkdir -p "$HOTSET_KERNEL_CACHE/run" && make_disk "$disk" 160M || return 1
    run_guest "$kernel" "$work" "$seconds" "hotset.sizing=$set" "$disk" || return 1
    version=$(<"$kernel/version")
    echo
    echo "sizing on kernel $series ($version, $ACCEL, $((SECONDS - started)) s)"
    ! grep '^SIZING .*: FAIL' "$work/serial.log" || code=1
    grep -q '^SIZING done' "$work/serial.log" || { echo "  the guest did not finish" && return 1; }
    "$SIZING_BIN" check-pages --kernel "$version" --csv "$work/results/pages.csv" --high "$work/results/high.csv" || code=1
    "$SIZING_BIN" check-programs --results "$work/results" --hotset "$HOTSET_BIN" || code=1
    return $code
}

test_kernel() {
    local series=$1 kernel code=0
    kernel=$("$here/fetch.sh" "$series") || return 1
    case $part in
    all) test_counts "$series" "$kernel" || code=1; test_sizing "$series" "$kernel" short "$SIZING_SECONDS" || code=1 ;;
    --counts) test_counts "$series" "$kernel" || code=1 ;;
    --sizing) test_sizing "$series" "$kernel" short "$SIZING_SECONDS" || code=1 ;;
    --sizing-wide) test_sizing "$series" "$kernel" wide "$LONG_SECONDS" || code=1 ;;
    --sizing-full) test_sizing "$series" "$kernel" full "$LONG_SECONDS" || code=1 ;;
    esac
    return $code
}

part=all
case ${1:-} in
-h | --help) usage && exit ;;
--counts | --sizing | --sizing-wide | --sizing-full) part=$1 && shift ;;
-*) usage >&2 && exit 2 ;;
esac
kernels=("$@")
((${#kernels[@]})) || kernels=("${DEFAULT_KERNELS[@]}")
for name in "${kernels[@]}"; do
    [[ $name == newest || $name =~ ^[0-9]+\.[0-9]+$ ]] || die "\"$name\" is no kernel series; right are 6.1, 6.12 or newest"
done
[ -x "$HOTSET_BIN" ] || die "no hotset at $HOTSET_BIN; build it with cargo build --release, or set HOTSET_BIN"
[ -x "$WORKLOAD_BIN" ] || die "no workload at $WORKLOAD_BIN; build it with cargo build --release -p hotset-tests, or set WORKLOAD_BIN"
[ -x "$LOOPS_BIN" ] || die "no loops at $LOOPS_BIN; build it with cargo build --release -p hotset-bench, or set LOOPS_BIN"
[[ $part == --counts ]] || [ -x "$SIZING_BIN" ] || die "no sizing at $SIZING_BIN; build it with cargo build --release -p hotset-tests, or set SIZING_BIN"
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
