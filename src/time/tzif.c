#include <string.h>

#include "time/posix_tz.h"
#include "time/zone_table.h"

enum { HEADER_BYTES = 44 };

typedef struct Header {
  uint64_t is_ut, is_std, leaps, times, types, chars;
} Header;

/* What remains of the file. */
typedef struct Bytes {
  const unsigned char *at;
  size_t n;
} Bytes;

/* The changes being collected. */
typedef struct Table {
  Arena *arena;
  ZoneChange *changes;
  size_t n;
  int first_offset;
} Table;

static uint64_t big_endian(const unsigned char *bytes, int n) {
  uint64_t value = 0;
  for (int i = 0; i < n; i++) value = value << 8 | bytes[i];
  return value;
}

static bool read_header(Bytes *file, Header *header, unsigned char *ret_version) {
  if (file->n < HEADER_BYTES || memcmp(file->at, "TZif", 4) != 0) return false;
  *ret_version = file->at[4];
  const unsigned char *counts = file->at + 20;
  *header = (Header){big_endian(counts, 4),      big_endian(counts + 4, 4),  big_endian(counts + 8, 4),
                     big_endian(counts + 12, 4), big_endian(counts + 16, 4), big_endian(counts + 20, 4)};
  file->at += HEADER_BYTES;
  file->n -= HEADER_BYTES;
  return true;
}

/* The size of the data block, whose times take time_bytes each. Counts are below 2^32, so nothing overflows. */
static uint64_t block_bytes(const Header *header, uint64_t time_bytes) {
  return header->times * (time_bytes + 1) + header->types * 6 + header->chars + header->leaps * (time_bytes + 4) +
         header->is_std + header->is_ut;
}

static bool skip(Bytes *file, uint64_t n) {
  if (n > file->n) return false;
  file->at += n;
  file->n -= n;
  return true;
}

/* Adds a change; one that changes nothing is left out, a second one at the same instant replaces the first. */
static void table_add(Table *table, Instant at, int offset) {
  if (table->n > 0 && table->changes[table->n - 1].at == at) table->n--;
  int before = table->n > 0 ? table->changes[table->n - 1].offset : table->first_offset;
  if (before == offset) return;
  table->changes = arena_grow(table->arena, table->changes, table->n, sizeof *table->changes);
  table->changes[table->n++] = (ZoneChange){at, offset};
}

static bool type_offset(const unsigned char *types, int *ret_offset) {
  int64_t offset = (int32_t)(uint32_t)big_endian(types, 4);
  if (offset < ZONE_OFFSET_MIN || offset > ZONE_OFFSET_MAX) return false;
  *ret_offset = (int)offset;
  return true;
}

/*
 * The changes of a version 2 block. Those before the years accepted only say what holds at their beginning, those after
 * are dropped.
 */
static const char *read_changes(const unsigned char *block, const Header *header, Table *table) {
  const unsigned char *indices = block + header->times * 8, *types = indices + header->times;
  if (!type_offset(types, &table->first_offset)) return "an offset from UTC is out of range";
  Instant last = INT64_MIN;
  for (uint64_t i = 0; i < header->times; i++) {
    Instant at = (int64_t)big_endian(block + i * 8, 8);
    int offset;
    if (i > 0 && at <= last) return "its changes are not in order";
    last = at;
    if (indices[i] >= header->types) return "a change names a type that does not exist";
    if (!type_offset(types + 6 * (size_t)indices[i], &offset)) return "an offset from UTC is out of range";
    if (at < INSTANT_MIN)
      table->first_offset = offset;
    else if (at <= INSTANT_MAX)
      table_add(table, at, offset);
  }
  return NULL;
}

/* Writes the rule out from the year of the last change on, and marks where its cycle begins. */
static void expand_rule(const PosixTz *tz, Table *table, Zone *zone) {
  size_t before = table->n;
  Instant last = before > 0 ? table->changes[before - 1].at : INT64_MIN;
  int base = before > 0 ? civil_from_seconds(last).year : 0;
  if (before == 0) table->first_offset = tz->offset;
  for (int year = base; year <= base + 403; year++) {
    Instant start = posix_tz_start(tz, year), end = posix_tz_end(tz, year);
    bool north = start < end;
    Instant at[2] = {north ? start : end, north ? end : start};
    int offset[2] = {north ? tz->summer_offset : tz->offset, north ? tz->offset : tz->summer_offset};
    for (int i = 0; i < 2; i++)
      if (at[i] > last) {
        table_add(table, at[i], offset[i]);
        last = at[i] - 1;
      }
  }
  zone->cycles = table->n > before + 400;
  zone->cycle_from = civil_to_days(base + 2, 1, 9) * 86400;
  /* Summer time all the year round: its end in the last year written out is none. */
  while (!zone->cycles && table->n > before && table->changes[table->n - 1].at >= zone->cycle_from) table->n--;
}

static const char *read_footer(const Bytes *file, Table *table, Zone *zone) {
  if (file->n < 2 || file->at[0] != '\n') return "its last line is missing";
  const char *text = (const char *)file->at + 1;
  const char *end = memchr(text, '\n', file->n - 1);
  if (end == NULL) return "its last line is cut off";
  if (end == text) return NULL;
  PosixTz tz;
  if (!posix_tz_parse(text, (size_t)(end - text), &tz)) return "its rule for later times is not a POSIX TZ string";
  if (tz.has_summer)
    expand_rule(&tz, table, zone);
  else if (table->n == 0)
    table->first_offset = tz.offset;
  return NULL;
}

static const char *parse(Bytes file, Table *table, Zone *zone) {
  Header header;
  unsigned char version;
  if (!read_header(&file, &header, &version)) return "it is not a time zone file";
  if (version < '2') return "it is of TZif version 1, which ends in 2038";
  if (!skip(&file, block_bytes(&header, 4)) || !read_header(&file, &header, &version)) return "it is cut off";
  const unsigned char *block = file.at;
  if (!skip(&file, block_bytes(&header, 8))) return "it is cut off";
  if (header.types == 0) return "it has no local time type";
  if (header.leaps != 0) return "it counts leap seconds, which databases do not";
  const char *why = read_changes(block, &header, table);
  return why != NULL ? why : read_footer(&file, table, zone);
}

bool tzif_parse(Arena *arena, const unsigned char *bytes, size_t n, Zone *zone, const char **ret_why) {
  Table table = {.arena = arena};
  const char *why = parse((Bytes){bytes, n}, &table, zone);
  if (why != NULL) {
    *ret_why = why;
    return false;
  }
  zone->first_offset = table.first_offset;
  zone->changes = table.changes;
  zone->n = table.n;
  return true;
}
