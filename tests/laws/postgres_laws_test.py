"""The eleven laws of DESIGN.md, each proven on the real binary with PostgreSQL.

How each test was seen to fail when its law was broken in the code: docs/laws.md. What does not depend on the engine (the
readings of a schedule, what compiles without a pass) is proven in laws_test.py, compile_test.py and pass_test.c; every
kill and every lost connection at every point in tests/fault."""

import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
import psycopg2  # noqa: E402

import harness  # noqa: E402
import postgres_hazards_test as hazards  # noqa: E402
from harness import (CONFLICT, DENIED, DRIFT, HELD, LEASED, LOCKED, NO_CHANGE, OK, STATE, USAGE, cron_in, wait_until)  # noqa: E402
from postgres_hazards_test import AT_SWAP, HELD_UP, NOW, SPEC  # noqa: E402

CHANGED, UNCHANGED = 44, 45  # ids of 5 January
RANGE = "day BETWEEN '2024-01-05' AND '2024-01-20'"
QUICK = "budget: {duty: 100 %, lock: 0.1s, lock_tries: 3, swap_lock: 2s}"


class Laws(hazards.Scene):
    def picture(self, where="true"):
        """Production with the place and the writer of each row, everything else that is not Tidegate's, and the catalogue."""
        return (self.rows(f"SELECT ctid, xmin::text, * FROM fct WHERE {where} ORDER BY day, id"), self.rows("SELECT ctid, xmin::text, * FROM src ORDER BY id"), self.catalogue())

    def changes_table(self):
        return [name for name in self.objects() if name.endswith("_changes")][0]

    def asks(self, question="SELECT barrier()", **kwargs):
        """A spec whose gate asks the question whether production runs."""
        return self.spec(SPEC, production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, live: {{running: "{question}", timeout: 10m}}}}', **kwargs)

    def stopped_in_gate(self, *args):
        """A command that has its lease and waits before it takes any lock; goes on when the returned connection closes."""
        other = self.connect()
        other.cursor().execute("SELECT pg_advisory_lock(77)")
        child = self.start(*args)
        self.wait_at_barrier(child)
        return child, other.close


class Law01(Laws):
    """Production rows change in one place only: the swap's single transaction."""

    WORDS = (["init"], ["scan", "fct"], ["gate"], ["plan"], ["runbook", "fct"], ["doctor"], ["run"], ["diff"], ["status"], ["discard"], ["snapshot"], ["restore"], ["check"])

    def test_law_01_no_command_but_the_swap_changes_production(self):
        """Not one row of it is so much as written anew."""
        before = self.picture()
        for words in self.WORDS:
            if words[0] in ("init", "scan", "runbook", "doctor"):
                args = [words[0], self.database] if words[0] == "init" else [*words, "--database", self.database]
            else:
                args = [*words, self.file]
            self.tidegate(*args, code=NO_CHANGE if words[0] == "check" else OK)
            self.assertEqual(self.picture(), before, f"tidegate {words[0]} changed production")
            if words[0] == "init":
                (self.folder / "tidegate.yaml").unlink(missing_ok=True)

    def test_law_01_nor_finish_which_drops_what_was_kept(self):
        self.swapped(self.file)
        after = self.picture()
        self.tidegate("finish", self.file, "--early")
        self.assertEqual(self.picture(), after)

    def test_law_01_a_swap_that_fails_half_way_changes_nothing(self):
        """Its updates are done when an insert is refused: they go with it."""
        self.sql("DELETE FROM fct WHERE id = 60; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'closed'; END$$;"
                 "CREATE TRIGGER refuse BEFORE INSERT ON fct FOR EACH ROW EXECUTE FUNCTION refuse()")
        before = self.picture()
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, new rows: yes}") + "triggers: fire\n")
        self.built(spec)
        result = self.run_tidegate("swap", spec, "--yes")
        self.assertNotEqual(result.code, OK)
        self.assertEqual(self.picture(), before, repr(result))
        self.assertEqual(self.state(), "ready")

    def test_law_01_triggers_are_denied_or_silent(self):
        self.sql("CREATE TABLE audit(id int); CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO audit VALUES(new.id); RETURN new; END$$;"
                 "CREATE TRIGGER audit AFTER UPDATE ON fct FOR EACH ROW EXECUTE FUNCTION audit()")
        self.plan(self.file, code=DENIED)
        spec = self.spec(SPEC + "triggers: skip\n")
        self.swapped(spec)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT * FROM audit"), [])

    def test_law_01_a_recompute_may_only_read(self):
        for text in ("UPDATE fct SET v = 1 WHERE day >= :from AND day < :to RETURNING day, id, v", "WITH x AS (DELETE FROM fct WHERE day >= :from AND day < :to RETURNING *) SELECT day, id, v FROM x",
                     "SELECT 1; DELETE FROM fct"):
            with self.subTest(text):
                before = self.picture()
                self.plan(self.spec(SPEC[:SPEC.index("recompute:")] + f'recompute: "{text}"\n'), code=USAGE)
                self.assertEqual(self.picture(), before)


class Law02(Laws):
    """Nothing runs without an explicit, bounded range. It is never widened."""

    def test_law_02_rows_outside_the_range_stay(self):
        """To the place in the file and the transaction that wrote them; the days before and after are wrong in the same way."""
        outside = self.picture(f"NOT {RANGE}")
        self.swapped(self.file)
        self.assertEqual(self.rows(NOW), self.right)
        self.assertEqual(self.picture(f"NOT {RANGE}"), outside)
        self.tidegate("rollback", self.file)
        self.assertEqual(self.picture(f"NOT {RANGE}"), outside)

    def test_law_02_rows_in_the_range_that_do_not_change_stay(self):
        inside = self.picture(f"{RANGE} AND id % 4 <> 0")
        self.swapped(self.file)
        self.assertEqual(self.picture(f"{RANGE} AND id % 4 <> 0"), inside)

    def test_law_02_a_recompute_that_goes_beyond_is_held(self):
        spec = self.spec(SPEC.replace("day < :to", "day < :to::date + 3"))
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows(NOW), self.before)

    def test_law_02_columns_and_rows_outside_the_change_scope_stay(self):
        for text in (SPEC.replace("SELECT day, id, v", f"SELECT day, id, v, CASE WHEN id = {CHANGED} THEN 'other' ELSE 'n' || id END AS note"), SPEC.replace("changes: v", f"changes: {{v: id <> {CHANGED}}}"),
                     SPEC.replace("day < :to", f"day < :to AND id <> {UNCHANGED}"), SPEC.replace("FROM src", "FROM (SELECT * FROM src UNION ALL SELECT '2024-01-06', 9000, 1) src")):
            with self.subTest(text):
                spec = self.spec(text)
                self.plan(spec)
                self.tidegate("run", spec, code=HELD)
                self.assertEqual(self.rows(NOW), self.before)
                self.tidegate("discard", spec)


class Law03(Laws):
    """No swap before all is validated and sealed, none after drift, rechecked under the lock: the lock, then the snapshot."""

    def test_law_03_no_swap_before_the_seal(self):
        self.plan(self.file)
        self.tidegate("swap", self.file, "--yes", code=STATE)
        spec = self.spec(SPEC + 'checks: {rows: ["v < 300"]}\n')
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.tidegate("swap", spec, "--yes", code=STATE)
        self.assertEqual(self.rows(NOW), self.before)

    def test_law_03_no_swap_after_drift(self):
        for drift in (f"UPDATE fct SET v = 7 WHERE id = {CHANGED}", f"UPDATE fct SET v = v + 1 WHERE id = {UNCHANGED}", "INSERT INTO fct VALUES('2024-01-06', 9001, 1)", f"DELETE FROM fct WHERE id = {UNCHANGED}",
                      f"UPDATE src SET v = 7 WHERE id = {UNCHANGED}"):
            with self.subTest(drift):
                self.fresh()
                self.built(self.file)
                self.sql(drift)
                drifted = self.rows(NOW)
                self.tidegate("swap", self.file, "--yes", code=DRIFT)
                self.assertEqual((self.rows(NOW), self.state()), (drifted, "building"))

    def test_law_03_what_commits_while_the_lock_is_waited_for_is_seen(self):
        """A snapshot older than the lock would miss it: in production, and in a source."""
        for write in (f"UPDATE fct SET v = 7 WHERE id = {CHANGED}", f"UPDATE src SET v = 7 WHERE id = {CHANGED}"):
            with self.subTest(write):
                self.fresh()
                self.built(self.file)
                db = self.connect(autocommit=False)
                db.cursor().execute("LOCK TABLE fct IN ROW EXCLUSIVE MODE; " + write)
                swap = self.start("swap", self.file, "--yes")
                self.wait_for_lock("fct")
                db.commit()
                db.close()
                drifted = self.rows(NOW)
                self.ended(swap, DRIFT)
                self.assertEqual(self.rows(NOW), drifted)

    def test_law_03_no_swap_beside_an_open_reader_that_may_write(self):
        """What it read before the swap it could write back after it."""
        spec = self.spec(SPEC, budget=QUICK)
        self.built(spec)
        db = self.connect(autocommit=False)
        db.cursor().execute("SELECT * FROM fct")
        self.tidegate("swap", spec, "--yes", code=LOCKED)
        self.assertEqual(self.rows(NOW), self.before)
        db.close()

    def test_law_03_nor_beside_one_that_reads_while_the_swap_writes(self):
        """It reads what the swap replaces a moment later, and writes that back when it is committed."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n", budget=QUICK.replace("2s", "20s"))
        self.built(spec)
        db = self.connect(autocommit=False)
        cursor = db.cursor()
        with self.barrier() as go_on:
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            cursor.execute(f"SELECT day, v FROM fct WHERE id = {CHANGED}")
            row = cursor.fetchone()
            go_on()
            self.ended(swap, LOCKED)
        cursor.execute(f"INSERT INTO fct VALUES(%s, {CHANGED}, %s) ON CONFLICT(day, id) DO UPDATE SET v = excluded.v", row)
        db.commit()
        db.close()
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))

    def test_law_03_who_waits_to_write_what_it_read_is_not_ended(self):
        """The swap gives way at once, before the server finds a deadlock and ends one of both."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n", budget=QUICK.replace("2s", "20s"))
        self.built(spec)
        db, errors = self.connect(autocommit=False), []
        cursor = db.cursor()

        def write_back():
            try:
                cursor.execute(f"UPDATE fct SET v = v + 1000 WHERE id = {CHANGED}")
                db.commit()
            except psycopg2.Error as error:
                errors.append(error)

        with self.barrier() as go_on:
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            cursor.execute("SELECT * FROM fct")
            writer = threading.Thread(target=write_back)
            writer.start()
            self.wait_for_lock("fct")
            go_on()
            writer.join()
            self.ended(swap, DRIFT)
        db.close()
        self.assertEqual(errors, [])
        self.assertEqual(self.value(f"SELECT v FROM fct WHERE id = {CHANGED}"), 1000)

    def test_law_03_readers_without_a_gap_do_not_stop_the_swap(self):
        """Four sessions that may write, and only read, one transaction after the other: at every moment one is open."""
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.5s, lock_tries: 6}")
        self.built(spec)
        stop, errors, rounds = threading.Event(), [], []

        def read():
            try:
                db = self.connect(autocommit=False)
                cursor = db.cursor()
                while not stop.is_set():
                    cursor.execute("SELECT sum(v) FROM fct")
                    cursor.execute("SELECT sum(v), pg_sleep(0.03) FROM fct")
                    db.commit()
                    rounds.append(1)
                db.close()
            except psycopg2.Error as error:
                errors.append(error)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        try:
            wait_until(lambda: len(rounds) > 8 or errors)
            for verb in (["swap", spec, "--yes"], ["rollback", spec], ["swap", spec, "--yes"]):
                self.tidegate(*verb)
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        self.assertEqual((errors, self.rows(NOW)), ([], self.right))


class Law04(Laws):
    """Never beside the production run: checked before every batch and before the swap."""

    def test_law_04_not_by_schedule(self):
        spec = self.spec(SPEC, production=f'production: {{schedule: "{cron_in(5)}", zone: UTC, p95: 20m}}')
        self.plan(spec, code=DENIED)
        self.tidegate("run", spec, "--no-wait", code=DENIED)
        self.assertEqual(self.objects(), [])

    def test_law_04_every_batch_and_the_swap_ask_what_runs_now(self):
        self.sql("CREATE TABLE jobs(running int); INSERT INTO jobs VALUES(0)")
        spec = self.spec(HELD_UP, production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, running: "SELECT sum(running) FROM jobs"}}')
        self.plan(spec)
        with self.barrier():
            run = self.start("run", spec, "--no-wait")
            self.wait_at_barrier(run)
            self.sql("UPDATE jobs SET running = 1")
            self.ended(run, DENIED)  # the batch, which would wait for ever, is stopped
        self.assertEqual((self.value("SELECT count(*) FROM tidegate.batch"), self.state()), (0, "building"))
        self.sql("UPDATE jobs SET running = 0")
        self.tidegate("run", spec)
        self.sql("UPDATE jobs SET running = 1")
        self.assertIn("running now", self.tidegate("swap", spec, "--yes", code=DENIED).err)
        self.assertEqual(self.rows(NOW), self.before)

    def test_law_04_what_cannot_end_in_time_does_not_start(self):
        production = f'production: {{schedule: "{cron_in(45)}", zone: UTC, p95: 20m}}'
        self.plan(self.spec(SPEC, production=production, budget="budget: {duty: 100 %, batch: 40m}"), code=DENIED)
        # Half an hour is left: 15 minutes under the lock and 20 of tries fit each, but not both.
        spec = self.spec(SPEC, production=production, budget="budget: {duty: 100 %, batch: 1s, lock: 1m, lock_tries: 20, swap_lock: 15m}")
        self.built(spec)
        self.tidegate("swap", spec, "--yes", code=DENIED)
        self.assertEqual(self.rows(NOW), self.before)


class Law05(Laws):
    """After a kill production is wholly old or wholly new; whether a swap happened is read from the database."""

    def test_law_05_killed_under_the_lock(self):
        """After the updates, before the end: wholly old, and the same command makes it wholly new."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n")
        self.built(spec)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            swap.kill()
            self.ended(swap, -signal.SIGKILL)
        wait_until(lambda: self.working() == [], what="the orphaned session's end")
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", spec, "--yes")
        self.assertEqual((self.rows(NOW), self.state()), (self.right, "swapped"))

    def test_law_05_killed_in_the_rollback(self):
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n")
        self.swapped(spec)
        with self.barrier():
            back = self.start("rollback", spec)
            self.wait_at_barrier(back)
            back.kill()
            self.ended(back, -signal.SIGKILL)
        wait_until(lambda: self.working() == [], what="the orphaned session's end")
        self.assertEqual((self.rows(NOW), self.state()), (self.right, "swapped"))
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)

    def test_law_05_the_mark_commits_with_the_data(self):
        """The ledger refuses the mark: then nothing was published, nor taken back."""
        self.sql("CREATE FUNCTION no_mark() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'no mark'; END$$")
        self.built(self.file)
        for state, words, rows in (("swapped", ["swap", "--yes"], self.before), ("rolled_back", ["rollback"], self.right)):
            with self.subTest(state):
                self.sql(f"CREATE TRIGGER no_mark BEFORE UPDATE ON tidegate.backfill FOR EACH ROW WHEN (new.state = '{state}' AND old.state <> '{state}') EXECUTE FUNCTION no_mark()")
                result = self.run_tidegate(*words, self.file)
                self.assertNotEqual(result.code, OK)
                self.assertEqual(self.rows(NOW), rows, repr(result))
                self.sql("DROP TRIGGER no_mark ON tidegate.backfill")
                self.tidegate(*words, self.file)

    def test_law_05_a_batch_that_was_under_way_is_done_again(self):
        spec = self.spec(HELD_UP)
        self.plan(spec)
        with self.barrier():
            run = self.start("run", spec)
            self.wait_at_barrier(run)
            run.kill()
            self.ended(run, -signal.SIGKILL)
        wait_until(lambda: self.working() == [], what="the orphaned session's end")
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("swap", spec, "--yes", code=STATE)


class Law06(Laws):
    """Old rows are kept until finish; rollback never drops a later row silently."""

    def test_law_06_old_rows_are_kept_until_finish(self):
        self.swapped(self.file)
        self.assertEqual(self.rows(f"SELECT old_day, old_id, old_v FROM {self.changes_table()} ORDER BY old_id"),
                         [row[:3] for row in self.before if row[1] % 4 == 0 and 40 <= row[1] < 200])
        self.tidegate("discard", self.file, code=STATE)
        self.assertIn("kept for another", self.tidegate("finish", self.file, code=DENIED).err)
        self.assertEqual(len(self.objects()), 1)
        self.tidegate("finish", self.file, "--early")
        self.assertEqual(self.objects(), [])

    def test_law_06_finish_refuses_when_production_is_not_as_published(self):
        for write, checks in ((f"UPDATE fct SET v = 0 WHERE id = {CHANGED}", ""), ("INSERT INTO fct VALUES('2024-01-06', 9001, -5)", 'checks: {rows: ["v >= 0"]}\n'),
                              ("INSERT INTO fct VALUES('2024-01-06', 9001, 900000)", 'checks: {totals: ["sum(v) < 500000"]}\n')):
            with self.subTest(write):
                self.fresh()
                spec = self.spec(SPEC + checks)
                self.swapped(spec)
                self.sql(write)
                self.tidegate("finish", spec, "--early", code=DENIED)
                self.assertEqual(len(self.objects()), 1)

    def test_law_06_rollback_shows_later_rows_and_refuses(self):
        self.swapped(self.file)
        self.sql(f"UPDATE fct SET v = -1 WHERE id = {CHANGED}; DELETE FROM fct WHERE id = 48; INSERT INTO fct VALUES('2024-01-06', 9001, 5, 'later')")
        later = self.rows(NOW)
        told = self.tidegate("rollback", self.file, code=CONFLICT)
        for shown in (str(CHANGED), "48", "changed since", "vanished since"):
            self.assertIn(shown, told.out + told.err)
        self.assertEqual((self.rows(NOW), self.state()), (later, "swapped"))
        self.assertIn("1 row arrived", self.tidegate("rollback", self.file, "--overwrite-later").out)
        self.assertEqual(self.value("SELECT note FROM fct WHERE id = 9001"), "later")

    def test_law_06_a_row_written_while_the_rollback_waits_is_not_dropped(self):
        """What counts is what stands there under the lock."""
        self.swapped(self.file)
        db = self.connect(autocommit=False)
        db.cursor().execute(f"UPDATE fct SET v = -1 WHERE id = {CHANGED}")
        back = self.start("rollback", self.file)
        self.wait_for_lock("fct")
        db.commit()
        db.close()
        self.ended(back, CONFLICT)
        self.assertEqual(self.value(f"SELECT v FROM fct WHERE id = {CHANGED}"), -1)


class Law07(Laws):
    """Discard and finish drop only objects that the ledger created; the last copy of any row is never dropped."""

    def test_law_07_another_table_of_the_name_stays(self):
        for command in (["discard"], ["finish", "--early"]):
            with self.subTest(command):
                self.fresh()
                (self.built if command == ["discard"] else self.swapped)(self.file)
                table = self.changes_table()
                self.sql(f"ALTER TABLE {table} RENAME TO away; CREATE TABLE {table} (LIKE tidegate.away INCLUDING ALL); INSERT INTO {table} TABLE tidegate.away")
                self.assertNotEqual(self.run_tidegate(*command, self.file).code, OK)
                self.assertEqual(self.value(f"SELECT count(*) FROM {table}"), 40)

    def test_law_07_tables_that_look_like_its_own_stay(self):
        self.built(self.file)
        self.sql("CREATE TABLE tidegate.tidegate_0000_changes(x int); CREATE TABLE tidegate_0000_shadow(x int)")
        self.tidegate("discard", self.file)
        self.assertEqual(self.objects(), ["public.tidegate_0000_shadow", "tidegate.tidegate_0000_changes"])

    def test_law_07_the_last_copy_stays(self):
        """A published backfill is not discarded; nor a snapshot while production misses a row of it."""
        self.swapped(self.file)
        self.tidegate("discard", self.file, code=STATE)
        self.assertEqual(len(self.objects()), 1)
        self.tidegate("rollback", self.file)
        self.tidegate("discard", self.file)
        self.tidegate("snapshot", self.file)
        self.sql(f"DELETE FROM fct WHERE id = {UNCHANGED}")
        self.assertIn("last copy", self.tidegate("discard", self.file, code=DENIED).err)
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows(NOW), self.before)


class Law08(Laws):
    """A write handle cannot be had without a pass; anything not understood is denied."""

    def test_law_08_a_fact_that_cannot_be_had_denies(self):
        for kind, answer in (("text", "SELECT 'soon'"), ("int", "SELECT NULL::int"), ("SETOF int", "SELECT 1 WHERE false"), ("TABLE (a int, b int)", "SELECT 0, 0"),
                             ("int", "SELECT 1 / 0"), ("int", "SELECT gone FROM nowhere")):
            with self.subTest(answer):
                self.fresh()
                self.sql("CREATE FUNCTION answer() RETURNS int LANGUAGE sql AS 'SELECT 0'")
                spec = self.asks("SELECT * FROM answer()")
                self.built(spec)
                self.sql(f"DROP FUNCTION answer(); SET check_function_bodies = off; CREATE FUNCTION answer() RETURNS {kind} LANGUAGE sql AS $${answer}$$")
                result = self.run_tidegate("swap", spec, "--yes")
                self.assertEqual(result.code, DENIED, repr(result))
                self.assertEqual(self.rows(NOW), self.before)

    def test_law_08_what_is_not_declared_is_denied(self):
        for production in ("# nothing is said", 'production: {schedule: "0 2 * * *"}', 'production: {p95: 5m}'):
            with self.subTest(production):
                path = self.spec(SPEC, production=production)
                for command in ("gate", "plan", "snapshot"):
                    self.assertIn(self.run_tidegate(command, path).code, (DENIED, USAGE))
        self.assertIn(self.run_tidegate("plan", self.spec(SPEC.replace("changes: v\n", ""))).code, (DENIED, USAGE))
        self.assertEqual((self.objects(), self.rows(NOW)), ([], self.before))


class Law09(Laws):
    """Every lock and statement has a timeout on the server's side too; retries are bounded; nothing sleeps holding a lock."""

    def test_law_09_retries_are_bounded(self):
        spec = self.spec(SPEC, budget=QUICK)
        self.built(spec)
        db = self.connect(autocommit=False)
        db.cursor().execute("LOCK TABLE fct IN ROW EXCLUSIVE MODE")
        begun = time.monotonic()
        told = self.tidegate("swap", spec, "--yes", code=LOCKED).err
        self.assertLess(time.monotonic() - begun, 20)
        self.assertIn("3 tries", told)
        self.assertIn("untouched", told)
        db.close()
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", spec, "--yes")

    def test_law_09_a_frozen_client_cannot_hold_production(self):
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n")
        self.built(spec)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            swap.send_signal(signal.SIGSTOP)
        self.sql("SET lock_timeout = '12s'; UPDATE fct SET note = 'by another' WHERE id = 1")
        self.assertEqual(self.state(), "ready")
        self.assertEqual(self.value(f"SELECT v FROM fct WHERE id = {CHANGED}"), 0)

    def test_law_09_a_frozen_client_whose_statement_does_not_end_cannot_hold_production(self):
        """The server ends the statement by itself: no client is there to cancel it."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n", budget=QUICK)
        self.built(spec)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            swap.send_signal(signal.SIGSTOP)
            self.sql("SET lock_timeout = '15s'; INSERT INTO fct VALUES('2024-03-01', 9999, 1)")
        self.assertEqual(self.value(f"SELECT v FROM fct WHERE id = {CHANGED}"), 0)

    def test_law_09_a_swap_that_takes_too_long_gives_the_lock_back(self):
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n", budget=QUICK)
        self.built(spec)
        with self.barrier():
            begun = time.monotonic()
            result = self.run_tidegate("swap", spec, "--yes", timeout=30)
            self.assertLess(time.monotonic() - begun, 15)
            self.assertNotEqual(result.code, OK)
            self.assertIn("untouched", result.err)
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", spec, "--yes")

    def test_law_09_no_session_without_limits(self):
        """As the session itself reads them while it works, also those of the role set to for ever."""
        self.sql(f"ALTER DATABASE {self.name} SET statement_timeout = 0; ALTER DATABASE {self.name} SET lock_timeout = 0; ALTER DATABASE {self.name} SET idle_in_transaction_session_timeout = 0;"
                 "CREATE OR REPLACE FUNCTION barrier() RETURNS int LANGUAGE plpgsql AS $$DECLARE n text; BEGIN FOREACH n IN ARRAY ARRAY['statement_timeout', 'lock_timeout', "
                 "'idle_in_transaction_session_timeout'] LOOP IF current_setting(n) = '0' THEN RAISE 'no %', n; END IF; END LOOP; RETURN 0; END$$")
        spec = self.spec(HELD_UP, production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, live: {{running: SELECT barrier(), timeout: 10m}}}}')
        self.swapped(spec)

    def test_law_09_nothing_sleeps_holding_a_lock(self):
        spec = self.spec(SPEC, budget="budget: {duty: 1 %, crowded: 100 %, batch: 50ms}")
        self.plan(spec)
        run, rested = self.start("run", spec), 0
        while rested == 0 and run.poll() is None:  # the first rest is a hundred times as long as the batch before it
            states = self.rows(f"SELECT state FROM pg_stat_activity WHERE datname = '{self.name}' AND application_name LIKE 'tidegate%' "
                               "AND clock_timestamp() - state_change > '1 s'")
            rested = sum(state == "idle" for state, in states)
            self.assertFalse(any(state.startswith("idle in transaction") for state, in states), states)
        run.kill()
        self.ended(run, -signal.SIGKILL)
        self.assertGreater(rested, 0)


class Law10(Laws):
    """Every transaction first locks the backfill's ledger row and checks its lease epoch."""

    def silence(self):
        """The stopped command has not been heard of for a day."""
        self.sql("UPDATE tidegate.backfill SET lease_heartbeat = lease_heartbeat - 86400, lease_owner = 'elsewhere'")

    def taken_over(self, words, between, code=LEASED):
        """The command stops in the gate, another does the same, `between` is done, it wakes up."""
        child, go_on = self.stopped_in_gate(*words)
        self.silence()
        other = self.spec((self.folder / "backfill.yaml").read_text(encoding="utf-8"))
        # The other one must not wait at the barrier itself.
        self.sql("CREATE OR REPLACE FUNCTION barrier() RETURNS int LANGUAGE sql AS 'SELECT 0'")
        self.tidegate(*words[:1], other, *words[2:])
        between()
        later = self.rows(NOW), self.state()
        go_on()
        self.ended(child, code)
        self.assertEqual((self.rows(NOW), self.state()), later)

    def test_law_10_one_at_a_time(self):
        spec = self.asks()
        self.built(spec)
        child, go_on = self.stopped_in_gate("swap", spec, "--yes")
        self.tidegate("discard", spec, code=LEASED)
        go_on()
        self.ended(child, OK)

    def test_law_10_a_swap_that_was_taken_over_acts_no_more(self):
        spec = self.asks()
        self.built(spec)
        self.taken_over(["swap", spec, "--yes"], lambda: self.sql(f"UPDATE fct SET v = 12345 WHERE id = {CHANGED}"))

    def test_law_10_a_run_that_was_taken_over_writes_no_batch(self):
        spec = self.asks()
        self.plan(spec)
        self.taken_over(["run", spec], lambda: self.sql("UPDATE src SET v = 9"))

    def test_law_10_a_run_that_waits_shows_that_it_lives(self):
        """And ends when another has taken over meanwhile, not only when it would write again."""
        self.sql("CREATE TABLE jobs(running int); INSERT INTO jobs VALUES(0)")
        spec = self.asks("SELECT sum(running) FROM jobs")
        self.plan(spec)
        self.sql("UPDATE jobs SET running = 1")
        run = self.start("run", spec)
        wait_until(lambda: self.value("SELECT count(*) FROM tidegate.event WHERE what = 'waits'"))
        self.sql("UPDATE tidegate.backfill SET lease_heartbeat = 1")
        wait_until(lambda: self.value("SELECT lease_heartbeat FROM tidegate.backfill") > 1, what="a heartbeat")
        self.sql("UPDATE tidegate.backfill SET lease_epoch = lease_epoch + 1, lease_owner = 'elsewhere'")
        self.assertIn("elsewhere", self.ended(run, LEASED))

    def test_law_10_a_rollback_that_was_taken_over_acts_no_more(self):
        spec = self.asks()
        self.swapped(spec)
        self.taken_over(["rollback", spec], lambda: self.tidegate("swap", spec, "--yes"))


class Law11(Laws):
    """An exit status tells the truth."""

    def test_law_11_nothing_changed_is_a_failure(self):
        self.sql("UPDATE fct SET v = s.v FROM src s WHERE s.id = fct.id")
        self.plan(self.file)
        self.tidegate("run", self.file, code=NO_CHANGE)

    def test_law_11_zero_rows_where_there_were_rows_is_a_failure(self):
        for what in ("day <> '2024-01-12'", "false"):
            with self.subTest(what):
                spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, vanished rows: yes}").replace("day < :to", f"day < :to AND {what}"))
                self.assertIn(self.run_tidegate("backfill", spec, "--yes").code, (HELD, DENIED))
                self.assertEqual(self.rows(NOW), self.before)

    def test_law_11_half_of_the_change_set_is_a_failure(self):
        self.built(self.file)
        self.sql(f"DELETE FROM {self.changes_table()} WHERE new_id = {CHANGED}")
        self.assertNotEqual(self.run_tidegate("swap", self.file, "--yes").code, OK)
        self.assertEqual(self.rows(NOW), self.before)

    def test_law_11_half_of_a_rollback_is_a_failure(self):
        self.swapped(self.file)
        self.sql(f"DELETE FROM {self.changes_table()} WHERE new_id = {CHANGED}")
        self.assertNotEqual(self.run_tidegate("rollback", self.file).code, OK)
        self.assertEqual(self.rows(NOW), self.right)

    def test_law_11_a_swap_that_a_trigger_altered_is_a_failure(self):
        """It drops one write, or writes another value: the swap is taken back whole."""
        for body in ("RETURN NULL;", "new.v := 1; RETURN new;"):
            with self.subTest(body):
                self.fresh()
                self.sql(f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF new.id = {CHANGED} THEN {body} END IF; RETURN new; END$$; CREATE TRIGGER m BEFORE UPDATE ON fct FOR EACH ROW EXECUTE FUNCTION meddle()")
                spec = self.spec(SPEC + "triggers: fire\n")
                self.built(spec)
                self.assertNotEqual(self.run_tidegate("swap", spec, "--yes").code, OK)
                self.assertEqual(self.rows(NOW), self.before)

    def test_law_11_the_same_status_in_json(self):
        self.built(self.file)
        self.sql(f"UPDATE fct SET v = 7 WHERE id = {CHANGED}")
        result = self.tidegate("--json", "swap", self.file, "--yes", code=DRIFT)
        self.assertEqual((result.json["error"]["code"], result.json["error"]["exit"]), ("drift", DRIFT))


if __name__ == "__main__":
    harness.main()
