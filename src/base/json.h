#ifndef TIDEGATE_BASE_JSON_H
#define TIDEGATE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Writes one JSON document into a Buf. Commas and escapes are its business; `key` is NULL inside an array and at the
 * top. Text is written as UTF-8; bytes that are not UTF-8 become U+FFFD, so the output is always valid JSON (RFC 8259).
 */
typedef struct Json {
  Buf *out;
  bool comma;
} Json;

void json_object(Json *json, const char *key);
void json_object_end(Json *json);
void json_array(Json *json, const char *key);
void json_array_end(Json *json);
/* NULL text writes null. */
void json_text(Json *json, const char *key, const char *text);
void json_int(Json *json, const char *key, int64_t value);
/* Not-a-number and infinities write null. */
void json_real(Json *json, const char *key, double value);
void json_bool(Json *json, const char *key, bool value);
void json_null(Json *json, const char *key);
/* A value that is JSON already, copied as it is. */
void json_raw(Json *json, const char *key, const char *value);

#endif
