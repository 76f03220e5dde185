#ifndef TIDEGATE_TIME_QUANTITY_H
#define TIDEGATE_TIME_QUANTITY_H

#include "base/error.h"
#include "time/civil.h"

/* "15m", "90s", "1.5s", "2h", "7d", "1h30m", "500ms" to seconds; a bare number is refused: which unit? Errors:
 * ERR_SPEC. */
bool duration_parse(const char *text, double *ret_seconds, Error *err);
/* "1 GB", "500MB", "64 KiB", "1000" (bytes); decimal and binary units. Errors: ERR_SPEC. */
bool size_parse(const char *text, int64_t *ret_bytes, Error *err);
/* "50 %", "50%", "0.5" to 0.5; outside 0–1 refused. Errors: ERR_SPEC. */
bool share_parse(const char *text, double *ret_share, Error *err);
/* "41 ms", "3.2 s", "2m 10s", "3h 10m", "7 days": short, honest, for people. */
void duration_label(double seconds, char text[32]);
/* "101 MB", "1.2 GB" (decimal units). */
void size_label(int64_t bytes, char text[32]);
/* An instant as RFC 3339 with the zone's offset: 2013-02-01T00:00:00-05:00, and in UTC 2013-02-01T00:00:00+00:00. */
struct Zone;
void instant_rfc3339(Instant at, const struct Zone *zone, char text[40]);
/* The same in UTC as a member of a JSON object; null for 0, no such time. `key` is NULL in an array. */
struct Json;
void instant_json(struct Json *json, const char *key, Instant at);
/* RFC 3339 text (offset or Z required) to an instant. Errors: ERR_USAGE. */
bool instant_parse(const char *text, Instant *ret_at, Error *err);

#endif
