#!/bin/bash
# fetch.sh SERIES: brings Debian's newest cloud kernel of a series ("6.1", or "newest") into the cache and prints its folder,
# which holds `version`, `vmlinuz` and `lib/modules/VERSION`. Exit code 3: no such kernel can be had.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source-path=SCRIPTDIR source=mirrors.sh
. "$here/mirrors.sh"

APT_SECONDS=300
# So many packages of a series are tried, from the newest on.
NEIGHBOURS=3
series=${1:?usage: fetch.sh SERIES}
cache=${HOTSET_KERNEL_CACHE:-$here/../../target/kernels}
mkdir -p "$cache/$series"
cache=$(readlink -f "$cache")
dest=$cache/$series
root=$cache/apt/$series

unavailable() {
    echo "test-kernels: no kernel $series: $*" >&2
    exit 3
}

# Which suites carry a series: "a" is the archive, "s" is its security part.
suites() {
    case $series in
    5.10) echo a:bullseye s:bullseye-security ;;
    6.1) echo a:bookworm s:bookworm-security ;;
    6.12) echo a:trixie s:trixie-security ;;
    *) echo a:trixie-backports a:sid ;;
    esac
}

# apt with sources, lists and package state of its own; the host's proxies, credentials and keys still apply.
private_apt() {
    local tool=$1
    shift
    timeout -k 5 "$APT_SECONDS" "$tool" -o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State="$root/state" -o Dir::State::status="$root/status" -o Dir::Cache="$root/cache" \
        -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
        "$@"
}

write_sources() {
    local archive security uri key suite option
    archive=${HOTSET_DEBIAN_MIRROR:-$(debian_mirror archive)} ||
        unavailable "the host's apt sources name no Debian mirror; give one as HOTSET_DEBIAN_MIRROR='URI [KEYRING]'"
    security=${HOTSET_DEBIAN_SECURITY_MIRROR:-$(debian_mirror security || true)}
    for suite in $(suites); do
        case $suite in
        a:*) read -r uri key <<<"$archive" ;;
        s:*) read -r uri key <<<"$security" ;;
        esac
        [ -n "$uri" ] || continue
        # Old suites are no longer re-signed: their release files expire, yet stay right.
        option="check-valid-until=no"
        [ "${key:--}" = - ] || option+=" signed-by=$key"
        echo "deb [$option] $uri ${suite#*:} main"
    done >"$root/sources.list"
}

# The series' packages, the newest first.
packages() {
    local version='[0-9]'
    [ "$series" = newest ] || version="${series//./\\.}[^0-9]"
    private_apt apt-cache search --names-only "^linux-image-${version}.*cloud-amd64\$" | awk '{ print $1 }' | sort -rV
}

# Newer Debian splits the image: linux-image-V then only depends on linux-binary-V and linux-modules-V, and these on
# linux-base-V, which says what is built in.
parts_of() {
    private_apt apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" |
        awk '$1 == "Depends:" && $2 ~ /^linux-(binary|modules|base)-[0-9]/ && !seen[$2]++ { print $2 }'
}

download() {
    local parts
    mapfile -t parts < <(parts_of "$1")
    (cd "$root/debs" && private_apt apt-get download "$1" "${parts[@]}") >>"$root/apt.log" 2>&1
}

# Leaves what a guest needs: the kernel, its modules, and the index that modprobe reads. The packages share out the modules'
# folder, below /lib or /usr/lib.
unpack() {
    local deb folder folders kernel version
    for deb in "$root"/debs/*.deb; do
        dpkg-deb -x "$deb" "$root/tree" || return 1
    done
    kernel=$(find "$root/tree" -type f \( -path '*/boot/vmlinuz-*' -o -path '*/modules/*/vmlinuz' \) | head -n 1)
    mapfile -t folders < <(find "$root/tree" -type d -path '*/lib/modules/*' -prune)
    [ -n "$kernel" ] && ((${#folders[@]})) || return 1
    mkdir -p "$dest/lib/modules"
    ln -sfn . "$dest/usr"
    mv "$kernel" "$dest/vmlinuz"
    for folder in "${folders[@]}"; do
        cp -a "$folder" "$dest/lib/modules/"
    done
    version=${folders[0]##*/}
    [ -d "$dest/lib/modules/$version/kernel" ] && [ -s "$dest/lib/modules/$version/modules.builtin" ] || return 1
    PATH=$PATH:/usr/sbin:/sbin depmod -b "$dest" "$version" 2>>"$root/apt.log"
    echo "$version" >"$dest/version"
}

# A mirror can lack a part of its newest kernel, for some hours or for good; its neighbour is then the one before, by name.
fetch_any() {
    local package found=()
    mapfile -t found < <(packages)
    # A suite that the mirror lacks is no error by itself: another may carry the series.
    ((${#found[@]})) || unavailable "not in $(suites | sed 's/[as]://g; s/ /, /g'); apt said:
$(tail -n 5 "$root/apt.log")"
    for package in "${found[@]:0:NEIGHBOURS}"; do
        rm -rf "$root"/{debs,tree} "${dest:?}"/*
        mkdir -p "$root"/{debs,tree}
        download "$package" && unpack && return
        echo "test-kernels: $package: its kernel or its modules can't be had" >&2
    done
    unavailable "none of ${found[*]:0:NEIGHBOURS} is whole; apt said:
$(tail -n 5 "$root/apt.log")"
}

if [ ! -s "$dest/version" ] || [ -n "${HOTSET_KERNEL_UPDATE:-}" ]; then
    echo "test-kernels: fetching the $series kernel" >&2
    rm -rf "$root" "${dest:?}"/*
    mkdir -p "$root"/{state/lists/partial,cache/archives/partial}
    : >"$root/status"
    write_sources
    private_apt apt-get update >"$root/apt.log" 2>&1 || true
    fetch_any
    rm -rf "$root"
fi
echo "$dest"
