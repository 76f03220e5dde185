"""Law 10: a statement that outlived its client, or a process that was frozen while another took over, acts for nobody.

The program is killed while the server works on its statement, and a second one started at once; it is frozen before
each of its transactions, and overtaken meanwhile; its connection is cut while the server is in the middle of COMMIT."""

import os
import threading
import unittest

import postgres_scenes as scenes
from postgres_proxy import CALL, CRASH, CUT, STOP
from postgres_scenes import KEYED, KEYED_SPEC, PRODUCTION, SCENES, WORDS, harness
from harness import DATABASE, LEASED, LOCKED, OK, STATE, wait_until

SOAK = os.environ.get("TIDEGATE_SOAK") == "1"
# Slow where the database says so, and only there: `seconds` a row.
SLOW = """
CREATE FUNCTION slow(result int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('test.slow', true), '') <> '' THEN PERFORM pg_sleep(current_setting('test.slow')::float8); END IF;
  RETURN result;
END $$;
"""
SLOW_KEYED = SLOW + KEYED + "ALTER TABLE sales ADD CHECK (slow(1) = 1);"
SLOW_SPEC = KEYED_SPEC.replace("cents * rate AS net", "cents * rate * slow(1) AS net").replace("control:", "#")
SCENES["slow recompute"] = (SLOW + KEYED, SLOW_SPEC)
SCENES["slow apply"] = (SLOW_KEYED, KEYED_SPEC)
BUSY = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database() AND wait_event IN ('PgSleep', 'SyncRep')"


class Orphans(unittest.TestCase):
    def at(self, name, leading):
        self.scene = scenes.Scene.at(name, leading)
        self.addCleanup(self.scene.tearDown)
        return self.scene

    def undisturbed(self, *words):
        """What the command comes to and what it says, then back to where it was."""
        scene = self.scene
        scene.back()
        scene.proxy.arm()
        scene.tidegate(*words)
        said, right = scene.proxy.said, scene.picture()
        scene.back()
        return said, right

    def slow(self, seconds):
        self.scene.cluster.run(f"ALTER DATABASE {self.scene.name} SET test.slow = '{seconds}'")

    def killed(self, words, hold):
        """The command, killed while the server works on one of its statements. hold: and the server is not told."""
        scene = self.scene
        process = scene.start(*words)
        wait_until(lambda: scene.value(BUSY), what="a statement that takes long")
        scene.proxy.hold = hold
        process.kill()
        process.communicate()
        self.assertTrue(scene.value(BUSY), "it ended too early to be an orphan")
        self.slow("")

    def test_a_recompute(self):
        for hold in (False, True):
            with self.subTest(hold=hold):
                scene = self.at("slow recompute", ["plan"])
                words = WORDS["run"]
                _, right = self.undisturbed(*words)
                self.slow(0.5)  # for each of the first batch's rows
                self.killed(words, hold)
                again = scene.until_free(words)
                self.assertEqual(again.code, OK, repr(again))
                self.assertEqual(scene.picture(), right)
                scene.proxy.arm()
                self.assertEqual(scene.sessions(), [])
                self.assertEqual((scene.picture(), scene.strays()), (right, []))

    def test_a_swap(self):
        for hold in (False, True):
            with self.subTest(hold=hold):
                scene = self.at("slow apply", ["plan", "run"])
                words = WORDS["swap"]
                _, right = self.undisturbed(*words)
                self.slow(0.2)
                self.killed(words, hold)
                self.assertEqual(scene.rows(PRODUCTION), scene.before)
                again = scene.until_free(words)
                self.assertEqual(again.code, OK, repr(again))
                self.assertEqual((scene.picture(), scene.swaps()), (right, 1))
                scene.proxy.arm()
                self.assertEqual(scene.sessions(), [])
                self.assertEqual((scene.picture(), scene.swaps(), scene.strays()), (right, 1, []))

    # A COMMIT that waits for a standby that is not there has happened, and nobody sees it yet.

    def standby(self, name):
        """From now on every COMMIT waits for a standby of this name; "": no more, and what waits is done."""
        connection = self.scene.cluster.connect()
        cursor = connection.cursor()
        cursor.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        cursor.execute("SELECT pg_reload_conf()")
        while name and not self.waits(cursor):
            pass
        connection.close()

    def waits(self, cursor):
        """Does a COMMIT wait by now?"""
        probe = self.scene.connect()
        pid = probe.info.backend_pid
        thread = threading.Thread(target=lambda: probe.cursor().execute("CREATE TEMP TABLE x(); DROP TABLE x"))
        thread.start()
        while True:
            cursor.execute(f"SELECT wait_event = 'SyncRep', pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = {pid} AND (wait_event = 'SyncRep' OR state = 'idle' AND query LIKE 'CREATE%')")
            if found := cursor.fetchall():
                break
        thread.join()
        probe.close()
        return found[0][0]

    def in_commit(self):
        """A swap whose COMMIT is under way."""
        scene = self.at("keyed", ["plan", "run"])
        self.addCleanup(self.standby, "")
        said, self.right = self.undisturbed(*WORDS["swap"])
        self.commit = [n for n, text in enumerate(said, 1) if text.startswith("COMMIT")][-2]
        # Before the swap decides whether to keep readers out while it waits for the standby: it does not.
        decides = max(n for n, text in enumerate(said[:self.commit], 1) if "synchronous_standby_names" in text)
        scene.proxy.arm(decides, CALL, meanwhile=lambda: self.standby("nobody"))
        process = scene.start(*WORDS["swap"])
        wait_until(lambda: scene.value(BUSY) and scene.proxy.fired, what="a COMMIT that takes long")
        return process

    def test_a_swap_in_the_middle_of_its_commit(self):
        """Whoever comes second waits for its end, finds it swapped and does not do it again."""
        for hold in (False, True):
            with self.subTest(hold=hold):
                process = self.in_commit()
                scene = self.scene
                scene.proxy.hold = hold
                process.kill()
                process.communicate()
                early = scene.run_tidegate(*WORDS["swap"])
                self.assertEqual((early.code, scene.rows(PRODUCTION)), (LOCKED, scene.before), repr(early))
                self.standby("")
                again = scene.until_free(WORDS["swap"])
                self.assertEqual(again.code, STATE, repr(again))
                scene.proxy.arm()
                self.assertEqual(scene.sessions(), [])
                self.assertEqual((scene.picture(), scene.swaps()), (self.right, 1))

    def test_a_connection_lost_during_commit(self):
        """What became of it is asked of the server until it says."""
        process = self.in_commit()
        scene = self.scene
        scene.proxy.hold = True
        scene.proxy.cut_all()
        wait_until(lambda: scene.value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_xact_status%' AND application_name = 'tidegate'"),
                   what="the question what became of it")
        self.standby("")
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, scene.swaps(), scene.rows(PRODUCTION)), (OK, 1, self.right["production"]), err)
        for when, code, swaps in (("before", DATABASE, 0), ("after", OK, 1)):
            with self.subTest(when=when):
                scene.back()
                scene.proxy.arm(self.commit, CUT, when)
                result = scene.run_tidegate(*WORDS["swap"])
                self.assertEqual((result.code, scene.swaps()), (code, swaps), repr(result))
                self.assertEqual("nothing of it was committed" in result.err, code == DATABASE, repr(result))

    def test_a_crash_that_loses_the_transaction_id(self):
        """Its WAL was never written, and after the crash somebody else's transaction gets the same id."""
        scene = self.at("keyed", ["plan", "run"])
        words = WORDS["swap"]
        said, right = self.undisturbed(*words)
        commit = [n for n, text in enumerate(said, 1) if text.startswith("COMMIT")][-2]
        scene.back(crash=True)
        scene.proxy.arm(commit, CRASH, "before")
        scene.proxy.after_crash = lambda: [scene.cluster.run("CREATE TABLE x(); DROP TABLE x") for _ in range(100)]
        result = scene.run_tidegate(*words)
        scene.proxy.settled()
        self.assertEqual(scene.rows(PRODUCTION), scene.before)
        self.assertNotEqual(result.code, OK, repr(result))
        again = scene.until_free(words)
        self.assertEqual((again.code, scene.rows(PRODUCTION)), (OK, right["production"]), repr(again))

    def overtaken(self, name, leading, verb):
        """Frozen before each of its transactions, it finds the lease taken over; what the other did stands."""
        scene = self.at(name, leading)
        words = WORDS[verb]
        said, right = self.undisturbed(*words)
        begins = [n for n, text in enumerate(said, 1) if text.startswith("BEGIN ISOLATION") and "backfill" in " ".join(said[n:n + 3])]
        taken = next(n for n in begins if "FOR UPDATE" in " ".join(said[n:n + 2]))
        begins = [n for n in begins if n > taken]
        self.assertGreater(len(begins), 1)
        for n in begins if SOAK else begins[:3] + begins[-2:]:
            scene.back()
            others = []

            def take_over():
                scene.sql("UPDATE tidegate.backfill SET lease_heartbeat = lease_heartbeat - 1000")
                others.append(scene.run_tidegate(*words))

            scene.proxy.arm(n, STOP, "before", take_over)
            process = scene.start(*words)
            out, err = process.communicate(timeout=60)
            what = f"{verb}, frozen before exchange {n} of {len(said)}: {process.returncode}\n{out}{err}\nand the other: {others}"
            self.assertTrue(scene.proxy.fired and not scene.proxy.trouble, f"{what} {scene.proxy.trouble}")
            done = others[0].code == STATE  # it had been done before, and only the lease was still to be given back
            self.assertTrue(others[0].code == OK or done and process.returncode == OK, what)
            if not done:
                self.assertTrue(process.returncode == LEASED or n == begins[-1] and process.returncode == OK, what)
            self.assertEqual((scene.picture(), scene.strays()), (right, []), what)
            self.assertEqual(scene.swaps(), 1 if verb == "swap" else 0, what)

    def test_a_frozen_run_is_overtaken(self):
        self.overtaken("keyed", ["plan"], "run")
        self.overtaken("exchange", ["plan"], "run")

    def test_a_frozen_swap_is_overtaken(self):
        for name in ("keyed", "keyless", "exchange"):
            self.overtaken(name, ["plan", "run"], "swap")

    def test_a_frozen_discard_is_overtaken(self):
        self.overtaken("keyed", ["plan", "run"], "discard")


if __name__ == "__main__":
    harness.main()
