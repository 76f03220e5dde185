#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <strings.h>

#include "time/zone_table.h"

enum { NAME_BYTES = 64, DEPTH_MAX = 3 };

/* The search for the nearest name so far. */
typedef struct Search {
  Arena *arena;
  const char *wanted;
  const char *best;
  int distance;
} Search;

/* How many letters must be put in, left out or replaced; upper and lower case alike. Both below NAME_BYTES long. */
static int edit_distance(const char *a, const char *b) {
  int row[NAME_BYTES];
  int n = (int)strlen(b);
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1] != '\0'; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int cost = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
      diagonal = row[j];
      if (row[j] + 1 < cost) cost = row[j] + 1;
      if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
      row[j] = cost;
    }
  }
  return row[n];
}

/* A person often leaves the continent out: "Berlin" is as near to Europe/Berlin as one letter. */
static int name_distance(const char *wanted, const char *name) {
  const char *city = strrchr(name, '/');
  if (city != NULL && strcasecmp(city + 1, wanted) == 0) return 1;
  return edit_distance(wanted, name);
}

static void consider(Search *search, const char *name) {
  if (strlen(name) >= NAME_BYTES) return;
  int distance = name_distance(search->wanted, name);
  /* Of two equally near the first in the alphabet, whatever the order of the directory. */
  bool nearer = distance < search->distance ||
                (search->best != NULL && distance == search->distance && strcmp(name, search->best) < 0);
  if (!nearer) return;
  search->distance = distance;
  search->best = arena_strdup(search->arena, name);
}

/* posix/ and right/ hold the same names again, and files such as tzdata.zi are no zones. */
static bool is_zone_entry(const char *entry) { return isupper((unsigned char)entry[0]) && strchr(entry, '.') == NULL; }

static void walk(Search *search, const char *directory, const char *prefix, int depth) {
  DIR *open_directory = opendir(directory);
  if (open_directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(open_directory)) != NULL;) {
    if (!is_zone_entry(entry->d_name)) continue;
    const char *name = arena_printf(search->arena, "%s%s", prefix, entry->d_name);
    if (entry->d_type != DT_DIR)
      consider(search, name);
    else if (depth < DEPTH_MAX)
      walk(search, arena_printf(search->arena, "%s/%s", directory, entry->d_name),
           arena_printf(search->arena, "%s/", name), depth + 1);
  }
  closedir(open_directory);
}

const char *zone_nearest_name(Arena *arena, const char *directory, const char *name) {
  if (strlen(name) >= NAME_BYTES) return NULL;
  int allowed = (int)strlen(name) / 4 + 1;
  Search search = {arena, name, NULL, allowed > 4 ? 5 : allowed + 1};
  walk(&search, directory, "", 1);
  return search.best;
}
