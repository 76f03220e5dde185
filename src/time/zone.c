#include "time/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "time/zone_table.h"

/* The largest file of tzdata has 4 kB; what is larger than this is none of them. */
enum { FILE_MAX_BYTES = 256 * 1024, NAME_MAX_BYTES = 128 };

/* How many changes are at or before the instant. */
static size_t changes_until(const Zone *zone, Instant at) {
  size_t low = 0, high = zone->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (zone->changes[middle].at <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* By how many seconds the instant must go back to fall into the part of the rule that is written out. */
static int64_t cycle_shift(const Zone *zone, Instant at) {
  if (!zone->cycles || at < zone->cycle_from + ZONE_CYCLE_SECONDS) return 0;
  return (at - zone->cycle_from) / ZONE_CYCLE_SECONDS * ZONE_CYCLE_SECONDS;
}

/* The offset before change i. */
static int offset_before(const Zone *zone, size_t i) {
  return i > 0 ? zone->changes[i - 1].offset : zone->first_offset;
}

int zone_offset_span(const Zone *zone, Instant at, Instant *ret_from, Instant *ret_until) {
  at = instant_clamp(at);
  int64_t shift = cycle_shift(zone, at);
  size_t i = changes_until(zone, at - shift);
  *ret_from = i > 0 ? zone->changes[i - 1].at + shift : INT64_MIN;
  *ret_until = i < zone->n ? zone->changes[i].at + shift : INT64_MAX;
  return offset_before(zone, i);
}

int zone_offset(const Zone *zone, Instant at) {
  Instant from, until;
  return zone->n == 0 ? zone->first_offset : zone_offset_span(zone, at, &from, &until);
}

Civil zone_civil(const Zone *zone, Instant at) {
  at = instant_clamp(at);
  return civil_from_seconds(at + zone_offset(zone, at));
}

ZoneReadings zone_read(const Zone *zone, const Civil *civil) {
  int64_t local = instant_clamp(civil_to_seconds(civil));
  ZoneReadings gap = {0}, readings = {0};
  int64_t shift = cycle_shift(zone, local - ZONE_REACH);
  local -= shift;
  bool in_gap = false;
  for (size_t i = changes_until(zone, local - ZONE_REACH);; i++) {
    int offset = offset_before(zone, i);
    Instant from = i > 0 ? zone->changes[i - 1].at : INT64_MIN, at = local - offset;
    if (i > 0 && from > local + ZONE_REACH) break;
    bool last = i == zone->n;
    if (at >= from && (last || at < zone->changes[i].at) && readings.n < 2) readings.at[readings.n++] = at + shift;
    if (last) break;
    Instant until = zone->changes[i].at;
    if (!in_gap && until + offset <= local && local < until + zone->changes[i].offset) {
      in_gap = true;
      gap.gap_end = until + shift;
      gap.shifted = at + shift;
    }
  }
  return readings.n > 0 ? readings : gap;
}

Instant zone_first(const Zone *zone, const Civil *civil) {
  ZoneReadings readings = zone_read(zone, civil);
  return readings.n > 0 ? readings.at[0] : readings.gap_end;
}

bool zone_next_change(const Zone *zone, Instant after, Instant *ret_at) {
  Instant from, until;
  (void)zone_offset_span(zone, after, &from, &until);
  if (until > INSTANT_MAX) return false;
  *ret_at = until;
  return true;
}

const char *zone_name(const Zone *zone) { return zone->name; }

const Zone *zone_utc(void) {
  static const Zone utc = {.name = "UTC"};
  return &utc;
}

/* Letters, digits and "_+-", in parts parted by "/", none of them empty: so neither "..", nor a hidden file. */
static bool name_valid(const char *name) {
  size_t n = strlen(name);
  if (n == 0 || n > NAME_MAX_BYTES) return false;
  for (size_t i = 0; i < n; i++) {
    bool word = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || name[i] == '+' || name[i] == '-';
    bool slash = name[i] == '/' && i > 0 && i + 1 < n && name[i - 1] != '/';
    if (!word && !slash) return false;
  }
  return true;
}

/* The whole file, NULL when it is missing, not a plain file or too large. */
static const unsigned char *read_file(Arena *arena, const char *path, size_t *ret_n) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return NULL;
  unsigned char *bytes = NULL;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= FILE_MAX_BYTES) {
    size_t size = (size_t)info.st_size, n = 0;
    bytes = arena_alloc(arena, size);
    while (n < size) {
      ssize_t got = read(fd, bytes + n, size - n);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      n += (size_t)got;
    }
    *ret_n = n;
  }
  close(fd);
  return bytes;
}

static bool unknown_zone(const char *directory, const char *name, Error *err) {
  ARENA_SCOPED arena = {0};
  error_set(err, ERR_SPEC, "unknown time zone '%.128s'", name);
  if (access(directory, R_OK) != 0)
    return error_hint(err, "%.256s cannot be read: install tzdata, or point TZDIR to it", directory);
  const char *near = zone_nearest_name(&arena, directory, name);
  if (near != NULL) return error_hint(err, "did you mean %s?", near);
  return error_hint(err, "write a name of the IANA database, such as Europe/Berlin or UTC");
}

bool zone_open(Arena *arena, const char *name, const Zone **ret_zone, Error *err) {
  if (strcmp(name, "UTC") == 0) {
    *ret_zone = zone_utc();
    return true;
  }
  const char *directory = getenv("TZDIR");
  if (directory == NULL || *directory == '\0') directory = "/usr/share/zoneinfo";
  if (!name_valid(name)) return unknown_zone(directory, name, err);

  ARENA_SCOPED scratch = {0};
  size_t n;
  const unsigned char *bytes = read_file(&scratch, arena_printf(&scratch, "%s/%s", directory, name), &n);
  if (bytes == NULL || n < 4 || memcmp(bytes, "TZif", 4) != 0) return unknown_zone(directory, name, err);
  Zone *zone = arena_alloc(arena, sizeof *zone);
  const char *why;
  if (!tzif_parse(arena, bytes, n, zone, &why)) {
    error_set(err, ERR_SPEC, "the time zone file of %s cannot be used: %s", name, why);
    return error_hint(err, "install tzdata again (%.256s)", directory);
  }
  zone->name = arena_strdup(arena, name);
  *ret_zone = zone;
  return true;
}
