#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spec/spec_int.h"

/* ---- errors at a place ------------------------------------------------------------------------------------------- */

bool spec_error(Error *err, const SpecPlace *place, const char *format, ...) {
  char message[sizeof err->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (place == NULL || place->file == NULL) return error_set(err, ERR_SPEC, "%s", message);
  return doc_error(err, place->file, place->source, place->line, place->column, "%s", message);
}

bool spec_refuse(SpecReader *reader, const DocNode *node, const char *format, ...) {
  char message[sizeof reader->err->message];
  SpecPlace place = spec_place(reader, node);
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return spec_error(reader->err, &place, "%s", message);
}

bool spec_hint_example(SpecReader *reader, const SpecRow *row) {
  const char *name = row->key.name, *dot = strrchr(name, '.');
  if (dot != NULL)
    return error_hint(reader->err, "write, inside “%.*s”: %s: %s", (int)(dot - name), name, dot + 1, row->key.example);
  return error_hint(reader->err, "write, for example: %s: %s", name, row->key.example);
}

bool spec_refuse_inner(SpecReader *reader, const SpecRow *row, const DocNode *node) {
  char hint[sizeof reader->err->hint];
  memcpy(hint, reader->err->hint, sizeof hint);
  spec_refuse(reader, node, "“%s”: %s", row->key.name, reader->err->message);
  return hint[0] == '\0' ? spec_hint_example(reader, row) : error_hint(reader->err, "%s", hint);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

SpecPlace spec_place(const SpecReader *reader, const DocNode *node) {
  return (SpecPlace){reader->file, reader->source, node->line, node->column};
}

SpecText spec_text(const SpecReader *reader, const DocNode *node) {
  return (SpecText){node->text, spec_place(reader, node)};
}

SpecText spec_key_text(const SpecReader *reader, const DocNode *node) {
  return (SpecText){node->key, {reader->file, reader->source, node->key_line, node->key_column}};
}

static const char *kind_word(const DocNode *node) {
  switch (node->kind) {
    case DOC_SEQUENCE:
      return "a list";
    case DOC_MAPPING:
      return "a mapping";
    case DOC_NULL:
      return "nothing";
    default:
      return "a text";
  }
}

static bool refuse_kind(SpecReader *reader, const SpecRow *row, const DocNode *node, const char *wanted) {
  spec_refuse(reader, node, "“%s” must be %s, not %s", row->key.name, wanted, kind_word(node));
  return spec_hint_example(reader, row);
}

bool spec_check_text(SpecReader *reader, const SpecRow *row, const DocNode *node) {
  if (node->kind != DOC_SCALAR) return refuse_kind(reader, row, node, "one text");
  if (node->text[strspn(node->text, " \t\r\n")] != '\0') return true;
  spec_refuse(reader, node, "“%s” is empty", row->key.name);
  return spec_hint_example(reader, row);
}

/* True when nothing but blanks, semicolons and comments is left. */
static bool sql_is_empty(const char *sql) {
  for (;;) {
    sql += strspn(sql, " \t\r\n;");
    if (strncmp(sql, "--", 2) == 0) {
      sql += strcspn(sql, "\n");
    } else if (strncmp(sql, "/*", 2) == 0) {
      const char *end = strstr(sql + 2, "*/");
      if (end == NULL) return true;
      sql = end + 2;
    } else {
      return *sql == '\0';
    }
  }
}

bool spec_check_sql(SpecReader *reader, const SpecRow *row, const DocNode *node) {
  if (node->kind != DOC_SCALAR) return refuse_kind(reader, row, node, "SQL text");
  if (!sql_is_empty(node->text)) return true;
  spec_refuse(reader, node, "the SQL of “%s” is empty", row->key.name);
  return spec_hint_example(reader, row);
}

/* A block's last line break is not part of a name or a sentence. */
static SpecText trimmed(SpecReader *reader, const DocNode *node) {
  SpecText text = spec_text(reader, node);
  size_t n = strlen(text.text);
  if (n > 0 && text.text[n - 1] == '\n') text.text = arena_strndup(reader->arena, text.text, n - 1);
  return text;
}

bool spec_read_text(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_text(reader, row, value)) return false;
  *(SpecText *)member = trimmed(reader, value);
  return true;
}

/* A semicolon at the end, as in any SQL client, is not part of the query. */
static SpecText without_semicolon(SpecReader *reader, const DocNode *node) {
  SpecText text = spec_text(reader, node);
  size_t n = strlen(text.text), end = n;
  while (end > 0 && strchr(" \t\r\n;", text.text[end - 1]) != NULL) end--;
  if (strchr(text.text + end, ';') != NULL) text.text = arena_strndup(reader->arena, text.text, end);
  return text;
}

bool spec_read_sql(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_sql(reader, row, value)) return false;
  *(SpecText *)member = without_semicolon(reader, value);
  return true;
}

bool spec_read_word(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_text(reader, row, value)) return false;
  *(const char **)member = value->text;
  return true;
}

enum { LIST_MAX = 10000 };

typedef bool CheckItem(SpecReader *reader, const SpecRow *row, const DocNode *node);

/* A scalar alone is a list of one. */
static bool read_list(SpecReader *reader, const SpecRow *row, const DocNode *value, CheckItem *check, SpecTexts *ret) {
  const DocNode *items = value->kind == DOC_SEQUENCE ? value->children : value;
  size_t n = value->kind == DOC_SEQUENCE ? value->n : 1;
  if (value->kind == DOC_MAPPING) return refuse_kind(reader, row, value, "one text or a list of texts");
  if (n == 0) {
    spec_refuse(reader, value, "the list “%s” is empty", row->key.name);
    return spec_hint_example(reader, row);
  }
  if (n > LIST_MAX) return spec_refuse(reader, value, "the list “%s” has more than %d items", row->key.name, LIST_MAX);
  SpecText *texts = arena_array(reader->arena, n, sizeof *texts);
  for (size_t i = 0; i < n; i++) {
    if (!check(reader, row, &items[i])) return false;
    for (size_t j = 0; j < i; j++)
      if (strcmp(texts[j].text, items[i].text) == 0) {
        spec_refuse(reader, &items[i], "“%.200s” stands in the list twice", items[i].text);
        return error_hint(reader->err, "keep one of the two");
      }
    texts[i] = check == spec_check_sql ? spec_text(reader, &items[i]) : trimmed(reader, &items[i]);
  }
  *ret = (SpecTexts){texts, n};
  return true;
}

bool spec_read_texts(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  return read_list(reader, row, value, spec_check_text, member);
}

bool spec_read_sqls(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  return read_list(reader, row, value, spec_check_sql, member);
}

/* ---- yes, no and numbers ----------------------------------------------------------------------------------------- */

bool spec_is_yes(const DocNode *node) {
  return node->kind == DOC_SCALAR && !node->quoted &&
         (strcasecmp(node->text, "true") == 0 || strcasecmp(node->text, "yes") == 0);
}

bool spec_is_no(const DocNode *node) {
  return node->kind == DOC_SCALAR && !node->quoted &&
         (strcasecmp(node->text, "false") == 0 || strcasecmp(node->text, "no") == 0);
}

bool spec_read_bool(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_is_yes(value) && !spec_is_no(value)) {
    spec_refuse(reader, value, "“%s” must be yes or no, without quotes", row->key.name);
    return spec_hint_example(reader, row);
  }
  *(bool *)member = spec_is_yes(value);
  return true;
}

static bool read_whole(SpecReader *reader, const SpecRow *row, const DocNode *value, long lowest, int *ret) {
  static const long highest = 1000000;
  char *end;
  if (!spec_check_text(reader, row, value)) return false;
  long number = strspn(value->text, "0123456789") == strlen(value->text) ? strtol(value->text, &end, 10) : -1;
  if (number < lowest || number > highest) {
    spec_refuse(reader, value, "“%s” must be a whole number from %ld to %ld", row->key.name, lowest, highest);
    return spec_hint_example(reader, row);
  }
  *ret = (int)number;
  return true;
}

bool spec_read_count(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  return read_whole(reader, row, value, 0, member);
}

bool spec_read_tries(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  return read_whole(reader, row, value, 1, member);
}

bool spec_read_duration(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  double seconds;
  if (!spec_check_text(reader, row, value)) return false;
  if (strcmp(value->text, "0") == 0)
    seconds = 0; /* nothing needs no unit */
  else if (!duration_parse(value->text, &seconds, reader->err))
    return spec_refuse_inner(reader, row, value);
  if (!isfinite(seconds) || seconds < 0) {
    spec_refuse(reader, value, "“%s” must not be negative", row->key.name);
    return spec_hint_example(reader, row);
  }
  *(double *)member = seconds;
  return true;
}

/* In whole milliseconds, of which 32 bits hold no 25 days; what is rounded to 0 would be no limit at all. */
static const double SHORTEST_TIMEOUT = 0.001, LONGEST_TIMEOUT = 20 * 86400.0;

bool spec_read_timeout(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  double seconds = 0;
  if (!spec_read_duration(reader, row, value, &seconds)) return false;
  if (seconds <= 0) {
    spec_refuse(reader, value, "“%s” must be above 0: 0 would mean no limit", row->key.name);
    return spec_hint_example(reader, row);
  }
  if (seconds < SHORTEST_TIMEOUT || seconds > LONGEST_TIMEOUT) {
    spec_refuse(reader, value, "“%s” must be between a millisecond and 20 days: servers count limits so",
                row->key.name);
    return spec_hint_example(reader, row);
  }
  *(double *)member = seconds;
  return true;
}

bool spec_read_size(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  int64_t bytes;
  if (!spec_check_text(reader, row, value)) return false;
  if (!size_parse(value->text, &bytes, reader->err)) return spec_refuse_inner(reader, row, value);
  if (bytes <= 0) {
    spec_refuse(reader, value, "“%s” must be above 0", row->key.name);
    return spec_hint_example(reader, row);
  }
  *(int64_t *)member = bytes;
  return true;
}

bool spec_read_share(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  double share;
  if (!spec_check_text(reader, row, value)) return false;
  if (!share_parse(value->text, &share, reader->err)) return spec_refuse_inner(reader, row, value);
  if (!(share > 0 && share <= 1)) {
    spec_refuse(reader, value, "“%s” must be above 0 and at most 100 %%", row->key.name);
    return spec_hint_example(reader, row);
  }
  *(double *)member = share;
  return true;
}
