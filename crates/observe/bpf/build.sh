#!/bin/sh
# Compiles the sensor three times and the walk over inodes once, and strips the objects of everything but what loading needs. Run
# by `make bpf`; users don't need it, the objects are committed.
set -eu
cd "$(dirname "$0")"
out=${1:-../objects}
mkdir -p "$out"
CLANG=${CLANG:-clang}
STRIP=${LLVM_STRIP:-llvm-strip}
compile() {
	source=$1
	name=$2
	shift 2
	"$CLANG" -g -O2 -Wall -Werror -Wno-unused-function -target bpf -D__TARGET_ARCH_x86 -fdebug-prefix-map="$PWD"=. \
		-fdebug-compilation-dir=. -I. "$@" -c "$source" -o "$out/$name"
	"$STRIP" -g "$out/$name"
}
compile sensor.bpf.c sensor.bpf.o -mcpu=v3
compile sensor.bpf.c sensor-compat.bpf.o -mcpu=v3 -DHOTSET_COMPAT
compile sensor.bpf.c sensor-oldest.bpf.o -mcpu=v2 -DHOTSET_COMPAT -DHOTSET_NO_FETCH
compile inodes.bpf.c inodes.bpf.o -mcpu=v3
