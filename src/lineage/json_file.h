#ifndef TIDEGATE_LINEAGE_JSON_FILE_H
#define TIDEGATE_LINEAGE_JSON_FILE_H

#include <stdint.h>
#include <yajl/yajl_parse.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * JSON files of any size, read as a stream of events (docs/decisions/0025): of the file no more is held than a piece.
 * Private to the readers that are built with yajl.
 */
typedef struct JsonFile {
  const char *path;
  const char *fault; /* set by a callback that stops the reading (returns 0): what is wrong there */
  int depth;         /* kept by the callbacks of its user */
  int64_t stamp;     /* by which a file is known again: its size and time */
  int64_t piece;     /* where the piece that is being parsed begins */
  yajl_handle parser;
} JsonFile;

enum { JSON_MAX_DEPTH = 512, JSON_MAX_TEXT = 64 * 1024 };

/* Bytes of the file up to the end of the token of the callback that asks. */
int64_t json_file_at(const JsonFile *file);

/* Reads the whole file. `context` goes to the callbacks, which set file->fault when they stop it. Errors: ERR_SPEC with
 * file:line:column (bytes) for what is no JSON or what a callback refused; ERR_NOT_FOUND for a file that cannot be
 * read.
 */
bool json_file_read(JsonFile *file, const yajl_callbacks *callbacks, void *context, Error *err);

/* The stamp of a file as it is now; −1 when there is none. */
int64_t json_file_stamp(const char *path);

#endif
