#ifndef TIDEGATE_TESTS_UNIT_JOBS_HISTORY_TEST_H
#define TIDEGATE_TESTS_UNIT_JOBS_HISTORY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "jobs/history_int.h"

/* A folder of its own for a test, and what is read in it. */
typedef struct Folder {
  char path[64];
  Arena arena;
} Folder;

static int folder_setup(void **state) {
  Folder *folder = calloc(1, sizeof *folder);
  snprintf(folder->path, sizeof folder->path, "/tmp/tidegate-history.XXXXXX");
  assert_non_null(mkdtemp(folder->path));
  *state = folder;
  return 0;
}

static int folder_teardown(void **state) {
  Folder *folder = *state;
  char command[128];
  arena_release(&folder->arena);
  snprintf(command, sizeof command, "rm -r '%s'", folder->path);
  assert_int_equal(system(command), 0);
  free(folder);
  return 0;
}

static inline const char *folder_file(Folder *folder, const char *name, const char *text) {
  const char *path = arena_printf(&folder->arena, "%s/%s", folder->path, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

/* All jobs of a source, of whatever age. */
static inline size_t folder_read(Folder *folder, const char *kind, const char *place, const JobHistory **ret) {
  JobSource source = {.kind = kind, .place = place, .weeks = 5000};
  size_t n;
  Error err = {0};
  if (!jobs_history(&folder->arena, NULL, &source, ret, &n, &err)) fail_msg("%s %s", err.where, err.message);
  return n;
}

/* Reading fails, at a place that ends so and with words that hold `part`. */
static inline void folder_fails(Folder *folder, const char *kind, const char *place, const char *where,
                                const char *part) {
  JobSource source = {.kind = kind, .place = place, .weeks = 5000};
  const JobHistory *items;
  size_t n;
  Error err = {0};
  assert_false(jobs_history(&folder->arena, NULL, &source, &items, &n, &err));
  size_t length = strlen(err.where), tail = strlen(where);
  if (length < tail || strcmp(err.where + length - tail, where) != 0 || strstr(err.message, part) == NULL)
    fail_msg("at “%s”: “%s”", err.where, err.message);
}

static inline const char *doubt(const JobHistory *job, const char *key) {
  for (size_t i = 0; i < job->n_doubts; i++)
    if (strcmp(job->doubts[i].key, key) == 0) return job->doubts[i].text;
  return "";
}

#endif
