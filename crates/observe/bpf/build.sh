#!/bin/sh
# Compiles the sensor three times, each with and without recording, and the walk over inodes once, and strips the objects of everything but what loading needs. Run
# by `make bpf`; users don't need it, the objects are committed. KEEP_LINES=1 keeps the lines of the source, which the verifier then says
# of what it refuses.
set -eu
cd "$(dirname "$0")"
out=${1:-../objects}
mkdir -p "$out"
CLANG=${CLANG:-clang}
STRIP=${LLVM_STRIP:-llvm-strip}
OBJCOPY=${LLVM_OBJCOPY:-llvm-objcopy}
compile() {
	source=$1
	name=$2
	shift 2
	"$CLANG" -g -O2 -Wall -Werror -Wno-unused-function -target bpf -D__TARGET_ARCH_x86 -fdebug-prefix-map="$PWD"=. \
		-fdebug-compilation-dir=. -I. "$@" -c "$source" -o "$out/$name"
	"$STRIP" -g "$out/$name"
	[ -z "${KEEP_LINES-}" ] || return 0
	# Nothing reads the relocations of type information: libbpf finds what they are about by itself.
	"$OBJCOPY" --dump-section ".BTF.ext=$out/$name.ext" --remove-section .rel.BTF.ext --remove-section .rel.BTF "$out/$name"
	./without_lines.py "$out/$name.ext"
	"$OBJCOPY" --update-section ".BTF.ext=$out/$name.ext" "$out/$name"
	rm "$out/$name.ext"
}
compile sensor.bpf.c sensor.bpf.o -mcpu=v3
compile sensor.bpf.c sensor-compat.bpf.o -mcpu=v3 -DHOTSET_COMPAT
compile sensor.bpf.c sensor-oldest.bpf.o -mcpu=v2 -DHOTSET_COMPAT -DHOTSET_NO_FETCH
compile sensor.bpf.c record.bpf.o -mcpu=v3 -DHOTSET_RECORD
compile sensor.bpf.c record-compat.bpf.o -mcpu=v3 -DHOTSET_COMPAT -DHOTSET_RECORD
compile sensor.bpf.c record-oldest.bpf.o -mcpu=v2 -DHOTSET_COMPAT -DHOTSET_NO_FETCH -DHOTSET_RECORD
compile inodes.bpf.c inodes.bpf.o -mcpu=v3
