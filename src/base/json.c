#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at s, or 0 (RFC 3629). */
static size_t utf8_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  size_t n = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0))) return 0;
  if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))) return 0;
  return n;
}

static void write_string(Buf *out, const char *text) {
  buf_putc(out, '"');
  for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
    size_t n = utf8_length(s);
    if (n == 0) {
      buf_puts(out, "\xEF\xBF\xBD");
      s++;
    } else if (*s == '"' || *s == '\\') {
      buf_putc(out, '\\');
      buf_putc(out, (char)*s++);
    } else if (*s < 0x20) {
      buf_printf(out, "\\u%04x", *s++);
    } else {
      buf_append(out, s, n);
      s += n;
    }
  }
  buf_putc(out, '"');
}

static void lead(Json *json, const char *key) {
  if (json->comma) buf_putc(json->out, ',');
  json->comma = true;
  if (key != NULL) {
    write_string(json->out, key);
    buf_putc(json->out, ':');
  }
}

static void open_with(Json *json, const char *key, char c) {
  lead(json, key);
  buf_putc(json->out, c);
  json->comma = false;
}

static void close_with(Json *json, char c) {
  buf_putc(json->out, c);
  json->comma = true;
}

void json_object(Json *json, const char *key) { open_with(json, key, '{'); }
void json_object_end(Json *json) { close_with(json, '}'); }
void json_array(Json *json, const char *key) { open_with(json, key, '['); }
void json_array_end(Json *json) { close_with(json, ']'); }

void json_text(Json *json, const char *key, const char *text) {
  if (text == NULL) {
    json_null(json, key);
    return;
  }
  lead(json, key);
  write_string(json->out, text);
}

void json_int(Json *json, const char *key, int64_t value) {
  lead(json, key);
  buf_printf(json->out, "%" PRId64, value);
}

void json_real(Json *json, const char *key, double value) {
  if (!isfinite(value)) {
    json_null(json, key);
    return;
  }
  lead(json, key);
  buf_printf(json->out, "%.15g", value);
}

void json_bool(Json *json, const char *key, bool value) {
  lead(json, key);
  buf_puts(json->out, value ? "true" : "false");
}

void json_null(Json *json, const char *key) {
  lead(json, key);
  buf_puts(json->out, "null");
}

void json_raw(Json *json, const char *key, const char *value) {
  lead(json, key);
  buf_puts(json->out, value);
}
