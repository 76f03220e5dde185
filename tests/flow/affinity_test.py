"""The driver compares in its own process, so it applies column affinity itself: here SQLite is held against it."""

import itertools

import harness
from harness import NO_CHANGE, Flow

TYPES = ("INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "", "VARCHAR(9)", "DOUBLE PRECISION", "DECIMAL(9, 2)", "BOOLEAN",
         "CHARINT", "FLOATING POINT", "STRING")
# SQL literals: what looks like a number in some way or other, and what only nearly does.
VALUES = ("NULL", "0", "1", "-7", "9223372036854775807", "-9223372036854775808", "1.0", "0.1", "-0.0", "1e20", "1e300",
          "9007199254740993", "9007199254740993.0", "9.2e18", "9.3e18", "1.5e-7", "9e999", "''", "'a'", "'7'", "'07'",
          "' 7 '", "'7 '", "'+7'", "'7.0'", "'7.50'", "'.5'", "'5.'", "'1e3'", "'1e'", "'0x1A'", "'-'", "'-0'", "'-0.0'",
          "'9223372036854775807'", "'9223372036854775808'", "'-9223372036854775808'", "'12345678901234567890'",
          "'3.14159265358979323846'", "'1e400'", "'nan'", "'inf'", "'7' || char(0) || '8'", "'7' || char(10)", "'é'",
          "x''", "x'37'", "x'00ff'")


class Affinity(Flow):
    def test_what_sqlite_stores_equals_what_the_recompute_gave(self):
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(TYPES))
        self.sql(f"""
        CREATE TABLE source(day TEXT, id INTEGER PRIMARY KEY, v);
        CREATE TABLE target(day TEXT NOT NULL, id INTEGER PRIMARY KEY, {columns});
        {"".join(f"INSERT INTO source(day, v) VALUES ('2024-01-0{1 + i % 3}', {v});" for i, v in enumerate(VALUES))}
        INSERT INTO target SELECT day, id, {", ".join(["v"] * len(TYPES))} FROM source;
        """)
        given = ", ".join(f"v AS c{i}" for i in range(len(TYPES)))
        spec = self.spec(f"""
        target: target
        range: 2024-01-01..2024-01-03
        wrong: nothing is
        correct: what the source has
        changes: "*"
        recompute: SELECT day, id, {given} FROM source WHERE day >= :from AND day < :to
        """)
        self.plan(spec)
        result = self.run_tidegate("run", spec)
        self.assertEqual(result.code, NO_CHANGE, f"{result!r}\n{self.differences()}")

    def differences(self):
        table = [name for name in self.objects() if name.endswith("_changes")]
        if not table:
            return ""
        rows = self.rows(f"SELECT * FROM {table[0]}")
        names = [row[1] for row in self.rows(f"PRAGMA table_info({table[0]})")]
        found = []
        for row, i in itertools.product(rows, range(len(TYPES))):
            values = dict(zip(names, row))
            old, new = values[f"old_c{i}"], values[f"new_c{i}"]
            if (type(old), old) != (type(new), new):
                found.append(f"{VALUES[values['old_id'] - 1]} in {TYPES[i]!r}: {old!r} {new!r}")
        return "\n".join(found)


if __name__ == "__main__":
    harness.main()
