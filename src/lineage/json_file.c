#include "lineage/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 * 1024 };

static void close_file(const int *fd) {
  if (*fd >= 0) close(*fd);
}

static void free_parser(yajl_handle *parser) {
  if (*parser != NULL) yajl_free(*parser);
}

int64_t json_file_at(const JsonFile *file) { return file->piece + (int64_t)yajl_get_bytes_consumed(file->parser); }

static int64_t stamp_of(const struct stat *status) {
  return (int64_t)((uint64_t)status->st_mtim.tv_sec * UINT64_C(1000000007) +
                   (uint64_t)status->st_mtim.tv_nsec * UINT64_C(31) + (uint64_t)status->st_size) &
         INT64_MAX;
}

int64_t json_file_stamp(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? stamp_of(&status) : -1;
}

/* Line and column, from 1, of a byte of the file; the file is read once more up to there. */
static void find_place(int fd, int64_t byte, int *ret_line, int *ret_column) {
  char piece[4096];
  int64_t line = 1, begin = 0;
  ssize_t n;
  for (int64_t at = 0; at < byte && (n = pread(fd, piece, sizeof piece, at)) > 0; at += n)
    for (ssize_t i = 0; i < n && at + i < byte; i++)
      if (piece[i] == '\n') {
        line++;
        begin = at + i + 1;
      }
  *ret_line = (int)(line < INT32_MAX ? line : INT32_MAX);
  *ret_column = (int)(byte - begin + 1 < INT32_MAX ? byte - begin + 1 : INT32_MAX);
}

static bool unreadable(const JsonFile *file, Error *err) {
  error_set(err, ERR_NOT_FOUND, "cannot read %.300s: %s", file->path, strerror(errno));
  return error_hint(err,
                    "correct the path under lineage in tidegate.yaml, or make the file anew (dbt parse, dbt compile)");
}

/* What yajl says, on one line, without the text around. */
static bool refuse(const JsonFile *file, int fd, const char *piece, size_t n, int64_t byte, Error *err) {
  char text[200] = "not JSON";
  int line, column;
  unsigned char *said = file->fault == NULL ? yajl_get_error(file->parser, 0, (const unsigned char *)piece, n) : NULL;
  if (file->fault != NULL)
    strncpy(text, file->fault, sizeof text - 1);
  else if (said != NULL) {
    strncpy(text, (const char *)said, sizeof text - 1);
    text[strcspn(text, "\n")] = '\0';
  }
  if (said != NULL) yajl_free_error(file->parser, said);
  error_set(err, ERR_SPEC, "%s", text);
  find_place(fd, byte, &line, &column);
  error_where(err, file->path, line, column);
  return error_hint(err, "make the file anew: dbt parse, or dbt compile");
}

static bool parse(JsonFile *file, int fd, Error *err) {
  static const char nothing[] = "";
  char piece[PIECE_BYTES];
  ssize_t n;
  while ((n = read(fd, piece, sizeof piece)) > 0) {
    if (yajl_parse(file->parser, (const unsigned char *)piece, (size_t)n) != yajl_status_ok) {
      /* A callback stops behind its token: its last byte is shown. */
      int64_t byte = json_file_at(file) - (file->fault != NULL ? 1 : 0);
      return refuse(file, fd, piece, (size_t)n, byte, err);
    }
    file->piece += n;
  }
  if (n < 0) return unreadable(file, err);
  if (yajl_complete_parse(file->parser) == yajl_status_ok) return true;
  if (file->fault == NULL) file->fault = "the file ends in the middle: it was cut off, or is being written now";
  return refuse(file, fd, nothing, 0, file->piece, err);
}

bool json_file_read(JsonFile *file, const yajl_callbacks *callbacks, void *context, Error *err) {
  __attribute__((cleanup(close_file))) int fd = open(file->path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return unreadable(file, err);
  if (!S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL; /* a pipe would be waited for */
    return unreadable(file, err);
  }
  __attribute__((cleanup(free_parser))) yajl_handle parser = yajl_alloc(callbacks, NULL, context);
  if (parser == NULL) error_out_of_memory();
  file->parser = parser;
  file->stamp = stamp_of(&status);
  bool ok = parse(file, fd, err);
  file->parser = NULL;
  return ok;
}
