#include <string.h>
#include <strings.h>

#include "spec/spec.h"

enum { LONGEST = 128 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Levenshtein distance by rows (Wagner and Fischer 1974); both texts are at most LONGEST bytes. */
static size_t distance(const char *a, const char *b) {
  size_t row[LONGEST + 1], width = strlen(b);
  for (size_t j = 0; j <= width; j++) row[j] = j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= width; j++) {
      size_t above = row[j];
      row[j] = least(least(above, row[j - 1]) + 1, diagonal + (lower(a[i - 1]) != lower(b[j - 1])));
      diagonal = above;
    }
  }
  return row[width];
}

const char *spec_nearest(const char *word, const char *const *names, size_t n) {
  size_t length = strlen(word), limit = length / 3 > 2 ? length / 3 : 2;
  const char *nearest = NULL;
  if (length > LONGEST) return NULL;
  for (size_t i = 0; i < n; i++) {
    if (strlen(names[i]) > LONGEST) continue;
    size_t d = distance(word, names[i]);
    if (d > limit || (nearest != NULL && d == limit)) continue;
    nearest = names[i];
    limit = d;
  }
  return nearest;
}
