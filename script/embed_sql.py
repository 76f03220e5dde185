#!/usr/bin/env python3
"""Turns .sql files into a C header: script/embed_sql.py INPUT.sql... -o OUT.h

A file holds statements, each introduced by a line `-- name: snake_name` and then, as a rule, comment lines that say
what it does and what its parameters are. `NAME.sql` with `-- name: find_it` gives
`static const char sql_NAME_find_it[]`. Whole comment lines and trailing `-- …` comments are left out, so that `--`
inside a quoted text stays. The output depends on the input alone.
"""
import os
import re
import sys


def fail(path, line, message):
    sys.exit(f"{path}:{line}: {message}")


def strip_comment(line, quote):
    """The line without its `--` comment, and the quote that is still open at its end ('' when none)."""
    i = 0
    while i < len(line):
        c = line[i]
        if quote:
            if c == quote:
                quote = ""
        elif c in "'\"`":
            quote = c
        elif line.startswith("--", i):
            return line[:i], quote
        i += 1
    return line, quote


def read(path):
    """[(name, line number, [text lines])] of one file."""
    statements, names, quote = [], {}, ""
    with open(path, encoding="utf-8") as file:
        for number, raw in enumerate(file, 1):
            line = raw.rstrip()
            heading = None if quote else re.match(r"--\s*name:\s*(.*)$", line)
            if heading:
                name = heading.group(1)
                if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                    fail(path, number, f"'{name}' is not a snake_case name")
                if name in names:
                    fail(path, number, f"'{name}' is there already, at line {names[name]}")
                names[name] = number
                statements.append((name, number, []))
                continue
            text, quote = strip_comment(line, quote)
            text = text if quote else text.rstrip()
            if not text.strip():
                continue
            if not statements:
                fail(path, number, "a statement without a `-- name: …` line before it")
            statements[-1][2].append(text)
    if quote:
        fail(path, statements[-1][1] if statements else 1, f"a {quote} is never closed")
    for name, number, lines in statements:
        if not lines:
            fail(path, number, f"'{name}' has no statement")
    return statements


def c_string(text):
    out = []
    for byte in text.encode("utf-8"):
        if byte in b'"\\':
            out.append("\\" + chr(byte))
        elif byte == 9:
            out.append("\\t")
        elif byte < 32 or byte > 126:
            out.append(f"\\{byte:03o}")  # octal takes at most three digits, so the next character cannot join it
        else:
            out.append(chr(byte))
    return '"' + "".join(out).replace("??", '?""?') + '"'


def main(arguments):
    if len(arguments) < 3 or arguments[-2] != "-o":
        sys.exit("usage: script/embed_sql.py INPUT.sql... -o OUT.h")
    inputs, output = arguments[:-2], arguments[-1]
    guard = "TIDEGATE_SQL_" + re.sub(r"\W", "_", os.path.basename(output)).upper()
    parts = [f"/* Made by script/embed_sql.py: edit the .sql files instead. */\n#ifndef {guard}\n#define {guard}\n"]
    stems = {}
    for path in inputs:
        stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
        if stem in stems:
            fail(path, 1, f"gives the same names as {stems[stem]}")
        stems[stem] = path
        for name, _, lines in read(path):
            body = "\n    ".join(c_string(line + ("\n" if i + 1 < len(lines) else "")) for i, line in enumerate(lines))
            body = body.replace("\\012", "\\n")
            parts.append(f"__attribute__((unused)) static const char sql_{stem}_{name}[] =\n    {body};\n")
    parts.append("#endif\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
