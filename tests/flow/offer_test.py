"""From a command that is denied to the table put right: the draft that the gate offers, filled in by a person, and the
original tool run by it batch by batch. On SQLite and PostgreSQL."""

import os
import re
import stat

import harness
from harness import BINARY, DENIED, HELD, USAGE, Flow
from postgres_harness import PostgresFlow

TYPED = "airflow dags backfill -s 2024-01-11 -e 2024-01-16 'sales_daily'"
ALL = "SELECT day, id, net FROM sales ORDER BY id"
FILE = "sales-2024-01-10-2024-01-15.backfill.yaml"


class Offer:
    def setUp(self):
        super().setUp()
        rows = [f"('2024-01-{8 + i // 3:02}', {i}, {-i - 1 if 2 <= i // 3 <= 7 else i + 1})" for i in range(30)]
        self.sql("CREATE TABLE sales(day date NOT NULL, id int PRIMARY KEY, net int); INSERT INTO sales VALUES " + ", ".join(rows))
        self.right = [(day, number, abs(net)) for day, number, net in self.rows(ALL)]
        # The DAG's logical dates are a day behind its rows', as Airflow's often are.
        (self.folder / "tidegate.yaml").write_text(
            f"database: {self.named}\nbudget: {{duty: 100 %}}\n"
            "jobs:\n  nightly:\n    writes: [sales]\n    names: [sales_daily]\n    dates: -1d\n    schedule: none\n    per_date: 1s\n")
        tool = self.folder / "bin" / "airflow"
        tool.parent.mkdir()
        # As a shim on PATH would: it asks the gate first, and does what the answer says.
        tool.write_text(
            "#!/bin/sh\n"
            f'"{BINARY}" gate -- airflow "$@" >>gate.txt 2>&1 || exit 9\n'
            "echo \"$@\" >>told\n"
            f'day() {{ date -d "${{1%T*}} 1 day ago" +%F; }}\ncd /\n{self.update}\n')
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        self.env = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}

    def draft(self):
        """Typed as the denial says."""
        denied = self.tidegate("gate", "--command", TYPED, code=DENIED)
        offers = denied.out[denied.out.index("type instead:"):].splitlines()[1:]
        self.assertIn(f"tidegate gate --draft {FILE} --command", offers[0])
        done = self.tidegate("gate", "--draft", FILE, "--command", TYPED)
        self.assertIn(f"{FILE} written", done.out)
        return self.folder / FILE, [line.strip() for line in offers]

    def fill(self, file, **extra):
        text = file.read_text()
        for key, value in {"wrong": "the sign is wrong", "correct": "never negative", "changes": "{net: net < 0}", **extra}.items():
            text, n = re.subn(rf"(?m)^{key}: FILL IN", f"{key}: {value}", text)
            self.assertEqual(n, 1, text)
        file.write_text(text + "checks: {rows: [net > 0]}\n")

    def test_from_the_denial_to_the_table_put_right(self):
        file, offers = self.draft()
        self.fill(file)
        self.assertIn(f"tidegate backfill {FILE}", offers)
        then = [line for line in offers if line.startswith("tidegate snapshot")][0].split(" --then ")[1]
        line = then[1:-1].replace("'\\''", "'")
        self.assertEqual(line, "airflow dags backfill -s {from+1d} -e {to_inclusive+1d}T23:59:59 'sales_daily'")
        self.tidegate("snapshot", FILE, "--then", line, env=self.env)
        self.assertEqual(self.rows(ALL), self.right)
        self.assertEqual(self.state(), "checked")
        told = (self.folder / "told").read_text().splitlines()
        self.assertEqual(told[0], "dags backfill -s 2024-01-11 -e 2024-01-11T23:59:59 sales_daily")
        self.assertGreater(len(told), 1)

    def test_the_shim_lets_nothing_else_through(self):
        """While the batch runs, the same tool over other dates is denied; so is the mark without a batch."""
        file, _ = self.draft()
        self.fill(file)
        line = "airflow dags backfill -s {from+1d} -e {to_inclusive+3d} 'sales_daily'"
        self.tidegate("snapshot", FILE, "--then", line, env=self.env, code=15)
        self.assertIn("DENIED", (self.folder / "gate.txt").read_text())
        self.assertFalse((self.folder / "told").exists())
        identity = self.value("SELECT database_id FROM " + self.ledger("backfill"))
        number = self.value("SELECT id FROM " + self.ledger("backfill"))
        self.tidegate("gate", "--command", TYPED, env={"TIDEGATE_TOOL": f"{identity}/{number}"}, code=DENIED)

    def test_the_unfilled_draft_is_refused_with_each_place(self):
        file, _ = self.draft()
        lines = file.read_text().splitlines()
        for command in (("plan", FILE), ("snapshot", FILE, "--then", "true"), ("backfill", FILE)):
            refused = self.tidegate(*command, code=USAGE)
            for key in ("wrong", "correct", "changes"):
                number = next(i for i, line in enumerate(lines, 1) if line.startswith(key + ":"))
                self.assertIn(f"{FILE}:{number}:{len(key) + 3} {key}", refused.err)

    def test_what_is_known_is_not_repeated_and_no_file_is_written_over(self):
        file, _ = self.draft()
        text = file.read_text()
        self.assertIn("\ntarget: \"sales\"", text)
        self.assertIn("\nrange: \"2024-01-10..2024-01-15\"", text)
        self.assertNotIn("\nproduction:", text)
        self.assertNotIn("database:", text)
        self.tidegate("gate", "--draft", FILE, "--command", TYPED, code=USAGE)
        self.assertEqual(file.read_text(), text)
        self.assertEqual(self.tidegate("gate", "--draft", "-", "--command", TYPED).out, text)

    def test_the_turns_of_a_loop_are_one_range(self):
        loop = "for d in %s; do airflow tasks run sales_daily load $d; done"
        draft = self.tidegate("gate", "--draft", "-", "--command", loop % "2024-01-12 2024-01-11 2024-01-13").out
        self.assertIn("\nrange: \"2024-01-10..2024-01-12\"", draft)
        self.assertIn("left to you", draft)
        apart = self.tidegate("gate", "--draft", "-", "--command", loop % "2024-01-11 2024-01-14").out
        self.assertIn("\nrange: \"2024-01-10..2024-01-10\"", apart)
        self.assertIn("dates that are not beside these", apart)

    def test_with_a_plan_the_denial_offers_that_plan_s_file(self):
        file, _ = self.draft()
        self.fill(file)
        self.tidegate("snapshot", FILE)
        self.sql("UPDATE sales SET net = net - 1 WHERE day = '2024-01-12'")  # so that the snapshot proves nothing
        denied = self.tidegate("gate", "--command", TYPED, code=DENIED)
        self.assertIn(f"{FILE} --then 'airflow dags backfill", denied.out)

    def test_the_shadow_s_way_asks_for_a_shadow(self):
        file, _ = self.draft()
        self.fill(file)
        denied = self.tidegate("backfill", FILE, "--yes", code=DENIED).out
        line = file.read_text().splitlines().index("  command: |-") + 2
        self.assertIn(f"name {{shadow}} as the table to write, in recompute: command ({FILE}:{line})", denied)
        self.assertIn(f"tidegate snapshot {FILE} --then", denied)


class Sqlite(Offer, Flow):
    update = ('sqlite3 -cmd ".timeout 9000" "$TIDEGATE_DATABASE" "UPDATE sales SET net = abs(net) '
              "WHERE day BETWEEN '$(day $4)' AND '$(day $6)'\"")


class Postgres(Offer, PostgresFlow):
    update = ('psql -qAt -v ON_ERROR_STOP=1 -d "$TIDEGATE_DATABASE" -c "UPDATE sales SET net = abs(net) '
              "WHERE day BETWEEN '$(day $4)' AND '$(day $6)'\"")


if __name__ == "__main__":
    harness.main()
