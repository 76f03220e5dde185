#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mask.h"

/* No secret of a command line reaches the record; what is none stays readable. */

static void secrets_are_masked(void **state) {
  static const char *const pairs[][2] = {
      {"psql postgresql://etl:s3cret@db/x", "psql postgresql://etl:***@db/x"},
      {"curl https://s3cret@host/api", "curl https://***@host/api"},
      {"curl https://u:p:s3c@ret@host/a?b=1", "curl https://u:***@host/a?b=1"},
      {"PGPASSWORD=s3cret psql -c x", "PGPASSWORD=*** psql -c x"},
      {"export DB_SECRET='s3 cret'; x", "export DB_SECRET=***; x"},
      {"env api_key=\"s3 cret\" x", "env api_key=*** x"},
      {"airflowctl --api-token s3cret dags", "airflowctl --api-token *** dags"},
      {"tool --password=s3cret -v", "tool --password=*** -v"},
      {"tool --password 's3 cret' -v", "tool --password *** -v"},
      {"tool --token --verbose", "tool --token --verbose"},
      {"mysql -uroot -ps3cret db", "mysql -uroot -p*** db"},
      {"psql -p5432 -h x", "psql -p5432 -h x"},
      {"dbt run -p profiles", "dbt run -p profiles"},
      {"curl -u etl:s3cret http://h", "curl -u etl:*** http://h"},
      {"curl --user 'etl:s3 cret' http://h", "curl --user 'etl:*** http://h"},
      {"curl -H 'Authorization: Bearer s3cret' u", "curl -H 'Authorization: ***' u"},
      {"curl -H \"X-Api-Key: s3cret\" u", "curl -H \"X-Api-Key: ***\" u"},
      {"curl -d '{\"password\":\"s3cret\",\"a\":1}' u", "curl -d '{\"password\":***,\"a\":1}' u"},
      {"curl -d \"{\\\"token\\\": \\\"s3cret\\\"}\" u", NULL},
      {"x ghp_0123456789abcdefghij y", "x *** y"},
      {"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIi y", "x *** y"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales",
       "airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales"},
      {"", ""},
      {"--password", "--password"},
      {"TOKEN=", "TOKEN="},
      {"a\001b\ttab", "a?b\ttab"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    ARENA_SCOPED arena = {0};
    const char *masked = mask_secrets(&arena, pairs[i][0], strlen(pairs[i][0]));
    if (pairs[i][1] != NULL) assert_string_equal(masked, pairs[i][1]);
    assert_null(strstr(masked, "s3"));
  }
}

/* Whatever is cut off, no byte behind the end is read. */
static void every_beginning_is_masked(void **state) {
  static const char text[] =
      "PGPASSWORD=abc curl -u a:b -H 'Authorization: x' --token \"y\\\" z\" postgres://u:p@h 'open";
  for (size_t n = 0; n < sizeof text; n++) {
    ARENA_SCOPED arena = {0};
    char *exact = arena_strndup(&arena, text, n);
    assert_non_null(mask_secrets(&arena, exact, n));
  }
}

static void long_texts_are_cut(void **state) {
  ARENA_SCOPED arena = {0};
  char *text = arena_alloc(&arena, 100001);
  memset(text, 'a', 100000);
  const char *masked = mask_secrets(&arena, text, 100000);
  assert_true(strlen(masked) < 4200);
  assert_string_equal(masked + strlen(masked) - strlen("…"), "…");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(secrets_are_masked), cmocka_unit_test(every_beginning_is_masked),
                                     cmocka_unit_test(long_texts_are_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
