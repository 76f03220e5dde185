#include "server.h"

/* Rows by date on a real server: every type of date column, zones, grains, what is no date. */

static const Zone *zone_of(Fixture *f, const char *name) {
  const Zone *zone = NULL;
  Error err = {0};
  must(zone_open(&f->arena, name, &zone, &err), &err);
  return zone;
}

static DateRange range_of(const DateCodec *codec, const char *text) {
  DateRange range = {0};
  Error err = {0};
  must(date_range_parse(text, codec->grain, codec->zone, &range, &err), &err);
  return range;
}

/* A target of the columns "key", the date column and n; the first is the key. */
static Shape shape_of(Fixture *f, const char *table, const char *key, const char *date, DateCodec codec) {
  ShapeColumn *columns = arena_array(&f->arena, 3, sizeof *columns);
  columns[0] = (ShapeColumn){.name = key, .type = "", .key = true, .given = true};
  columns[1] = (ShapeColumn){.name = date, .type = "", .given = true};
  columns[2] = (ShapeColumn){.name = "n", .type = "", .given = true};
  return (Shape){.table = table, .columns = columns, .n = 3, .date = 1, .keyed = true, .codec = codec};
}

/* "label=rows/suspects …, NULL=rows" */
static const char *counts(Fixture *f, const Shape *shape, const char *range, const char *where) {
  DateRecord *dates = NULL;
  size_t n = 0;
  int64_t nulls = -1;
  Error err = {0};
  BUF_SCOPED text = {0};
  must(pg_count_dates(f->engine, &f->arena, shape, range_of(&shape->codec, range), where, &dates, &n, &nulls, &err),
       &err);
  for (size_t i = 0; i < n; i++) {
    char label[32];
    grain_label(shape->codec.grain, shape->codec.zone, dates[i].date, label);
    buf_printf(&text, "%s=%ld/%ld ", label, (long)dates[i].expected, (long)dates[i].suspect);
  }
  buf_printf(&text, "NULL=%ld", (long)nulls);
  return arena_strdup(&f->arena, buf_text(&text));
}

static DateCodec codec_of(DateKind kind, Grain grain, const Zone *zone) {
  return (DateCodec){.kind = kind, .grain = grain, .zone = zone, .separator = ' '};
}

static void days_in_a_date_column_with_an_odd_name(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE SCHEMA \"Odd\"");
  run(f, "CREATE TABLE \"Odd\".\"ta\"\"ble\" (id int, \"the \"\"Day\" date, n int)");
  run(f,
      "INSERT INTO \"Odd\".\"ta\"\"ble\" VALUES (1, '2024-02-28', 1), (2, '2024-02-29', 1), (3, '2024-02-29', NULL), "
      "(4, '2024-02-29', 7), (5, '2024-03-02', 1), (6, NULL, 1), (7, 'infinity', 1), (8, '-infinity', 1), "
      "(9, '2024-02-27', 1), (10, '2024-03-03', 1)");
  Shape shape = shape_of(f, "\"Odd\".\"ta\"\"ble\"", "id", "the \"Day", codec_of(DATE_TEXT, GRAIN_DAY, zone_utc()));
  assert_string_equal(counts(f, &shape, "2024-02-28..2024-03-02", NULL),
                      "2024-02-28=1/1 2024-02-29=3/3 2024-03-02=1/1 NULL=1");
  assert_string_equal(counts(f, &shape, "2024-02-28..2024-03-02", "n > 1 -- why"),
                      "2024-02-28=1/0 2024-02-29=3/1 2024-03-02=1/0 NULL=1");
  shape.codec.grain = GRAIN_MONTH;
  assert_string_equal(counts(f, &shape, "2024-02..2024-03", NULL), "2024-02=5/5 2024-03=2/2 NULL=1");
  shape.codec.grain = GRAIN_WEEK;
  assert_string_equal(counts(f, &shape, "2024-02-26..2024-03-03", NULL), "2024-02-26=7/7 NULL=1");
}

static void days_in_texts(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (id int, d varchar(20), n int)");
  run(f,
      "INSERT INTO t VALUES (1, '2024-02-29', 1), (2, '2024-02-30', 1), (3, '2024-02-29 ', 1), (4, '', 1), "
      "(5, '2024-03-01', 1), (6, NULL, 1), (7, '2024-02-29T10:00', 1)");
  Shape shape = shape_of(f, "t", "id", "d", codec_of(DATE_TEXT, GRAIN_DAY, zone_utc()));
  assert_string_equal(counts(f, &shape, "2024-02-28..2024-03-01", NULL), "2024-02-29=1/1 2024-03-01=1/1 NULL=1");
  shape.codec.grain = GRAIN_YEAR;
  assert_string_equal(counts(f, &shape, "2024", NULL), "2024=2/2 NULL=1");
}

/* The clock goes on at 2024-03-10T07:00Z and back at 2024-11-03T06:00Z. */
static void instants_against_the_clock_of_new_york(void **state) {
  Fixture *f = fixture_of(state);
  static const char *const types[] = {"timestamptz", "timestamp", "bigint"};
  for (int i = 0; i < 3; i++) {
    static const char *const values[] = {"v", "v AT TIME ZONE 'UTC'", "extract(epoch FROM v)::bigint"};
    run(f, "DROP TABLE IF EXISTS t");
    run(f, arena_printf(&f->arena, "CREATE TABLE t (id int, at %s NOT NULL, n int)", types[i]));
    run(f, arena_printf(&f->arena,
                        "INSERT INTO t SELECT 1, %s, 1 FROM unnest('{2024-03-10 04:59:59+00, 2024-03-10 05:00+00, "
                        "2024-03-11 03:59:59+00, 2024-03-11 04:00+00, 2024-11-03 03:59:59+00, 2024-11-03 04:00+00, "
                        "2024-11-03 05:30+00, 2024-11-03 06:30+00, 2024-11-04 04:59:59+00, 2024-11-04 05:00+00}'"
                        "::timestamptz[]) AS v",
                        values[i]));
    DateKind kind = i == 2 ? UNIX_SECONDS : TIMESTAMP_TEXT;
    Shape shape = shape_of(f, "t", "id", "at", codec_of(kind, GRAIN_DAY, zone_of(f, "America/New_York")));
    shape.columns = (ShapeColumn[]){
        shape.columns[0], {.name = "at", .type = "", .given = true, .not_null = true}, shape.columns[2]};
    assert_string_equal(counts(f, &shape, "2024-03-09..2024-03-11", NULL),
                        "2024-03-09=1/1 2024-03-10=2/2 2024-03-11=1/1 NULL=0");
    assert_string_equal(counts(f, &shape, "2024-11-02..2024-11-04", NULL),
                        "2024-11-02=1/1 2024-11-03=4/4 2024-11-04=1/1 NULL=0");
    shape.codec.grain = GRAIN_HOUR;
    assert_string_equal(counts(f, &shape, "2024-11-03T00..2024-11-03T02", NULL),
                        "2024-11-03T00=1/1 2024-11-03T01-04:00=1/1 2024-11-03T01-05:00=1/1 NULL=0");
    shape.codec.grain = GRAIN_MONTH;
    assert_string_equal(counts(f, &shape, "2024-03..2024-11", NULL), "2024-03=4/4 2024-11=6/6 NULL=0");
  }
}

/* What the session's own zone is makes no difference. */
static void the_zone_of_the_session_does_not_matter(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (id int, at timestamptz, n int)");
  run(f,
      "INSERT INTO t VALUES (1, '2024-07-01 03:59:59+00', 1), (1, '2024-07-01 04:00+00', 1), (1, 'infinity', 1), "
      "(1, '-infinity', 1), (1, NULL, 1)");
  run(f, "SET TimeZone = 'Asia/Tokyo'");
  Shape shape = shape_of(f, "t", "id", "at", codec_of(TIMESTAMP_TEXT, GRAIN_DAY, zone_of(f, "America/New_York")));
  assert_string_equal(counts(f, &shape, "2024-06-30..2024-07-01", NULL), "2024-06-30=1/1 2024-07-01=1/1 NULL=1");
}

static void ten_thousand_dates(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (id int, d date, at timestamptz, n int)");
  run(f,
      "INSERT INTO t SELECT i % 3, date '1990-01-01' + i, timestamptz '2020-01-01 00:30+00' + i * interval '1 hour', 1 "
      "FROM generate_series(0, 9999) AS i, generate_series(1, 2)");
  DateRecord *dates = NULL;
  size_t n = 0;
  int64_t nulls;
  Error err = {0};
  Shape shape = shape_of(f, "t", "id", "d", codec_of(DATE_TEXT, GRAIN_DAY, zone_utc()));
  must(pg_count_dates(f->engine, &f->arena, &shape, range_of(&shape.codec, "1980-01-01..2020-01-01"), NULL, &dates, &n,
                      &nulls, &err),
       &err);
  assert_int_equal(n, 10000);
  assert_int_equal(dates[9999].expected, 2);
  shape = shape_of(f, "t", "id", "at", codec_of(TIMESTAMP_TEXT, GRAIN_HOUR, zone_utc()));
  must(pg_count_dates(f->engine, &f->arena, &shape, range_of(&shape.codec, "2019-12-31..2021-12-31"), NULL, &dates, &n,
                      &nulls, &err),
       &err);
  assert_int_equal(n, 10000);
  assert_int_equal(dates[0].date, 1577836800);
  assert_int_equal(dates[9999].date, 1577836800 + 9999 * 3600);
}

static void faults(Fixture *f, const Shape *shape, const char *range, int64_t duplicates, int64_t nulls) {
  int64_t seen_duplicates = -1, seen_nulls = -1;
  Error err = {0};
  must(pg_key_faults(f->engine, &f->arena, shape, range_of(&shape->codec, range), &seen_duplicates, &seen_nulls, &err),
       &err);
  assert_int_equal(seen_duplicates, duplicates);
  assert_int_equal(seen_nulls, nulls);
}

static void keys_that_are_none(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (\"k \"\"1\" text, d date, n int)");
  run(f,
      "INSERT INTO t VALUES ('a', '2024-01-01', 1), ('a', '2024-01-02', 1), ('b', '2024-01-01', 1), "
      "('b', '2024-01-09', 1), ('c', '2024-01-01', 1), ('c', '2024-01-01', 1), ('c', '2024-01-01', 1), "
      "(NULL, '2024-01-01', 1), (NULL, '2024-01-01', 1), (NULL, '2024-01-09', 1)");
  Shape shape = shape_of(f, "t", "k \"1", "d", codec_of(DATE_TEXT, GRAIN_DAY, zone_utc()));
  faults(f, &shape, "2024-01-01..2024-01-02", 2, 2);
  faults(f, &shape, "2024-01-02", 0, 0);
  run(f, "DELETE FROM t WHERE ctid NOT IN (SELECT min(ctid) FROM t GROUP BY \"k \"\"1\")");
  run(f, "CREATE UNIQUE INDEX ON t (\"k \"\"1\") WHERE n > 5");
  run(f, "CREATE UNIQUE INDEX ON t (d, \"k \"\"1\")");
  run(f, "INSERT INTO t VALUES ('a', '2024-01-02', 1)");
  faults(f, &shape, "2024-01-01..2024-01-02", 1, 1);
  run(f, "DELETE FROM t WHERE d = '2024-01-02'");
  run(f, "CREATE UNIQUE INDEX ON t (\"k \"\"1\") INCLUDE (n)");
  faults(f, &shape, "2024-01-01..2024-01-02", 0, 1);
  run(f, "CREATE TABLE j (k json, d date, n int)");
  run(f, "INSERT INTO j VALUES ('{\"a\": 1}', '2024-01-01', 1), ('{\"a\": 1}', '2024-01-01', 1)");
  shape = shape_of(f, "j", "k", "d", codec_of(DATE_TEXT, GRAIN_DAY, zone_utc()));
  faults(f, &shape, "2024-01-01", 1, 0);
}

/* ---- profiles --------------------------------------------------------------------------------------------------- */

static DateProfile profile_of(Fixture *f, const char *table, const char *column) {
  DateProfile profile = {0};
  Error err = {0};
  must(pg_date_profile(f->engine, &f->arena, table, column, &profile, &err), &err);
  return profile;
}

static const char *samples_of(Fixture *f, const char *table, const char *column) {
  DateProfile profile = profile_of(f, table, column);
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < profile.n_samples; i++) buf_printf(&text, "%s%s", i == 0 ? "" : "|", profile.samples[i]);
  return arena_strdup(&f->arena, buf_text(&text));
}

static void profiles_of_small_tables(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE DOMAIN business_day AS date CHECK (VALUE > '1900-01-01')");
  run(f,
      "CREATE TABLE t (d date, \"At\" timestamptz, ts timestamp, s text, u bigint, f real, x numeric, j jsonb, "
      "b business_day, r daterange)");
  run(f,
      "INSERT INTO t VALUES ('2024-07-01', '2024-07-01 02:00+02', '2024-07-01 00:00:01.5', '2024-07-01', 1719792000), "
      "('infinity', 'infinity', '-infinity', 'x', 5), (NULL, NULL, NULL, NULL, NULL), "
      "('2024-07-01', '2024-07-02 00:00+00', '2024-07-02', '2024-07-01', 5)");
  run(f, "SET TimeZone = 'Asia/Tokyo'");
  DateProfile profile = profile_of(f, "t", "d");
  assert_true(profile.rows == 4 && profile.nulls == 1 && profile.texts == 1 && profile.native);
  assert_string_equal(profile.lowest, "2024-07-01");
  assert_string_equal(profile.highest, "2024-07-01");
  assert_string_equal(samples_of(f, "t", "d"), "2024-07-01");
  assert_string_equal(samples_of(f, "t", "At"), "2024-07-01 00:00:00|2024-07-02 00:00:00");
  assert_string_equal(samples_of(f, "t", "ts"), "2024-07-01 00:00:01.5|2024-07-02 00:00:00");
  assert_string_equal(samples_of(f, "t", "s"), "2024-07-01|x");
  profile = profile_of(f, "t", "u");
  assert_true(profile.integers == 2 && profile.texts == 0 && !profile.native);
  assert_string_equal(profile.lowest, "5");
  assert_string_equal(profile.highest, "1719792000");
  assert_int_equal(profile.kinds, 1u << UNIX_SECONDS | 1u << UNIX_MILLIS | 1u << DAY_NUMBER | 1u << MONTH_NUMBER);
  assert_true(profile_of(f, "t", "b").native);
  static const char *const none[] = {"f", "x", "j", "r"};
  for (int i = 0; i < 4; i++) {
    profile = profile_of(f, "t", none[i]);
    assert_true(profile.kinds == 0 && profile.n_samples == 0 && profile.way_out != NULL);
  }
  assert_has(profile_of(f, "t", "x").why_not, "is of the type numeric: of numbers, only whole ones");
  Error err = {0};
  bool ok = pg_date_profile(f->engine, &f->arena, "t", "at", &profile, &err);
  assert_refused(ok, &err, ERR_NOT_FOUND, "no column 'at'");
}

static void large_tables_are_not_read_through(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date, e date) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('2000-01-01') TO ('2010-01-01')");
  run(f, "CREATE TABLE t2 PARTITION OF t DEFAULT");
  run(f,
      "INSERT INTO t SELECT date '2001-01-01' + i % 1000, date '2001-01-01' + i % 1000 "
      "FROM generate_series(1, 400000) AS i");
  run(f, "CREATE INDEX ON t (d)");
  DateProfile profile = profile_of(f, "t", "d");
  assert_true(profile.rows == -1 && profile.nulls == -1);
  assert_int_equal(profile.n_samples, 200);
  assert_string_equal(profile.lowest, "2001-01-01");
  assert_string_equal(profile.highest, "2003-09-27");
  profile = profile_of(f, "t", "e");
  assert_true(profile.lowest == NULL && profile.n_samples > 100);
  run(f, "CREATE VIEW v AS SELECT e FROM t");
  assert_true(profile_of(f, "v", "e").n_samples > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(days_in_a_date_column_with_an_odd_name),
      FIXTURE_TEST(days_in_texts),
      FIXTURE_TEST(instants_against_the_clock_of_new_york),
      FIXTURE_TEST(the_zone_of_the_session_does_not_matter),
      FIXTURE_TEST(ten_thousand_dates),
      FIXTURE_TEST(keys_that_are_none),
      FIXTURE_TEST(profiles_of_small_tables),
      FIXTURE_TEST(large_tables_are_not_read_through),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
