#!/bin/bash
# python.sh test | external | installed | lint | dist | bench: the Python package. Everything lies below target/, and HOTSET_PYTHON names the Python, python3 if it is not set.
#   test  builds a wheel for this host of HOTSET_BIN (target/release/hotset if not set), installs it into a fresh environment, and runs its tests
#   external the same, and runs the tests that need a JVM: for Spark, which it fetches, for the S3 server that HOTSET_S3PROXY names, and with the jars of HOTSET_S3A
#   installed  installs such a wheel, and says which Python has it
#   lint  types, style, and the classes that are written from schema/; types and style of what makes the site of the documents;
#        the workflows of the public CI against their schema
#   bench compares curves from Python with the same in Rust
#   dist  wheels for any host: glibc 2.17 and musl 1.2, and the source package that says so to others; into target/wheels
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
[[ $target == /* ]] || target=$root/$target
python=${HOTSET_PYTHON:-python3}
binary=${HOTSET_BIN:-$target/release/hotset}
ZIGLANG=0.17.1
# The last that takes Python 3.9.
PYSPARK=4.0.1

# An environment with these requirements, made once for each version of Python and of them.
environment() {
    local name
    name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$(sha256sum python/requirements-dev.txt | head -c 12)
    venv=$target/python/$name
    [[ -e $venv/done ]] && return
    echo "python: installing what the tests need into $venv"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement python/requirements-dev.txt
    touch "$venv/done"
}

# The program, where maturin takes it into the wheel from.
stage() {
    [[ -x $binary ]] || { echo "python: there is no $binary; \`make build\` builds it, HOTSET_BIN names another" >&2; exit 1; }
    mkdir -p python/hotset.data/scripts
    install -m 755 "$binary" python/hotset.data/scripts/hotset
    trap 'rm -rf "$root/python/hotset.data"' EXIT
}

build() {
    (cd python && "$venv/bin/maturin" build --quiet "$@")
}

# The package as of now in the environment.
install_wheel() {
    environment
    stage
    wheels=$target/python/wheels
    rm -rf "$wheels"
    build --profile dev --compatibility linux --out "$wheels"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl
}

run_tests() {
    install_wheel
    # The tests find the program that came with the wheel, from outside of the source.
    cd "$target"
    env --unset=HOTSET_BIN HOTSET_WHEEL="$(echo "$wheels"/*.whl)" \
        "$venv/bin/pytest" -c "$root/python/pyproject.toml" --rootdir "$root/python" -p no:cacheprovider "$root/python/tests" "$@"
}

run_external_tests() {
    environment
    "$venv/bin/pip" install --quiet --disable-pip-version-check "pyspark==$PYSPARK"
    run_tests -m external
}

run_bench() {
    environment
    stage
    local wheels=$target/python/release
    rm -rf "$wheels"
    build --release --compatibility linux --out "$wheels"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl
    cargo build --quiet --release --locked --package hotset-sizing --example curve
    "$venv/bin/python" bench/curves.py "$target/release/examples/curve" "$@"
}

check_style() {
    environment
    cd python
    "$venv/bin/ruff" check --quiet --no-cache .
    "$venv/bin/mypy" --cache-dir "$target/python/mypy"
    "$venv/bin/mypy" --cache-dir "$target/python/mypy" tests tools
    "$venv/bin/python" tools/generate_documents.py --check
    # What makes and tests the documents, and what runs the tests, stands with these.
    "$venv/bin/ruff" check --quiet --no-cache --config pyproject.toml ../docs ../tests
    local directory
    for directory in docs/site docs/casts tests/docs; do
        (cd "../$directory" && "$venv/bin/mypy" --strict --cache-dir "$target/python/mypy" ./*.py)
    done
    "$venv/bin/check-jsonschema" --quiet --builtin-schema vendor.github-workflows ../.github/workflows/*.yml
}

make_wheels() {
    local triple=x86_64-unknown-linux
    rustup target list --installed 2>/dev/null | grep -qx "$triple-musl" || rustup target add "$triple-musl"
    environment
    "$venv/bin/pip" install --quiet --disable-pip-version-check "ziglang==$ZIGLANG"
    stage
    if ! ldd "$binary" 2>&1 | grep -qE 'statically linked|not a dynamic executable'; then
        echo "python: $binary is not static, so the wheels would need this host's libraries; \`make build\` builds one that is" >&2
        exit 1
    fi
    local wheels=$target/wheels
    rm -rf "$wheels"
    # zig has the libraries of both: the module needs no newer glibc than said, and musl need not be here.
    export PATH=$venv/bin:$PATH RUSTFLAGS=''
    build --release --zig --target "$triple-gnu" --compatibility manylinux2014 --out "$wheels"
    build --release --zig --target "$triple-musl" --compatibility musllinux_1_2 --out "$wheels"
    (cd python && "$venv/bin/maturin" sdist --out "$wheels")
    ls -l "$wheels"
}

verb=${1-}
shift || true
case $verb in
test) run_tests "$@" ;;
external) run_external_tests ;;
installed) install_wheel >&2; echo "$venv/bin/python" ;;
lint) check_style ;;
dist) make_wheels ;;
bench) run_bench "$@" ;;
*) echo "usage: python.sh test | external | installed | lint | dist | bench" >&2; exit 2 ;;
esac
