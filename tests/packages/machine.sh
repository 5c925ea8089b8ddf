# shellcheck shell=bash
# machine.sh: sourced by the tests of this folder that boot a virtual machine with systemd. It is emulated, so each takes minutes.
# They set `suite` first; `root` is where the machine's files are made.
# shellcheck disable=SC2034,SC2154 # It is sourced: what is set here is used there, and the other way round.
# shellcheck source=tests/packages/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
here=$PWD/tests/packages
BOOT_SECONDS=${HOTSET_GUEST_SECONDS:-600}

remove() {
    rm -rf --one-file-system "$work"
}

# make_root PACKAGES: what every machine needs, and these besides.
make_root() {
    local kernel=linux-image-cloud-amd64
    ! is_ubuntu || kernel=linux-image-virtual,initramfs-tools
    bootstrap "systemd-sysv,udev,dbus,procps,$kernel${1:+,$1}"
    mkdir -p "$root"/{packages,guest}
    systemctl --root "$root" --quiet mask getty@tty1.service serial-getty@ttyS0.service apt-daily.timer systemd-networkd-wait-online.service
}

# runs_in_guest SCRIPT [AFTER]: the machine runs it once it is up, and after these units.
runs_in_guest() {
    install -m 755 "$here/$1" "$root/guest/guest.sh"
    install -m 644 "$here/said.sh" "$root/guest/said.sh"
    cat >"$root/etc/systemd/system/guest.service" <<END
[Unit]
After=$2
[Service]
Type=exec
ExecStart=/guest/guest.sh
[Install]
WantedBy=multi-user.target
END
    systemctl --root "$root" --quiet enable guest
}

make_disk() {
    truncate -s 2G "$work/disk"
    mke2fs -q -F -t ext4 -d "$root" "$work/disk"
    mkdir "$work/kernel"
    cp "$root"/boot/vmlinuz-* "$work/kernel/vmlinuz"
    cp "$root"/boot/initrd.img-* "$work/kernel/initrd"
}

# boot NUMBER: what the guest said, and 1 where something failed or it did not finish.
boot() {
    local log=$work/boot-$1.log
    tests/kernels/boot.sh "$work/kernel" "$work/kernel/initrd" "$log" "$BOOT_SECONDS" "root=/dev/vda rw" "$work/disk" || true
    grep -a '^GUEST \(ok\|FAILED\)' "$log" | tr -d '\r' | sed "s/^GUEST/test-packages: $suite: boot $1:/" || true
    if ! grep -aq '^GUEST done' "$log" || grep -aq '^GUEST FAILED' "$log"; then
        tail -n 60 "$log" >&2
        echo "test-packages: $suite: FAILED in boot $1" >&2
        exit 1
    fi
}

needs mmdebstrap qemu-system-x86_64 mke2fs
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" hotset-guest-XXXXXX)
root=$work/root
trap remove EXIT
