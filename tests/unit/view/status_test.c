#include "view/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "scene.h"

static const BackfillRecord held = {.id = "7f3a",
                                    .target = "daily\x1b[2J",
                                    .state = "held",
                                    .way = "shadow",
                                    .reason = "a check failed",
                                    .spec_path = "d.yaml",
                                    .owner = "ann@host:1:2",
                                    .created_at = INT64_C(1359676800),
                                    .changed_at = INT64_C(1359676860),
                                    .seal = "{\"rows\":3}"};

static StatusFacts scene_status(void) {
  static const BatchRecord batches[] = {{.number = 1,
                                         .from = INT64_C(1359676800),
                                         .to = INT64_C(1359763200),
                                         .attempt = 1,
                                         .rows = 10,
                                         .changes = 2,
                                         .seconds = 1.5,
                                         .done_at = INT64_C(1359676830)}};
  static const FindingRecord findings[] = {
      {.batch = 1,
       .kind = "row_check",
       .subject = "delay > 0",
       .message = "does not hold",
       .count = 2,
       .examples = "[{\"date\":\"2013-02-01\",\"key\":\"UA\",\"column\":\"delay\",\"old\":\"7\",\"new\":null}]"}};
  static const ObjectRecord objects[] = {{.name = "tidegate_7f3a_changes", .role = "changes"}};
  static const EventRecord events[] = {
      {.at = INT64_C(1359676800), .who = "ann@host:1:2", .what = "planned", .detail = "a\nb"}};
  return (StatusFacts){.record = &held,
                       .zone = zone_utc(),
                       .now = INT64_C(1359676900),
                       .grain = GRAIN_DAY,
                       .date_zone = zone_utc(),
                       .dates = scene_dates,
                       .n_dates = 3,
                       .batches = batches,
                       .n_batches = 1,
                       .findings = findings,
                       .n_findings = 1,
                       .objects = objects,
                       .n_objects = 1,
                       .events = events,
                       .n_events = 1};
}

static void one_backfill_is_shown_whole(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  StatusFacts facts = scene_status();
  view_status(&(Paint){.out = &out}, &arena, &facts);
  assert_string_equal(buf_text(&out),
                      "daily\\x1b[2J  7f3a  held\n"
                      "holds     the reason and the evidence; the shadow stays for looking at\n"
                      "reason    a check failed\n"
                      "range     1–3 Feb 2013; 0 of 3 dates written\n"
                      "spec      d.yaml\n"
                      "planned   2013-02-01 00:00 UTC by ann@host:1:2\n"
                      "objects   tidegate_7f3a_changes (changes)\n"
                      "wrong     row_check delay > 0: does not hold (batch 1)\n"
                      "          date        key  column  old  new\n"
                      "          2013-02-01  UA   delay   7    NULL\n"
                      "          … and 1 more\n"
                      "\n"
                      "batch  dates       rows  changes   time  done\n"
                      "    1  1 Feb 2013    10        2  1.5 s  2013-02-01 00:00 UTC\n"
                      "\n"
                      "events    2013-02-01 00:00 UTC  planned: a b, by ann@host:1:2\n"
                      "\n"
                      "next      tidegate run 7f3a  # try again after the cause was put right\n"
                      "          tidegate discard 7f3a  # give up and clear away\n");
}

/* Of a backfill whose last event is the nth of these. */
static const char *pause_of(Arena *arena, size_t n_events, const char *driver) {
  static const EventRecord events[] = {
      {.at = INT64_C(1359676800),
       .who = "ann@host:1:2",
       .what = "paused",
       .detail = "the replica of the other building is 3 hours behind, and more"},
      {.at = INT64_C(1359676805), .who = "ann@host:1:2", .what = "carried on"},
      {.at = INT64_C(1359676806), .who = "ann@host:1:2", .what = "waits", .detail = "the window"}};
  BUF_SCOPED out = {0};
  StatusFacts facts = scene_status();
  BackfillRecord record = held;
  record.lease_owner = driver;
  facts.record = &record;
  facts.events = events;
  facts.n_events = n_events;
  view_status(&(Paint){.out = &out}, arena, &facts);
  const char *pause = strstr(buf_text(&out), n_events == 3 ? "\nwaits     " : "\npaused    ");
  return pause == NULL ? NULL : arena_strdup(arena, pause);
}

static void why_nothing_moves_is_said_in_full(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  const char *pause = pause_of(&arena, 1, "ann@host:1:2");
  assert_non_null(pause);
  assert_non_null(strstr(pause,
                         "the replica of the other building is 3 hours behind, and more\n"
                         "          since 2013-02-01 00:00 UTC; the run carries on by itself when that is over\n"));
  assert_null(pause_of(&arena, 2, "ann@host:1:2")); /* it has carried on */
  assert_null(pause_of(&arena, 1, NULL));           /* whoever paused has ended */
  assert_null(pause_of(&arena, 1, "bob@host:3:4")); /* and somebody else drives it */
  assert_non_null(pause_of(&arena, 3, "ann@host:1:2"));
}

static void an_empty_list_says_what_to_do(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  view_status_list(&(Paint){.out = &out}, &arena, NULL, 0, zone_utc());
  assert_string_equal(buf_text(&out), "No backfill is recorded here. Next: tidegate plan SPEC\n");
}

static void a_list_has_a_line_each(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  view_status_list(&(Paint){.out = &out}, &arena, &held, 1, zone_utc());
  assert_string_equal(buf_text(&out),
                      "id    target        state  since                 driven by  reason\n"
                      "7f3a  daily\\x1b[2J  held   2013-02-01 00:01 UTC  -          a check failed\n");
}

static void the_json_is_valid(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  StatusFacts facts = scene_status();
  const DocNode *root = NULL;
  Error err;
  Json json = {.out = &out};
  json_object(&json, NULL);
  view_status_json(&json, &arena, &facts);
  json_object_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  assert_string_equal(doc_text(root, "target", ""), "daily\x1b[2J");
  assert_int_equal(doc_int(doc_get(root, "seal"), "rows", 0), 3);
  assert_int_equal(doc_get(&doc_get(root, "findings")->children[0], "examples")->n, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_backfill_is_shown_whole),
                                     cmocka_unit_test(why_nothing_moves_is_said_in_full),
                                     cmocka_unit_test(an_empty_list_says_what_to_do),
                                     cmocka_unit_test(a_list_has_a_line_each), cmocka_unit_test(the_json_is_valid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
