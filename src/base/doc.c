#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc_int.h"

/*
 * The tree is built from libfyaml's events, not from its documents: the depth limit then holds before anything deep
 * exists, and aliases, anchors and tags are refused where they stand. libfyaml's marks count from 0, in characters,
 * a tab being one; it skips a byte order mark without counting it.
 *
 * LIMITATIONS of libfyaml 0.7.12, each guarded here: it takes NUL bytes and bad UTF-8 in places (checked before it
 * sees the text); it writes past a buffer when it shows a line with tabs, so that its complaints are collected and
 * never shown; it leaks what it collects, about 500 bytes a text that does not parse (told to the leak checker below);
 * it leaks and loses characters when it resolves single quotes (doc_single_quoted does that instead), double quotes
 * over several lines, and folded blocks with indented lines (both refused).
 */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS_ARE_CHECKED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LEAKS_ARE_CHECKED
#endif
#ifdef LEAKS_ARE_CHECKED
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

typedef struct Frame {
  DocNode node;
  size_t at; /* the byte at which it begins */
  DocNode *children;
  const char *key; /* a mapping's key that waits for its value */
  int key_line, key_column;
} Frame;

typedef struct Reader {
  Arena *arena;
  const char *name, *text;
  size_t length, nodes;
  size_t at;
  int line, column; /* the last place seen: that of a value that is not written */
  Frame frames[DOC_MAX_DEPTH];
  int depth;
  int documents;
  DocNode root;
  struct fy_diag *diag; /* holds libfyaml's complaints */
  char printed[256];    /* its first complaint without a place */
  size_t printed_length;
  Error *err;
} Reader;

__attribute__((format(printf, 4, 5))) static bool refuse(Reader *reader, int line, int column, const char *format,
                                                         ...) {
  va_list args;
  va_start(args, format);
  doc_verror(reader->err, reader->name, reader->text, reader->length, line, column, format, args);
  va_end(args);
  return false;
}

static bool is_null(const char *text) {
  return *text == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 ||
         strcmp(text, "NULL") == 0;
}

/* Takes the node as the root or as the next child of the open collection. */
static bool attach(Reader *reader, DocNode node) {
  if (++reader->nodes > DOC_MAX_NODES) {
    refuse(reader, node.line, node.column, "more than %d values in one document", DOC_MAX_NODES);
    return error_hint(reader->err, "split the document");
  }
  if (reader->depth == 0) {
    reader->root = node;
    return true;
  }
  Frame *frame = &reader->frames[reader->depth - 1];
  if (frame->node.kind == DOC_MAPPING) {
    node.key = frame->key;
    node.key_line = frame->key_line;
    node.key_column = frame->key_column;
    frame->key = NULL;
  }
  frame->children = arena_grow(reader->arena, frame->children, frame->node.n, sizeof *frame->children);
  frame->children[frame->node.n++] = node;
  return true;
}

/* True inside a mapping that waits for a key. */
static bool wants_key(const Reader *reader) {
  if (reader->depth == 0) return false;
  const Frame *frame = &reader->frames[reader->depth - 1];
  return frame->node.kind == DOC_MAPPING && frame->key == NULL;
}

static bool refuse_key(Reader *reader) {
  refuse(reader, reader->line, reader->column, "a key must be a plain text, not a list, a mapping or nothing");
  return error_hint(reader->err,
                    "write the key as a word before the colon; a text that begins with [ or { needs quotes");
}

static int compare_keys(const void *a, const void *b) {
  const DocNode *left = *(const DocNode *const *)a, *right = *(const DocNode *const *)b;
  int order = strcmp(left->key, right->key);
  return order != 0 ? order : (left > right) - (left < right);
}

/* Refuses the first key that repeats an earlier one. */
static bool check_duplicates(Reader *reader, const DocNode *mapping) {
  const DocNode *first = NULL, *again = NULL;
  if (mapping->n < 2) return true;
  const DocNode **sorted = malloc(mapping->n * sizeof(const DocNode *));
  if (sorted == NULL) error_out_of_memory();
  for (size_t i = 0; i < mapping->n; i++) sorted[i] = &mapping->children[i];
  qsort(sorted, mapping->n, sizeof(const DocNode *), compare_keys);
  for (size_t i = 1; i < mapping->n; i++)
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 && (again == NULL || sorted[i] < again)) {
      first = sorted[i - 1];
      again = sorted[i];
    }
  free(sorted);
  if (again == NULL) return true;
  refuse(reader, again->key_line, again->key_column, "the key “%.200s” is given twice: it stands in line %d already",
         again->key, first->key_line);
  return error_hint(reader->err, "keep one of the two lines");
}

static bool open_collection(Reader *reader, DocKind kind) {
  if (wants_key(reader)) return refuse_key(reader);
  if (reader->depth == DOC_MAX_DEPTH) {
    refuse(reader, reader->line, reader->column, "nested more than %d levels deep", DOC_MAX_DEPTH);
    return error_hint(reader->err, "write it flatter");
  }
  reader->frames[reader->depth++] =
      (Frame){.node = {.kind = kind, .line = reader->line, .column = reader->column}, .at = reader->at};
  return true;
}

static bool close_collection(Reader *reader) {
  Frame *frame = &reader->frames[--reader->depth];
  frame->node.children = frame->children;
  if (frame->node.kind == DOC_MAPPING && !check_duplicates(reader, &frame->node)) return false;
  return attach(reader, frame->node);
}

/* The column of a block scalar's text: its first line that is not blank gives the indentation. */
static int block_column(const Reader *reader, size_t at) {
  const char *end = reader->text + reader->length, *s = reader->text + at, *line = s;
  while (s < end && (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')) {
    const char *after = doc_skip_break(s, end);
    if (after != s) line = after;
    s = after == s ? s + 1 : after;
  }
  return (int)(s - line) + 1;
}

/* Refuses what libfyaml does not resolve right; see the head of this file. */
static bool check_style(Reader *reader, const struct fy_mark *mark, enum fy_scalar_style style, const char *text,
                        size_t n) {
  if (style == FYSS_DOUBLE_QUOTED && doc_spans_lines(reader->text + mark->input_pos, reader->text + reader->length)) {
    refuse(reader, reader->line, reader->column, "a text in double quotes must end in the line in which it begins");
    return error_hint(reader->err, "write a text of several lines as a block: | after the key, then indented lines");
  }
  if (style != FYSS_FOLDED) return true;
  if (memmem(text, n, "\n ", 2) == NULL && memmem(text, n, "\n\t", 2) == NULL && memchr(text, '\0', n) == NULL)
    return true;
  refuse(reader, reader->line, reader->column, "indented lines in a folded block (>) cannot be told from folded ones");
  return error_hint(reader->err, "write | instead of >");
}

/* A scalar's text in the arena. Refused: what cannot be a C string, and halves of surrogate pairs. */
static bool scalar_text(Reader *reader, struct fy_token *token, const char **ret) {
  size_t n = 0;
  *ret = "";
  if (token == NULL) return true;
  const struct fy_mark *mark = fy_token_start_mark(token);
  enum fy_scalar_style style = fy_token_scalar_style(token);
  if (style == FYSS_SINGLE_QUOTED) {
    *ret = doc_single_quoted(reader->arena, reader->text + mark->input_pos, reader->text + reader->length);
    return true;
  }
  const char *text = fy_token_get_text(token, &n);
  if (text == NULL) error_out_of_memory();
  if (!check_style(reader, mark, style, text, n)) return false;
  for (const char *s = text; s < text + n;) {
    size_t step = doc_utf8_step(s, text + n);
    if (step == 0 || *s == '\0') {
      refuse(reader, reader->line, reader->column, "this text holds an escape that is not a character");
      return error_hint(reader->err, "take out \\0, \\x00, \\u0000 and halves of surrogate pairs (\\ud800 to \\udfff)");
    }
    s += step;
  }
  *ret = arena_strndup(reader->arena, text, n);
  return true;
}

static bool add_scalar(Reader *reader, struct fy_token *token) {
  const struct fy_mark *mark = token == NULL ? NULL : fy_token_start_mark(token);
  enum fy_scalar_style style = token == NULL ? FYSS_PLAIN : fy_token_scalar_style(token);
  bool block = style == FYSS_LITERAL || style == FYSS_FOLDED;
  const char *text = "";
  if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) reader->column--; /* the mark is after the quote */
  if (!scalar_text(reader, token, &text)) return false;
  if (wants_key(reader)) {
    if (token == NULL) return refuse_key(reader);
    Frame *frame = &reader->frames[reader->depth - 1];
    frame->key = text;
    frame->key_line = reader->line;
    frame->key_column = reader->column;
    return true;
  }
  DocNode node = {
      .kind = DOC_SCALAR,
      .text = text,
      .quoted = style != FYSS_PLAIN,
      .line = reader->line,
      .column = block && mark != NULL && *text != '\0' ? block_column(reader, mark->input_pos) : reader->column};
  if (!node.quoted && is_null(text)) {
    node.kind = DOC_NULL;
    node.text = NULL;
  }
  return attach(reader, node);
}

/* What stands before a value: only its absence is understood. */
static bool check_properties(Reader *reader, struct fy_event *event) {
  struct fy_token *anchor = fy_event_get_anchor_token(event), *tag = fy_event_get_tag_token(event);
  struct fy_token *token = anchor != NULL ? anchor : tag;
  if (token == NULL && event->type != FYET_ALIAS) return true;
  const struct fy_mark *mark = token == NULL ? NULL : fy_token_start_mark(token);
  int line = mark == NULL ? reader->line : mark->line + 1, column = mark == NULL ? reader->column : mark->column + 1;
  if (token != NULL && token == tag) {
    refuse(reader, line, column, "tags (!name) are not understood here");
    return error_hint(reader->err, "leave the tag out; a text that begins with ! needs quotes");
  }
  refuse(reader, line, column,
         "aliases and anchors (*name, &name) are not understood here: every value stands where it is used");
  return error_hint(reader->err, "write the value out; a text that begins with * or & needs quotes, such as \"*\"");
}

static bool begin_document(Reader *reader, struct fy_event *event) {
  const struct fy_version *version = fy_document_state_version(event->document_start.document_state);
  if (version != NULL && (version->major != 1 || version->minor != 2)) {
    refuse(reader, 1, 1, "this file asks for YAML %d.%d; only YAML 1.2 is read", version->major, version->minor);
    return error_hint(reader->err, "take the %%YAML line out");
  }
  if (++reader->documents == 1) return true;
  refuse(reader, reader->line, reader->column, "a second document begins here; one file holds one");
  return error_hint(reader->err, "put it into a file of its own, or take the line --- out");
}

static bool take_event(Reader *reader, struct fy_event *event) {
  const struct fy_mark *mark = fy_event_start_mark(event);
  if (mark != NULL) {
    reader->line = mark->line + 1;
    reader->column = mark->column + 1;
    reader->at = mark->input_pos;
  }
  if (!check_properties(reader, event)) return false;
  switch (event->type) {
    case FYET_DOCUMENT_START:
      return begin_document(reader, event);
    case FYET_MAPPING_START:
      return open_collection(reader, DOC_MAPPING);
    case FYET_SEQUENCE_START:
      return open_collection(reader, DOC_SEQUENCE);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
      return close_collection(reader);
    case FYET_SCALAR:
      return add_scalar(reader, event->scalar.value);
    default:
      return true;
  }
}

/* ---- libfyaml's complaints --------------------------------------------------------------------------------------- */

/* Some complaints have no place: libfyaml prints those at once. The first bytes are kept. */
static void collect(struct fy_diag *diag, void *user, const char *text, size_t length) {
  Reader *reader = user;
  size_t room = sizeof reader->printed - 1 - reader->printed_length;
  size_t n = length < room ? length : room;
  memcpy(reader->printed + reader->printed_length, text, n);
  reader->printed_length += n;
}

/* "never closed" is noticed at the end of the text: the bracket that is open says more. */
static void point_at_open_bracket(const Reader *reader, int *line, int *column) {
  for (int i = reader->depth - 1; i >= 0; i--) {
    const Frame *frame = &reader->frames[i];
    if (frame->at >= reader->length || strchr("[{", reader->text[frame->at]) == NULL) continue;
    *line = frame->node.line;
    *column = frame->node.column;
    return;
  }
}

/* True if nothing is left from this line on. */
static bool ends_before(const Reader *reader, int line) {
  int last, column;
  doc_place_of(reader->text, reader->length, reader->text + reader->length, &last, &column);
  return line >= last && column == 1;
}

static bool report_complaint(Reader *reader) {
  void *at = NULL;
  const struct fy_diag_error *error = fy_diag_errors_iterate(reader->diag, &at);
  int line = error == NULL || error->line < 1 ? 1 : error->line;
  int column = error == NULL || error->column < 1 ? 1 : error->column;
  reader->printed[strcspn(reader->printed, "\r\n")] = '\0';
  const char *message = error == NULL || error->msg == NULL ? reader->printed : error->msg;
  if (strstr(message, "without a closing b") != NULL || ends_before(reader, line))
    point_at_open_bracket(reader, &line, &column);
  DocComplaint complaint = doc_explain(*message == '\0' ? "no reason is given" : message);
  refuse(reader, line, column, "%s%s", complaint.prefix, complaint.text);
  return error_hint(reader->err, "%s", complaint.hint);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool check_bytes(Reader *reader) {
  const char *end = reader->text + reader->length;
  if (reader->length > DOC_MAX_BYTES) {
    error_set(reader->err, ERR_SPEC, "%zu bytes are more than a document may have (%d MiB)", reader->length,
              DOC_MAX_BYTES / (1024 * 1024));
    error_where(reader->err, reader->name, 0, 0);
    return error_hint(reader->err, "is this the right file? A spec is a few lines of text");
  }
  for (const char *s = reader->text; s < end;) {
    size_t n = doc_utf8_step(s, end);
    bool control = n == 1 && (unsigned char)*s < 0x20 && strchr("\t\n\r", *s) == NULL;
    if (n > 0 && *s != '\0' && !control) {
      s += n;
      continue;
    }
    int line, column;
    doc_place_of(reader->text, reader->length, s, &line, &column);
    if (n > 0)
      refuse(reader, line, column, "a control byte (0x%02X) stands here: this is not a text file", (unsigned char)*s);
    else
      refuse(reader, line, column, "this byte (0x%02X) is not UTF-8", (unsigned char)*s);
    return error_hint(reader->err, "save the file as UTF-8 text");
  }
  return true;
}

static bool read_events(Reader *reader, struct fy_parser *parser) {
  struct fy_event *event;
  bool ok = true;
  while (ok && (event = fy_parser_parse(parser)) != NULL) {
    ok = take_event(reader, event);
    fy_parser_event_free(parser, event);
  }
  if (ok && fy_parser_get_stream_error(parser)) return report_complaint(reader);
  return ok;
}

static bool read_document(Reader *reader) {
  struct fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = NULL;
  diag_config.output_fn = collect;
  diag_config.user = reader;
  diag_config.level = FYET_ERROR;
  struct fy_diag *diag = fy_diag_create(&diag_config);
  struct fy_parse_cfg config = {.flags = FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE, .diag = diag};
  struct fy_parser *parser = fy_parser_create(&config);
  if (diag == NULL || parser == NULL || fy_parser_set_string(parser, reader->text, reader->length) != 0)
    error_out_of_memory();
  fy_diag_set_collect_errors(diag, true);
  reader->diag = diag;
  __lsan_disable();
  bool ok = read_events(reader, parser);
  __lsan_enable();
  fy_parser_destroy(parser);
  fy_diag_unref(diag);
  return ok;
}

bool doc_parse(Arena *arena, const char *name, const char *text, size_t length, const DocNode **ret_root, Error *err) {
  Reader reader = {.arena = arena,
                   .name = name,
                   .text = text,
                   .length = length,
                   .line = 1,
                   .column = 1,
                   .root = {.kind = DOC_NULL, .line = 1, .column = 1},
                   .err = err};
  if (!check_bytes(&reader)) return false;
  if (length > 0 && !read_document(&reader)) return false;
  DocNode *root = arena_alloc(arena, sizeof *root);
  *root = reader.root;
  *ret_root = root;
  return true;
}
