#include "engine/sqlite/date_sql.h"
#include "open.h"

enum { DAY = 86400 };

/* 2013-02-01T00:00:00Z */
static const Instant february = 1359676800;

static const ShapeColumn columns[] = {{.name = "the \"day\"", .key = true, .given = true},
                                      {.name = "group", .key = true, .given = true},
                                      {.name = "n", .given = true}};

static Shape shape_of(const char *table, DateKind kind) {
  return (Shape){.table = table,
                 .columns = columns,
                 .n = 3,
                 .keyed = true,
                 .codec = {.kind = kind, .grain = GRAIN_DAY, .zone = zone_utc()}};
}

/* The counts of the range as "day:expected/suspect …; nulls". Days from 1 February. */
static const char *counts(Fixture *f, const Shape *shape, int from, int to, const char *where) {
  Error err = {0};
  DateRecord *dates;
  size_t n;
  int64_t nulls;
  BUF_SCOPED text = {0};
  DateRange range = {february + from * DAY, february + to * DAY};
  must(sqlite_count_dates(f->engine, &f->arena, shape, range, where, &dates, &n, &nulls, &err), &err);
  for (size_t i = 0; i < n; i++)
    buf_printf(&text, "%lld:%lld/%lld ", (long long)((dates[i].date - february) / DAY + 1),
               (long long)dates[i].expected, (long long)dates[i].suspect);
  buf_printf(&text, "nulls %lld", (long long)nulls);
  return arena_strdup(&f->arena, buf_text(&text));
}

static void make(Fixture *f, const char *type, const char *rest) {
  run(f, arena_printf(&f->arena, "CREATE TABLE \"a table\" (\"the \"\"day\"\"\" %s, \"group\" TEXT, n INT%s", type,
                      rest[0] == '\0' ? ")" : rest));
}

static const char *const by_day = "CREATE INDEX \"by day\" ON \"a table\" (\"the \"\"day\"\"\")";

static void rows_by_date(void **state) {
  Fixture *f = *state;
  Shape shape = shape_of("a table", DATE_TEXT);
  make(f, "TEXT", "");
  run(f,
      "INSERT INTO \"a table\" VALUES ('2013-01-31', 'a', 1), ('2013-02-01', 'a', 1), ('2013-02-01', 'b', 0),"
      "('2013-02-03', 'a', NULL), ('2013-02-04', 'a', 1), (NULL, 'x', 1), (NULL, 'y', 1), ('2013-02-30', 'z', 1)");
  for (int indexed = 0; indexed < 2; indexed++) {
    assert_string_equal(counts(f, &shape, 0, 3, NULL), "1:2/2 3:1/1 nulls 2");
    assert_string_equal(counts(f, &shape, 0, 3, "n > 0 -- why\n"), "1:2/1 3:1/0 nulls 2");
    assert_string_equal(counts(f, &shape, 0, 3, "\"group\" = 'a' OR n = 0"), "1:2/2 3:1/1 nulls 2");
    assert_string_equal(counts(f, &shape, 10, 12, NULL), "nulls 2");
    run(f, indexed == 0 ? by_day : "SELECT 1");
  }
}

static void the_index_is_used(void **state) {
  Fixture *f = *state;
  Error err = {0};
  Shape shape = shape_of("a table", DATE_TEXT);
  DateRecord *dates;
  size_t n;
  int64_t nulls;
  make(f, "TEXT", "");
  run(f, by_day);
  run(f,
      "WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 20000)"
      "INSERT INTO \"a table\" SELECT date('1990-01-01', i || ' days'), 'a', 1 FROM s");
  sqlite3 *db = sqlite_engine(f->engine)->db;
  int used, high;
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &used, &high, 1);
  must(sqlite_count_dates(f->engine, &f->arena, &shape, (DateRange){february, february + 2 * DAY}, NULL, &dates, &n,
                          &nulls, &err),
       &err);
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &used, &high, 1);
  assert_int_equal(n, 2);
  assert_true(used < 100);
}

static void timestamps_of_every_form(void **state) {
  Fixture *f = *state;
  Shape shape = shape_of("a table", TIMESTAMP_TEXT);
  make(f, "TEXT", "");
  run(f,
      "INSERT INTO \"a table\" VALUES ('2013-02-01T00:00:00', 'a', 1), ('2013-02-01 23:59:59.9', 'b', 1),"
      "('2013-01-31T20:00:00-05:00', 'c', 1), ('2013-02-02T01:00:00+03:00', 'd', 1), ('2013-02-02T00:00Z', 'e', 1)");
  for (int indexed = 0; indexed < 2; indexed++) {
    assert_string_equal(counts(f, &shape, 0, 1, NULL), "1:4/4 nulls 0");
    assert_string_equal(counts(f, &shape, 1, 2, NULL), "2:1/1 nulls 0");
    run(f, indexed == 0 ? by_day : "SELECT 1");
  }
}

static void numbers_as_dates(void **state) {
  Fixture *f = *state;
  Shape seconds = shape_of("a table", UNIX_SECONDS), julian = shape_of("j", JULIAN_DAY);
  make(f, "INTEGER PRIMARY KEY", "");
  run(f, "INSERT INTO \"a table\" VALUES (1359676799, 'a', 1), (1359676800, 'b', 1), (1359763199, 'c', 1)");
  assert_string_equal(counts(f, &seconds, 0, 1, NULL), "1:2/2 nulls 0");
  run(f,
      "CREATE TABLE j (\"the \"\"day\"\"\" REAL, \"group\", n); CREATE INDEX ji ON j (\"the \"\"day\"\"\");"
      "INSERT INTO j VALUES (julianday('2013-02-01'), 1, 1), (julianday('2013-02-01 23:59:59'), 2, 1), ('no', 3, 3)");
  assert_string_equal(counts(f, &julian, 0, 2, NULL), "1:2/2 nulls 0");
}

static void a_zone_moves_midnight(void **state) {
  Fixture *f = *state;
  Error err = {0};
  Shape shape = shape_of("a table", TIMESTAMP_TEXT);
  must(zone_open(&f->arena, "America/New_York", &shape.codec.zone, &err), &err);
  make(f, "TEXT", "");
  run(f, by_day);
  run(f,
      "INSERT INTO \"a table\" VALUES ('2013-02-01T04:59:59', 'a', 1), ('2013-02-01T05:00:00', 'b', 1),"
      "('2013-02-02T04:59:59', 'c', 1)");
  DateRecord *dates;
  size_t n;
  int64_t nulls;
  DateRange range = {february + 5 * 3600, february + DAY + 5 * 3600};
  must(sqlite_count_dates(f->engine, &f->arena, &shape, range, NULL, &dates, &n, &nulls, &err), &err);
  assert_int_equal(n, 1);
  assert_int_equal(dates[0].date, range.from);
  assert_int_equal(dates[0].expected, 2);
}

static void which_indexes_serve(void **state) {
  Fixture *f = *state;
  Error err = {0};
  SqliteEngine *engine = sqlite_engine(f->engine);
  static const struct {
    const char *table, *sql;
    bool indexed;
  } cases[] = {{"a", "CREATE TABLE a (d TEXT)", false},
               {"b", "CREATE TABLE b (d TEXT, x); CREATE INDEX b1 ON b (x, d)", false},
               {"c", "CREATE TABLE c (d TEXT, x); CREATE INDEX c1 ON c (D, x)", true},
               {"d", "CREATE TABLE d (d TEXT); CREATE INDEX d1 ON d (d) WHERE d > 1", false},
               {"e", "CREATE TABLE e (d TEXT); CREATE INDEX e1 ON e (d COLLATE NOCASE)", false},
               {"f", "CREATE TABLE f (d TEXT); CREATE INDEX f1 ON f (date(d))", false},
               {"g", "CREATE TABLE g (d INTEGER PRIMARY KEY)", true},
               {"h", "CREATE TABLE h (d TEXT, x, PRIMARY KEY (d, x)) WITHOUT ROWID", true},
               {"i", "CREATE TABLE i (d TEXT, x, PRIMARY KEY (x, d)) WITHOUT ROWID", false},
               {"j", "CREATE TABLE j (d INTEGER, x INTEGER PRIMARY KEY)", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool indexed;
    run(f, cases[i].sql);
    must(date_indexed(engine, cases[i].table, "d", &indexed, &err), &err);
    if (indexed != cases[i].indexed) fail_msg("%s", cases[i].sql);
  }
}

static void keys_that_are_none(void **state) {
  Fixture *f = *state;
  Error err = {0};
  Shape shape = shape_of("a table", DATE_TEXT);
  int64_t duplicates, nulls;
  make(f, "TEXT", "");
  run(f,
      "INSERT INTO \"a table\" VALUES ('2013-02-01', 'a', 1), ('2013-02-01', 'a', 2), ('2013-02-01', 'a', 3),"
      "('2013-02-02', 'a', 1), ('2013-02-02', NULL, 1), ('2013-02-02', NULL, 1), ('2013-01-31', 'a', 1),"
      "('2013-01-31', 'a', 1), ('2013-01-31', NULL, 1)");
  DateRange range = {february, february + 2 * DAY};
  for (int indexed = 0; indexed < 2; indexed++) {
    must(sqlite_key_faults(f->engine, &f->arena, &shape, range, &duplicates, &nulls, &err), &err);
    assert_int_equal(duplicates, 1);
    assert_int_equal(nulls, 2);
    run(f, indexed == 0 ? by_day : "SELECT 1");
  }
  const ShapeColumn keyless[] = {{.name = "the \"day\""}, {.name = "group"}};
  shape.columns = keyless;
  shape.n = 2;
  must(sqlite_key_faults(f->engine, &f->arena, &shape, range, &duplicates, &nulls, &err), &err);
  assert_int_equal(duplicates + nulls, 0);
}

static DateProfile profile_of(Fixture *f, const char *table) {
  Error err = {0};
  DateProfile profile;
  must(sqlite_date_profile(f->engine, &f->arena, table, "The \"Day\"", &profile, &err), &err);
  return profile;
}

static void a_small_table_is_read_whole(void **state) {
  Fixture *f = *state;
  Error err = {0};
  make(f, "", "");
  DateProfile profile = profile_of(f, "a table");
  assert_int_equal(profile.rows, 0);
  assert_int_equal(profile.n_samples, 0);
  assert_null(profile.lowest);
  run(f,
      "INSERT INTO \"a table\" VALUES ('2013-02-01', 1, 1), ('2013-02-01', 1, 1), (5, 1, 1), (5.5, 1, 1), (x'00', 1, "
      "1),"
      "(NULL, 1, 1)");
  profile = profile_of(f, "A TABLE");
  assert_int_equal(profile.rows, 6);
  assert_int_equal(profile.nulls, 1);
  assert_int_equal(profile.texts, 2);
  assert_int_equal(profile.integers, 1);
  assert_int_equal(profile.reals, 1);
  assert_int_equal(profile.others, 1);
  assert_int_equal(profile.n_samples, 4);
  assert_string_equal(profile.lowest, "5");
  assert_refused(sqlite_date_profile(f->engine, &f->arena, "a table", "dya", &profile, &err), &err, ERR_NOT_FOUND,
                 "no column 'dya'");
  assert_refused(sqlite_date_profile(f->engine, &f->arena, "none", "d", &profile, &err), &err, ERR_NOT_FOUND, "none");
}

/* 120,000 rows over 2,000 days. */
static void fill_large(Fixture *f) {
  run(f,
      "WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 119999)"
      "INSERT INTO \"a table\" SELECT date('2010-01-01', (i / 60) || ' days'), i, 1 FROM s");
}

static void a_large_table_is_sampled(void **state) {
  Fixture *f = *state;
  make(f, "TEXT", "");
  fill_large(f);
  DateProfile profile = profile_of(f, "a table");
  assert_int_equal(profile.rows, -1);
  assert_int_equal(profile.nulls, -1);
  assert_null(profile.lowest);
  assert_true(profile.texts >= 140 && profile.texts < 300);
  assert_true(profile.n_samples > 50);
  run(f, by_day);
  run(f, "UPDATE \"a table\" SET \"the \"\"day\"\"\" = NULL WHERE rowid < 3000");
  profile = profile_of(f, "a table");
  assert_int_equal(profile.rows, -1); /* counting would read the whole index */
  assert_string_equal(profile.lowest, "2010-02-19");
  assert_true(profile.texts >= 140);
}

static void large_tables_of_other_kinds(void **state) {
  Fixture *f = *state;
  make(f, "TEXT", ", PRIMARY KEY (\"group\", n)) WITHOUT ROWID");
  fill_large(f);
  DateProfile profile = profile_of(f, "a table");
  assert_int_equal(profile.rows, -1);
  assert_true(profile.texts == 140 && profile.n_samples > 1);
  run(f, "CREATE VIEW v AS SELECT * FROM \"a table\"");
  profile = profile_of(f, "v");
  assert_int_equal(profile.rows, -1);
  assert_int_equal(profile.texts, 70);
}

static void the_function_reads_what_the_codec_knows(void **state) {
  Fixture *f = *state;
  SqliteEngine *engine = sqlite_engine(f->engine);
  DateCodec codec = {.kind = DATE_TEXT, .grain = GRAIN_MONTH, .zone = zone_utc()};
  sqlite_use_codec(engine, &codec);
  assert_string_equal(one(f, "SELECT tidegate_date('2013-02-17')"), "1359676800");
  assert_string_equal(one(f, "SELECT tidegate_date('2013-02-30')"), "NULL");
  assert_string_equal(one(f, "SELECT tidegate_date(1359676800)"), "NULL");
  assert_string_equal(one(f, "SELECT tidegate_date(NULL)"), "NULL");
  assert_string_equal(one(f, "SELECT tidegate_date(x'323031332d30322d3137')"), "NULL");
  codec.kind = UNIX_MILLIS;
  sqlite_use_codec(engine, &codec);
  assert_string_equal(one(f, "SELECT tidegate_date(1359676800123)"), "1359676800");
  run(f, "PRAGMA trusted_schema = OFF; CREATE TEMP VIEW w AS SELECT tidegate_date(1359676800123)");
  assert_string_equal(one(f, "SELECT * FROM w"), "1359676800");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(rows_by_date),
                                     FIXTURE_TEST(the_index_is_used),
                                     FIXTURE_TEST(timestamps_of_every_form),
                                     FIXTURE_TEST(numbers_as_dates),
                                     FIXTURE_TEST(a_zone_moves_midnight),
                                     FIXTURE_TEST(which_indexes_serve),
                                     FIXTURE_TEST(keys_that_are_none),
                                     FIXTURE_TEST(a_small_table_is_read_whole),
                                     FIXTURE_TEST(a_large_table_is_sampled),
                                     FIXTURE_TEST(large_tables_of_other_kinds),
                                     FIXTURE_TEST(the_function_reads_what_the_codec_knows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
