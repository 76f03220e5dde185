#include "server.h"

#include "engine/postgres/parameters.h"

static int query_setup(void **state) {
  if (fixture_setup(state) != 0) return -1;
  Fixture *f = *state;
  if (f == NULL) return 0;
  run(f, "CREATE SCHEMA raw");
  run(f, "CREATE TABLE raw.flights (flight_date date, origin text, dep_delay real, tags text[], at timestamptz)");
  run(f, "CREATE TABLE \"Odd 'name\" (\"a b\" int, n bigint, d text)");
  run(f, "CREATE VIEW slow AS SELECT flight_date, avg(dep_delay) AS d FROM raw.flights GROUP BY 1");
  run(f, "CREATE VIEW today AS SELECT s.flight_date FROM slow s WHERE flight_date = current_date AND random() > 0");
  run(f, "CREATE MATERIALIZED VIEW frozen AS SELECT flight_date FROM raw.flights");
  run(f, "CREATE FUNCTION pure(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'");
  run(f,
      "CREATE FUNCTION hidden(int) RETURNS bigint STABLE LANGUAGE plpgsql AS "
      "'BEGIN RETURN (SELECT count(*) FROM raw.flights); END'");
  run(f, "CREATE FUNCTION roll() RETURNS int VOLATILE LANGUAGE sql AS 'SELECT 4'");
  return 0;
}
#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, query_setup, fixture_teardown)

static QueryFacts describe(Fixture *f, const char *sql) {
  QueryFacts facts = {0};
  Error err = {0};
  int offset;
  if (!pg_describe_query(f->engine, &f->arena, sql, &facts, &offset, &err))
    fail_msg("%s (%s) at %d: %s", err.message, err.hint, offset, sql);
  assert_false(pg_in_transaction(pg_engine(f->engine)));
  return facts;
}

/* "table(column,…) table(…)" */
static const char *reads_of(Fixture *f, const char *sql) {
  QueryFacts facts = describe(f, sql);
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < facts.n_reads; i++) {
    buf_printf(&text, "%s%s(", i == 0 ? "" : " ", facts.reads[i].table);
    for (size_t j = 0; j < facts.reads[i].n; j++)
      buf_printf(&text, "%s%s", j == 0 ? "" : ",", facts.reads[i].columns[j]);
    buf_putc(&text, ')');
  }
  return arena_strdup(&f->arena, buf_text(&text));
}

static const char *joined(Fixture *f, const char *const *texts, size_t n) {
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < n; i++) buf_printf(&text, "%s%s", i == 0 ? "" : " ", texts[i]);
  return arena_strdup(&f->arena, buf_text(&text));
}

static const char *volatile_of(Fixture *f, const char *sql) {
  QueryFacts facts = describe(f, sql);
  return joined(f, facts.volatile_functions, facts.n_volatile);
}

static void refused(Fixture *f, const char *sql, int place, const char *message, const char *hint) {
  QueryFacts facts;
  Error err = {0};
  int offset = -2;
  bool ok = pg_describe_query(f->engine, &f->arena, sql, &facts, &offset, &err);
  if (ok) fail_msg("not refused: %s", sql);
  assert_refused(ok, &err, ERR_SPEC, message);
  assert_has(error_hint_text(&err), hint);
  if (offset != place) fail_msg("place %d instead of %d: %s (%s)", offset, place, sql, err.message);
}

static void columns_and_parameters(void **state) {
  Fixture *f = fixture_of(state);
  QueryFacts facts = describe(f,
                              "SELECT flight_date, count(*) AS \"n f\", max(dep_delay), 1, 2 FROM raw.flights\n"
                              "WHERE flight_date >= :from AND flight_date < :to GROUP BY 1");
  assert_string_equal(joined(f, facts.columns, facts.n_columns), "flight_date n f max ?column? ?column?");
  assert_true(facts.uses_from && facts.uses_to);
  facts = describe(f, "SELECT * FROM raw.flights WHERE flight_date >= :from_date");
  assert_true(facts.uses_from && !facts.uses_to);
  facts = describe(f, "WITH c AS (SELECT origin, ':from', $$:to$$ FROM raw.flights) SELECT * FROM c /* :to */");
  assert_true(!facts.uses_from && !facts.uses_to);
  assert_int_equal(describe(f, "SELECT FROM raw.flights").n_columns, 0);
}

/* The type of the date column is not known: any that fits will do. */
static void parameters_fit_dates_of_every_type(void **state) {
  Fixture *f = fixture_of(state);
  describe(f, "SELECT 1 FROM raw.flights WHERE at >= :from AND at < :to");
  describe(f, "SELECT 1 FROM \"Odd 'name\" WHERE n >= :from AND n < :to");
  describe(f, "SELECT 1 FROM \"Odd 'name\" WHERE d >= :from AND d < :to");
  describe(f, "SELECT 1 FROM raw.flights WHERE flight_date >= :from - interval '1 day'");
  describe(f, "SELECT 1 FROM raw.flights WHERE at >= :from - interval '1 day' AND at < :to + interval '1 day'");
  describe(f, "SELECT g::date FROM generate_series(:from, :to, interval '1 day') AS g");
  describe(f, "SELECT 1 FROM \"Odd 'name\" WHERE n >= :from * 1000 AND n < :to_unix * 1000 AND d < :to_date::text");
  describe(f, "SELECT extract(dow FROM :from), tags[1:2], tags[:2] FROM raw.flights");
  refused(f, "SELECT 1 FROM raw.flights WHERE at >= :from - interval '1 day' AND n < :to", 67, "column \"n\"", "");
}

static void tables_behind_views_are_read(void **state) {
  Fixture *f = fixture_of(state);
  assert_string_equal(reads_of(f, "SELECT origin FROM raw.Flights WHERE dep_delay > 1"),
                      "raw.flights(origin,dep_delay)");
  assert_string_equal(reads_of(f, "SELECT d FROM slow"), "raw.flights(flight_date,dep_delay) slow(d)");
  assert_string_equal(reads_of(f, "SELECT 1 FROM today"),
                      "raw.flights(flight_date,dep_delay) slow(flight_date) today()");
  assert_string_equal(reads_of(f, "SELECT count(*) FROM raw.flights"), "raw.flights()");
  assert_string_equal(reads_of(f, "SELECT \"a b\" FROM \"Odd 'name\""), "\"Odd 'name\"(a b)");
  assert_string_equal(reads_of(f, "SELECT row_to_json(o) FROM \"Odd 'name\" o"), "\"Odd 'name\"(a b,n,d)");
  assert_string_equal(reads_of(f, "WITH flights2 AS (SELECT n FROM \"Odd 'name\") SELECT n FROM flights2"),
                      "\"Odd 'name\"(n)");
  assert_string_equal(reads_of(f, "SELECT flight_date FROM frozen WHERE EXISTS (SELECT FROM raw.flights)"),
                      "frozen(flight_date) raw.flights()");
  assert_string_equal(reads_of(f, "SELECT relname FROM pg_class"), "");
  assert_string_equal(reads_of(f, "SELECT value FROM json_each('{\"a\": 1}')"), "");
  assert_string_equal(reads_of(f, "VALUES (1)"), "");
  assert_string_equal(reads_of(f, "(TABLE raw.flights)"), "raw.flights(flight_date,origin,dep_delay,tags,at)");
  assert_string_equal(one(f, "SELECT count(*) FROM pg_class WHERE relname = 'tidegate_look'"), "0");
}

static void without_the_right_to_temporary_views_the_text_tells(void **state) {
  Fixture *f = fixture_of(state);
  run(f, arena_printf(&f->arena, "REVOKE TEMP ON DATABASE %s FROM PUBLIC", f->name));
  run(f, "DROP ROLE IF EXISTS tidegate_reader");
  run(f, "CREATE ROLE tidegate_reader LOGIN");
  run(f, "GRANT USAGE ON SCHEMA raw TO tidegate_reader");
  run(f, "GRANT SELECT ON ALL TABLES IN SCHEMA raw, public TO tidegate_reader");
  Fixture reader = *f;
  reader.engine = open_as(f, "tidegate_reader");
  assert_string_equal(
      reads_of(&reader,
               "SELECT 'slow', public.roll(), raw.flights.origin FROM ONLY raw . flights JOIN \"Odd 'name\" o "
               "ON true -- slow\n, lateral (SELECT * FROM frozen) AS x"),
      "\"Odd 'name\"(a b,n,d) frozen(flight_date) raw.flights(flight_date,origin,dep_delay,tags,at)");
  assert_string_equal(reads_of(&reader, "SELECT 1 FROM today"),
                      "raw.flights(flight_date,dep_delay) slow(flight_date) today(flight_date)");
  assert_string_equal(volatile_of(&reader, "SELECT public.roll(), random() FROM today"), "current_date roll random");
  QueryFacts facts = describe(&reader, "SELECT public.hidden(1), pure(2)");
  assert_string_equal(joined(&reader, facts.opaque_functions, facts.n_opaque), "hidden");
  refused(&reader, "WITH c AS (DELETE FROM raw.flights RETURNING 1) SELECT * FROM c", 5, "data-modifying",
          "only reads");
  close_engine(reader.engine);
  f->arena = reader.arena;
  run(f, "DROP OWNED BY tidegate_reader");
  run(f, "DROP ROLE tidegate_reader");
}

static void what_may_differ_the_next_time(void **state) {
  Fixture *f = fixture_of(state);
  assert_string_equal(volatile_of(f, "SELECT origin, pure(1), hidden(2) FROM raw.flights"), "");
  assert_string_equal(volatile_of(f, "SELECT Random(), gen_random_uuid(), roll(), clock_timestamp ( )"),
                      "roll clock_timestamp gen_random_uuid random");
  assert_string_equal(volatile_of(f, "SELECT CURRENT_DATE, now(), localtimestamp, transaction_timestamp()"),
                      "current_date now localtimestamp transaction_timestamp");
  assert_string_equal(volatile_of(f, "SELECT age(flight_date), age(flight_date, flight_date) FROM raw.flights"), "age");
  assert_string_equal(volatile_of(f, "SELECT 'Today'::date, timestamptz 'now'"), "'Today' 'now'");
  assert_string_equal(volatile_of(f, "SELECT 'now()', \"now\", 'now' FROM (VALUES (1)) v (\"now\") /* random() */"),
                      "");
  assert_string_equal(volatile_of(f, "SELECT flight_date FROM today"), "current_date random");
  QueryFacts facts = describe(f, "SELECT hidden(1), pure(1), lower('A'), roll()");
  assert_string_equal(joined(f, facts.opaque_functions, facts.n_opaque), "hidden roll");
}

static void what_is_not_one_reading_statement(void **state) {
  Fixture *f = fixture_of(state);
  refused(f, "", 0, "empty", "");
  refused(f, " -- nothing\n ", 13, "empty", "");
  refused(f, "SELECT 1; SELECT 2", 10, "several statements", "one statement");
  refused(f, "SELECT 1;", 8, "ends in ';'", "take the ';' away");
  refused(f, "SELECT 1 -- why", 15, "ends in a comment", "/* … */");
  refused(f, "SELECT 'it", 7, "never closed", "");
  refused(f, "SELECT (1", 7, "never closes", "");
  refused(f, "SELECT 1) x; DROP TABLE raw.flights; SELECT * FROM (SELECT 1", 8, "closes a parenthesis", "");
  refused(f, "DELETE FROM raw.flights", 0, "“DELETE”", "one SELECT");
  refused(f, "  INSERT INTO raw.flights DEFAULT VALUES RETURNING 1", 2, "“INSERT”", "one SELECT");
  refused(f, "WITH c AS (SELECT 1) UPDATE raw.flights SET origin = 1", 21, "syntax error", "");
  refused(f, "WITH c AS (DELETE FROM raw.flights RETURNING 1) SELECT * FROM c", 5, "data-modifying", "only reads");
  refused(f, "SELECT 1 INTO x", 14, "INTO is not allowed", "only reads");
  refused(f, "SELECT 1 FROM raw.flights FOR UPDATE", 26, "locks the rows", "FOR UPDATE");
  refused(f, "SELECT 1 FROM (SELECT 1 FROM raw.flights for key share) x", 41, "locks the rows", "FOR SHARE");
  refused(f, "SET timezone = 'UTC'", 0, "“SET”", "one SELECT");
  refused(f, "COPY raw.flights TO STDOUT", 0, "“COPY”", "one SELECT");
  refused(f, "EXPLAIN ANALYZE DELETE FROM raw.flights", 0, "“EXPLAIN”", "one SELECT");
  refused(f, "(VACUUM)", 1, "“VACUUM”", "one SELECT");
}

static void the_place_of_the_fault(void **state) {
  Fixture *f = fixture_of(state);
  refused(f, "SELECT nope FROM raw.flights", 7, "column \"nope\" does not exist", "");
  refused(f, "SELECT dep_dely FROM raw.flights", 7, "dep_dely", "dep_delay");
  refused(f, "SELECT 'é€😀', nope FROM raw.flights", 20, "nope", "");
  refused(f, "SELECT 1 FROM raw.flights WHERE flight_date >= :from AND flight_date < :to AND nope", 79, "nope", "");
  refused(f, "SELECT 'é' FROM raw.flights WHERE at >= :from::date - 1 AND :to_unix > 0 AND 'ü' = nope", 85, "nope", "");
  refused(f, "SELECT 1 FROM raw.flights WHERE :from && 1", 38, "operator does not exist", "");
  refused(f, "SELECT 1 FROM raw.flights WHERE WHERE", 32, "syntax error", "");
  refused(f, "SELECT 1 FROM nowhere", 14, "relation \"nowhere\" does not exist", "");
  refused(f, "SELECT 1 +", -1, "syntax error", "");
}

static void parameters_without_a_value(void **state) {
  Fixture *f = fixture_of(state);
  refused(f, "SELECT $1", 7, "'$1'", ":from");
  refused(f, "SELECT ':from', $2::int", 16, "'$2'", ":from");
  refused(f, "SELECT :day", 7, "':day'", ":from and :to");
  refused(f, "SELECT :FROM", 7, "':FROM'", ":from and :to");
}

static bool condition(Fixture *f, const char *recompute, const char *sql, bool aggregate, int *offset, Error *err) {
  return pg_describe_condition(f->engine, &f->arena, "raw.flights", recompute, sql, aggregate, offset, err);
}

static void accepted_condition(Fixture *f, const char *sql, bool aggregate) {
  Error err = {0};
  int offset;
  must(condition(f, NULL, sql, aggregate, &offset, &err), &err);
}

static void refused_condition(Fixture *f, const char *sql, bool aggregate, int place, const char *message) {
  Error err = {0};
  int offset = -2;
  bool ok = condition(f, NULL, sql, aggregate, &offset, &err);
  if (ok) fail_msg("not refused: %s", sql);
  assert_refused(ok, &err, ERR_SPEC, message);
  if (offset != place) fail_msg("place %d instead of %d: %s (%s)", offset, place, sql, err.message);
}

static void conditions_over_a_row(void **state) {
  Fixture *f = fixture_of(state);
  accepted_condition(f, "dep_delay IS NULL OR \"origin\" = ')'", false);
  accepted_condition(f, "dep_delay > (SELECT avg(dep_delay) FROM raw.flights) -- why\n", false);
  refused_condition(f, "dep_dely > 0", false, 0, "dep_dely");
  refused_condition(f, "origin = 'é' AND \"dep_dely\" > 0", false, 18, "dep_dely");
  refused_condition(f, "count(*) > 1", false, 0, "aggregate functions are not allowed");
  refused_condition(f, "row_number() OVER () > 1", false, 0, "window functions are not allowed");
  refused_condition(f, "flight_date >= :from", false, 15, "':from'");
  refused_condition(f, "dep_delay", false, 0, "must be type boolean");
  refused_condition(f, "ctid IS NULL", false, 0, "ctid");
  refused_condition(f, "dep_delay >", false, -1, "syntax error");
  refused_condition(f, "true FOR UPDATE", false, 5, "locks");
  refused_condition(f, "1) = (1", false, 1, "closes a parenthesis");
}

static void conditions_over_a_row_of_the_recompute(void **state) {
  Fixture *f = fixture_of(state);
  const char *recompute = "SELECT flight_date, 1 AS n FROM raw.flights WHERE at >= :from AND at < :to /* x */";
  Error err = {0};
  int offset;
  must(condition(f, recompute, "n = 1 AND flight_date >= :from", false, &offset, &err), &err);
  assert_refused(condition(f, recompute, "origin = 'x'", false, &offset, &err), &err, ERR_SPEC, "origin");
  assert_int_equal(offset, 0);
}

static void totals_over_many(void **state) {
  Fixture *f = fixture_of(state);
  accepted_condition(f, "sum(dep_delay) = (SELECT count(*) FROM raw.flights WHERE flight_date >= :from AND at < :to)",
                     true);
  accepted_condition(f, "(SELECT count(*) FROM raw.flights) > 0", true);
  accepted_condition(f, "bool_and(dep_delay IS NULL OR dep_delay > 0)", true);
  refused_condition(f, "dep_delay > 0", true, 0, "no aggregate");
  refused_condition(f, "sum(dep_dely) > 0", true, 4, "dep_dely");
  refused_condition(f, "sum(dep_delay)", true, 0, "must be type boolean");
  refused_condition(f, "sum(dep_delay) > $1", true, 17, "'$1'");
}

static void a_table_that_is_not_there(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int offset;
  bool ok = pg_describe_condition(f->engine, &f->arena, "nowhere", NULL, "true", false, &offset, &err);
  assert_refused(ok, &err, ERR_NOT_FOUND, "nowhere");
}

/* The next of a fixed row of numbers. */
static unsigned next(unsigned *seed) { return *seed = *seed * 1103515245u + 12345u, *seed >> 16; }

/* How many the accepted statement has, 0: refused, then *ret_colon: for a colon. The last one must be the tail. */
static int columns_with_tail(Fixture *f, const char *inside, bool *ret_colon) {
  Error err = {0};
  int offset;
  PG_SCOPED described = NULL;
  const char *sql = arena_printf(&f->arena, "SELECT (%s\n), 1 AS tidegate_tail", inside);
  *ret_colon = false;
  if (!pg_describe(pg_engine(f->engine), sql, &described, &offset, "", &err)) {
    *ret_colon = strstr(err.message, "at or near \":\"") != NULL;
    return 0;
  }
  int n = PQnfields(described);
  if (n == 0 || strcmp(PQfname(described, n - 1), "tidegate_tail") != 0) fail_msg("the tail is swallowed: %s", sql);
  return n;
}

/* A text of some kind, of which every other closes too early or too late. */
static void put_item(Buf *text, unsigned *seed) {
  static const char *const items[][2] = {{"'", "'"},
                                         {"E'", "'"},
                                         {"e'", "'"},
                                         {"U&'", "'"},
                                         {"N'", "'"},
                                         {"$$", "$$"},
                                         {"$a$", "$a$"},
                                         {"'k' /*", "*/"},
                                         {"'k' --", "\n"},
                                         {"'k' --", "\r"},
                                         {"(SELECT 'k' AS \"", "\")"},
                                         {":x::text", ""},
                                         {"a$b$", ""}};
  static const char *const bits[] = {"'",  "''", "\\'", "\\'", ":x", ":x", ":x", "\\",
                                     "/*", "*/", "$$",  "--",  "\n", "\r", "\""};
  unsigned item = next(seed) % (sizeof items / sizeof *items);
  buf_puts(text, items[item][0]);
  if (items[item][1][0] == '\0') return;
  for (unsigned n = next(seed) % 4; n > 0; n--) buf_puts(text, bits[next(seed) % (sizeof bits / sizeof *bits)]);
  buf_puts(text, items[item][1]);
}

/* Is there a colon outside texts that does not belong to :x or `::`? */
static bool has_other_colon(const char *sql) {
  PgLexer lexer = {.at = sql};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;)
    if ((token.kind == PG_LEX_PARAMETER && token.n != 2) || pg_lex_is_punct(&token, ':')) return true;
  return false;
}

/* What is let through neither swallows nor ends the statement around it, and a parameter stands exactly where the
 * server sees one: replaced by what does not exist it is missed, overlooked it is refused for its colon. */
static void what_is_closed_stays_inside(void **state) {
  static const char *const missing[] = {":x", "(tidegate_missing)"}, *const joints[] = {" || ", "||", "\n", " ",
                                                                                        "--\n"};
  Fixture *f = fixture_of(state);
  unsigned seed = 11;
  int closed = 0, accepted = 0, quoted = 0;
  for (int round = 0; round < 3000; round++) {
    BUF_SCOPED text = {0};
    Error err = {0};
    int offset;
    put_item(&text, &seed);
    for (unsigned n = next(&seed) % 3; n > 0; n--) {
      buf_puts(&text, joints[next(&seed) % (sizeof joints / sizeof *joints)]);
      put_item(&text, &seed);
    }
    const char *sql = buf_text(&text);
    if (!pg_lex_closed(sql, "it", &offset, &err) || has_other_colon(sql)) continue;
    closed++;
    const char *replaced = pg_replace(&f->arena, sql, missing, 1);
    bool changed = strncmp(replaced, sql, text.len) != 0;
    bool colon;
    int n = columns_with_tail(f, replaced, &colon);
    accepted += n > 0;
    quoted += n > 0 && strstr(sql, ":x") != NULL;
    if (n > 2) fail_msg("%d columns: %s", n, sql);
    if (n > 0 && changed) fail_msg("the server sees no parameter in %s", sql);
    if (colon) fail_msg("the server sees a parameter in %s", sql);
  }
  assert_true(closed > 500 && accepted > 300 && quoted > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      QUERY_TEST(columns_and_parameters),
      QUERY_TEST(parameters_fit_dates_of_every_type),
      QUERY_TEST(tables_behind_views_are_read),
      QUERY_TEST(without_the_right_to_temporary_views_the_text_tells),
      QUERY_TEST(what_may_differ_the_next_time),
      QUERY_TEST(what_is_not_one_reading_statement),
      QUERY_TEST(the_place_of_the_fault),
      QUERY_TEST(parameters_without_a_value),
      QUERY_TEST(conditions_over_a_row),
      QUERY_TEST(conditions_over_a_row_of_the_recompute),
      QUERY_TEST(totals_over_many),
      QUERY_TEST(a_table_that_is_not_there),
      QUERY_TEST(what_is_closed_stays_inside),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
