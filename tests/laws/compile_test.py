"""Law 8 at compile time: a write handle cannot be had without a pass, and only the gate makes one."""

import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "src"
COMPILER = shlex.split(os.environ.get("TIDEGATE_CC", "cc"))
HEAD = '#include "gate/gate.h"\n#include "swap/swap.h"\n#include "run/run.h"\n'
OPEN = "bool f(Engine *e, {parameters} EngineWriter **w, Error *err);\nbool f(Engine *e, {parameters} EngineWriter **w, Error *err) {{\n  return e->ops->writer_open(e, {arguments} w, err);\n}}\n"
OWN = SOURCE / "gate"


def compiles(text):
    """(does it, what the compiler says), by the settings of the whole program."""
    result = subprocess.run([*COMPILER, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-Wno-unused-parameter",
                             f"-I{SOURCE}", "-fsyntax-only", "-x", "c", "-"], input=HEAD + text, text=True, capture_output=True,
                            env={**os.environ, "LC_ALL": "C"}, check=False)
    return result.returncode == 0, result.stderr


class Compile(unittest.TestCase):
    def refused(self, text, because):
        ok, told = compiles(text)
        self.assertFalse(ok, f"this must not compile:\n{text}")
        self.assertRegex(told, because, text)

    def test_law_08_what_the_gate_gave_opens_a_writer(self):
        """The counter-proof: with a pass the same lines compile."""
        ok, told = compiles(OPEN.format(parameters="const GatePass *pass,", arguments='pass, "7f3a", 1,'))
        self.assertTrue(ok, told)

    def test_law_08_no_writer_without_a_pass(self):
        """A write handle cannot be had without a pass."""
        self.refused(OPEN.format(parameters="", arguments='"7f3a", 1,'), "too few arguments|incompatible|makes")
        self.refused(OPEN.format(parameters="const Verdict *verdict,", arguments='verdict, "7f3a", 1,'), "incompatible")
        self.refused(OPEN.format(parameters="const Plan *plan,", arguments='plan, "7f3a", 1,'), "incompatible")
        self.refused(OPEN.format(parameters="bool yes,", arguments='yes, "7f3a", 1,'), "pointer from|incompatible")

    def test_law_08_nobody_else_makes_a_pass(self):
        """Only the gate makes one: outside it what a pass holds is not known."""
        self.refused("GatePass pass;\n", "storage size|incomplete|tentative")
        self.refused("static const GatePass *f(void) { return &(GatePass){0}; }\nconst void *g(void); const void *g(void) { return f(); }\n",
                     "incomplete|undefined type|invalid use|storage size")
        self.refused("unsigned long g(void); unsigned long g(void) { return sizeof(GatePass); }\n", "incomplete")
        self.refused("const GatePass *g(Arena *a, const Plan *p); const GatePass *g(Arena *a, const Plan *p) { return gate_pass(a, p, GATE_SWAP, 0); }\n",
                     "implicit|undeclared")

    def test_law_08_work_takes_a_writer_and_nothing_else(self):
        """A write handle: every piece of work takes one, an engine alone is not enough."""
        for call in ("begin(e, (TxnLimits){1, 1}, err)", "commit(e, err)", 'create(e, shape, "changes", err)', 'drop(e, "changes", err)',
                     "settle_moves(e, shape, err)", "apply(e, shape, columns, (ChangeCounts){0}, false, err)",
                     "revert(e, shape, columns, LATER_KEEP, false, left, err)", "copy_range(e, shape, (DateRange){0, 0}, err)",
                     "restore_range(e, shape, (DateRange){0, 0}, false, left, err)", 'refresh(e, "v", (bool *)left, err)'):
            self.refused("bool f(Engine *e, const Shape *shape, const bool *columns, int64_t *left, Error *err);\n"
                         "bool f(Engine *e, const Shape *shape, const bool *columns, int64_t *left, Error *err) {\n"
                         f"  return e->ops->{call};\n}}\n", "incompatible")
        self.refused("EngineWriter writer;\n", "storage size|incomplete|tentative")

    def test_law_08_no_way_round_in_the_source(self):
        """Only the gate makes one: C lets a file invent a type's inside or cast a pointer, so no file does."""
        found = []
        for path in sorted(SOURCE.rglob("*.[ch]")):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            where = path.relative_to(SOURCE)
            inside = OWN in path.parents
            if re.search(r"struct\s+GatePass\s*\{", text) and where.as_posix() != "gate/pass.c":
                found.append(f"{where} says what is in a pass")
            if re.search(r"\(\s*(const\s+)?(struct\s+)?GatePass\s*\*\s*\)", text):
                found.append(f"{where} casts something to a pass")
            if not inside and ("gate_int.h" in text or re.search(r"\bgate_pass\s*\(", text)):
                found.append(f"{where} reaches into the gate")
        self.assertEqual(found, [])
        makers = [p.name for p in sorted(OWN.glob("*.c")) if re.search(r"\bgate_pass\s*\(", p.read_text(encoding="utf-8"))]
        self.assertEqual(makers, ["judge.c", "pass.c"], "one place makes passes, and one asks for them")
        judge = (OWN / "judge.c").read_text(encoding="utf-8")
        self.assertIn("verdict.allow ? gate_pass(", judge)


if __name__ == "__main__":
    unittest.main(verbosity=2)
