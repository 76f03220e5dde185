#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spec_test.h"

/* A directory of its own for each test: root/a/b, with the working directory at the start kept. */
typedef struct Place {
  char root[PATH_MAX], before[PATH_MAX];
} Place;

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
  Place *place = calloc(1, sizeof *place);
  char made[] = "/tmp/tidegate-load-XXXXXX";
  if (place == NULL || getcwd(place->before, sizeof place->before) == NULL || mkdtemp(made) == NULL) return -1;
  if (realpath(made, place->root) == NULL || chdir(place->root) != 0) return -1;
  if (mkdir("a", 0700) != 0 || mkdir("a/b", 0700) != 0) return -1;
  write_file("a/b/spec.yaml", LEAST CONTROL);
  *state = place;
  return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) { return remove(path); }

static int tear_down(void **state) {
  Place *place = *state;
  int failed = chdir(place->before) | nftw(place->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(place);
  return failed;
}

static Spec load(Arena *arena, const char *path) {
  Spec spec;
  Error err;
  if (!spec_load(arena, path, &spec, &err)) fail_msg("%s: %s", err.where, err.message);
  return spec;
}

static void a_pipeline_beside_the_spec(void **state) {
  ARENA_SCOPED arena = {0};
  write_file("tidegate.yaml", "owner: far\n");
  write_file("a/b/tidegate.yaml", "owner: near\ndatabase: x.db\n");
  Spec spec = load(&arena, "a/b/spec.yaml");
  assert_text(spec.owner, "near", "a/b/tidegate.yaml", 1, 8);
  assert_string_equal(spec.database_path, "a/b/x.db");
  assert_string_equal(spec.backfill_file.file, "a/b/spec.yaml");
}

static void a_pipeline_above_the_spec(void **state) {
  const Place *place = *state;
  ARENA_SCOPED arena = {0};
  write_file("tidegate.yaml", "owner: far\ndatabase: x.db\n");
  Spec spec = load(&arena, "a/b/spec.yaml");
  assert_string_equal(spec.owner.text, "far");
  assert_string_equal(spec.pipeline_file.file, arena_printf(&arena, "%s/tidegate.yaml", place->root));
  assert_string_equal(spec.database_path, arena_printf(&arena, "%s/x.db", place->root));
  assert_int_equal(chdir("a/b"), 0);
  assert_string_equal(load(&arena, "spec.yaml").owner.text, "far");
}

static void no_pipeline_at_all(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = load(&arena, "a/b/spec.yaml");
  assert_null(spec.pipeline_file.file);
  assert_null(spec.owner.text);
}

static void files_that_cannot_be_read(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  assert_false(spec_load(&arena, "a/none.yaml", &spec, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
  assert_string_equal(err.message, "cannot read a/none.yaml: No such file or directory");
  assert_non_null(strstr(err.hint, "tidegate init"));
  assert_false(spec_load(&arena, "a", &spec, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
  assert_string_equal(err.message, "cannot read a: Is a directory");
  assert_int_equal(mkdir("a/b/tidegate.yaml", 0700), 0);
  assert_false(spec_load(&arena, "a/b/spec.yaml", &spec, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void the_pipeline_is_not_a_backfill(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  write_file("tidegate.yaml", "owner: x\n");
  assert_false(spec_load(&arena, "tidegate.yaml", &spec, &err));
  assert_int_equal(err.code, ERR_SPEC);
  assert_non_null(strstr(err.message, "is the pipeline's file"));
  assert_non_null(strstr(err.hint, "backfill's own file"));
}

static void bytes_that_are_not_text(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  FILE *file = fopen("nul.yaml", "w");
  assert_non_null(file);
  fwrite("target: t\nra\0nge: r\n", 1, 20, file);
  fclose(file);
  assert_false(spec_load(&arena, "nul.yaml", &spec, &err));
  assert_string_equal(err.where, "nul.yaml:2:3");
  assert_string_equal(err.snippet, "ra?nge: r\n  ^");
}

static void endless_files_are_refused(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  assert_false(spec_load(&arena, "/dev/zero", &spec, &err));
  assert_int_equal(err.code, ERR_SPEC);
  assert_non_null(strstr(err.message, "64 MiB"));
}

static void the_pipeline_alone(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  assert_true(spec_load_pipeline(&arena, NULL, NULL, &spec, &err));
  assert_null(spec.database.text);
  assert_null(spec.pipeline_file.file);
  assert_true(spec.retention == 7 * 86400);
  write_file("tidegate.yaml", "database: x.db\nowner: all\ntargets:\n  daily: {owner: one}\n  weekly:\n");
  assert_int_equal(chdir("a"), 0);
  assert_true(spec_load_pipeline(&arena, NULL, NULL, &spec, &err));
  assert_string_equal(spec.owner.text, "all");
  assert_null(spec.target.text);
  assert_null(spec.backfill_file.file);
  assert_true(spec_load_pipeline(&arena, "../tidegate.yaml", "daily", &spec, &err));
  assert_string_equal(spec.owner.text, "one");
  assert_text(spec.target, "daily", "../tidegate.yaml", 4, 3);
  assert_string_equal(spec.database_path, "../x.db");
  assert_true(spec_load_pipeline(&arena, NULL, "unlisted", &spec, &err));
  assert_string_equal(spec.owner.text, "all");
  assert_string_equal(spec.target.text, "unlisted");
  assert_null(spec.target.place.file);
  assert_false(spec_load_pipeline(&arena, "none.yaml", NULL, &spec, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void names_of_the_targets(void **state) {
  ARENA_SCOPED arena = {0};
  const char *const *names;
  size_t n;
  Error err;
  assert_true(spec_pipeline_targets(&arena, NULL, &names, &n, &err));
  assert_int_equal(n, 0);
  write_file("tidegate.yaml", "targets:\n  daily: {owner: one}\n  weekly:\n  \"a.b\": {}\n");
  assert_true(spec_pipeline_targets(&arena, NULL, &names, &n, &err));
  assert_int_equal(n, 3);
  assert_string_equal(names[0], "daily");
  assert_string_equal(names[1], "weekly");
  assert_string_equal(names[2], "a.b");
  write_file("tidegate.yaml", "owner: x\n");
  assert_true(spec_pipeline_targets(&arena, "tidegate.yaml", &names, &n, &err));
  assert_int_equal(n, 0);
  write_file("tidegate.yaml", "targets:\n  daily: {onwer: one}\n");
  assert_false(spec_pipeline_targets(&arena, NULL, &names, &n, &err));
  assert_string_equal(err.where, "tidegate.yaml:2:11");
}

#define LOAD_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      LOAD_TEST(a_pipeline_beside_the_spec),
      LOAD_TEST(a_pipeline_above_the_spec),
      LOAD_TEST(no_pipeline_at_all),
      LOAD_TEST(files_that_cannot_be_read),
      LOAD_TEST(the_pipeline_is_not_a_backfill),
      LOAD_TEST(bytes_that_are_not_text),
      LOAD_TEST(endless_files_are_refused),
      LOAD_TEST(the_pipeline_alone),
      LOAD_TEST(names_of_the_targets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
