#include "spec_test.h"

/* Two jobs at the top, and what a target's entry says of one of them. */
static void jobs_by_name(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, LEAST CONTROL,
                         "jobs:\n"
                         "  nightly_load:\n"
                         "    writes: [daily_delays]\n"
                         "    reads: flights\n"
                         "    schedule: \"0 2 * * *\"\n"
                         "    zone: America/New_York\n"
                         "    timetable: interval\n"
                         "    p95: 20m\n"
                         "    runs: 34\n"
                         "    jitter: 5m\n"
                         "    measured: 2026-11-01\n"
                         "    from: airflow http://127.0.0.1:8080 dag nightly_load\n"
                         "  report: {reads: [daily_delays]}\n");
  assert_int_equal(spec.n_jobs, 2);
  const SpecJob *job = &spec.jobs[0];
  assert_text(job->name, "nightly_load", "top/tidegate.yaml", 2, 3);
  assert_int_equal(job->writes.n, 1);
  assert_text(job->writes.items[0], "daily_delays", "top/tidegate.yaml", 3, 14);
  assert_text(job->reads.items[0], "flights", "top/tidegate.yaml", 4, 12);
  assert_text(job->when.expression, "0 2 * * *", "top/tidegate.yaml", 5, 15);
  assert_true(job->when.interval);
  assert_true(job->when.p95 == 1200 && job->when.jitter == 300 && job->when.guard == 900);
  assert_int_equal(job->when.runs, 34);
  assert_text(job->when.measured, "2026-11-01", "top/tidegate.yaml", 11, 15);
  assert_string_equal(job->when.from.text, "airflow http://127.0.0.1:8080 dag nightly_load");
  assert_string_equal(job->when.dialect, "vixie");
  assert_true(job->live.timeout == 10);
  job = &spec.jobs[1];
  assert_null(job->when.expression.text);
  assert_true(job->when.p95 == -1 && job->when.guard == 900 && !job->when.interval && job->when.runs == 0);
}

static void a_targets_entry_says_more_of_a_job(void **state) {
  ARENA_SCOPED arena = {0};
  static const char pipeline[] =
      "targets:\n"
      "  daily_delays: {jobs: {load: {guard: 1m, live: {role: etl}}, own: {writes: daily_delays}}}\n"
      "  other: {jobs: {load: {guard: 2m}, late: {reads: other}}}\n"
      "jobs: {load: {writes: [daily_delays], schedule: \"0 2 * * *\", live: {application: load}}}\n";
  Spec spec = parse_both(&arena, LEAST CONTROL, pipeline);
  assert_int_equal(spec.n_jobs, 2);
  assert_string_equal(spec.jobs[0].name.text, "load");
  assert_true(spec.jobs[0].when.guard == 60);
  assert_string_equal(spec.jobs[0].when.expression.text, "0 2 * * *");
  assert_string_equal(spec.jobs[0].live.application.text, "load");
  assert_string_equal(spec.jobs[0].live.role.text, "etl");
  assert_string_equal(spec.jobs[1].name.text, "own");
}

static void production_is_a_job_too(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, backfill_with(&arena, "production: {live: {process: load.py}, runs: 7}\n"),
                         "production: {schedule: 0 2 * * *, timetable: interval, live: {systemd: load.service}}\n");
  assert_true(spec.production.when.interval);
  assert_int_equal(spec.production.when.runs, 7);
  assert_string_equal(spec.production.live.systemd.text, "load.service");
  assert_string_equal(spec.production.live.process.text, "load.py");
  assert_true(spec.production.live.timeout == 10);
}

static void every_way_to_ask(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec =
      parse_with(&arena,
                 "production:\n"
                 "  live:\n"
                 "    airflow: {url: \"https://air:8080/x\", dag: load, user: u, password_env: P, token_env: T,\n"
                 "              token_file: /f, version: 3}\n"
                 "    application: a\n"
                 "    role: r\n"
                 "    query: 'INSERT%'\n"
                 "    advisory_lock: -7, 42\n"
                 "    running: SELECT 1\n"
                 "    systemd: s\n"
                 "    process: p\n"
                 "    lock_file: /l\n"
                 "    heartbeat: SELECT 2\n"
                 "    heartbeat_within: 90s\n"
                 "    command: [is-running, \"\"]\n"
                 "    timeout: 3s\n");
  const SpecLive *live = &spec.production.live;
  const SpecAirflow *airflow = &live->airflow;
  const char *const texts[] = {airflow->url.text,
                               "https://air:8080/x",
                               airflow->dag.text,
                               "load",
                               airflow->user.text,
                               "u",
                               airflow->password_env.text,
                               "P",
                               airflow->token_env.text,
                               "T",
                               airflow->token_file.text,
                               "/f",
                               live->application.text,
                               "a",
                               live->role.text,
                               "r",
                               live->query.text,
                               "INSERT%",
                               live->advisory_lock.text,
                               "-7, 42",
                               live->running.text,
                               "SELECT 1",
                               live->systemd.text,
                               "s",
                               live->process.text,
                               "p",
                               live->lock_file.text,
                               "/l",
                               live->heartbeat.text,
                               "SELECT 2"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i += 2) assert_string_equal(texts[i], texts[i + 1]);
  assert_int_equal(airflow->version, 3);
  assert_true(live->heartbeat_within == 90 && live->timeout == 3);
  assert_int_equal(live->command.n, 2);
}

static void what_is_wrong_with_a_job(void **state) {
  refused_pipeline("jobs: [a]\n", "tidegate.yaml:1:7", "must be a map of jobs by name", "jobs: [a]\n      ^",
                   "jobs: {nightly_load:");
  refused_pipeline("jobs: {a: b}\n", "tidegate.yaml:1:11", "“a” must be a map of its keys", "jobs: {a: b}\n          ^",
                   "jobs: {nightly_load:");
  refused_pipeline("jobs: {a: {p95: 1m}}\n", "tidegate.yaml:1:8", "neither what it writes nor what it reads",
                   "jobs: {a: {p95: 1m}}\n       ^", "writes: [daily_delays]");
  refused_pipeline("jobs: {a: {write: t}}\n", "tidegate.yaml:1:12", "unknown key “write” inside “jobs”",
                   "jobs: {a: {write: t}}\n           ^", "did you mean “writes”?");
  refused_pipeline("jobs: {a: {writes: t, timetable: data}}\n", "tidegate.yaml:1:34", "must be trigger or interval",
                   "jobs: {a: {writes: t, timetable: data}}\n                                 ^",
                   "inside “jobs”: timetable: interval");
  refused_pipeline("jobs: {a: {writes: t, runs: 0}}\n", "tidegate.yaml:1:29", "a whole number from 1",
                   "jobs: {a: {writes: t, runs: 0}}\n                            ^", "runs: 34");
  refused_pipeline("jobs: {a: {writes: t, measured: 2026-02-30}}\n", "tidegate.yaml:1:33", "“jobs.measured”: ",
                   "jobs: {a: {writes: t, measured: 2026-02-30}}\n                                ^", "");
  refused_pipeline("jobs: {a: {writes: t, measured: 2026-02-01..2026-02-03}}\n", "tidegate.yaml:1:33",
                   "must be one day",
                   "jobs: {a: {writes: t, measured: 2026-02-01..2026-02-03}}\n                                ^",
                   "measured: 2026-11-01");
  refused_with("jobs: {a: {writes: t}}\n", "b.yaml:6:1", "belongs to the pipeline", "jobs: {a: {writes: t}}\n^",
               "top of tidegate.yaml");
}

/* What the gate in front of other tools' commands needs to know of a job. */
static void what_other_tools_call_a_job(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, LEAST CONTROL,
                         "jobs:\n"
                         "  load: {writes: t, names: [a, \"dbt:b\"], dates: -1d, per_date: 90s, commands: [./a *],\n"
                         "         shadow: {parameter: --to shadow, role: etl}}\n"
                         "  plain: {writes: t}\n"
                         "gate: {override: approver, approvers: [ada, grace]}\n");
  const SpecJob *job = &spec.jobs[0];
  assert_int_equal(job->names.n, 2);
  assert_string_equal(job->names.items[1].text, "dbt:b");
  assert_int_equal(job->dates, -1);
  assert_string_equal(job->commands.items[0].text, "./a *");
  assert_true(job->per_date == 90);
  assert_string_equal(job->shadow_parameter.text, "--to shadow");
  assert_string_equal(job->shadow_role.text, "etl");
  job = &spec.jobs[1];
  assert_true(job->names.n == 0 && job->dates == 0 && job->per_date < 0 && job->shadow_role.text == NULL);
  assert_int_equal(spec.override, OVERRIDE_APPROVER);
  assert_int_equal(spec.approvers.n, 2);
  assert_int_equal(parse_both(&arena, LEAST CONTROL, "owner: x\n").override, OVERRIDE_ALLOW);
  assert_int_equal(parse_both(&arena, LEAST CONTROL, "gate: {override: role, role: boss}\n").override, OVERRIDE_ROLE);
  assert_int_equal(parse_both(&arena, LEAST CONTROL, "jobs: {a: {writes: t, dates: +2d}}\n").jobs[0].dates, 2);
}

static void what_is_wrong_with_what_other_tools_call_it(void **state) {
  static const char *const shifts[] = {"1", "-1h", "d", "1d2", "400d", "1.5d"};
  for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
    ARENA_SCOPED arena = {0};
    const char *line = arena_printf(&arena, "jobs: {a: {writes: t, dates: %s}}", shifts[i]);
    refused_pipeline(arena_printf(&arena, "%s\n", line), "tidegate.yaml:1:30", "whole days with a sign",
                     arena_printf(&arena, "%s\n                             ^", line), "dates: -1d");
  }
  refused_pipeline(
      "jobs: {a: {writes: t, shadow: {role: r}}}\n", "tidegate.yaml:1:38", "by parameter and role together",
      "jobs: {a: {writes: t, shadow: {role: r}}}\n                                     ^", "shadow: {parameter:");
  refused_pipeline("gate: {override: maybe}\n", "tidegate.yaml:1:18", "must be allow, forbid, role or approver",
                   "gate: {override: maybe}\n                 ^", "override: approver");
  refused_pipeline("gate: {override: role}\n", "tidegate.yaml:1:1", "which role is not said",
                   "gate: {override: role}\n^", "role: backfill_override");
  refused_pipeline("gate: {overide: role}\n", "tidegate.yaml:1:8", "unknown key “overide” inside “gate”",
                   "gate: {overide: role}\n       ^", "did you mean “override”?");
  refused_with("gate: {override: forbid}\n", "b.yaml:6:1", "top of tidegate.yaml only", "gate: {override: forbid}\n^",
               "");
}

static void what_is_wrong_with_a_question(void **state) {
  refused_with("production: {live: {application: a, role: }}\n", "b.yaml:6:37", "“production.live.role” has no value",
               "production: {live: {application: a, role: }}\n                                    ^",
               "inside “production.live”: role: etl");
  refused_with("production: {live: {airflow: {url: air:8080, dag: d}}}\n", "b.yaml:6:36", "begins with http://",
               "production: {live: {airflow: {url: air:8080, dag: d}}}\n                                   ^",
               "inside “production.live.airflow”: url:");
  refused_with("production: {live: {airflow: {url: \"http://\", dag: d}}}\n", "b.yaml:6:36", "a URL with a host",
               "production: {live: {airflow: {url: \"http://\", dag: d}}}\n                                   ^",
               "url:");
  /* The password is in the line, which is not shown. */
  refused_with("production: {live: {airflow: {url: \"http://u:secret@h\", dag: d}}}\n", "b.yaml:6:36",
               "holds a user or a password", "", "password_env: AIRFLOW_PASSWORD");
  refused_with("production: {live: {airflow: {dag: d}}}\n", "b.yaml:6:36", "both url and dag",
               "production: {live: {airflow: {dag: d}}}\n                                   ^", "airflow: {url:");
  refused_with("production: {live: {airflow: {url: \"http://h\", dag: d, version: 1}}}\n", "b.yaml:6:65", "2 or 3",
               "production: {live: {airflow: {url: \"http://h\", dag: d, version: 1}}}\n"
               "                                                                ^",
               "version: 3");
  refused_with("production: {live: {heartbeat: SELECT 1}}\n", "b.yaml:6:32", "how old the heartbeat of production",
               "production: {live: {heartbeat: SELECT 1}}\n                               ^", "heartbeat_within: 2m");
  static const char *const locks[] = {"x", "1,", "1,2,3", "1.5", "99999999999999999999", "1,3000000000"};
  for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
    ARENA_SCOPED arena = {0};
    Spec spec;
    Error err;
    const char *lines = arena_printf(&arena, "production: {live: {advisory_lock: \"%s\"}}\n", locks[i]);
    if (spec_parse(&arena, "b.yaml", backfill_with(&arena, lines), NULL, NULL, &spec, &err)) fail_msg("%s", locks[i]);
    assert_string_equal(err.where, "b.yaml:6:36");
  }
}

static void freezes(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, LEAST CONTROL, "freeze: [2026-12-24..2026-12-26, month end, {file: holidays.txt}]\n");
  assert_int_equal(spec.n_freezes, 3);
  assert_text(spec.freezes[1].text, "month end", "top/tidegate.yaml", 1, 34);
  assert_false(spec.freezes[1].file);
  assert_true(spec.freezes[2].file);
  assert_string_equal(spec.freezes[2].path, "top/holidays.txt");
  assert_text(spec.freezes[2].text, "holidays.txt", "top/tidegate.yaml", 1, 52);
  spec = parse_both(&arena, LEAST CONTROL, "targets: {daily_delays: {freeze: month end}}\nfreeze: {file: /etc/days}\n");
  assert_int_equal(spec.n_freezes, 1); /* the entry's in place of the top's */
  assert_false(spec.freezes[0].file);
  spec = parse_both(&arena, LEAST CONTROL, "freeze: {file: /etc/days}\n");
  assert_string_equal(spec.freezes[0].path, "/etc/days");
  refused_pipeline("freeze: {days: 3}\n", "tidegate.yaml:1:9", "a map of file alone", "freeze: {days: 3}\n        ^",
                   "{file: holidays.txt}");
  refused_pipeline("freeze: [[a]]\n", "tidegate.yaml:1:10", "one text, not a list", "freeze: [[a]]\n         ^",
                   "month end");
  refused_with("freeze: month end\n", "b.yaml:6:1", "belongs to the pipeline", "freeze: month end\n^", "tidegate.yaml");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jobs_by_name),
      cmocka_unit_test(a_targets_entry_says_more_of_a_job),
      cmocka_unit_test(production_is_a_job_too),
      cmocka_unit_test(every_way_to_ask),
      cmocka_unit_test(what_is_wrong_with_a_job),
      cmocka_unit_test(what_other_tools_call_a_job),
      cmocka_unit_test(what_is_wrong_with_what_other_tools_call_it),
      cmocka_unit_test(what_is_wrong_with_a_question),
      cmocka_unit_test(freezes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
