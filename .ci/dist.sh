#!/bin/bash
# dist.sh: what a release consists of, into dist/: packages for Debian and its kin and for those of RPM, an archive, an image, wheels, the parts list (SBOM), and their checksums.
# The static binary is already built, by the profile dist. The tools are Cargo's, in pinned versions, installed once for all clones (.ci/lint.sh).
set -euo pipefail
shopt -s inherit_errexit nullglob
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
[[ $target == /* ]] || target=$PWD/$target
binary=$target/dist/hotset
stage=$target/dist/package
tools=${HOTSET_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/hotset/tools}
dist=$PWD/dist
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Times in archives are that of the last change, so that two builds of it are the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH CARGO_TARGET_DIR=$target PATH=$tools/bin:$PATH

CARGO_DEB=3.8.0
GENERATE_RPM=0.21.1
CARGO_ABOUT=0.9.3
CYCLONEDX=0.5.9

die() {
    echo "dist: $*" >&2
    exit 1
}

# tool CRATE VERSION [OPTION…]: Cargo installs it, once.
tool() {
    local crate=$1 version=$2
    shift 2
    [[ -e $tools/$crate-$version ]] && return
    echo "dist: installing $crate $version"
    env -u RUSTFLAGS -u CARGO_TARGET_DIR cargo install --quiet --locked --root "$tools" --target-dir "$tools/build" "$crate@$version" "$@"
    rm -rf "$tools/build"
    touch "$tools/$crate-$version"
}

# What the binary writes of itself, and the texts that go with it.
stage() {
    local page
    rm -rf "$stage"
    install -d "$stage/man" "$stage/doc"
    "$binary" man "$stage/man"
    for page in "$stage"/man/*.1; do gzip -9n "$page"; done
    "$binary" completions bash >"$stage/hotset.bash"
    "$binary" completions zsh >"$stage/_hotset"
    "$binary" completions fish >"$stage/hotset.fish"
    install -m 644 LICENSE-APACHE LICENSE-MIT LICENSE-GPL-2.0 CHANGELOG.md README.md "$stage/doc"
    licences >"$stage/doc/THIRD-PARTY.txt"
    gzip -9n "$stage/doc/CHANGELOG.md" "$stage/doc/THIRD-PARTY.txt"
    find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    touch --date="@$SOURCE_DATE_EPOCH" "$binary" deploy/systemd/*
}

# Of every part of the binary: crates by cargo-about, and C libraries by what this host's packages say of them.
licences() {
    local package
    cargo about generate --locked --fail --manifest-path crates/cli/Cargo.toml --config deploy/licences/about.toml deploy/licences/about.hbs
    for package in libc6-dev libelf-dev zlib1g-dev $(c_library libzstd-dev libzstd); do
        [[ -e /usr/share/doc/$package/copyright ]] || die "the licence of $package is not on this host: /usr/share/doc/$package/copyright"
        printf '%s\n%s\n\n' "$(printf -- '-%.0s' {1..79})" "The C library of $package $(dpkg-query --show --showformat '${Version}' "$package")"
        cat "/usr/share/doc/$package/copyright"
    done
}

# The package, if the static link takes this library from it.
c_library() {
    if pkg-config --static --libs-only-l libelf | grep -q -- "-l${2#lib}"; then echo "$1"; fi
}

deb() {
    cargo deb --quiet --locked --profile dist --no-build --no-strip --package hotset-cli --output "$dist/hotset_${version}_amd64.deb" --deb-revision ""
}

rpm() {
    cargo generate-rpm --package crates/cli --profile dist --target-dir "$target" --source-date "$SOURCE_DATE_EPOCH" --output "$dist/hotset-$version-1.x86_64.rpm"
}

# same_tar DIRECTORY NAME…: an archive of them, the same whenever and by whomever it is made.
same_tar() {
    local directory=$1
    shift
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --directory "$directory" "$@"
}

archive() {
    local name=hotset-$version-x86_64-linux root
    root=$(mktemp -d)
    install -d "$root/$name"/{man,completions,systemd}
    install -m 755 "$binary" "$root/$name/"
    install -m 644 "$stage"/man/* "$root/$name/man"
    install -m 644 "$stage"/{hotset.bash,_hotset,hotset.fish} "$root/$name/completions"
    install -m 644 deploy/systemd/* "$root/$name/systemd"
    install -m 644 "$stage"/doc/* "$root/$name"
    same_tar "$root" "$name" | gzip -9n >"$dist/$name.tar.gz"
    rm -rf "$root"
}

# As an OCI archive, which podman, docker and containerd load; built without a daemon.
image() {
    local work name=hotset:$version
    work=$(mktemp -d)
    local buildah=(buildah --root "$work/root" --runroot "$work/run" --storage-driver vfs)
    mkdir "$work/context"
    cp "$binary" "$work/context"
    "${buildah[@]}" build --quiet --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" --file deploy/image/Containerfile --tag "$name" "$work/context" >/dev/null
    "${buildah[@]}" push --quiet "$name" "oci:$work/image:$name"
    same_tar "$work/image" blobs index.json oci-layout >"$dist/hotset-$version.oci.tar"
    rm -rf "$work"
}

# The tool writes a list beside each manifest, with paths: so it is given a copy of the sources.
parts() {
    local copy
    copy=$(mktemp -d)
    git archive HEAD | tar --extract --directory "$copy"
    cargo cyclonedx --quiet --manifest-path "$copy/crates/cli/Cargo.toml" --format json --spec-version 1.5 --target x86_64-unknown-linux-gnu --override-filename hotset.cdx
    sed "s|file://$copy|file:///hotset|g" "$copy/crates/cli/hotset.cdx.json" >"$dist/hotset-$version.cdx.json"
    rm -rf "$copy"
}

[[ -x $binary ]] || die "there is no $binary; \`make build\` builds it"
[[ $("$binary" --version) == "hotset $version" ]] || die "$binary is $("$binary" --version), and the sources are of $version"
tool cargo-deb "$CARGO_DEB" --no-default-features
tool cargo-generate-rpm "$GENERATE_RPM"
tool cargo-about "$CARGO_ABOUT" --features cli
tool cargo-cyclonedx "$CYCLONEDX"
rm -rf "$dist"
mkdir "$dist"
stage
deb
rpm
archive
image
parts
cp "$target"/wheels/*.whl "$dist/"
(cd "$dist" && sha256sum -- * >SHA256SUMS)
ls -l "$dist"
