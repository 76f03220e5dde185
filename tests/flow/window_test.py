"""When it may run: every job that concerns the target, idle hours, freezes; and what `tidegate window` says of it."""

import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone

import harness
from backfills import DOUBLES, NUMBERS
from harness import DENIED, OK, SUPERSEDED, USAGE, Flow, cron_in


def day_from_now(days):
    return (datetime.now(timezone.utc) + timedelta(days=days)).date().isoformat()


class Scene(Flow):
    def setUp(self):
        super().setUp()
        self.sql(NUMBERS)
        self.file = self.spec(DOUBLES, production="budget: {duty: 100 %}")  # what production does stands in tidegate.yaml

    def pipeline(self, text):
        (self.folder / "tidegate.yaml").write_text(text, encoding="utf-8")


class Gate(Scene):
    def denied(self, pipeline, rule):
        """The plan is denied by this rule alone; its text."""
        self.pipeline(pipeline)
        result = self.tidegate("plan", "--json", self.file, code=DENIED).json
        self.assertEqual([reason["rule"] for reason in result["verdict"]["reasons"]], [rule])
        return result["verdict"]["reasons"][0]

    def allowed(self, pipeline):
        self.pipeline(pipeline)
        return self.tidegate("plan", "--json", self.file).json["plan"]

    def test_a_second_job_closes_the_window(self):
        near = f"schedule: \"{cron_in(3)}\", p95: 10m"
        for tables, how in (("writes: [numbers]", "feeds the recompute of doubles"),
                            ("writes: [doubles]", "writes doubles"), ("reads: [doubles]", "reads doubles")):
            reason = self.denied(f"production: none\njobs: {{load: {{{tables}, {near}}}}}\n", "production-run")
            self.assertIn(f"the job load, which {how},", reason["text"])
            self.assertTrue(reason["waits"])
        # A job of other tables, and one whose run is over.
        self.allowed(f"production: none\njobs: {{load: {{writes: [elsewhere], reads: [numbers], {near}}}}}\n")
        self.allowed("production: none\njobs: {load: {writes: [numbers], schedule: \"%s\", p95: 10m}}\n" % cron_in(-60))

    def test_a_run_that_began_before_counts(self):
        self.denied("production: none\njobs: {load: {writes: [numbers], schedule: \"%s\", p95: 2h}}\n" % cron_in(-60),
                    "production-run")

    def test_a_job_without_a_schedule_denies(self):
        reason = self.denied("production: none\njobs: {load: {writes: [numbers]}}\n", "schedule-unknown")
        self.assertIn("the job load", reason["text"])
        self.assertIn("under jobs, in load: schedule:", reason["hint"])
        self.allowed("production: none\njobs: {load: {writes: [numbers], schedule: none}}\n")

    def test_too_few_runs_deny(self):
        job = "jobs: {load: {writes: [doubles], schedule: \"%s\", p95: 5m, runs: %d}}\n"
        reason = self.denied(job % (cron_in(-120), 4), "p95-unknown")
        self.assertIn("measured on 4 runs", reason["text"])
        self.allowed(job % (cron_in(-120), 5))

    def test_a_freeze_denies_until_it_is_over(self):
        reason = self.denied(f"production: none\nfreeze: [{day_from_now(-1)}..{day_from_now(1)}]\n", "freeze")
        self.assertIn(day_from_now(1), reason["text"])
        self.assertTrue(reason["waits"])
        self.allowed(f"production: none\nfreeze: [{day_from_now(-9)}..{day_from_now(-2)}, {day_from_now(2)}]\n")

    def test_a_file_of_freezes(self):
        pipeline = "production: none\nfreeze:\n  - file: holidays.txt\n"
        (self.folder / "holidays.txt").write_text(f"# ours\n{day_from_now(0)}..{day_from_now(1)}\n", encoding="utf-8")
        self.assertIn("holidays.txt:2", self.denied(pipeline, "freeze")["text"])
        (self.folder / "holidays.txt").write_text("# none\n", encoding="utf-8")
        self.allowed(pipeline)
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        # Gone: nothing new may begin, and what was swapped can be taken back.
        (self.folder / "holidays.txt").unlink()
        self.tidegate("rollback", self.file)
        self.assertEqual(self.value("SELECT sum(n) FROM doubles"), self.value("SELECT sum(n) FROM numbers"))
        reason = self.denied(pipeline, "freeze")
        self.assertIn("tidegate.yaml:3:11: cannot read", reason["text"])
        self.assertFalse(reason["waits"])
        window = self.tidegate("window", self.file, code=DENIED)
        self.assertIn("none can be told", window.out)

    def test_a_job_that_is_scheduled_anew_supersedes(self):
        job = "production: none\njobs: {load: {writes: [numbers], schedule: \"%s\", p95: 1m%s}}\n"
        schedule = cron_in(-120)
        digest = self.allowed(job % (schedule, ""))["digest"]
        self.assertEqual(self.allowed(job % (schedule, ", measured: 2026-11-01, from: somewhere"))["digest"], digest)
        self.pipeline(job % (cron_in(-180), ""))
        self.assertIn("tidegate.yaml", self.tidegate("run", self.file, code=SUPERSEDED).err)
        self.assertNotEqual(self.allowed(job % (cron_in(-180), ""))["digest"], digest)

    def test_a_misspelt_table_of_a_job_warns(self):
        job = "schedule: \"0 3 * * *\", zone: UTC, p95: 10m"
        warnings = self.allowed(f"production: none\njobs: {{load: {{writes: [dubles], {job}}}}}\n")["warnings"]
        self.assertEqual([text for text in warnings if "load" in text],
                         ["the job load writes dubles, which is not in the database (did you mean doubles?): a job closes windows only "
                          "by tables that there are"])
        self.assertIn("dubles", self.tidegate("window", self.file).out)
        self.assertIn("writes dubles, which is not in this database", self.tidegate("doctor").out)
        # What works in another database altogether is no fault.
        self.assertEqual(self.allowed(f"production: none\njobs: {{load: {{writes: [elsewhere], {job}}}}}\n")["warnings"], [])

    def test_who_waits_for_the_window_says_so(self):
        now = datetime.now(timezone.utc)
        opens = now + timedelta(hours=2)
        self.pipeline(f"production: none\nidle: {opens:%H:%M}-{opens + timedelta(hours=1):%H:%M}\n")
        plan = self.tidegate("plan", "--json", self.file, code=DENIED).json["plan"]["id"]
        run = self.start("run", plan)
        try:
            harness.wait_until(lambda: "waits: this work would not" in self.tidegate("status").out, what="the list to say that it waits")
            shown = self.tidegate("status", plan)
            self.assertIn("planned, waits", shown.out.split("\n", 1)[0])
            self.assertRegex(shown.out, r"\nwaits     this work would not stay within the idle hours")
            self.assertIn("idle hours", self.tidegate("status", plan, "--json").json["waits"])
        finally:
            run.terminate()
            run.communicate(timeout=30)
        self.assertIsNone(self.tidegate("status", plan, "--json").json["waits"])

    def test_old_measurements_warn(self):
        job = "production: {schedule: \"%s\", p95: 1m, runs: 34, measured: %s, from: airflow http://h dag load}\n"
        fresh = self.allowed(job % (cron_in(-120), day_from_now(-30)))
        self.assertEqual(fresh["provenance"][0]["days_ago"], 30)
        self.assertFalse([warning for warning in fresh["warnings"] if "days ago" in warning])
        self.pipeline(job % (cron_in(-120), day_from_now(-31)))
        text = self.tidegate("plan", self.file).out
        self.assertIn("when production runs, and how long, was read 31 days ago", text)
        self.assertIn("p95 1m on 34 runs", text)
        self.assertIn("from airflow http://h dag load", text)


class Proposal(Scene):
    """`tidegate init --jobs` proposes idle hours from the runs that it reads."""

    def init(self, days):
        lines = ["job,scheduled,started,ended,state"]
        for day in range(days):
            at = datetime(2026, 9, 7, 2, tzinfo=timezone.utc) + timedelta(days=day)  # Mondays to Fridays, 02:00
            if at.weekday() < 5:
                begun, ended = at + timedelta(minutes=1), at + timedelta(minutes=50)
                lines.append(f"load,{at:%FT%TZ},{begun:%FT%TZ},{ended:%FT%TZ},success")
        (self.folder / "runs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.tidegate("init", "--weeks", "5000", "--jobs", "csv=runs.csv", "db.sqlite")
        return (self.folder / "tidegate.yaml").read_text(encoding="utf-8")

    def test_idle_hours_with_their_evidence(self):
        text = self.init(26)
        self.assertIn('# idle: {hours: "Mon 00:00-02:00, Mon-Thu 03:00-02:00, Fri 03:00-24:00, '
                      'Sat,Sun 00:00-24:00", zone: UTC}\n', text)
        self.assertIn("# Idle hours as these runs show them: in 3.6 weeks, 20 runs from 2026-09-07 to 2026-10-02, "
                      "no run met 163 of the 168 hours of the week", text)

    def test_a_few_days_show_no_week(self):
        self.assertIn("# No idle hours can be proposed from these runs: 9 runs within 10.0 days", self.init(11))


class Window(Scene):
    """The command. Times are given, so that the answer is known."""

    PIPELINE = """
production: {schedule: "0 2 * * *", zone: Europe/Berlin, p95: 20m}
jobs:
  load: {writes: [numbers], schedule: "0 6 * * 1-5", p95: 30m}
idle: Mon-Fri 20:00-08:00, Sat,Sun 00:00-24:00
freeze: 2026-12-05
"""

    def window(self, *args, code=OK, at="2026-12-03T12:00:00+01:00"):
        self.pipeline(self.PIPELINE)
        return self.tidegate("window", "--from", at, *args, self.file, code=code)

    def test_the_next_windows(self):
        facts = self.window("--json", "--count", "4").json
        self.assertEqual([(w["from"], w["to"]) for w in facts["windows"]],
                         [("2026-12-03T19:00:00+00:00", "2026-12-04T00:45:00+00:00"),
                          ("2026-12-04T01:35:00+00:00", "2026-12-04T04:45:00+00:00"),
                          ("2026-12-04T05:45:00+00:00", "2026-12-04T07:00:00+00:00"),
                          ("2026-12-04T19:00:00+00:00", "2026-12-04T23:00:00+00:00")])
        self.assertTrue(facts["known"])
        self.assertEqual((facts["dates"], facts["rows"]), (16, 16))
        self.assertEqual({w["dates"] for w in facts["windows"]}, {16})
        self.assertEqual(facts["measured"], "one date recomputed for trial")
        self.assertTrue("2026-12-03T19:00:00+00:00" < facts["ends"] < "2026-12-03T19:10:00+00:00", facts["ends"])
        self.assertEqual([(j["name"], j["writes"], j["feeds"]) for j in facts["jobs"]],
                         [("production", True, False), ("load", False, True)])
        self.assertNotIn("verdict", facts)

    def test_the_week_has_no_gap_and_no_window_meets_a_run(self):
        facts = self.window("--json", at="2026-10-24T12:00:00+02:00").json  # the clock goes back on the 25th
        week = facts["week"]
        self.assertEqual(week[0]["from"], "2026-10-23T22:00:00+00:00")
        self.assertEqual(week[-1]["to"], "2026-10-30T23:00:00+00:00")
        for before, after in zip(week, week[1:]):
            self.assertEqual(before["to"], after["from"])
        busy = [(s["from"], s["to"]) for s in week if s["state"] == "busy" and s["why"] == "production"]
        self.assertEqual(len(busy), 8)  # 02:00 of the 25th in both its passes
        self.assertEqual(busy[1:3], [("2026-10-24T23:45:00+00:00", "2026-10-25T00:35:00+00:00"),
                                     ("2026-10-25T00:45:00+00:00", "2026-10-25T01:35:00+00:00")])
        for window in facts["windows"]:
            for begin, end in busy:
                self.assertTrue(end <= window["from"] or begin >= window["to"], (window, begin, end))

    def test_the_batches_written_are_the_measure(self):
        self.pipeline("production: none\n")
        self.plan(self.file)
        facts = self.tidegate("window", "--json", self.file).json
        self.assertEqual((facts["dates"], facts["measured"]), (16, "one date recomputed for trial"))
        self.assertTrue(facts["verdict"]["allow"])
        # As if a batch of four dates, one row each, had taken eight seconds.
        self.sql("UPDATE tidegate_date SET batch = 1 WHERE date IN (SELECT date FROM tidegate_date LIMIT 4)")
        self.sql("INSERT INTO tidegate_batch SELECT backfill, 1, min(date), max(date), 1, 4, 4, 4, 8.0, NULL, NULL, 0 "
                 "FROM tidegate_date GROUP BY backfill")
        facts = self.tidegate("window", "--json", "--from", "2026-12-01T00:00:00Z", self.file).json
        self.assertEqual((facts["dates"], facts["rows"], facts["work"]), (12, 12, 24))
        self.assertEqual(facts["ends"], "2026-12-01T00:00:24+00:00")
        self.assertEqual(facts["id"], self.value("SELECT id FROM tidegate_backfill"))
        self.assertEqual(facts["measured"], f"1 batch of {facts['id']}")

    def test_as_text(self):
        text = self.window("--count", "2").out
        self.assertIn("load (feeds it): 0 6 * * 1-5 (vixie, Berlin), p95 30m, declared, guard 15m\n", text)
        self.assertIn("          20:00            Fri 4 Dec 01:45  5h 45m", text)
        self.assertIn("Thu  3 Dec ...###.....###..------------------------=.......\n", text)
        self.assertIn("Sat  5 Dec xxx###xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", text)
        self.assertNotIn("\x1b", text)

    def test_the_picture(self):
        self.window("--svg", "week.svg")
        root = ElementTree.parse(self.folder / "week.svg").getroot()
        space = {"svg": "http://www.w3.org/2000/svg"}
        self.assertEqual(root.get("role"), "img")
        named = {root.find(f"svg:{name}", space).get("id") for name in ("title", "desc")}
        self.assertEqual(set(root.get("aria-labelledby").split()), named)
        titles = [title.text for title in root.iterfind(".//svg:rect/svg:title", space)]
        self.assertIn("Fri 4 Dec 2026 01:45 until 02:35: a run with its guard, production", titles)
        self.assertTrue(any("this backfill" in title for title in titles))
        self.assertIn("Windows: 20:00 until Fri 4 Dec 01:45", root.find("svg:desc", space).text)
        self.window("--svg", "/nowhere/week.svg", code=USAGE)

    def test_what_is_missing_is_said(self):
        self.pipeline("jobs: {load: {writes: [doubles], schedule: \"0 2 * * *\"}}\n")
        result = self.tidegate("window", self.file, code=DENIED)
        self.assertIn("window    none can be told: how long a run of the job load", result.out)
        facts = self.tidegate("window", "--json", self.file, code=DENIED).json
        self.assertFalse(facts["known"])
        self.assertEqual(facts["windows"], [])
        self.assertNotIn("open", {stretch["state"] for stretch in facts["week"]})

    def test_usage(self):
        self.window("--count", "0", code=USAGE)
        self.window("--count", "3x", code=USAGE)
        self.window(at="tomorrow", code=USAGE)


if __name__ == "__main__":
    harness.main()
