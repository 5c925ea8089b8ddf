#!/bin/bash
# initramfs.sh KERNEL_DIR OUT NAME=PATH…: packs what the guest needs to reach its disk and run its tests: a static busybox,
# the modules for virtio, ext4, overlayfs and a disk in memory, `init`, `guest.sh`, `sizing.sh`, and the given programs as /bin/NAME.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
MODULES=(virtio_pci virtio_blk ext4 overlay brd)
# Of a disk in memory: one, in KiB as large as its image (run.sh).
declare -A PARAMETERS=([brd.ko]="rd_nr=1 rd_size=163840")

here=$(dirname "$(readlink -f "$0")")
kernel=$1 out=$2
shift 2
version=$(<"$kernel/version")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Copies one module unpacked: not every busybox insmod reads compressed ones.
add_module() {
    local source=$1 name
    name=$(basename "${source%%.ko*}").ko
    case $source in
    *.xz) xz -dc "$source" ;;
    *.zst) zstd -qdc "$source" ;;
    *) cat "$source" ;;
    esac >"$root/lib/modules/$name"
    echo "$name ${PARAMETERS[$name]:-}" >>"$root/lib/modules/order"
}

# Each module after those that it depends on; what is built in needs nothing. A kernel that lacks one is no kernel to test on.
add_modules() {
    local module path lacking=()
    : >"$root/lib/modules/order"
    for module in "${MODULES[@]}"; do
        modprobe -d "$kernel" -S "$version" --show-depends "$module" >/dev/null 2>&1 || lacking+=("$module")
    done
    ((${#lacking[@]} == 0)) || { echo "test-kernels: kernel $version has no module ${lacking[*]}" >&2; exit 1; }
    for module in "${MODULES[@]}"; do
        modprobe -d "$kernel" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$root/wanted"
    while read -r path; do
        add_module "$path"
    done <"$root/wanted"
    rm "$root/wanted"
}

# A dynamic program brings its libraries along, at the paths where its loader looks for them.
add_program() {
    local name=$1 path=$2 library
    cp -L "$path" "$root/bin/$name"
    chmod 755 "$root/bin/$name"
    { ldd "$path" 2>/dev/null || true; } | grep -oE '/[^ ]+' | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done || true
}

mkdir -p "$root"/{bin,lib/modules,proc,sys,dev,tmp,mnt,results}
add_program busybox /bin/busybox
for program in "$@"; do
    add_program "${program%%=*}" "${program#*=}"
done
add_modules
install -m 755 "$here/init" "$root/init"
install -m 755 "$here/guest.sh" "$here/sizing.sh" "$root"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$out"
