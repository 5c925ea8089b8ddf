#!/bin/bash
# systemd.sh SUITE: installs the package for apt into a virtual machine with systemd, and looks at the services over two boots. As root; emulated, so it takes minutes.
suite=${1:?usage: systemd.sh SUITE}
# shellcheck source=tests/packages/machine.sh
. "$(dirname "$0")/machine.sh"

# As somebody would who reads docs/install.md.
set_up() {
    mkdir -p "$root"/srv/{db,pinned}
    cp "$dist"/*.deb "$root/packages"
    head -c 16M /dev/urandom >"$root/srv/db/table"
    head -c 4M /dev/urandom >"$root/srv/pinned/index"
    inside dpkg --install "/packages/$(basename "$deb")" >/dev/null
    sed -i 's|^HOTSET_EXPORT_FLAGS=.*|HOTSET_EXPORT_FLAGS="--mounts --interval 1"|' "$root/etc/default/hotset-export"
    sed -i 's|^HOTSET_PIN=.*|HOTSET_PIN="--budget 16M /srv/pinned"|' "$root/etc/default/hotset-pin"
    sed -i 's|^HOTSET_SAVE=.*|HOTSET_SAVE="/srv/db"|' "$root/etc/default/hotset-restore"
    systemctl --root "$root" --quiet enable hotset-export hotset-pin hotset-restore hotset-save.timer
}

find_deb
make_root ""
set_up
runs_in_guest guest.sh "hotset-export.service hotset-pin.service hotset-restore.service"
make_disk
boot 1
boot 2
echo "test-packages: services on $suite: passed"
