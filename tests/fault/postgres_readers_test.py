"""Sessions that only look at production while a backfill works on it, and those that write back what they had read.

Readers at READ COMMITTED and REPEATABLE READ loop over pictures of the whole range through run, swap, rollback and
finish: each must see all dates as before or all as after. How long they wait is printed."""

import statistics
import sys
import threading
import time
from pathlib import Path

import psycopg2

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
import harness  # noqa: E402
from harness import CONFLICT, DENIED, DRIFT, LOCKED, OK, SUPERSEDED  # noqa: E402
from postgres_harness import PostgresFlow  # noqa: E402
from postgres_writers_test import FILL, KINDS, PARTS, SPEC  # noqa: E402
from postgres_writers_model import FROM, TO, WHOLE  # noqa: E402

NOW = "SELECT * FROM sales ORDER BY 1, 2, 3, 4"
PICTURE = "SELECT day, count(*), sum(net), string_agg(id || note, ',' ORDER BY id) FROM sales{} GROUP BY day ORDER BY day"
HALVES = [PICTURE.format(" WHERE day < '2024-01-08'"), PICTURE.format(" WHERE day >= '2024-01-08'")]
READS, LONGEST_WAIT = 1200, 1.0


class Scene(PostgresFlow):
    kind = "keyed"

    def setUp(self):
        table, publish = KINDS[self.kind]
        type(self).scene = table + "".join(f"CREATE TABLE {name} PARTITION OF sales FOR VALUES FROM ('{low}') TO ('{high}');"
                                           for name, (low, high) in PARTS.items() if "PARTITION" in table) + FILL + "ANALYZE;"
        super().setUp()
        note = ", note" if self.kind in WHOLE else ""
        self.file = self.folder / "backfill.yaml"
        self.file.write_text(SPEC.format(url=self.database, range=f"{FROM}..{TO}", note=note, publish=publish))
        self.before = self.rows(NOW)

    def picture(self):
        return tuple(self.rows(PICTURE.format("")))

    def insist(self, verb, *options):
        """The command, again while others are in its way."""
        for _ in range(50):
            result = self.run_tidegate(verb, self.file, *options)
            if result.code != LOCKED:
                break
        self.assertEqual(result.code, OK, repr(result))


class Readers(Scene):
    def loop(self, isolation, ended, seen, waits, trouble):
        """At REPEATABLE READ the snapshot is older than the first look at the table, and there are two looks."""
        try:
            db = self.connect(autocommit=False)
            db.set_session(isolation_level=isolation, readonly=True)
            cursor = db.cursor()
            while not ended.is_set():
                rows = []
                repeatable = isolation == "REPEATABLE READ"
                if repeatable:
                    cursor.execute("SELECT count(*) FROM orders")
                    time.sleep(0.001)
                for query in HALVES if repeatable else [PICTURE.format("")]:
                    began = time.monotonic()
                    cursor.execute(query)
                    rows += cursor.fetchall()
                    waits.append(time.monotonic() - began)
                db.commit()
                seen.setdefault(tuple(rows), isolation)
                time.sleep(0.001)
            db.close()
        except BaseException as error:  # noqa: BLE001  told to the test
            trouble.append(error)

    def read_through(self, act):
        """What was seen and how long each look took, while `act` works."""
        ended, seen, waits, trouble = threading.Event(), {}, [], []
        threads = [threading.Thread(target=self.loop, args=(isolation, ended, seen, waits, trouble))
                   for isolation in ("READ COMMITTED", "REPEATABLE READ", "REPEATABLE READ")]
        for thread in threads:
            thread.start()
        try:
            act(waits)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        self.assertEqual(trouble, [])
        return seen, waits

    def test_nobody_sees_a_half_or_waits(self):
        old = self.picture()
        _, idle = self.read_through(lambda waits: harness.wait_until(lambda: len(waits) > 300))

        def way(waits):
            self.plan(self.file)
            self.insist("run")
            self.insist("swap", "--yes")
            self.new = self.picture()
            for _ in range(40):
                self.insist("rollback")
                self.insist("swap", "--yes")
                if len(waits) > READS:
                    break
            self.insist("finish", "--early")

        seen, waits = self.read_through(way)
        self.assertNotEqual(old, self.new)
        for picture, isolation in seen.items():
            self.assertIn(picture, (old, self.new), f"half seen at {isolation}")
        self.assertEqual(set(seen), {old, self.new})
        self.assertGreater(len(waits), READS)
        self.assertLess(max(waits), LONGEST_WAIT)
        p99 = [statistics.quantiles(times, n=100)[98] * 1000 for times in (idle, waits)]
        print(f"{self.kind}: {len(waits)} looks, p99 {p99[0]:.1f} ms idle, {p99[1]:.1f} ms beside the backfill, longest {max(waits) * 1000:.0f} ms")

    def from_an_old_snapshot(self, since):
        """Sees production whole, although it had not looked at it when the swap came."""
        old = self.picture()
        self.plan(self.file)
        looker = self.connect(autocommit=False)
        looker.set_session(isolation_level="REPEATABLE READ", readonly=True)
        cursor = looker.cursor()
        if since == "plan":
            cursor.execute("SELECT count(*) FROM orders")
        self.tidegate("run", self.file)
        cursor.execute("SELECT count(*) FROM orders")
        result = self.run_tidegate("swap", self.file, "--yes")
        self.assertIn(result.code, (OK, LOCKED), repr(result))
        cursor.execute(PICTURE.format(""))
        self.assertIn(tuple(cursor.fetchall()), (old, self.picture()), repr(result))
        if result.code == LOCKED:
            self.assertIn(f"pid {looker.info.backend_pid}", result.err)
            self.assertIn(f"user {looker.info.user}", result.err)
            looker.rollback()
            self.tidegate("swap", self.file, "--yes")
        looker.rollback()
        new = self.picture()
        cursor.execute("SELECT count(*) FROM orders")
        result = self.run_tidegate("rollback", self.file)
        self.assertIn(result.code, (OK, LOCKED), repr(result))
        cursor.execute(PICTURE.format(""))
        self.assertIn(tuple(cursor.fetchall()), (old, new), repr(result))
        looker.close()

    def test_from_a_snapshot_before_the_run(self):
        self.from_an_old_snapshot("plan")

    def test_from_a_snapshot_before_the_swap(self):
        self.from_an_old_snapshot("run")


class ReadersParted(Readers):
    kind = "parted"


class ReadersExchange(Readers):
    kind = "exchange"


class ReadersReplace(Readers):
    kind = "replace"


class ReadersKeyless(Readers):
    kind = "keyless"


class WritingBack(Scene):
    """The hazard: read before the swap, written back after it, without an error to anybody."""

    IDS = (51, 81, 1000)  # of the range: one that the swap changes, one that it brings, one that it takes away

    def write_back(self, cursor, row):
        ident, day, cents, net, note = row
        if self.kind == "keyless":
            cursor.execute("DELETE FROM sales WHERE id = %s", (ident,))
            cursor.execute("INSERT INTO sales VALUES (%s, %s, %s, %s, %s)", row)
        else:
            cursor.execute(f"INSERT INTO sales VALUES (%s, %s, %s, %s, %s) ON CONFLICT ({'id' if self.kind == 'keyed' else 'day, id'}) "
                           "DO UPDATE SET cents = excluded.cents, net = excluded.net, note = excluded.note", row)

    def test_an_open_transaction_that_has_read_is_named(self):
        self.built(self.file)
        writer = self.connect(autocommit=False)
        cursor = writer.cursor()
        cursor.execute("SELECT id, day, cents, net, note FROM sales WHERE id = 51")
        row = cursor.fetchone()
        result = self.tidegate("swap", self.file, "--yes", code=LOCKED)
        for word in (f"pid {writer.info.backend_pid}", "user postgres", "FROM sales WHERE id = 51"):
            self.assertIn(word, result.err)
        self.assertEqual((self.state(), self.rows(NOW)), ("ready", self.before))
        self.write_back(cursor, row)
        writer.commit()
        writer.close()
        if self.run_tidegate("swap", self.file, "--yes").code == DRIFT:
            self.tidegate("run", self.file)
            self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.value("SELECT net FROM sales WHERE id = 51"), row[2] * 3)

    def test_written_back_after_the_swap_is_noticed(self):
        self.built(self.file)
        rows = {row[0]: row for row in self.rows("SELECT id, day, cents, net, note FROM sales")}
        self.tidegate("swap", self.file, "--yes")
        new = self.rows(NOW)
        for ident in (51, 1000):
            writer = self.connect(autocommit=False)
            self.write_back(writer.cursor(), rows[ident])
            writer.commit()
            writer.close()
            now = self.rows(NOW)
            self.assertNotEqual(now, new)
            result = self.tidegate("finish", self.file, "--early", code=DENIED)
            self.assertIn("written again since the swap", result.err)
            self.tidegate("rollback", self.file, code=CONFLICT)
            self.assertEqual(self.rows(NOW), now)
            self.tidegate("rollback", self.file, "--overwrite-later")
            self.assertEqual(self.rows(NOW), self.before)
            self.tidegate("discard", self.file)
            self.built(self.file)
            self.tidegate("swap", self.file, "--yes")
            self.assertEqual(self.rows(NOW), new)

    def test_a_preserved_column_written_meanwhile_is_kept(self):
        """It is no drift, and a rollback brings it back also where the row had gone."""
        if self.kind in WHOLE:
            self.skipTest("nothing is preserved there")
        self.built(self.file)
        self.sql("UPDATE sales SET note = 'late' WHERE id IN (51, 61, 1000)")
        self.tidegate("swap", self.file, "--yes")
        self.sql("DELETE FROM sales WHERE id = 61")
        self.tidegate("rollback", self.file, "--overwrite-later")
        late = self.rows("SELECT id, net, note FROM sales WHERE id IN (51, 61, 1000) ORDER BY id")
        self.assertEqual(late, [(51, 101, "late"), (61, 101, "late"), (1000, 1, "late")])

    def test_a_writer_waits_for_the_swap(self):
        """The fence: a write that comes while the swap works is done after it, also to rows that it does not change."""
        if self.kind == "exchange":
            self.skipTest("an exchange fires no triggers, and there is nothing else to make it slow")
        if self.kind == "replace":  # which fires none either
            self.sql("CREATE FUNCTION slow() RETURNS bool LANGUAGE sql AS 'SELECT true FROM pg_sleep(0.1)';"
                     "ALTER TABLE sales ADD CHECK (slow()) NOT VALID")
        else:
            self.sql("CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN coalesce(NEW, OLD); END';"
                     "CREATE TRIGGER slow BEFORE UPDATE OR INSERT ON sales FOR EACH ROW EXECUTE FUNCTION slowly()")
            self.file.write_text(self.file.read_text() + "triggers: fire\n")
        self.built(self.file)
        swap = self.start("swap", self.file, "--yes")
        harness.wait_until(lambda: self.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") or swap.poll() is not None)
        self.sql("UPDATE sales SET note = 'mine' WHERE id = 12")  # outside the range
        state = self.state()
        out, err = swap.communicate(timeout=60)
        self.assertEqual(swap.returncode, OK, out + err)
        self.assertEqual((state, self.value("SELECT note FROM sales WHERE id = 12")), ("swapped", "mine"))

    def test_who_may_only_read_is_not_in_the_way(self):
        self.sql("DO $$ BEGIN CREATE ROLE only_reads LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT SELECT ON sales TO only_reads")
        self.built(self.file)
        reader = psycopg2.connect(self.database.replace("user=postgres", "user=only_reads"))
        reader.cursor().execute("SELECT count(*) FROM sales")
        # An exchange must have the table for itself for a moment.
        self.tidegate("swap", self.file, "--yes", code=LOCKED if self.kind == "exchange" else OK)
        reader.close()


class WritingBackParted(WritingBack):
    kind = "parted"


class WritingBackExchange(WritingBack):
    kind = "exchange"


class WritingBackReplace(WritingBack):
    kind = "replace"


class WritingBackKeyless(WritingBack):
    kind = "keyless"

    def comes_while_it_waits(self, verb, *options, code):
        """A column comes while the command waits for its lock."""
        other = self.connect(autocommit=False)
        other.cursor().execute("LOCK TABLE sales IN ROW EXCLUSIVE MODE")
        process = self.start(verb, self.file, *options)
        self.wait_for_lock("sales")
        other.cursor().execute("ALTER TABLE sales ADD COLUMN extra int; UPDATE sales SET extra = id")
        other.commit()
        other.close()
        before = self.rows(NOW)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.rows(NOW)), (code, before), out + err)
        self.assertIn("the column “extra” meanwhile", err)
        self.sql("ALTER TABLE sales DROP COLUMN extra")

    def test_a_column_that_comes_while_the_lock_is_waited_for(self):
        """Whole dates are replaced: what stands in a column that the plan does not know would be lost."""
        self.file.write_text(self.file.read_text().replace("lock: 200ms", "lock: 20s"))
        self.built(self.file)
        self.comes_while_it_waits("swap", "--yes", code=SUPERSEDED)
        self.tidegate("swap", self.file, "--yes")
        for later in (), ("--keep-later",), ("--overwrite-later",):
            self.comes_while_it_waits("rollback", *later, code=CONFLICT)
        self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(NOW), self.before)


del Scene
if __name__ == "__main__":
    harness.main()
