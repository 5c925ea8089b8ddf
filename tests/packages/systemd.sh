#!/bin/bash
# systemd.sh [SUITE]: installs the Debian package into a virtual machine with systemd, and looks at the services over two boots. As root; emulated, so it takes minutes.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
here=$PWD/tests/packages
dist=${HOTSET_DIST:-$PWD/dist}
suite=${1:-trixie}
BOOT_SECONDS=${HOTSET_GUEST_SECONDS:-600}
PATH=$PATH:/usr/sbin:/sbin

die() {
    echo "test-packages: $*" >&2
    exit 2
}

remove() {
    rm -rf --one-file-system "$work"
}

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

make_root() {
    mmdebstrap --quiet --variant=minbase --include=systemd-sysv,udev,dbus,procps,linux-image-cloud-amd64 "$suite" "$root" ${HOTSET_MIRROR:+"$HOTSET_MIRROR"} >/dev/null
    mkdir -p "$root"/{packages,guest,srv/db,srv/pinned}
    cp "$dist"/*.deb "$root/packages"
    head -c 16M /dev/urandom >"$root/srv/db/table"
    head -c 4M /dev/urandom >"$root/srv/pinned/index"
    inside dpkg --install "/packages/$(basename "$deb")" >/dev/null
}

# As somebody would who reads docs/install.md.
set_up() {
    sed -i 's|^HOTSET_EXPORT_FLAGS=.*|HOTSET_EXPORT_FLAGS="--mounts --interval 1"|' "$root/etc/default/hotset-export"
    sed -i 's|^HOTSET_PIN=.*|HOTSET_PIN="--budget 16M /srv/pinned"|' "$root/etc/default/hotset-pin"
    sed -i 's|^HOTSET_SAVE=.*|HOTSET_SAVE="/srv/db"|' "$root/etc/default/hotset-restore"
    systemctl --root "$root" --quiet enable hotset-export hotset-pin hotset-restore hotset-save.timer
    install -m 755 "$here/guest.sh" "$root/guest/guest.sh"
    cat >"$root/etc/systemd/system/guest.service" <<'END'
[Unit]
After=hotset-export.service hotset-pin.service hotset-restore.service
[Service]
Type=exec
ExecStart=/guest/guest.sh
[Install]
WantedBy=multi-user.target
END
    systemctl --root "$root" --quiet enable guest
    systemctl --root "$root" --quiet mask getty@tty1.service serial-getty@ttyS0.service apt-daily.timer systemd-networkd-wait-online.service
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

((EUID == 0)) || die "root is needed: a bare root is made and entered"
for program in mmdebstrap qemu-system-x86_64 mke2fs; do
    command -v "$program" >/dev/null || die "there is no $program; .ci/packages.sh bare installs it"
done
deb=$(echo "$dist"/hotset_*_amd64.deb)
[[ -e $deb ]] || die "there is no package in $dist; make dist makes it"
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" hotset-guest-XXXXXX)
root=$work/root
trap remove EXIT
make_root
set_up
make_disk
boot 1
boot 2
echo "test-packages: services on $suite: passed"
