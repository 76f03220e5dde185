#ifndef TIDEGATE_TESTS_TIME_CASES_H
#define TIDEGATE_TESTS_TIME_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_COLUMNS_MAX = 16 };

/* Calls `row` for each line but the first of $TIDEGATE_CASES/name, its columns cut at the tabs. Returns the number. */
static inline int for_each_case(const char *name, int n_columns, void (*row)(char **columns)) {
  const char *folder = getenv("TIDEGATE_CASES");
  char path[1024], line[4096];
  snprintf(path, sizeof path, "%s/%s", folder == NULL ? "tests/cases" : folder, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail_msg("%s cannot be read: set TIDEGATE_CASES", path);
  int count = -1;
  for (; fgets(line, sizeof line, file) != NULL; count++) {
    char *columns[CASE_COLUMNS_MAX];
    int n = 1;
    line[strcspn(line, "\r\n")] = '\0';
    for (int i = 0; i < CASE_COLUMNS_MAX; i++) columns[i] = line;
    for (char *tab = line; n < CASE_COLUMNS_MAX && (tab = strchr(tab, '\t')) != NULL; n++) {
      *tab++ = '\0';
      columns[n] = tab;
    }
    if (n < n_columns) fail_msg("%s: %d columns in: %s", path, n, columns[0]);
    if (count >= 0) row(columns);
  }
  fclose(file);
  return count;
}

#endif
