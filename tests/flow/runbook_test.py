"""The runbook: its SQL typed into the real client, statement by statement, does what Tidegate would do; its three forms
say the same; --check finds what is missing, each thing once."""

import base64
import html.parser
import http.server
import json
import os
import re
import shutil
import subprocess
import textwrap
import threading
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import harness
import history_test
from harness import LEASED, NOT_FOUND, OK, USAGE, Flow, wait_until

INCOMPLETE = 18
LEFT = "By hand: a backfill that Tidegate began"
OWN = "By hand: a backfill from nothing"
IN_PLACE = "By hand: a tool that writes production in place"


class Answer(list):
    """The lines of one statement's answer, and how many rows it changed."""

    changed = None


class Client:
    """A person at sqlite3 or psql: what is typed runs at once, and what it answers is read before the next line."""

    DONE = "-- that was it --"
    # what sqlite3 says with .changes on, and psql's command tags
    SAID = re.compile(r"(?:changes:\s+|UPDATE |DELETE |INSERT 0 |SELECT )(?P<n>\d+)|[A-Z]{3,}(?: [A-Z]+)*$(?P<none>)")

    def __init__(self, argv, echo, **kwargs):
        self.echo = echo
        self.process = subprocess.Popen(["stdbuf", "-oL", *argv], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, **kwargs)

    def one(self, statement):
        """The lines that one statement answers."""
        self.process.stdin.write(f"{statement}\n{self.echo} {self.DONE}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == self.DONE:
                break
            lines.append(line.rstrip("\n"))
        else:
            raise AssertionError(f"the client ended:\n{statement}\n" + "\n".join(lines))
        if any(re.match(r"(Parse |Runtime )?[Ee]rror|ERROR:|FATAL:|psql:", line) for line in lines):
            raise AssertionError(f"refused:\n{statement}\n" + "\n".join(lines))
        answer = Answer(line for line in lines if not self.SAID.match(line))
        said = [self.SAID.match(line) for line in lines if self.SAID.match(line)]
        answer.changed = int(said[-1].group("n") or 0) if said else None
        return answer

    def block(self, text):
        """Every statement of a block: a list of what each answered."""
        answers, statement = [], []
        for line in text.splitlines():
            statement.append(line)
            whole = "\n".join(statement)
            if line.endswith(";") or (len(statement) == 1 and line[:1] in ".\\"):
                answers.append(self.one(whole))
                statement = []
        assert not statement, f"an unfinished statement: {statement}"
        return answers

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def sections(document):
    """{(chapter, step): [(language, text)]} of a Markdown runbook."""
    found, chapter, step, code = {}, None, None, None
    for line in document.splitlines():
        fence = re.match(r"(```+)(\w*)$", line)
        if code is not None:
            if line == code[0]:
                found.setdefault((chapter, step), []).append((code[1], "\n".join(code[2])))
                code = None
            else:
                code[2].append(line)
        elif fence:
            code = (fence.group(1), fence.group(2), [])
        elif line.startswith("## "):
            chapter, step = line[3:].replace("\\", ""), None
        elif line.startswith("### "):
            step = line[4:].replace("\\", "")
    return found


def numbers(answers):
    """The last column of every line of every answer, as numbers."""
    return [float(line.split("|")[-1] or 0) for lines in answers for line in lines]


TARGET = """
targets:
  sales:
    owner: data-platform
    contacts: ["#data-alerts", night@example.org]
    correctness: the ledger of the shop agrees to the cent
    rollback: tidegate rollback, after seven days the backup
    retention: 7d
    sources: {orders: day}
    production: none
"""
SPEC = """
target: sales
range: 2024-01-10..2024-01-15
wrong: the rate was left out, some orders are missing and one never was
correct: net is cents times rate
changes: {net: yes, tag: id > 1, new rows: yes, vanished rows: "id = 9"}
control: 2024-01-05..2024-01-07
checks: {rows: [net >= cents], totals: [count(*) > 0]}
recompute: |
  SELECT day, id, cents, cents * rate AS net, tag
  FROM orders WHERE day >= :from AND day < :to
"""
# cases that differ by letters' case alone, NULLs on either side, new rows, a row that goes, a column the recompute does not
# give
SCENE = """
CREATE TABLE orders(id INTEGER NOT NULL, day TEXT NOT NULL, cents INTEGER, rate REAL, tag TEXT, PRIMARY KEY (day, id));
CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, cents INTEGER, net REAL, tag TEXT COLLATE NOCASE,
                   note TEXT DEFAULT 'fresh', PRIMARY KEY (day, id));
WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 19),
               n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 5)
INSERT INTO orders SELECT k, date('2024-01-01', '+' || i || ' days'), 100 * k + i, 1.5, 'it''s {day} "' || k FROM d, n;
INSERT INTO sales SELECT day, id, cents, cents * rate, tag, 'note ' || id FROM orders;
UPDATE sales SET net = cents WHERE day BETWEEN '2024-01-10' AND '2024-01-13' AND id % 2 = 0;
UPDATE sales SET net = NULL WHERE day = '2024-01-14' AND id = 3;
UPDATE sales SET tag = upper(tag) WHERE day = '2024-01-11' AND id = 5;
DELETE FROM sales WHERE day = '2024-01-12' AND id IN (1, 4);
INSERT INTO sales VALUES ('2024-01-13', 9, 1, 2, 'ghost', NULL);
CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
"""
NOW = "SELECT * FROM sales ORDER BY 1, 2"


class Typed(Flow):
    """Every step of the document, on a real table, against what Tidegate makes of it."""

    scene_sql, spec_text = SCENE, SPEC
    width = 6  # columns that count after a publication: the database numbers rows as it likes
    counts = {"new": 2, "changed": 9, "gone": 1}
  
    def setUp(self):
        super().setUp()
        self.make_scene()
        (self.folder / "tidegate.yaml").write_text(f"database: '{self.named}'\n{TARGET}", encoding="utf-8")
        self.file = self.spec(self.spec_text)
        self.before = self.rows(NOW)
        self.clients = []

    def make_scene(self):
        self.sql(self.scene_sql)

    def tearDown(self):
        for client in self.clients:
            client.close()
        super().tearDown()

    def client(self):
        self.clients.append(Client(["sqlite3", "-batch", "-list", str(self.database)], ".print"))
        return self.clients[-1]

    def published(self):
        """The rows that count after a publication."""
        return [row[:self.width] for row in self.rows(NOW)]

    def by_tidegate(self):
        """What Tidegate makes of it; afterwards all is as it was."""
        self.tidegate("backfill", self.file, "--yes")
        right = self.published()
        self.tidegate("rollback", self.file)
        self.tidegate("discard", self.file)
        self.assertEqual(self.rows(NOW), self.before)
        self.assertNotEqual(right, [row[:self.width] for row in self.before])
        return right

    def document(self):
        return sections(self.tidegate("runbook", "sales").out)

    def steps(self, client, document, chapter, step, only=None):
        """Types the SQL of a step: the answers of its blocks."""
        blocks = [text for language, text in document[(chapter, step)] if language == "sql"]
        return [client.block(text) for i, text in enumerate(blocks) if only is None or i in only]

    # -- from nothing

    def recomputed(self, client, document):
        """As far as the change set, in two batches."""
        session, whole = [text for _, text in document[(OWN, "Before anything")]]
        client.block(session)
        client.block(whole)
        fingerprints = self.steps(client, document, OWN, "Look at what is wrong")[-1]
        self.steps(client, document, OWN, "Make a shadow")
        batch = document[(OWN, "Recompute a batch")][0][1]
        control, compare = [text for _, text in document[(OWN, "Compare with control dates")]]
        client.block(control)
        self.assertEqual(numbers(client.block(batch)[1:]), [15])
        self.assertEqual(set(numbers(client.block(compare)[:1])), {0}, "the control dates are reproduced")
        for start, end in (("2024-01-10", "2024-01-12"), ("2024-01-12", "2024-01-16")):
            client.block(whole.replace("2024-01-10", start).replace("2024-01-16", end))
            client.block(batch)
        client.block(whole)
        return fingerprints

    def test_a_backfill_from_nothing_is_what_tidegate_would_do(self):
        right = self.by_tidegate()
        document, client = self.document(), self.client()
        then = self.recomputed(client, document)
        faults, checks, changes, counts, *scope = self.steps(client, document, OWN, "Compare with production")
        self.assertEqual(numbers(faults), [0, 0, 0])
        self.assertEqual(numbers(checks), [0])
        self.assertEqual(dict(line.split("|") for line in counts[0]),
                         {"I": str(self.counts["new"]), "U": str(self.counts["changed"]), "D": str(self.counts["gone"])})
        self.assertEqual(numbers([answer for block in scope for answer in block]), [0] * 3)
        self.assertEqual(self.rows(NOW), self.before, "production is only read until it is published")
        again, _, drift, applied, totals, _ = self.publish_own(client, document)
        self.assertEqual(numbers(again), [0, 0])
        self.assertEqual(numbers(drift), [0, 0])
        self.assertEqual([answer.changed for answer in applied[:3]], [self.counts[k] for k in ("gone", "changed", "new")])
        self.assertIn(totals[0][0], ("1", "t"))
        self.assertEqual(self.published(), right)
        verified = self.steps(client, document, OWN, "Verify")[0]
        self.assertEqual(set(numbers(verified[:1])), {0})
        self.assertEqual(verified[2], then[1], "the rows outside are what they were")
        self.assertNotEqual(verified[1], then[0])
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows(NOW), self.before)
        self.steps(client, document, OWN, "Clean up")
        self.assertEqual(self.hand_tables(), [])

    def publish_own(self, client, document):
        """The step without its second block, which is for sources that changed."""
        return self.steps(client, document, OWN, "Publish in one transaction", only=[0, 2, 3, 4, 5, 6, 7, 8, 9])

    def test_by_hand_a_source_that_changed_shows(self):
        self.plan(self.file)
        document, client = self.document(), self.client()
        self.recomputed(client, document)
        self.steps(client, document, OWN, "Compare with production")
        self.sql("UPDATE orders SET rate = 2 WHERE day = '2024-01-15' AND id < 3")
        again, empty, *_ = [text for _, text in document[(OWN, "Publish in one transaction")]]
        self.assertEqual(numbers(client.block(again)), [2, 2])
        client.block(empty)
        client.block(document[(OWN, "Recompute a batch")][0][1])
        self.assertEqual(numbers(client.block(again)), [0, 0])

    def test_by_hand_what_is_out_of_scope_shows(self):
        self.sql("UPDATE sales SET cents = 7 WHERE day = '2024-01-10' AND id = 3;"
                 "INSERT INTO sales (day, id, tag) VALUES ('2024-01-10', 8, 'x');"
                 "UPDATE sales SET tag = 'b' WHERE day = '2024-01-10' AND id = 1")
        self.plan(self.file)
        document, client = self.document(), self.client()
        self.recomputed(client, document)
        scope = self.steps(client, document, OWN, "Compare with production")[4:]
        self.assertEqual([answer[0].split("|")[-1] for block in scope for answer in block], ["1", "1", "1"])

    def hand_tables(self):
        return self.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'tidegate_hand*'")

    # -- with what Tidegate left

    def test_a_sealed_change_set_is_published_and_taken_back_by_hand(self):
        right = self.by_tidegate()
        self.built(self.file)
        document, client = self.document(), self.client()
        looked = self.steps(client, document, LEFT, "Look at the state of a backfill")
        self.assertTrue(any("|ready|" in line for line in looked[1][0]), looked)
        self.assertIn("the rate was left out", "\n".join(looked[3][0]))
        self.steps(client, document, LEFT, "Look at its change set")
        lock, drift, applied, _ = self.steps(client, document, LEFT, "Publish it")
        self.assertTrue(any(line.startswith("ready|") and line.endswith("|") for lines in lock for line in lines), lock)
        self.assertEqual(numbers(drift), [0, 0])
        self.assertEqual([answer.changed for answer in applied[:3]], [self.counts[k] for k in ("gone", "changed", "new")])
        self.assertEqual(self.published(), right)
        self.assertEqual(self.steps(client, document, LEFT, "Verify what was published"), [[[], []]])
        self.assertEqual(self.state(), "swapped")
        self.tidegate("status", self.file)
        self.steps(client, document, LEFT, "Take it back")
        self.assertEqual(self.rows(NOW), self.before)
        self.assertEqual(self.state(), "rolled_back")
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.published(), right, "Tidegate carries on from there")
        self.steps(client, document, LEFT, "Finish, or clear it away")
        self.assertEqual((self.objects(), self.state()), ([], "finished"))
        self.assertEqual(self.published(), right)

    def test_tidegate_takes_back_what_was_published_by_hand(self):
        self.built(self.file)
        document, client = self.document(), self.client()
        self.steps(client, document, LEFT, "Look at the state of a backfill", only=[0])
        self.steps(client, document, LEFT, "Publish it")
        self.assertNotEqual(self.rows(NOW), self.before)
        self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(NOW), self.before)

    def test_drift_and_later_writes_show(self):
        self.built(self.file)
        document, client = self.document(), self.client()
        self.steps(client, document, LEFT, "Look at the state of a backfill", only=[0])
        self.sql("UPDATE sales SET note = 'later' WHERE day = '2024-01-10' AND id = 2;"
                 "INSERT INTO sales (day, id) VALUES ('2024-01-12', 1)")
        drift = self.steps(client, document, LEFT, "Publish it", only=[0, 1])[1]
        self.assertEqual(numbers(drift), [1, 1])
        client.block("ROLLBACK;")
        self.sql("UPDATE sales SET note = 'note 2' WHERE day = '2024-01-10' AND id = 2; DELETE FROM sales WHERE day = '2024-01-12' AND id = 1")
        self.steps(client, document, LEFT, "Publish it")
        self.sql("UPDATE sales SET net = -1 WHERE day = '2024-01-12' AND id = 1;"
                 "INSERT INTO sales (day, id, tag) VALUES ('2024-01-13', 9, 'again')")
        later = self.steps(client, document, LEFT, "Verify what was published")[0]
        self.assertEqual([len(lines) for lines in later], [1, 1])

    def test_a_run_is_stopped_by_its_lease(self):
        """Its next transaction fails, production stays, and the same command carries on later."""
        slow = self.spec(self.spec_text.replace("recompute: |", "recompute: |\n  " + self.slowly), budget="budget: {batch: 1s, duty: 10 %}")
        self.plan(slow)
        run = self.start("run", slow)
        try:
            wait_until(lambda: self.value(f"SELECT count(*) FROM {self.ledger('batch')}") > 0, what="a first batch")
            document, client = self.document(), self.client()
            self.steps(client, document, LEFT, "Look at the state of a backfill", only=[0])
            driver, taken, *_ = self.steps(client, document, LEFT, "Stop one that is running", only=[0, 1])
            self.assertIn(f":{run.pid}:", driver[0][0])
            out, err = run.communicate(timeout=300)  # after a batch it rests for nine times as long
        finally:
            run.kill()
        self.assertEqual(run.returncode, LEASED, out + err)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("run", slow, timeout=300)
        self.assertEqual(self.state(), "ready")

    slowly = "WITH RECURSIVE w(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM w WHERE x < 300000)"
    # -- in place

    def test_a_snapshot_by_hand_puts_back_what_a_tool_wrote(self):
        self.plan(self.file)
        document, client = self.document(), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        self.steps(client, document, IN_PLACE, "Take a snapshot")
        self.tool()
        written = self.rows(NOW)
        differences, _, outside = self.steps(client, document, IN_PLACE, "Run the tool, then compare")[0]
        self.assertEqual(dict(line.split("|") for line in differences), {"new": "1", "changed": "2", "gone": "1"})
        self.assertNotEqual(written, self.before)
        self.steps(client, document, IN_PLACE, "Restore the range")
        self.assertEqual(self.rows(NOW), self.before)
        self.steps(client, document, IN_PLACE, "Drop the snapshot")
        self.assertEqual(self.hand_tables(), [])

    def tool(self):
        self.sql("DELETE FROM sales WHERE day = '2024-01-10' AND id = 1; UPDATE sales SET note = 'tool', net = 0 WHERE day = '2024-01-11' AND id < 3;"
                 "INSERT INTO sales (day, id, net) VALUES ('2024-01-12', 77, 5)")

    def test_a_snapshot_of_tidegate_is_restored_by_hand(self):
        self.plan(self.file)
        self.tidegate("snapshot", self.file)
        self.tool()
        document, client = self.document(), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        blocks = [text for _, text in document[(IN_PLACE, "Restore from a snapshot of Tidegate")]]
        for text in blocks[:-1]:
            client.block(text)
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "restored"))
        client.block(blocks[-1])
        self.assertEqual((self.objects(), self.state()), ([], "discarded"))

    # -- triggers, time stamps

    trigger = """CREATE TABLE audit(id int);
    CREATE TRIGGER noted AFTER UPDATE ON sales BEGIN INSERT INTO audit VALUES (new.id); END;"""

    def test_triggers_that_are_to_be_skipped_are(self):
        self.sql(self.trigger)
        with (self.folder / "tidegate.yaml").open("a", encoding="utf-8") as file:
            file.write("triggers: skip\n")
        self.built(self.file)
        document, client = self.document(), self.client()
        self.steps(client, document, LEFT, "Look at the state of a backfill", only=[0])
        for step in ("Publish it", "Take it back"):
            self.steps(client, document, LEFT, step)
        self.assertEqual(self.rows(NOW), self.before)
        self.recomputed(client, document)
        self.steps(client, document, OWN, "Compare with production")
        self.publish_own(client, document)
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows("SELECT * FROM audit"), [])
        client.one("UPDATE sales SET net = 1 WHERE day = '2024-01-01' AND id = 2;")
        self.assertEqual(self.rows("SELECT * FROM audit"), [(2,)], "afterwards they fire again, in that session too")

    stamps = "INTEGER"
    stamp = "CAST(strftime('%s', '{}') AS INTEGER)"
    stamp_spec = "date_column: at\ndate_kind: unix_seconds\n"

    def test_time_stamps_of_a_zone(self):
        """A day ends at its own midnight, also as the range is typed; 10 March 2024 has 23 hours."""
        at = self.stamp.format
        self.sql(f"CREATE TABLE ev(at {self.stamps} NOT NULL, id int NOT NULL, v text, PRIMARY KEY (at, id));"
                 + "".join(f"INSERT INTO ev VALUES ({at(when)}, {i}, 'old');" for i, when in enumerate(
                     ("2024-03-09 04:59:00", "2024-03-09 05:00:00", "2024-03-10 04:59:59", "2024-03-10 05:00:00",
                      "2024-03-11 03:59:59", "2024-03-11 04:00:00", "2024-03-12 05:00:00"))))
        spec = self.spec("target: ev\nrange: 2024-03-09..2024-03-10\nwrong: w\ncorrect: c\nchanges: v\nzone: America/New_York\n"
                         f"checks: {{rows: [v = 'new']}}\n{self.stamp_spec}recompute: |\n  SELECT at, id, 'new' AS v\n"
                         "  FROM ev WHERE at >= :from AND at < :to AND :from_unix < :to_unix AND :from_date < :to_date\n", name="ev.yaml")
        now = "SELECT id, v FROM ev ORDER BY 1"
        before = self.rows(now)
        self.tidegate("backfill", spec, "--yes")
        right = self.rows(now)
        self.assertEqual([v for _, v in right], ["old", "new", "new", "new", "new", "old", "old"])
        self.tidegate("rollback", spec)
        document, client = sections(self.tidegate("runbook", "ev").out), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        for step in ("Look at what is wrong", "Make a shadow", "Recompute a batch", "Compare with production"):
            self.steps(client, document, OWN, step)
        self.publish_own(client, document)
        self.assertEqual(self.rows(now), right)
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows(now), before)

    def test_tolerance_and_keys_with_a_null(self):
        self.sql("CREATE TABLE tol(day date NOT NULL, k text, v double precision, w text);"
                 "CREATE TABLE fresh(day date NOT NULL, k text, v double precision, w text);"
                 "INSERT INTO tol VALUES ('2024-01-01', 'a', 1, 'x'), ('2024-01-01', NULL, 1, 'x'), ('2024-01-01', 'b', 1, 'x'), ('2024-01-02', NULL, 5, 'x'), ('2024-01-02', 'a', NULL, 'x'), ('2024-01-03', NULL, 9, 'x');"
                 "INSERT INTO fresh VALUES ('2024-01-01', 'a', 1.25, 'x'), ('2024-01-01', NULL, 1.25, 'y'), ('2024-01-01', 'b', 2, 'x'), ('2024-01-02', 'a', 3, 'x'), ('2024-01-02', 'c', 3, 'x')")
        spec = self.spec("target: tol\nrange: 2024-01-01..2024-01-02\nwrong: w\ncorrect: c\nkey: [day, k]\nallow: {null_keys: yes}\ntolerance: {v: 0.5}\n"
                         "changes: {'*': yes, new rows: yes, vanished rows: yes}\nrecompute: SELECT day, k, v, w FROM fresh WHERE day >= :from AND day < :to\n", name="tol.yaml")
        now = "SELECT day, coalesce(k, '-'), coalesce(v, -1), w FROM tol ORDER BY 1, 2"
        before = self.rows(now)
        self.tidegate("backfill", spec, "--yes")
        right = self.rows(now)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(now), before)
        document, client = sections(self.tidegate("runbook", "tol").out), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        for step in ("Look at what is wrong", "Make a shadow", "Recompute a batch", "Compare with production"):
            self.steps(client, document, OWN, step)
        self.publish_own(client, document)
        self.assertEqual(self.rows(now), right)
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows(now), before)
        for step, rows in (("Publish it", right), ("Take it back", before)):
            self.steps(client, document, LEFT, step)
            self.assertEqual(self.rows(now), rows)

    def test_keys_that_move_to_another_date(self):
        self.sql("CREATE TABLE mv(id int NOT NULL PRIMARY KEY, day date NOT NULL, v int); CREATE TABLE fresh(id int, day date, v int);"
                 "INSERT INTO mv VALUES (1, '2024-01-01', 1), (2, '2024-01-02', 2), (3, '2024-01-03', 3), (4, '2024-01-09', 4);"
                 "INSERT INTO fresh VALUES (1, '2024-01-03', 1), (2, '2024-01-01', 7), (3, '2024-01-02', 3)")
        spec = self.spec("target: mv\nrange: 2024-01-01..2024-01-03\nwrong: w\ncorrect: c\nchanges: {'*': yes, new rows: yes, vanished rows: yes}\n"
                         "recompute: SELECT id, day, v FROM fresh WHERE day >= :from AND day < :to\n", name="mv.yaml")
        now = "SELECT * FROM mv ORDER BY 1"
        before = self.rows(now)
        self.tidegate("backfill", spec, "--yes")
        right = self.rows(now)
        self.tidegate("rollback", spec)
        document, client = sections(self.tidegate("runbook", "mv").out), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        for step in ("Make a shadow", "Recompute a batch", "Compare with production"):
            self.steps(client, document, OWN, step)
        self.publish_own(client, document)
        self.assertEqual(self.rows(now), right)
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows(now), before)
        for step, rows in (("Publish it", right), ("Take it back", before)):
            self.steps(client, document, LEFT, step)
            self.assertEqual(self.rows(now), rows)

    def test_a_full_shadow_is_cleared_away(self):
        self.built(self.spec(self.spec_text + "shadow: full\n"))
        self.assertEqual(len(self.objects()), 2)
        document, client = self.document(), self.client()
        self.steps(client, document, LEFT, "Look at the state of a backfill", only=[0])
        self.steps(client, document, LEFT, "Finish, or clear it away")
        self.assertEqual((self.objects(), self.state()), ([], "discarded"))
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("doctor", "--database", self.named)

    # -- without a key

    bag_scene = """
    CREATE TABLE bag(day TEXT NOT NULL, v TEXT);
    CREATE TABLE "right"(day TEXT NOT NULL, v TEXT);
    INSERT INTO bag VALUES ('2024-01-09', 'o'), ('2024-01-10', 'a'), ('2024-01-10', 'a'), ('2024-01-10', NULL), ('2024-01-11', 'b'), ('2024-01-12', 'c');
    INSERT INTO "right" VALUES ('2024-01-10', 'a'), ('2024-01-10', 'd'), ('2024-01-10', 'd'), ('2024-01-11', 'b'), ('2024-01-12', NULL);
    """

    def test_without_a_key_dates_are_replaced_as_a_whole(self):
        self.sql(self.bag_scene)
        spec = self.spec("target: bag\nrange: 2024-01-10..2024-01-12\nwrong: w\ncorrect: c\n"
                         "checks: {totals: [count(*) > 0]}\nchanges: {v: yes, new rows: yes, vanished rows: yes}\n"
                         'recompute: SELECT day, v FROM "right" WHERE day >= :from AND day < :to', name="bag.yaml")
        now = "SELECT day, coalesce(v, '-') FROM bag ORDER BY 1, 2"
        before = self.rows(now)
        self.tidegate("backfill", spec, "--yes")
        right = self.rows(now)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(now), before)
        document, client = sections(self.tidegate("runbook", "bag").out), self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        for step in ("Look at what is wrong", "Make a shadow", "Recompute a batch", "Compare with production"):
            self.steps(client, document, OWN, step)
        self.publish_own(client, document)
        self.assertEqual(self.rows(now), right)
        self.assertEqual(numbers(self.steps(client, document, OWN, "Verify")[0][:1]), [0])
        self.steps(client, document, OWN, "Take it back by hand")
        self.assertEqual(self.rows(now), before)
        self.steps(client, document, LEFT, "Publish it")
        self.assertEqual(self.rows(now), right)
        self.steps(client, document, LEFT, "Take it back")
        self.assertEqual(self.rows(now), before)



class Html(html.parser.HTMLParser):
    """What a browser makes of a page: its links and anchors, everything it would load, and the texts of its code."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.code, self.tags, self.inside = [], [], [], [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.inside.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        self.loads += [attrs[name] for name in ("src", "srcset", "data", "background", "action") if name in attrs]
        if self.inside[-2:] == ["pre", "code"]:
            self.code.append("")

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self.inside[-2:] == ["pre", "code"]:
            self.code[-1] += data


HOSTILE = "w<b>i\"rd|'`*_&amp; {all}@? <script>alert(1)</script>"


def chromium():
    """Debian's, or Chrome; script/deps check installs the former."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "no Chromium: script/deps check installs it"
    return found


class Forms(Flow):
    """Markdown, HTML and text of one document; hostile names; the database down."""

    key_type = value_type = "TEXT"

    def quoted(self, name):
        return '"' + name.replace('"', '""') + '"'

    def target(self, name):
        """A table's name as a spec and the command line have it."""
        return name

    def hostile(self):
        """A table whose every name is a trap, and its backfill planned."""
        table, column = self.quoted(HOSTILE), self.quoted("c" + HOSTILE)
        self.sql(f"CREATE TABLE {table}(day {self.key_type} NOT NULL, {column} {self.value_type}, PRIMARY KEY (day));"
                 f"INSERT INTO {table} VALUES ('2024-01-01', 'a'), ('2024-01-02', 'b');"
                 f"CREATE TABLE good AS SELECT day, {column} || 'x' AS v FROM {table}")
        name = self.target(HOSTILE).replace("'", "''")
        (self.folder / "tidegate.yaml").write_text(
            f"database: '{self.named}'\nowner: '<img src=x onerror=alert(1)>'\nproduction: none\ncontacts: ['<b>|x', '`y`']\n"
            f"targets:\n  '{name}': {{notes: '</pre><script>'}}\n", encoding="utf-8")
        return self.spec(f"target: '{name}'\nrange: 2024-01-01..2024-01-02\nwrong: w\ncorrect: c\nchecks: {{totals: [count(*) > 0]}}\n"
                         f"changes: '*'\nrecompute: |\n  SELECT day, v AS {column} FROM good WHERE day >= :from AND day < :to\n")

    def test_three_forms_say_the_same(self):
        self.plan(self.hostile())
        documents = {kind: self.tidegate("runbook", self.target(HOSTILE), "--format", kind).out for kind in ("markdown", "html", "text")}
        blocks = [text for found in sections(documents["markdown"]).values() for _, text in found]
        self.assertGreater(len(blocks), 40)
        page = Html(documents["html"])
        self.assertEqual(page.code, blocks)
        self.assertEqual(page.loads, [])
        self.assertLessEqual(page.tags & {"script", "img", "b", "link", "iframe"}, {"b"})
        self.assertTrue(all(link.startswith("#") and link[1:] in page.ids for link in page.links), page.links)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertGreater(len(page.links), 40)
        anchors = set(re.findall(r"\]\(#([^)]*)\)", documents["markdown"]))
        self.assertEqual(anchors, set(page.ids))
        at = 0
        for block in blocks:
            indented = textwrap.indent(block, "    ")
            at = documents["text"].index(indented, at) + len(indented)
        prose = documents["text"]
        for block in blocks:
            prose = prose.replace(textwrap.indent(block, "    "), "")
        # words are not cut, so one that is too long by itself stands out
        self.assertEqual([line for line in prose.splitlines() if len(line) > 80 and len(line.split()) > 3 and "<" not in line], [])

    def test_hostile_names_are_typed_and_published(self):
        spec = self.hostile()
        self.tidegate("backfill", spec, "--yes")
        table = self.quoted(HOSTILE)
        right = self.rows(f"SELECT * FROM {table} ORDER BY 1")
        self.tidegate("rollback", spec)
        before = self.rows(f"SELECT * FROM {table} ORDER BY 1")
        self.assertNotEqual(before, right)
        document = sections(self.tidegate("runbook", self.target(HOSTILE)).out)
        client = self.client()
        for _, text in document[(OWN, "Before anything")]:
            client.block(text)
        for step in ("Look at what is wrong", "Make a shadow", "Recompute a batch", "Compare with production", "Publish in one transaction"):
            for i, (_, text) in enumerate(document[(OWN, step)]):
                if (step, i) != ("Publish in one transaction", 1):  # for sources that changed
                    client.block(text)
        self.assertEqual(self.rows(f"SELECT * FROM {table} ORDER BY 1"), right)
        for _, text in document[(OWN, "Take it back by hand")]:
            client.block(text)
        self.assertEqual(self.rows(f"SELECT * FROM {table} ORDER BY 1"), before)
        client.close()

    def client(self):
        return Client(["sqlite3", "-batch", "-list", str(self.database)], ".print")

    def test_a_browser_shows_it(self):
        """On a desk and on a phone something is painted, and a browser's own reading of the page has the same code."""
        self.plan(self.hostile())
        self.tidegate("runbook", self.target(HOSTILE), "--output", "runbook.html")
        page = (self.folder / "runbook.html").read_text(encoding="utf-8")
        self.assertNotRegex(page, r"https?://(?!127)[^ '\"<]*\.(css|js|png|woff)")
        for name, size in (("desk", (1280, 1600)), ("phone", (500, 1600))):
            self.browse(f"--screenshot={self.folder}/{name}.png", f"--window-size={size[0]},{size[1]}")
            picture = (self.folder / f"{name}.png").read_bytes()
            self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual((int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")), size)
            self.assertGreater(len(picture), 20000, "an empty page packs to less")
        self.assertEqual(Html(self.browse("--dump-dom")).code, Html(page).code)

    def browse(self, *args):
        return subprocess.run(
            [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder}/profile",
             *args, f"file://{self.folder}/runbook.html"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120,
            text=True).stdout

    def down(self):
        """The database does not answer any more."""
        self.database.unlink()

    def test_with_the_database_down_it_is_printed_from_the_file(self):
        self.sql(f"CREATE TABLE t(day {self.key_type} NOT NULL PRIMARY KEY, v {self.value_type}); INSERT INTO t VALUES ('2024-01-01', 'a')")
        (self.folder / "tidegate.yaml").write_text(
            f"database: '{self.named}'\nowner: me\ncontacts: ['#night']\ndownstream: [{{name: board, needs: refresh}}]\n"
            "production: {schedule: '0 2 * * *', zone: UTC, p95: 5m}\ntargets: {t: {}}\n", encoding="utf-8")
        up = self.tidegate("runbook", "t").out
        self.tidegate("runbook", "t", "--output", "t.md")
        self.down()
        result = self.tidegate("runbook", "t")
        for part in ("rests on tidegate.yaml alone", "#night", "board", "next runs", "SELECT lease_owner", "With Tidegate"):
            self.assertIn(part, result.out.replace("\\", ""))
        self.assertRegex(result.out, r"next windows \|.* \d{4}-\d\d-\d\d 02:20 UTC to \d{4}-\d\d-\d\d 01:45 UTC")
        self.assertNotIn("rests on tidegate.yaml alone", up)
        self.assertIn("UPDATE", up)
        self.assertNotIn(" AS p SET", result.out)
        self.assertTrue(self.tidegate("runbook", "t", "--json").json["not_looked_at"])
        found = self.tidegate("runbook", "--check", "t.md", "--json", code=INCOMPLETE).json["targets"][0]["findings"]
        self.assertIn("database", [finding["what"] for finding in found])
        self.assertNotIn("file", [finding["what"] for finding in found])



class Airflow(http.server.BaseHTTPRequestHandler):
    """As much of Airflow as the runbook's lines ask."""

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        right = self.path == "/auth/token" and body == {"username": "me", "password": "s3cret"}
        self.answer(*((201, '{"access_token": "t0ken"}') if right else (401, "")))

    def do_GET(self):
        basic = "Basic " + base64.b64encode(b"me:s3cret").decode()
        wanted = {"v2": "Bearer t0ken", "v1": basic}[self.path.split("/")[2]]
        right = self.headers["Authorization"] == wanted and self.path.endswith("/dags/load/dagRuns?state=running&state=queued")
        self.answer(*((200, '{"dag_runs": ["it runs"]}') if right else (401, "")))

    def log_message(self, *args):
        """Nothing."""


class Questions(Flow):
    """Whether a job runs now, asked as the document has it."""

    step = ("When production runs", "The job load")

    def blocks(self, live, language="sh"):
        self.sql("CREATE TABLE IF NOT EXISTS t(day date PRIMARY KEY, v int); CREATE TABLE IF NOT EXISTS runs(ended int)")
        (self.folder / "tidegate.yaml").write_text(
            f"database: '{self.named}'\njobs:\n  load:\n    writes: [t]\n    schedule: '0 2 * * *'\n    p95: 5m\n{f'    live: {live}' if live else ''}\n"
            "targets: {t: {}}\n", encoding="utf-8")
        return [text for kind, text in sections(self.tidegate("runbook", "t").out).get(self.step, []) if kind == language]

    def shell(self, line, **env):
        return subprocess.run(["sh"], input=line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, **env}, timeout=60).stdout

    def test_airflow(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Airflow)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            live = f"{{airflow: {{url: 'http://127.0.0.1:{server.server_port}', dag: load, user: me, password_env: PW}}}}"
            three, two = self.blocks(live)
            self.assertIn("it runs", self.shell(three, PW="s3cret"))
            self.assertIn("it runs", self.shell(two, PW="s3cret"))
            self.assertNotIn("it runs", self.shell(two, PW="wrong"))
            only = self.blocks(live.replace("user: me, password_env: PW", "token_env: TOK, version: 3"))
            self.assertEqual(len(only), 1)
            self.assertIn("it runs", self.shell(only[0], TOK="t0ken"))
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def test_machine(self):
        name = f"nightly-{os.getpid()}"
        lock = self.folder / "a lock"
        process, file, command = self.blocks(f"{{process: '{name}', lock_file: '{lock}', command: [sh, -c, 'exit 1']}}")
        self.assertEqual(self.shell(process.replace(name, "no" + name + "x")).strip(), "")
        with subprocess.Popen(["sh", "-c", f"read line; : {name}"], stdin=subprocess.PIPE) as job:
            self.assertIn(str(job.pid), self.shell(process))
            job.stdin.close()
        self.assertIn("No such file", self.shell(file))
        lock.write_text("", encoding="utf-8")
        self.assertIn(str(lock), self.shell(file))
        self.assertEqual(self.shell(command).strip(), "1")

    def test_sql(self):
        blocks = self.blocks("{running: SELECT count(*) FROM runs WHERE ended IS NULL, heartbeat: SELECT max(ended) FROM runs, heartbeat_within: 2m}", "sql")
        self.sql("INSERT INTO runs VALUES (NULL), (7)")
        self.assertEqual([self.value(text) for text in blocks], [1, 7])

    def test_nothing_declared(self):
        self.assertEqual(self.blocks(None), [])
        self.assertIn("How to tell whether load runs now is not declared", self.tidegate("runbook", "t").out)


COMPLETE = """
owner: data-platform
contacts: ["#data-alerts"]
correctness: the ledger of the shop agrees to the cent
rollback: tidegate rollback, after seven days the backup
retention: 7d
date_column: day
key: [day, id]
sources: {orders: day}
downstream: [{name: board, kind: dashboard, needs: refresh}]
freeze: [{file: holidays.txt}]
jobs:
  load: {writes: [sales], reads: [orders], schedule: "0 HOUR * * *", zone: UTC, p95: 20m, runs: 40, measured: MEASURED, from: SOURCE}
  elsewhere: {writes: [nothing_of_ours]}
targets: {sales: {}}
"""


class Check(Flow):
    """A complete runbook has no finding; each thing taken away or changed is one."""

    def setUp(self):
        super().setUp()
        self.make_tables()
        (self.folder / "holidays.txt").write_text("2026-12-24\n", encoding="utf-8")
        self.crontab = self.folder / "crontab"
        self.hour = str((datetime.now(timezone.utc).hour + 12) % 24)  # far from now: plans are not to wait
        self.crontab.write_text(f"CRON_TZ=UTC\n0 {self.hour} * * * /opt/load\n", encoding="utf-8")

    def make_tables(self):
        self.sql("CREATE TABLE orders(day TEXT, id INTEGER); CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, net REAL, PRIMARY KEY (day, id));"
                 "INSERT INTO sales VALUES ('2024-01-01', 1, 1); INSERT INTO orders VALUES ('2024-01-01', 1)")

    def write(self, *edits, measured=3, drop=None):
        text = f"database: '{self.named}'\n" + COMPLETE.replace("HOUR", self.hour)
        text = text.replace("MEASURED", str(date.today() - timedelta(days=measured)))
        text = text.replace("SOURCE", f'"crontab {self.crontab} command /opt/load"')
        for old, new in edits:
            self.assertIn(old, text)
            text = text.replace(old, new)
        if drop:
            text = "".join(line for line in text.splitlines(True) if not line.startswith(drop + ":"))
        (self.folder / "tidegate.yaml").write_text(text, encoding="utf-8")

    def found(self, *words, code=INCOMPLETE, env=None):
        targets = self.tidegate("runbook", "--check", *words, "--json", code=code, env=env).json["targets"]
        return sorted(finding["what"] for target in targets for finding in target["findings"])

    def assert_finds(self, *what, **kwargs):
        self.write(**kwargs)
        self.assertEqual(self.found(), sorted(what))

    def test_complete(self):
        self.write()
        self.assertEqual(self.found(code=OK), [])
        self.assertIn("complete", self.tidegate("runbook", "--check").out)
        self.assertEqual(self.found("sales", code=OK), [])

    def test_what_is_missing(self):
        for key in ("owner", "contacts", "correctness", "rollback", "retention"):
            with self.subTest(key):
                self.assert_finds(key, drop=key)

    def test_a_finding_says_what_and_what_to_do(self):
        self.write(drop="owner")
        out = self.tidegate("runbook", "--check", code=INCOMPLETE).out
        self.assertRegex(out, r"owner +nobody answers for it\n +HINT: write owner")

    def change(self, old, new, *what, **kwargs):
        with self.subTest(f"{old} → {new}"):
            self.write((old, new), **kwargs)
            self.assertEqual(self.found(), sorted(what))

    def test_schedules_and_durations(self):
        self.change(f'schedule: "0 {self.hour} * * *", ', "", "schedule", "schedule_changed")
        self.change("p95: 20m, ", "", "p95")
        self.change("runs: 40", "runs: 4", "runs")
        self.assert_finds("measured", measured=31)
        self.write(measured=30)
        self.assertEqual(self.found(code=OK), [])

    def test_what_the_catalogue_does_not_have(self):
        self.change("date_column: day", "date_column: dag", "columns", "date_column")
        self.change("key: [day, id]", "key: [day, nr]", "columns")
        self.change("{orders: day}", "{orders: dag}", "columns")
        self.change("{orders: day}", "{order: day}", "source")
        self.change("reads: [orders]", "reads: [order]", "job")
        self.change("nothing_of_ours", "sale", "job")
        self.change("targets: {sales: {}}", "targets: {sale: {}}", "table", "schedule")
        self.change("kind: dashboard, needs: refresh", "kind: table", "downstream")
        self.change("holidays.txt", "holiday.txt", "freeze")

    def test_the_source_of_a_schedule(self):
        self.write()
        for line, what in ((f"30 {self.hour} * * * /opt/load", "schedule_changed"), (f"0 {self.hour} * * * /opt/other", "job_gone"), ("@reboot /opt/load", "from")):
            with self.subTest(line):
                self.crontab.write_text(f"CRON_TZ=UTC\n{line}\n", encoding="utf-8")
                self.assertEqual(self.found(), [what])
        self.crontab.write_text(f"CRON_TZ=Europe/Berlin\n0 {self.hour} * * * /opt/load\n", encoding="utf-8")
        self.assertEqual(self.found(), ["schedule_changed"])
        self.crontab.unlink()
        self.assertEqual(self.found(), ["job_gone"])

    def test_the_schedule_changed_in_airflow(self):
        hour = int(self.hour)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), history_test.Recorded)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        due = [datetime.now(timezone.utc).replace(hour=hour, minute=0, second=0, microsecond=0) - timedelta(days=n) for n in range(1, 21)]
        server.runs = [history_test.RUN_3 | {"dag_run_id": str(at), "run_after": at.isoformat(), "start_date": at.isoformat(),
                                             "end_date": (at + timedelta(minutes=9)).isoformat()} for at in due]
        url = f"http://127.0.0.1:{server.server_port}"
        coming = (due[0] + timedelta(days=2)).isoformat()
        server.details = history_test.DETAILS_3 | {
            "timetable_summary": f"0 {hour} * * *", "next_dagrun_run_after": coming, "next_dagrun_data_interval_start": coming,
            "next_dagrun_data_interval_end": coming}
        self.write((f"crontab {self.crontab} command /opt/load", f"airflow {url} dag berlin"),
                   ("zone: UTC, ", f"zone: UTC, dialect: airflow, live: {{airflow: {{url: '{url}', dag: berlin, token_env: TOKEN}}}}, "))
        try:
            self.assertEqual(self.found(code=OK, env={"TOKEN": "opaque"}), [])
            server.details |= {"timetable_summary": f"30 {hour} * * *"}
            self.assertEqual(self.found(env={"TOKEN": "opaque"}), ["schedule_changed"])
            self.assertEqual(self.found(env={"TOKEN": "wrong"}), ["from"])
        finally:
            server.shutdown()
            server.server_close()
        self.assertEqual(self.found(env={"TOKEN": "opaque"}), ["from"])

    def test_runs_take_longer_by_now(self):
        runs = self.folder / "runs.csv"
        lines = ["job,scheduled,started,ended"]
        for i in range(10):
            day = f"{date.today() - timedelta(days=12 - i)}T{int(self.hour):02}"
            lines.append(f"load,{day}:00:00Z,{day}:00:00Z,{day}:{40 + i}:00Z")
        runs.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.write((f"crontab {self.crontab} command /opt/load", f"csv {runs} job load"))
        self.assertEqual(self.found(), ["p95_grown"])

    def test_somebodys_own_words_are_not_asked(self):
        self.write((f"crontab {self.crontab} command /opt/load", "what Anna measured"))
        self.assertEqual(self.found(code=OK), [])

    def test_columns_change_under_a_planned_backfill(self):
        self.write()
        spec = self.spec("target: sales\nrange: 2024-01-01..2024-01-01\nwrong: w\ncorrect: c\nchanges: net\n"
                         "recompute: SELECT s.day, s.id, 2 AS net FROM sales s JOIN orders o ON o.day = s.day WHERE s.day >= :from AND s.day < :to")
        self.plan(spec)
        self.assertEqual(self.found(code=OK), [])
        self.sql("ALTER TABLE sales ADD COLUMN more TEXT")
        self.assertEqual(self.found(), ["columns"])
        self.assertEqual(self.state(), "planned", "looking supersedes nothing")
        self.tidegate("discard", spec)
        self.assertEqual(self.found(code=OK), [])

    def test_a_written_runbook_is_compared(self):
        self.write()
        for name in ("sales.md", "sales.html", "sales.txt"):
            self.tidegate("runbook", "sales", "--output", name)
        files = ["sales.md", "sales.html", "sales.txt"]
        self.assertEqual(self.found(*files, code=OK), [])
        self.assertTrue((self.folder / "sales.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>"))
        spec = self.spec("target: sales\nrange: 2024-01-01..2024-01-01\nwrong: w\ncorrect: c\nchanges: net\n"
                         "recompute: SELECT s.day, s.id, 2 AS net FROM sales s JOIN orders o ON o.day = s.day WHERE s.day >= :from AND s.day < :to")
        self.plan(spec)
        self.assertEqual(self.found(*files, code=OK), [], "a backfill makes no runbook old")
        self.tidegate("discard", spec)
        self.write(("#data-alerts", "#data-night"))
        self.assertEqual(self.found(*files), ["file"] * 3)
        self.write()
        self.sql("ALTER TABLE sales ADD COLUMN more TEXT")
        self.assertEqual(self.found("sales.md"), ["file"])
        self.sql("DROP TABLE sales")
        self.assertIn("table", self.found("sales.md"))

    def test_what_cannot_be_checked(self):
        self.write()
        self.tidegate("runbook", "--check", "no_such_table", code=NOT_FOUND)
        self.tidegate("runbook", code=USAGE)
        self.tidegate("runbook", "sales", "--format", "pdf", code=USAGE)
        self.tidegate("runbook", "sales", "--check", "--output", "x", code=USAGE)
        nowhere = self.tidegate("runbook", "sales", "--output", "no/folder/sales.md", code=USAGE)
        self.assertIn("cannot write no/folder/sales.md", nowhere.err)
        self.write(("targets: {sales: {}}", "notes: none"))
        self.tidegate("runbook", "--check", code=USAGE)


if __name__ == "__main__":
    harness.main()
