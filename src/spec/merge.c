#include <string.h>

#include "base/buf.h"
#include "spec/spec_int.h"

static bool read_root(SpecReader *reader, const SpecInput *input, const DocNode **ret_root) {
  reader->file = input->path;
  reader->source = input->text;
  if (!doc_parse(reader->arena, input->path, input->text, input->length, ret_root, reader->err)) return false;
  if ((*ret_root)->kind == DOC_MAPPING || (*ret_root)->kind == DOC_NULL) return true;
  spec_refuse(reader, *ret_root, "this file must be lines of “key: value”");
  return error_hint(reader->err, "write, for example: target: daily_delays");
}

/* What a backfill cannot be planned without. */
static bool check_required(SpecReader *reader, const DocNode *root, const Spec *spec) {
  const struct {
    const char *name;
    bool given;
  } required[] = {{"target", spec->target.text != NULL},
                  {"range", spec->range.text != NULL},
                  {"wrong", spec->wrong.text != NULL},
                  {"correct", spec->correct.text != NULL},
                  {"recompute", spec->recompute.sql.text != NULL || spec->recompute.command.n > 0}};
  if (root->kind == DOC_NULL) {
    spec_refuse(reader, root, "the file is empty");
    return error_hint(reader->err,
                      "a backfill needs: target, range, wrong, correct, recompute, and one of changes, "
                      "control, checks");
  }
  for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
    const SpecRow *row = spec_row("", required[i].name);
    if (required[i].given) continue;
    spec_refuse(reader, root, "“%s” is missing: %s", row->key.name, row->key.description);
    return spec_hint_example(reader, row);
  }
  if (spec->n_changes > 0 || spec->control.text != NULL || spec->row_checks.n > 0 || spec->total_checks.n > 0)
    return true;
  spec_refuse(reader, root,
              "nothing could show that the new values are right: one of changes, control and checks is needed, "
              "because comparing the recompute with itself proves nothing");
  return error_hint(reader->err, "write, for example: control: 2013-01-25..2013-01-31 (dates that are right today)");
}

/* The top of tidegate.yaml, then the target's entry. */
static bool read_pipeline(SpecReader *reader, const SpecInput *pipeline, const char *target, Spec *spec) {
  const DocNode *root;
  reader->level = SPEC_IN_PIPELINE;
  if (!read_root(reader, pipeline, &root) || !spec_read_keys(reader, "", root, spec)) return false;
  spec->pipeline_file = spec_place(reader, root);
  const DocNode *entry = target == NULL ? NULL : doc_get(doc_get(root, "targets"), target);
  if (entry == NULL) return true;
  reader->level = SPEC_IN_TARGET;
  spec->target = spec_key_text(reader, entry);
  return spec_read_keys(reader, "", entry, spec);
}

/* The values that a draft left to a person, each as "file:line:column name"; *ret_first: the first of them. */
static void find_blanks(const SpecReader *reader, const DocNode *node, Buf *list, const DocNode **ret_first) {
  if (node->kind == DOC_SCALAR && !node->quoted && strcmp(node->text, SPEC_BLANK) == 0) {
    if (*ret_first == NULL) *ret_first = node;
    buf_printf(list, "%s%s:%d:%d %s", list->len == 0 ? "" : ", ", reader->file, node->line, node->column,
               node->key == NULL ? "" : node->key);
  }
  for (size_t i = 0; i < node->n; i++) find_blanks(reader, &node->children[i], list, ret_first);
}

static bool check_filled(SpecReader *reader, const DocNode *root) {
  BUF_SCOPED list = {0};
  const DocNode *first = NULL;
  find_blanks(reader, root, &list, &first);
  if (first == NULL) return true;
  spec_refuse(reader, first, "this draft is not filled in yet: %s", buf_text(&list));
  return error_hint(reader->err, "write over each " SPEC_BLANK " what the comment beside it asks for");
}

static bool read_backfill(SpecReader *reader, const SpecInput *backfill, const DocNode *root, Spec *spec) {
  reader->file = backfill->path;
  reader->source = backfill->text;
  reader->level = SPEC_IN_BACKFILL;
  spec->backfill_file = spec_place(reader, root);
  spec->target = (SpecText){0};
  return check_filled(reader, root) && spec_read_keys(reader, "", root, spec) && check_required(reader, root, spec);
}

/* Defaults have no file in their places. Inner keys of lists have theirs where the items are read. */
static bool read_defaults(SpecReader *reader, Spec *spec) {
  static const char *const groups[] = {"",       "recompute", "allow",    "production", "production.live",
                                       "budget", "sample",    "postgres", "gate",       "lineage"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (!spec_apply_defaults(reader, groups[i], spec)) return false;
  return true;
}

bool spec_merge(Arena *arena, const SpecInput *backfill, const SpecInput *pipeline, const char *target, Spec *ret_spec,
                Error *err) {
  SpecReader reader = {.arena = arena, .err = err};
  Spec spec = {.production.when.p95 = -1};
  const DocNode *root = NULL;
  if (!read_defaults(&reader, &spec)) return false;
  if (target != NULL) spec.target.text = arena_strdup(arena, target);
  if (backfill != NULL) {
    if (!read_root(&reader, backfill, &root)) return false;
    target = doc_text(root, "target", NULL);
  }
  if (pipeline != NULL && pipeline->text != NULL && !read_pipeline(&reader, pipeline, target, &spec)) return false;
  if (backfill != NULL && !read_backfill(&reader, backfill, root, &spec)) return false;
  if (!spec_check_jobs(&spec, err)) return false;
  if (spec.idle_zone.text == NULL) spec.idle_zone = spec.production.when.zone;
  *ret_spec = spec;
  return true;
}

bool spec_targets(Arena *arena, const SpecInput *pipeline, const DocNode **ret_targets, Error *err) {
  SpecReader reader = {.arena = arena, .level = SPEC_IN_PIPELINE, .err = err};
  Spec unused = {0};
  const DocNode *root;
  if (!read_root(&reader, pipeline, &root) || !spec_read_keys(&reader, "", root, &unused)) return false;
  *ret_targets = doc_get(root, "targets");
  return true;
}

bool spec_parse(Arena *arena, const char *path, const char *text, const char *pipeline_path, const char *pipeline_text,
                Spec *ret_spec, Error *err) {
  SpecInput backfill = {path, arena_strdup(arena, text), strlen(text)};
  SpecInput pipeline = {pipeline_path == NULL ? "tidegate.yaml" : pipeline_path, arena_strdup(arena, pipeline_text),
                        pipeline_text == NULL ? 0 : strlen(pipeline_text)};
  backfill.path = arena_strdup(arena, path);
  pipeline.path = arena_strdup(arena, pipeline.path);
  return spec_merge(arena, &backfill, &pipeline, NULL, ret_spec, err);
}
