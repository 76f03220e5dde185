"""Histories and live runs of a real Airflow 3 and a real Airflow 2: what Tidegate says against what Airflow's own metadata
say. Each version is started once and stopped before the next one is."""

import json
import math
import os
import signal
from datetime import datetime, timedelta, timezone

from airflow_harness import PATIENCE, AirflowFlow, script
from harness import DENIED, USAGE, main, wait_until

# When a run was due, in the words of each version's metadata.
DUE = {"2": "data_interval_end", "3": "run_after"}


class Shared:
    """What holds for both versions."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The missed run of last night is made up for at once; afterwards these are at rest until the next night.
        for dag in ("gated", "retried", "berlin", "often", "flaky"):
            cls.rest("PATCH", f"/dags/{dag}", {"is_paused": False})
        wait_until(lambda: cls.ended("gated") and cls.ended("retried") and cls.ended("berlin"), PATIENCE,
                   "the runs made up for have ended")

    @classmethod
    def ended(cls, dag):
        return cls.meta("SELECT count(*) FROM dag_run WHERE dag_id = %s AND state = 'success'", (dag,))[0][0]

    def init(self, *words):
        self.scene()
        return self.tidegate("init", "db.sqlite", "--json", "--jobs", f"airflow={self.url}", "--user", "admin",
                             *words).json["jobs"]

    def truth(self, dag):
        """Runs, p95 and late starts of a DAG by PostgreSQL's own percentile (percentile_disc is the nearest rank)."""
        return self.meta(f"""
          SELECT count(*), percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM end_date - {DUE[self.major]})),
                 percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM start_date - {DUE[self.major]}))
          FROM (SELECT *, lead({DUE[self.major]}, 1, 'infinity') OVER (ORDER BY {DUE[self.major]}) AS next_due
                FROM dag_run WHERE dag_id = %s AND run_type = 'scheduled' AND state = 'success') r
          WHERE start_date < next_due""", (dag,))[0]

    def serialized(self, dag):
        """Timetable and zone as the DAG's file says them."""
        data = self.meta("SELECT data FROM serialized_dag WHERE dag_id = %s ORDER BY last_updated DESC LIMIT 1"
                         if self.major == "2" else
                         "SELECT data FROM serialized_dag WHERE dag_id = %s ORDER BY created_at DESC LIMIT 1", (dag,))[0][0]
        return data["dag"]["timetable"]["__var"]

    def past_runs(self, dag, lengths):
        """Puts runs of the last nights into the metadata, the template being a real run; minutes a run."""
        columns = [name for (name,) in self.meta(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'dag_run' AND is_generated = 'NEVER'")]
        # The last time that it was due is not one of them: of a paused DAG without runs Airflow calls that the next run.
        day = (datetime.now(timezone.utc) - timedelta(hours=4, minutes=30)).replace(hour=4, minute=30, second=0, microsecond=0)
        day -= timedelta(days=max(0, day.weekday() - 4))
        for minutes in lengths:
            day -= timedelta(days=3 if day.weekday() == 0 else 1)
            begin = day - timedelta(days=3 if day.weekday() == 0 else 1) if self.major == "2" else day
            own = {"dag_id": dag, "run_id": f"scheduled__{begin.isoformat()}", "logical_date": begin, "execution_date": begin,
                   "data_interval_start": begin, "data_interval_end": day, "run_after": day, "queued_at": day,
                   "start_date": day + timedelta(seconds=20), "end_date": day + timedelta(minutes=minutes),
                   "created_dag_version_id": None}
            wanted = [name for name in columns if name != "id"]
            self.meta(f"""INSERT INTO dag_run ({', '.join(wanted)})
              SELECT {', '.join('%s' if name in own else name for name in wanted)} FROM dag_run
              WHERE dag_id = 'berlin' AND run_type = 'scheduled' LIMIT 1""", [own[n] for n in wanted if n in own])

    def test_history_is_what_the_metadata_say(self):
        """Real runs, retries among them, whose durations PostgreSQL works out as well."""
        for dag, runs in (("often", 4), ("flaky", 3)):
            wait_until(lambda dag=dag, runs=runs: self.truth(dag)[0] >= runs, PATIENCE, f"{runs} runs of {dag}")
        for dag in ("often", "flaky"):
            self.pause(dag)
            self.settle(dag)
        jobs = {job["job"]: job for job in self.init()}
        for dag in ("often", "flaky"):
            count, p95, wait = self.truth(dag)
            job = jobs[dag]
            self.assertEqual(job["runs"], count, job)
            # Whole seconds, never less than what was.
            self.assertGreaterEqual(job["p95"], p95)
            self.assertLessEqual(job["p95"], float(p95) + 1)
            self.assertAlmostEqual(job["jitter"], float(wait), delta=1)
            self.assertEqual((job["schedule"], job["dialect"]), (self.serialized(dag)["expression"], "airflow"))
        tries = self.meta("SELECT min(try_number) FROM task_instance WHERE dag_id = 'flaky' AND state = 'success'")[0][0]
        self.assertEqual(tries, 2)
        self.assertGreaterEqual(jobs["flaky"]["p95"], 2, "the wait before the second try counts")

    def test_the_longest_of_a_few_and_the_rank_of_many(self):
        """34 nights: the 95th of 100 is the 33rd of them, so one run that took two hours is none of it."""
        lengths = [10 + n % 7 for n in range(32)] + [19, 120]
        self.past_runs("utc", lengths)
        job, = self.init("--job", "utc")
        self.assertEqual((job["runs"], job["p95"]), (34, 19 * 60 + 1))
        self.assertEqual(job["p95"], math.ceil(self.truth("utc")[1]) + 1)
        self.assertEqual(job["jitter"], 20)
        self.assertEqual((job["schedule"], job["zone"]), ("30 4 * * 1-5", "UTC"))
        self.assertEqual(job["timetable"], {"2": "interval", "3": "trigger"}[self.major])
        self.assertIn("zone", job["confirm"])
        few, = self.init_again("--job", "utc", "--weeks", "1")
        self.assertLess(few["runs"], 8)

    def init_again(self, *words):
        return self.tidegate("init", "db.sqlite", "--json", "--jobs", f"airflow={self.url}", "--user", "admin",
                             *words).json["jobs"]

    def test_the_zone_that_rest_gets_wrong(self):
        self.assertEqual(self.rest("GET", "/dags/berlin/details")["timezone"], "UTC", "has Airflow mended it?")
        self.assertEqual(self.serialized("berlin")["timezone"], "Europe/Berlin")
        self.scene()
        shown = self.tidegate("init", "db.sqlite", "--jobs", f"airflow={self.url}", "--user", "admin", "--job", "berlin")
        written = (self.folder / "tidegate.yaml").read_text(encoding="utf-8")
        self.assertIn("says UTC, which is not true", written)
        self.assertNotIn(self.password, shown.out + shown.err + written)
        spec = self.correction("gated")
        # Refused until somebody has said the tables, and then until the zone is said.
        self.assertIn("neither what it writes nor what it reads", self.tidegate("plan", spec, code=USAGE).err)
        written = written.replace("    # writes: []", "    writes: [daily]")
        (self.folder / "tidegate.yaml").write_text(written, encoding="utf-8")
        self.assertIn("confirm", self.tidegate("plan", spec, code=USAGE).err)
        written = written.replace("zone: confirm", "zone: Europe/Berlin")
        (self.folder / "tidegate.yaml").write_text(written, encoding="utf-8")
        self.run_tidegate("plan", spec)

    def test_a_schedule_that_is_no_longer_so(self):
        """What tidegate.yaml says is compared with what Airflow says today."""
        self.scene()
        self.tidegate("init", "db.sqlite", "--jobs", f"airflow={self.url}", "--user", "admin", "--job", "utc")
        path = self.folder / "tidegate.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("    # writes: []", "    writes: [daily]"), encoding="utf-8")
        same = self.run_tidegate("runbook", "daily", "--check")
        self.assertNotIn("30 4 * * 1-5", same.out)
        path.write_text(path.read_text(encoding="utf-8").replace('"30 4 * * 1-5"', '"30 5 * * 1-5"'), encoding="utf-8")
        other = self.tidegate("runbook", "daily", "--check", code=18)
        self.assertRegex(other.out, r"utc.*30 4 \* \* 1-5")

    def test_what_has_no_schedule(self):
        jobs = {job["job"]: job for job in self.init()}
        self.assertIsNone(jobs["by_hand"]["schedule"])
        self.assertIn("no schedule", jobs["by_hand"]["refusal"])
        self.assertEqual((jobs["every"]["dialect"], jobs["every"]["schedule"][:14]), ("interval", "every 6h from "))

    def test_a_run_that_is_going_on(self):
        """Queued, running, then over: denied, denied, allowed."""
        self.scene()
        spec = self.correction("gated")
        self.allowed(spec)
        self.close_gate("gated")
        self.pause("gated")
        run = self.trigger("gated")
        self.assertEqual(self.runs("gated")[run], "queued")
        self.denied(spec, "is queued")
        self.pause("gated", False)
        self.wait_run("gated", run, "running")
        self.wait_task("gated", run, "running")
        self.denied(spec, "is running")
        self.open_gate("gated")
        self.wait_run("gated", run, "success")
        self.allowed(spec)

    def test_a_run_that_fails(self):
        self.scene()
        spec = self.correction("gated")
        self.close_gate("gated", fails=True)
        run = self.trigger("gated")
        self.wait_task("gated", run, "running")
        self.denied(spec, "is running")
        self.open_gate("gated")
        self.wait_run("gated", run, "failed")
        (self.gates / "gated.fails").unlink()
        self.allowed(spec)

    def test_a_task_that_waits_for_its_next_try(self):
        """Nothing computes in these five minutes, and yet the run is not over."""
        self.scene()
        spec = self.correction("retried")
        self.allowed(spec)
        self.close_gate("retried", fails=True)
        run = self.trigger("retried")
        self.wait_task("retried", run, "running")
        self.open_gate("retried")
        self.wait_task("retried", run, "up_for_retry")
        self.denied(spec, "next try")
        self.rest("PATCH", f"/dags/retried/dagRuns/{run}", {"state": "success"})
        (self.gates / "retried.fails").unlink()
        self.wait_run("retried", run, "success")
        self.allowed(spec)

    def test_y_a_run_that_should_have_begun(self):
        """The scheduler is frozen, so what is due every twenty seconds does not begin, and may at any moment."""
        self.scene()
        spec = self.correction("often", guard="1s")
        self.pause("often")
        self.settle("often")
        self.allowed(spec)
        scheduler = json.loads((self.home / "state.json").read_text(encoding="utf-8"))["pids"]["scheduler"]
        os.kill(scheduler, signal.SIGSTOP)
        self.addCleanup(os.kill, scheduler, signal.SIGCONT)
        self.pause("often", False)
        wait_until(lambda: self.run_tidegate("plan", spec).code == DENIED, PATIENCE, "the run is late")
        self.denied(spec, "is late", "has not started")

    def test_z_airflow_is_down(self):
        """The last test of the class: nobody answers, so the job may well be running."""
        self.scene()
        spec = self.correction("gated")
        self.allowed(spec)
        script("stop", self.major)
        self.denied(spec, "does not answer")


class Airflow3(Shared, AirflowFlow):
    major = "3"


class Airflow2(Shared, AirflowFlow):
    major = "2"


if __name__ == "__main__":
    main()
