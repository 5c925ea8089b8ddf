#!/bin/bash
# boot.sh KERNEL_DIR INITRAMFS LOG SECONDS COMMAND_LINE [DRIVE…]: boots the guest, its serial console in LOG, until it
# switches itself off; it is killed after SECONDS. ACCEL is "tcg" (the default) or "kvm".
set -euo pipefail
kernel=$1 initramfs=$2 log=$3 seconds=$4 append=$5
shift 5

if [ "${ACCEL:-tcg}" = kvm ]; then
    machine=(-accel kvm -cpu host)
else
    # One thread for all CPUs: QEMU 7.2 emulates cmpxchg16b wrongly when CPUs run in parallel, and newer kernels need it.
    # Five-level paging and protection keys only cost time here.
    machine=(-accel "tcg,thread=single" -cpu "max,-la57,-pku")
fi
drives=()
for drive in "$@"; do
    drives+=(-drive "file=$drive,if=virtio,format=raw,cache=unsafe")
done

timeout -k 5 "$seconds" qemu-system-x86_64 "${machine[@]}" -M q35 -smp 2 -m 2G \
    -nodefaults -no-user-config -display none -monitor none -no-reboot -serial "file:$log" \
    -kernel "$kernel/vmlinuz" -initrd "$initramfs" "${drives[@]}" \
    -append "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off $append" </dev/null
