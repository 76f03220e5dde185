#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lineage/dbt_int.h"

/* Of 100,000 compiled models a few are wanted: each is read again from where it stands in the file. */

typedef struct Slice {
  Arena *arena;
  const char *text;
} Slice;

static int on_text(void *context, const unsigned char *text, size_t n) {
  Slice *slice = context;
  if (memchr(text, '\0', n) != NULL) return 0;
  slice->text = arena_strndup(slice->arena, (const char *)text, n);
  return 1;
}

/* The slice begins behind the key, with the colon. */
static const char *unescape(Arena *arena, const char *slice, size_t n) {
  static const yajl_callbacks callbacks = {.yajl_string = on_text};
  Slice found = {.arena = arena};
  yajl_handle parser = yajl_alloc(&callbacks, NULL, &found);
  if (parser == NULL) error_out_of_memory();
  bool ok = yajl_parse(parser, (const unsigned char *)"{\"sql\"", 6) == yajl_status_ok &&
            yajl_parse(parser, (const unsigned char *)slice, n) == yajl_status_ok &&
            yajl_parse(parser, (const unsigned char *)"}", 1) == yajl_status_ok &&
            yajl_complete_parse(parser) == yajl_status_ok;
  yajl_free(parser);
  return ok ? found.text : NULL;
}

char *dbt_slice(const GraphSource *source, int64_t at, int64_t length) {
  enum { LONGEST = 64 * 1024 * 1024 };
  if (length <= 0 || length > LONGEST || source->path == NULL || json_file_stamp(source->path) != source->stamp)
    return NULL;
  int fd = open(source->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char *slice = malloc((size_t)length + 1);
  if (slice == NULL) error_out_of_memory();
  ssize_t n = pread(fd, slice, (size_t)length, at);
  close(fd);
  slice[length] = '\0';
  if (n == length) return slice;
  free(slice);
  return NULL;
}

const char *dbt_compiled(Arena *arena, const GraphSource *source, const GraphNode *node) {
  char *slice = dbt_slice(source, node->compiled_at, node->compiled_length);
  const char *text = slice == NULL ? NULL : unescape(arena, slice, (size_t)node->compiled_length);
  free(slice);
  return text;
}
