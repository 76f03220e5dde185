#ifndef TIDEGATE_BASE_DOC_H
#define TIDEGATE_BASE_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * YAML 1.2 and JSON text as a tree with places, read with libfyaml. One reader serves the spec files and the JSON
 * documents of the ledger (JSON is YAML).
 */
typedef enum DocKind { DOC_NULL, DOC_SCALAR, DOC_SEQUENCE, DOC_MAPPING } DocKind;

typedef struct DocNode DocNode;
struct DocNode {
  DocKind kind;
  const char *key;          /* inside a mapping: the key's text; else NULL */
  int key_line, key_column; /* the key's place, from 1 */
  const char *text;         /* a scalar's text, quotes and escapes resolved; NUL-terminated */
  bool quoted;              /* a scalar written in quotes or as a block: never null, number or boolean */
  int line, column;         /* the value's place, from 1; of a block scalar its first line and its indentation */
  const DocNode *children;  /* of a sequence or mapping, in the order written */
  size_t n;
};

enum { DOC_MAX_BYTES = 64 * 1024 * 1024, DOC_MAX_DEPTH = 64, DOC_MAX_NODES = 4 * 1000 * 1000 };

/*
 * Parses one document of `length` bytes. `name` is the file's name in errors. Refused, each with its place and a caret
 * under it: syntax errors, a key given twice in a mapping, a key that is not a scalar, aliases, anchors and tags,
 * several documents, double quotes over several lines and folded blocks with indented lines (libfyaml gets them wrong),
 * NUL and other control bytes, escapes that give NUL, invalid UTF-8, more than DOC_MAX_BYTES,
 * DOC_MAX_DEPTH or DOC_MAX_NODES values. An empty document gives a DOC_NULL root. A value that is not written has its
 * key's place. The tree lives in the arena. Errors: ERR_SPEC.
 */
bool doc_parse(Arena *arena, const char *name, const char *text, size_t length, const DocNode **ret_root, Error *err);

/*
 * Fills err with ERR_SPEC at the place in text, with the line and a caret; returns false. Columns count characters from
 * 1, a tab is one. Long lines are cut around the column. text NULL, or line or column 0: no line is shown. An argument
 * may point into err itself (`doc_error(err, …, "%s", err->message)`).
 */
bool doc_error(Error *err, const char *name, const char *text, int line, int column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* A mapping's value by key, NULL when absent or when node is not a mapping. */
const DocNode *doc_get(const DocNode *node, const char *key);

/* For documents that Tidegate wrote itself: the scalar's text, or fallback when absent or null. */
const char *doc_text(const DocNode *node, const char *key, const char *fallback);
int64_t doc_int(const DocNode *node, const char *key, int64_t fallback);
double doc_real(const DocNode *node, const char *key, double fallback);
bool doc_bool(const DocNode *node, const char *key, bool fallback);

#endif
