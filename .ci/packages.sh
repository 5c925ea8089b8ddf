#!/bin/bash
# packages.sh GROUP…: sees to it that the host has the packages of these groups; silent if it does. Installs them with apt
# when root, and names them when not.
set -euo pipefail
shopt -s inherit_errexit

lib=/usr/lib/x86_64-linux-gnu

# Each word is what must exist, a command or a path, and the package that brings it.
group() {
    case $1 in
    build) echo cc:gcc /usr/include/stdio.h:libc6-dev make:make pkg-config:pkg-config \
        "$lib/libelf.a:libelf-dev" "$lib/libz.a:zlib1g-dev" ;;
    test) echo /usr/bin/python3:python3 /usr/share/python-wheels:python3-venv /usr/lib/python3/dist-packages/jsonschema:python3-jsonschema \
        /usr/lib/python3/dist-packages/junitparser:python3-junitparser xmllint:libxml2-utils \
        mke2fs:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs mksquashfs:squashfs-tools mkfs.erofs:erofs-utils losetup:mount \
        chromium-headless-shell:chromium-headless-shell tmux:tmux prometheus:prometheus promtool:prometheus curl:curl openssl:openssl \
        systemd-analyze:systemd fish:fish strace:strace fio:fio blkparse:blktrace sqlite3:sqlite3 git:git go:golang-go \
        c++:g++ objcopy:binutils unshare:util-linux pgrep:procps ;;
    bench) echo python3:python3 hyperfine:hyperfine vmtouch:vmtouch fincore:util-linux chrt:util-linux fio:fio cc:gcc \
        strace:strace \
        /usr/include/bpf/bpf.h:libbpf-dev ;;
    fleet) echo java:default-jre-headless mvn:maven python3:python3 /usr/share/doc/python3-venv:python3-venv ;;
    docs) echo python3:python3 /usr/share/python-wheels:python3-venv chromium-headless-shell:chromium-headless-shell ;;
    dist) echo buildah:buildah git:git ;;
    bare) echo mmdebstrap:mmdebstrap git:git rpmbuild:rpm dpkg-deb:dpkg qemu-system-x86_64:qemu-system-x86 mke2fs:e2fsprogs systemctl:systemd \
        /usr/share/distro-info/ubuntu.csv:distro-info-data curl:curl ;;
    demo) echo python3:python3 ;;
    lab) echo cc:gcc go:golang-go java:default-jdk-headless javac:default-jdk-headless node:nodejs python3:python3 \
        ruby:ruby ;;
    bpf) echo clang:clang llvm-strip:llvm /usr/include/bpf/bpf_helpers.h:libbpf-dev ;;
    lint) echo shellcheck:shellcheck git:git /usr/share/python-wheels:python3-venv clang-format:clang-format ;;
    fuzz) echo c++:g++ ;;
    *) die "no group of packages is called \"$1\"" ;;
    esac
}

die() {
    echo "setup: $*" >&2
    exit 1
}

missing() {
    local name pair pairs
    for name in "$@"; do
        pairs=$(group "$name")
        for pair in $pairs; do
            [[ -e ${pair%%:*} ]] || command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
        done
    done
}

# Newer builds of libelf.a call zstd, which a static link then needs too; pkg-config says so.
missing_for_libelf() {
    command -v pkg-config >/dev/null && [[ -e $lib/libelf.a ]] || return 0
    case "$(pkg-config --print-requires-private libelf 2>/dev/null)" in
    *libzstd*) [[ -e $lib/libzstd.a ]] || echo libzstd-dev ;;
    esac
}

install_packages() {
    command -v apt-get >/dev/null ||
        die "this host has no apt; install what Debian calls: $*"
    ((EUID == 0)) || die "packages are missing; install them with: sudo apt-get install $*"
    echo "setup: installing $*"
    local log
    log=$(mktemp)
    if ! { apt-get update && apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; } \
        </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "apt could not install $*"
    fi
    rm -f "$log"
}

check_rust() {
    command -v cargo >/dev/null || die "there is no cargo; install Rust (rustup, stable) and run this again"
}

# Installs what the rest of the command line, a function that names packages, finds missing.
provide() {
    local names
    names=$("$@")
    [[ -z $names ]] || mapfile -t names < <(sort -u <<<"$names")
    [[ -z ${names[0]} ]] || install_packages "${names[@]}"
}

export DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin
provide missing "$@"
if [[ " $* " == *" build "* ]]; then
    provide missing_for_libelf
    check_rust
fi
