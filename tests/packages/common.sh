# shellcheck shell=bash
# common.sh: sourced by root.sh and machine.sh: where things are, how a test ends that can't run, and how a root of Debian or Ubuntu
# is made and entered. Tests set `suite`, and `root`, a directory.
# shellcheck disable=SC2034,SC2154 # It is sourced: what is set here is used there, and the other way round.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dist=${HOTSET_DIST:-$PWD/dist}
PATH=$PATH:/usr/sbin:/sbin
# The keys that sign Ubuntu's archive, as Debian 13 packages them, for hosts that are not Ubuntu.
UBUNTU_KEYS=usr/share/keyrings/ubuntu-archive-keyring.gpg
UBUNTU_KEYS_PACKAGE=http://deb.debian.org/debian/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1-0.2_all.deb
UBUNTU_KEYS_PACKAGE_SUM=b2e7ed48431bf9e7978ae810bbdaf253093570d6e3f864e575b7c13554b81174

die() {
    echo "test-packages: $*" >&2
    exit 2
}

# needs PROGRAM…: root, and these on the host.
needs() {
    local program
    ((EUID == 0)) || die "root is needed: bare roots are made and entered"
    for program in "$@"; do
        command -v "$program" >/dev/null || die "there is no $program; .ci/packages.sh bare installs it"
    done
}

is_ubuntu() {
    cut -d , -f 3 /usr/share/distro-info/ubuntu.csv | grep -qxF -- "$suite"
}

# find_ubuntu_keys DIRECTORY: the file of keys as $keys, from the host, or from the package, which is unpacked there.
find_ubuntu_keys() {
    keys=/$UBUNTU_KEYS
    [[ ! -e $keys ]] || return 0
    curl --silent --show-error --fail --location --output "$1/keys.deb" "$UBUNTU_KEYS_PACKAGE" || die "the keys of Ubuntu's archive can't be fetched"
    sha256sum --check --status <<<"$UBUNTU_KEYS_PACKAGE_SUM  $1/keys.deb" || die "$UBUNTU_KEYS_PACKAGE is not what was expected"
    dpkg-deb --extract "$1/keys.deb" "$1"
    keys=$1/$UBUNTU_KEYS
}

# bootstrap PACKAGES: the smallest system of the suite that has apt, and these, in $root.
bootstrap() {
    local scratch options=()
    scratch=$(mktemp -d)
    if is_ubuntu; then
        find_ubuntu_keys "$scratch"
        options=(--keyring="$keys" "--components=main,universe")
    fi
    mmdebstrap --quiet --variant=minbase "${options[@]}" --include="apt,$1" "$suite" "$root" ${HOTSET_MIRROR:+"$HOTSET_MIRROR"} >/dev/null
    rm -rf "$scratch"
}

# inside COMMAND…: in $root, with nothing of this shell's environment.
inside() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# The package of dist/ as $deb, and its $version.
find_deb() {
    deb=$(echo "$dist"/hotset_*_amd64.deb)
    [[ -e $deb ]] || die "there is no package in $dist; make dist makes it"
    version=${deb##*/hotset_} version=${version%_amd64.deb}
}
