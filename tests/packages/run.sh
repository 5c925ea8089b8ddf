#!/bin/bash
# run.sh SUITE…: installs, uses, upgrades and removes the packages of dist/ in bare roots of these suites of Debian or Ubuntu. As root.
# HOTSET_MIRROR names another mirror than the suite's own. Exit code: 0 all passed; 1 one did not; 2 something is missing.
# shellcheck source=tests/packages/root.sh
. "$(dirname "$0")/root.sh"
# What dpkg, apt, rpm and dnf keep for themselves, and what systemd makes of /etc/machine-id's absence.
BOOKS='^/(var/lib/(dpkg|apt|rpm|dnf|systemd)|var/log|var/cache|usr/lib/sysimage|run|tmp|proc|sys|dev)[ /]'

# Every file of the root: kind, mode, owner, and a hash of what is in it; but for the package manager's own.
listing() {
    (
        cd "$root"
        find . -xdev \( -type f -o -type l -o -type d \) -printf '/%P %y %m %u %g %l\n'
        find . -xdev -type f -printf '%P\0' | xargs -0 sha256sum | sed -E 's|^([0-9a-f]{64})  (.*)|/\2 \1|'
    ) | grep -vE "$BOOKS|^/packages" | sort
}

# apt COMMAND…: what it says only where it fails.
apt() {
    local said
    said=$(inside apt-get -qq --yes "$@" 2>&1) || fail "apt-get $*: $(tail -c 2000 <<<"$said")"
}

expect() {
    local what=$1 wanted=$2
    shift 2
    local said
    said=$("$@" 2>&1) || fail "$what: exit code $?: $said"
    grep -qE -- "$wanted" <<<"$said" || fail "$what: no \"$wanted\" in: $said"
}

# What somebody does first.
use() {
    local name
    expect "version" "^hotset $version$" inside hotset --version
    expect "doctor" "page cache" inside hotset doctor
    expect "ls" "cached" inside hotset ls /usr/bin
    expect "run" "from the device|hit ratio|from cache" inside hotset run -- sh -c 'cat /usr/bin/bash >/dev/null'
    for name in hotset hotset-run hotset-export hotset-pin hotset-restore; do
        [[ -s $root/usr/share/man/man1/$name.1.gz ]] || fail "there is no man page $name(1)"
    done
    inside bash -n /usr/share/bash-completion/completions/hotset || fail "the completions are no bash"
    # None is enabled.
    [[ -z $(find "$root/etc/systemd" -name 'hotset*' 2>/dev/null) ]] || fail "a unit was enabled"
}

# The same package under a higher version, as the next release would be.
next_version() {
    local parts
    parts=$(mktemp -d)
    dpkg-deb --raw-extract "$1" "$parts/deb"
    sed -i "s/^Version: .*/Version: 99/" "$parts/deb/DEBIAN/control"
    echo '# New in the next version.' >>"$parts/deb/etc/default/hotset-pin"
    dpkg-deb --build --root-owner-group "$parts/deb" "$2" >/dev/null
    rm -rf "$parts"
}

check_deb() {
    local deb=/packages/hotset_${version}_amd64.deb before
    before=$(listing)
    apt install "$deb"
    use
    echo 'HOTSET_EXPORT_FLAGS="--mounts"' >"$root/etc/default/hotset-export"
    next_version "$root$deb" "$root/packages/next.deb"
    apt install /packages/next.deb
    grep -q -- --mounts "$root/etc/default/hotset-export" || fail "the upgrade lost the configuration"
    grep -q 'next version' "$root/etc/default/hotset-pin" || fail "the upgrade left a file that nobody had changed"
    install -d "$root/var/lib/private/hotset/fleet" "$root/var/lib/private/hotset-restore"
    ln -s private/hotset "$root/var/lib/hotset"
    apt remove hotset
    grep -q -- --mounts "$root/etc/default/hotset-export" || fail "remove took the configuration along, which purge should"
    apt purge hotset
    rmdir --ignore-fail-on-non-empty "$root/var/lib/private" 2>/dev/null || true
    diff <(echo "$before") <(listing) || fail "something is left after purge"
    say "deb: installed, used, upgraded and removed"
}

# What a distribution of rpms has, and a root of Debian does not: a package of its shell, and directories of its package "filesystem".
make_base() {
    mkdir -p "$root"/usr/share/{zsh/site-functions,fish/vendor_completions.d} "$root/etc/rpm"
    # Debian's rpm keeps its books with each user; and to give scriptlets mounts of their own, the root would have to be one.
    printf '%s\n' '%_dbpath /var/lib/rpm' '%__transaction_unshare %{nil}' >"$root/etc/rpm/macros.here"
    printf '%s\n' "Name: base" "Version: 1" "Release: 1" "Summary: What the root has" "License: none" "BuildArch: noarch" "Provides: /bin/sh" \
        "%description" "What the root has." "%files" >"$root/packages/base.spec"
    rpmbuild --quiet -bb --define "_topdir $root/packages" --define "_rpmdir $root/packages" "$root/packages/base.spec" || fail "rpmbuild"
    dnf install /packages/noarch/base-1-1.noarch.rpm
}

# dnf COMMAND…: from files alone, for no distribution of rpms can be had everywhere. What it says only where it fails.
dnf() {
    local said
    said=$(inside dnf --assumeyes --disablerepo='*' --nogpgcheck "$@" 2>&1) || fail "dnf $*: $(tail -c 2000 <<<"$said")"
}

# The same rpm under a higher version, as the next release would be: its files, flags and scriptlets, as rpm itself names them.
next_rpm() {
    local build=$root/packages/next query=(rpm --query --package "$1")
    mkdir "$build"
    {
        printf '%s\n' "Name: hotset" "Version: 99" "Release: 1" "Summary: The next version" "License: none" "AutoReqProv: no" \
            "%description" "The next version." "%install" "tar --extract --gzip --file $build/files --directory %{buildroot}" \
            "echo '# New in the next version.' >>%{buildroot}/etc/default/hotset-pin"
        "${query[@]}" --queryformat '%%post\n%{POSTIN}\n%%preun\n%{PREUN}\n%%postun\n%{POSTUN}\n'
        echo "%files"
        "${query[@]}" --queryformat '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' | sed 's/^cn /%config(noreplace) /; s/^d /%doc /'
    } >"$build/next.spec"
    rpm2archive - <"$1" >"$build/files"
    rpmbuild --quiet -bb --define "_topdir $build" --define "_rpmdir $build" --define "__os_install_post %{nil}" --define "debug_package %{nil}" \
        --define "_build_id_links none" "$build/next.spec" || fail "rpmbuild"
}

check_rpm() {
    local rpm=/packages/hotset-$version-1.x86_64.rpm before
    make_base
    before=$(listing)
    dnf install "$rpm"
    use
    echo 'HOTSET_EXPORT_FLAGS="--mounts"' >"$root/etc/default/hotset-export"
    dnf reinstall "$rpm"
    grep -q -- --mounts "$root/etc/default/hotset-export" || fail "installing it anew lost the configuration"
    next_rpm "$root$rpm"
    dnf upgrade /packages/next/x86_64/hotset-99-1.x86_64.rpm
    grep -q -- --mounts "$root/etc/default/hotset-export" || fail "the upgrade lost the configuration"
    grep -q 'next version' "$root/etc/default/hotset-pin" || fail "the upgrade left a file that nobody had changed"
    [[ -d $root/usr/share/doc/hotset ]] || fail "the upgrade took the directory that only the last version's end should take"
    dnf remove hotset
    # rpm keeps what somebody changed, under another name.
    rm -f "$root/etc/default/hotset-export.rpmsave"
    diff <(echo "$before") <(listing) || fail "something is left after dnf remove"
    say "rpm: installed, used, installed anew, upgraded and removed, by dnf"
}

check_archive() {
    local name=hotset-$version-x86_64-linux
    inside tar xf "/packages/$name.tar.gz" -C /tmp || fail "tar"
    expect "the archive's program" "^hotset $version$" inside "/tmp/$name/hotset" --version
    rm -rf "${root:?}/tmp/$name"
    say "archive: unpacked and used"
}

needs mmdebstrap rpmbuild dpkg-deb
find_deb
(($# > 0)) || die "usage: run.sh SUITE…"
for suite; do
    (
        make_root init-system-helpers,rpm,dnf
        mkdir "$root/packages"
        cp "$dist"/*.deb "$dist"/*.rpm "$dist"/*.tar.gz "$root/packages"
        check_deb
        check_rpm
        check_archive
    )
done
echo "test-packages: passed"
