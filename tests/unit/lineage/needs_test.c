#include "lineage_test.h"

#include <string.h>

#include "lineage/readers.h"
#include "time/quantity.h"

static Instant at(const char *text) {
  Instant instant;
  Error err;
  assert_true(instant_parse(text, &instant, &err));
  return instant;
}

/* What a node needs whose parents' 8 and 9 February 2013 changed; it is 10 June 2013, 10:00 UTC. */
static LineageNode judged(Arena *arena, const GraphNode *node) {
  LineageAsk ask = {.ranged = true, .grain = GRAIN_DAY, .zone = zone_utc(), .now = at("2013-06-10T10:00:00Z")};
  NeedsCase given = {.arena = arena,
                     .ask = &ask,
                     .node = node,
                     .ranged = true,
                     .range = {at("2013-02-08T00:00:00Z"), at("2013-02-10T00:00:00Z")},
                     .grain = GRAIN_DAY};
  LineageNode ret = {0};
  needs_judge(&given, &ret);
  return ret;
}

static void check(const GraphNode *node, Needs needs, const char *why) {
  ARENA_SCOPED arena = {0};
  LineageNode found = judged(&arena, node);
  if (found.needs != needs)
    fail_msg("%s %s %s: %s, not %s", node->kind, node->materialization, node->strategy, needs_name(found.needs),
             needs_name(needs));
  if (why == NULL)
    assert_null(found.why);
  else if (found.why == NULL || strstr(found.why, why) == NULL)
    fail_msg("“%s” is not in “%s”", why, found.why);
}

#define MODEL(as, how) (&(GraphNode){.kind = "model", .materialization = (as), .strategy = (how)})

static void materializations_decide(void **state) {
  check(MODEL("view", NULL), NEEDS_FOLLOWS, NULL);
  check(MODEL("ephemeral", NULL), NEEDS_FOLLOWS, "a part of the SQL");
  check(MODEL("materialized_view", NULL), NEEDS_REFRESH, NULL);
  check(MODEL("table", NULL), NEEDS_REBUILD, NULL);
  check(MODEL("incremental", NULL), NEEDS_CASCADE, NULL);
  check(MODEL("incremental", "append"), NEEDS_CASCADE, "double");
  check(MODEL("incremental", "merge"), NEEDS_CASCADE, "upsert only");
  check(MODEL("incremental", "delete+insert"), NEEDS_CASCADE, "key is gone");
  check(MODEL("incremental", "insert_overwrite"), NEEDS_CASCADE, NULL);
  check(MODEL("incremental", "microbatch"), NEEDS_CASCADE, NULL);
  check(MODEL("something new", NULL), NEEDS_UNKNOWN, NULL);
}

static void kinds_decide(void **state) {
  static const struct {
    const char *kind;
    Needs needs;
  } cases[] = {{"view", NEEDS_FOLLOWS},        {"materialized view", NEEDS_REFRESH},
               {"snapshot", NEEDS_PERSON},     {"exposure", NEEDS_PERSON},
               {"dashboard", NEEDS_PERSON},    {"export", NEEDS_PERSON},
               {"ml feature", NEEDS_PERSON},   {"metric", NEEDS_FOLLOWS},
               {"saved query", NEEDS_FOLLOWS}, {"semantic model", NEEDS_FOLLOWS},
               {"test", NEEDS_FOLLOWS},        {"table", NEEDS_UNKNOWN},
               {"trigger", NEEDS_UNKNOWN},     {"a word of one's own", NEEDS_UNKNOWN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    assert_int_equal(judged(&arena, &(GraphNode){.kind = cases[i].kind}).needs, cases[i].needs);
  }
  check(&(GraphNode){.kind = "saved query", .materialization = "export"}, NEEDS_REBUILD, "exports");
}

static void a_word_of_its_own_wins(void **state) {
  check(&(GraphNode){.kind = "model", .materialization = "table", .needs = "cascade"}, NEEDS_CASCADE, NULL);
  check(&(GraphNode){.kind = "dashboard", .needs = "refresh"}, NEEDS_REFRESH, NULL);
  check(&(GraphNode){.kind = "view", .needs = "unknown"}, NEEDS_UNKNOWN, NULL);
  check(&(GraphNode){.kind = "model", .materialization = "table", .disabled = true}, NEEDS_NOTHING, "disabled");
  /* A table whose dates are known can be recomputed. */
  check(&(GraphNode){.kind = "table", .range_from = "its SQL"}, NEEDS_CASCADE, NULL);
}

static void check_range(GraphNode node, const char *from, const char *to, const char *why) {
  ARENA_SCOPED arena = {0};
  node.kind = "model";
  node.materialization = "incremental";
  LineageNode found = judged(&arena, &node);
  char text[40];
  assert_int_equal(found.needs, NEEDS_CASCADE);
  assert_true(found.ranged);
  instant_rfc3339(found.range.from, zone_utc(), text);
  assert_memory_equal(text, from, strlen(from));
  instant_rfc3339(found.range.to, zone_utc(), text);
  assert_memory_equal(text, to, strlen(to));
  if (why != NULL && (found.why == NULL || strstr(found.why, why) == NULL))
    fail_msg("“%s” not in “%s”", why, found.why);
  assert_int_equal(found.assumed, node.range_from == NULL);
}

static void dates_are_mapped(void **state) {
  check_range((GraphNode){0}, "2013-02-08", "2013-02-10", NULL);
  check_range((GraphNode){.range_from = "its SQL", .window_days = 6}, "2013-02-08", "2013-02-16",
              "6 days before it as well (by its SQL)");
  check_range((GraphNode){.range_from = "x", .lookback = 1}, "2013-02-08", "2013-02-11", "looks back 1 day");
  check_range((GraphNode){.range_from = "x", .has_grain = true, .grain = GRAIN_MONTH}, "2013-02-01", "2013-03-01",
              NULL);
  /* The week of 4 February; the rolling three months of a month table. */
  check_range((GraphNode){.range_from = "x", .has_grain = true, .grain = GRAIN_WEEK}, "2013-02-04", "2013-02-11", NULL);
  check_range((GraphNode){.range_from = "x", .has_grain = true, .grain = GRAIN_MONTH, .window = 2}, "2013-02-01",
              "2013-05-01", "2 months");
  /* Days that reach into the next month, before they are widened to months. */
  check_range((GraphNode){.range_from = "x", .has_grain = true, .grain = GRAIN_MONTH, .window_days = 20}, "2013-02-01",
              "2013-04-01", "20 days");
  check_range((GraphNode){.range_from = "x", .window_days = 1, .earlier_days = 9}, "2013-01-30", "2013-02-11",
              "1 day before it as well; a row may read 9 days behind it");
  check_range((GraphNode){.range_from = "x", .has_grain = true, .grain = GRAIN_MONTH, .earlier_days = 9}, "2013-01-01",
              "2013-03-01", "behind it");
  check_range((GraphNode){.range_from = "x", .cumulative = true}, "2013-02-08", "2013-06-10", "everything up to today");
  check_range((GraphNode){.reads_itself = true}, "2013-02-08", "2013-06-10", "its own rows");
  check_range((GraphNode){.range_from = "x", .cumulative = true, .has_grain = true, .grain = GRAIN_MONTH}, "2013-02-01",
              "2013-06-01", NULL);
}

static void where_every_date_hangs_on_every_date(void **state) {
  ARENA_SCOPED arena = {0};
  GraphNode node = {.kind = "model", .materialization = "incremental", .whole = "a total", .range_from = "its SQL"};
  LineageNode found = judged(&arena, &node);
  assert_int_equal(found.needs, NEEDS_REBUILD);
  assert_false(found.ranged);
  assert_non_null(strstr(found.why, "a total"));
  node.materialization = "view"; /* which is not rebuilt, but whose readers' dates are not known */
  found = judged(&arena, &node);
  assert_int_equal(found.needs, NEEDS_FOLLOWS);
  assert_false(found.ranged);
  assert_non_null(strstr(found.why, "any date"));
}

static void words_are_read_as_they_are_written(void **state) {
  for (int i = 0; i < NEEDS_COUNT_; i++) assert_int_equal(needs_of(needs_name((Needs)i)), i);
  assert_int_equal(needs_of("whatever"), NEEDS_UNKNOWN);
  assert_int_equal(needs_of(NULL), NEEDS_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materializations_decide),
      cmocka_unit_test(kinds_decide),
      cmocka_unit_test(a_word_of_its_own_wins),
      cmocka_unit_test(dates_are_mapped),
      cmocka_unit_test(where_every_date_hangs_on_every_date),
      cmocka_unit_test(words_are_read_as_they_are_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
