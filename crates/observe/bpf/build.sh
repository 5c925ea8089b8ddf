#!/bin/sh
# Compiles the sensor twice and strips both objects of everything but what loading needs. Run by `make bpf`; users don't
# need it, the objects are committed.
set -eu
cd "$(dirname "$0")"
out=${1:-../objects}
mkdir -p "$out"
CLANG=${CLANG:-clang}
STRIP=${LLVM_STRIP:-llvm-strip}
compile() {
	name=$1
	shift
	"$CLANG" -g -O2 -Wall -Werror -Wno-unused-function -target bpf -D__TARGET_ARCH_x86 -fdebug-prefix-map="$PWD"=. \
		-fdebug-compilation-dir=. -I. "$@" -c sensor.bpf.c -o "$out/$name"
	"$STRIP" -g "$out/$name"
}
compile sensor.bpf.o -mcpu=v3
compile sensor-compat.bpf.o -mcpu=v2 -DHOTSET_COMPAT
