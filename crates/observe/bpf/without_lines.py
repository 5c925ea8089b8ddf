#!/usr/bin/env python3
"""without_lines.py FILE: takes the lines of the source out of a section .BTF.ext.

They are more than half of an object, and only the verifier would say them, of a program that it refuses: compile the same
sources with KEEP_LINES=1 to see them (build.sh).
"""

import struct
import sys

HEADER = "<HBBIIIIIII"


def main():
    with open(sys.argv[1], "rb") as file:
        section = file.read()
    magic, version, flags, length, at, size, _, _, core, core_size = struct.unpack_from(HEADER, section)
    functions = section[length + at : length + at + size]
    relocations = section[length + core : length + core + core_size]
    # An empty part for lines is none.
    header = struct.pack(HEADER, magic, version, flags, 32, 0, size, size, 0, size, core_size)
    with open(sys.argv[1], "wb") as file:
        file.write(header + functions + relocations)


main()
