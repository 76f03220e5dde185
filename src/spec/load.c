#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "spec/spec_int.h"

static const char pipeline_name[] = "tidegate.yaml";

static void close_file(FILE **file) {
  if (*file != NULL) fclose(*file);
}

static bool refuse_file(Error *err, const char *path, int cause, const char *hint) {
  error_set(err, ERR_NOT_FOUND, "cannot read %s: %s", path, strerror(cause));
  return error_hint(err, "%s", hint);
}

/* The whole file, or its first DOC_MAX_BYTES + 1 bytes, which doc_parse then refuses. */
static bool read_file(Arena *arena, const char *path, SpecInput *ret, Error *err) {
  static const char hint[] = "check the name; a first file is written by: tidegate init";
  __attribute__((cleanup(close_file))) FILE *file = fopen(path, "re");
  BUF_SCOPED text = {0};
  char block[65536];
  size_t n;
  if (file == NULL) return refuse_file(err, path, errno, hint);
  while (text.len <= DOC_MAX_BYTES && (n = fread(block, 1, sizeof block, file)) > 0) buf_append(&text, block, n);
  if (ferror(file)) return refuse_file(err, path, errno, hint);
  *ret = (SpecInput){arena_strdup(arena, path), arena_strndup(arena, buf_text(&text), text.len), text.len};
  return true;
}

/* The nearest tidegate.yaml in a directory ("" for the working directory, else with its slash) or above; NULL: none. */
static const char *find_pipeline(Arena *arena, const char *directory) {
  const char *beside = arena_printf(arena, "%s%s", directory, pipeline_name);
  char above[PATH_MAX];
  if (access(beside, F_OK) == 0) return beside;
  if (realpath(*directory == '\0' ? "." : directory, above) == NULL) return NULL;
  for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
    slash[slash == above ? 1 : 0] = '\0';
    const char *path = arena_printf(arena, "%s%s%s", above, slash == above ? "" : "/", pipeline_name);
    if (access(path, F_OK) == 0) return path;
    if (slash == above) break;
  }
  return NULL;
}

const char *spec_pipeline_path(Arena *arena, const char *directory) {
  if (directory == NULL || *directory == '\0') return find_pipeline(arena, "");
  bool slash = directory[strlen(directory) - 1] == '/';
  return find_pipeline(arena, slash ? directory : arena_printf(arena, "%s/", directory));
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

bool spec_load(Arena *arena, const char *path, Spec *ret_spec, Error *err) {
  SpecInput backfill, pipeline = {0};
  if (strcmp(base_name(path), pipeline_name) == 0) {
    error_set(err, ERR_SPEC, "%s is the pipeline's file, not a backfill", path);
    return error_hint(err,
                      "give the backfill's own file, such as daily_delays.yaml; tidegate.yaml beside it is read too");
  }
  if (!read_file(arena, path, &backfill, err)) return false;
  const char *directory = arena_strndup(arena, path, (size_t)(base_name(path) - path));
  const char *found = find_pipeline(arena, directory);
  if (found != NULL && !read_file(arena, found, &pipeline, err)) return false;
  return spec_merge(arena, &backfill, &pipeline, NULL, ret_spec, err);
}

/* The named file, or the nearest; text NULL when there is none. */
static bool read_pipeline_file(Arena *arena, const char *path, SpecInput *ret, Error *err) {
  *ret = (SpecInput){0};
  if (path == NULL) path = find_pipeline(arena, "");
  return path == NULL || read_file(arena, path, ret, err);
}

bool spec_load_pipeline(Arena *arena, const char *path, const char *target, Spec *ret_spec, Error *err) {
  SpecInput pipeline;
  return read_pipeline_file(arena, path, &pipeline, err) && spec_merge(arena, NULL, &pipeline, target, ret_spec, err);
}

bool spec_pipeline_targets(Arena *arena, const char *path, const char *const **ret_names, size_t *ret_n, Error *err) {
  SpecInput pipeline;
  const DocNode *targets = NULL;
  if (!read_pipeline_file(arena, path, &pipeline, err)) return false;
  if (pipeline.text != NULL && !spec_targets(arena, &pipeline, &targets, err)) return false;
  size_t n = targets == NULL ? 0 : targets->n;
  const char **names = arena_array(arena, n, sizeof *names);
  for (size_t i = 0; i < n; i++) names[i] = targets->children[i].key;
  *ret_names = names;
  *ret_n = n;
  return true;
}
