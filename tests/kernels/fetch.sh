#!/bin/bash
# fetch.sh SERIES: brings Debian's newest cloud kernel of a series ("6.1", or "newest") into the cache and prints its folder,
# which holds `version`, `vmlinuz` and `lib/modules/VERSION`. Exit code 3: no such kernel can be had.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source-path=SCRIPTDIR source=mirrors.sh
. "$here/mirrors.sh"

APT_SECONDS=300
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

newest_package() {
    local version='[0-9]'
    [ "$series" = newest ] || version="${series//./\\.}[^0-9]"
    private_apt apt-cache search --names-only "^linux-image-${version}.*cloud-amd64\$" | awk '{ print $1 }' | sort -V | tail -n 1
}

# Newer Debian splits the image in two: linux-image-V then only depends on linux-binary-V and linux-modules-V.
parts_of() {
    private_apt apt-cache depends --no-recommends --no-suggests "$1" |
        awk '$1 == "Depends:" && $2 ~ /^linux-(binary|modules)-[0-9]/ { print $2 }'
}

download() {
    local package
    package=$(newest_package)
    # A suite that the mirror lacks is no error by itself: another may carry the series.
    [ -n "$package" ] || unavailable "not in $(suites | sed 's/[as]://g; s/ /, /g'); apt said:
$(tail -n 5 "$root/apt.log")"
    local parts
    mapfile -t parts < <(parts_of "$package")
    (cd "$root/debs" && private_apt apt-get download "$package" "${parts[@]}") >>"$root/apt.log" 2>&1 ||
        unavailable "$package can't be downloaded; apt said:
$(tail -n 5 "$root/apt.log")"
}

# Leaves what a guest needs: the kernel, its modules, and the index that modprobe reads.
unpack() {
    local deb kernel modules
    for deb in "$root"/debs/*.deb; do
        dpkg-deb -x "$deb" "$root/tree"
    done
    kernel=$(find "$root/tree" -type f \( -path '*/boot/vmlinuz-*' -o -path '*/modules/*/vmlinuz' \) | head -n 1)
    modules=$(find "$root/tree" -type d -path '*/lib/modules/*' -prune | head -n 1)
    if [ -z "$kernel" ] || [ -z "$modules" ]; then
        unavailable "its packages hold no kernel: $(cd "$root/debs" && echo *.deb)"
    fi
    mkdir -p "$dest/lib/modules"
    ln -sfn . "$dest/usr"
    mv "$kernel" "$dest/vmlinuz"
    mv "$modules" "$dest/lib/modules/"
    PATH=$PATH:/usr/sbin:/sbin depmod -b "$dest" "${modules##*/}" 2>>"$root/apt.log"
    echo "${modules##*/}" >"$dest/version"
}

if [ ! -s "$dest/version" ] || [ -n "${HOTSET_KERNEL_UPDATE:-}" ]; then
    echo "test-kernels: fetching the $series kernel" >&2
    rm -rf "$root" "${dest:?}"/*
    mkdir -p "$root"/{state/lists/partial,cache/archives/partial,debs,tree}
    : >"$root/status"
    write_sources
    private_apt apt-get update >"$root/apt.log" 2>&1 || true
    download
    unpack
    rm -rf "$root"
fi
echo "$dest"
