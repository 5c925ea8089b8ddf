#!/bin/bash
# container.sh SUITE: runs the image of dist/ by Podman in a virtual machine with systemd: what it counts of another container, and what it says where it lacks a capability. As root; emulated, so it takes minutes.
suite=${1:?usage: container.sh SUITE}
# shellcheck source=tests/packages/machine.sh
. "$(dirname "$0")/machine.sh"

image=$(echo "$dist"/hotset-*.oci.tar)
[[ -e $image ]] || die "there is no image in $dist; make dist makes it"
make_root podman,crun,busybox-static
cp "$image" "$root/packages"
# What the observed container consists of: one program, and a file that it reads again and again.
mkdir -p "$root"/guest/shop/{bin,data,proc,dev,sys,etc}
cp "$root/bin/busybox" "$root/guest/shop/bin/busybox"
head -c 8M /dev/urandom >"$root/guest/shop/data/table"
# Nobody but its user may read it.
chmod 600 "$root/guest/shop/data/table"
chown 1000:1000 "$root/guest/shop/data/table"
runs_in_guest guest-container.sh "systemd-user-sessions.service"
make_disk
boot 1
echo "test-packages: image on $suite: passed"
