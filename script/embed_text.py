#!/usr/bin/env python3
"""Turns text files into a C header: script/embed_text.py INPUT… -o OUT.h

`tidegate.bash` gives `static const char text_tidegate_bash[]`. The output depends on the inputs alone.
"""
import os
import re
import sys

inputs, out = sys.argv[1:-2], sys.argv[-1]
with open(out, "w", encoding="ascii") as header:
    for path in inputs:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        name = re.sub(r"\W", "_", os.path.basename(path))
        header.write(f"static const char text_{name}[] =")
        for i, line in enumerate(lines):
            end = "" if i == len(lines) - 1 else "\\n"
            text = "".join(chr(c) if 32 <= c < 127 and chr(c) not in "\"\\?" else f"\\{c:03o}" for c in line)
            header.write(f'\n    "{text}{end}"')
        header.write(";\n")
