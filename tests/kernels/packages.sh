# shellcheck shell=bash
# What the host needs: installed with apt when root, named when not. Sourced by run.sh.

# Each word is command:package; a path in place of a command asks for that file.
NEEDED=(
    qemu-system-x86_64:qemu-system-x86
    /bin/busybox:busybox-static
    cpio:cpio
    mke2fs:e2fsprogs
    depmod:kmod
    xz:xz-utils
    zstd:zstd
    python3:python3-minimal
)

missing_packages() {
    local pair
    for pair in "${NEEDED[@]}"; do
        command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
    done
    # Only the static busybox runs in a guest that has no libraries.
    ! ldd /bin/busybox >/dev/null 2>&1 || echo busybox-static
}

ensure_packages() {
    local PATH=$PATH:/usr/sbin:/sbin missing
    command -v apt-get >/dev/null || { echo "test-kernels: needs a host with apt (Debian or a relative)" >&2; return 1; }
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]})) || return 0
    if ((EUID)); then
        echo "test-kernels: packages are missing; install them with: sudo apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "test-kernels: installing ${missing[*]}" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2
}
