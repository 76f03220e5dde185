#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec_int.h"

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static ScopeKind scope_kind(const char *name) {
  if (strcmp(name, "*") == 0) return SCOPE_ANY_COLUMN;
  if (strcmp(name, "new rows") == 0) return SCOPE_NEW_ROWS;
  if (strcmp(name, "vanished rows") == 0) return SCOPE_VANISHED_ROWS;
  return SCOPE_COLUMN;
}

static ScopeRule scope_rule(SpecText name) {
  ScopeRule rule = {.kind = scope_kind(name.text)};
  if (rule.kind == SCOPE_COLUMN) rule.column = name;
  return rule;
}

/* A condition: SQL, or nothing or yes for "anywhere". */
static bool read_condition(SpecReader *reader, const SpecRow *row, const DocNode *value, ScopeRule *rule) {
  if (value->kind == DOC_NULL || spec_is_yes(value)) return true;
  if (spec_is_no(value)) {
    spec_refuse(reader, value, "“%.200s” is declared not to change: that is so for all that is not listed", value->key);
    return error_hint(reader->err, "take the line out");
  }
  if (!spec_check_sql(reader, row, value)) return false;
  rule->where = spec_text(reader, value);
  return true;
}

static bool changes_map(SpecReader *reader, const SpecRow *row, const DocNode *value, Spec *spec) {
  ScopeRule *rules = arena_array(reader->arena, value->n, sizeof *rules);
  for (size_t i = 0; i < value->n; i++) {
    const DocNode *node = &value->children[i];
    if (*node->key == '\0') {
      spec_refuse(reader, node, "a column without a name");
      return spec_hint_example(reader, row);
    }
    rules[i] = scope_rule(spec_key_text(reader, node));
    if (!read_condition(reader, row, node, &rules[i])) return false;
  }
  spec->changes = rules;
  spec->n_changes = value->n;
  return true;
}

bool spec_read_changes(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  SpecTexts columns;
  if (value->kind == DOC_MAPPING && value->n > 0) return changes_map(reader, row, value, spec);
  if (value->kind == DOC_MAPPING) {
    spec_refuse(reader, value, "“changes” is empty: nothing could be published");
    return spec_hint_example(reader, row);
  }
  if (!spec_read_texts(reader, row, value, &columns)) return false;
  ScopeRule *rules = arena_array(reader->arena, columns.n, sizeof *rules);
  for (size_t i = 0; i < columns.n; i++) rules[i] = scope_rule(columns.items[i]);
  spec->changes = rules;
  spec->n_changes = columns.n;
  return true;
}

/* ---- maps of names ----------------------------------------------------------------------------------------------- */

static bool is_name_map(SpecReader *reader, const SpecRow *row, const DocNode *value) {
  if (value->kind == DOC_MAPPING && value->n > 0) {
    for (size_t i = 0; i < value->n; i++)
      if (*value->children[i].key == '\0') {
        spec_refuse(reader, &value->children[i], "a name is missing before the colon");
        return spec_hint_example(reader, row);
      }
    return true;
  }
  spec_refuse(reader, value, "“%s” must be a map of names", row->key.name);
  return spec_hint_example(reader, row);
}

bool spec_read_sources(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (!is_name_map(reader, row, value)) return false;
  SpecSource *sources = arena_array(reader->arena, value->n, sizeof *sources);
  for (size_t i = 0; i < value->n; i++) {
    sources[i].table = spec_key_text(reader, &value->children[i]);
    if (!spec_read_text(reader, row, &value->children[i], &sources[i].column)) return false;
  }
  spec->sources = sources;
  spec->n_sources = value->n;
  return true;
}

/* A number from 0 in decimal digits. */
static bool read_number(SpecReader *reader, const SpecRow *row, const DocNode *value, double *ret) {
  char *end;
  if (!spec_check_text(reader, row, value)) return false;
  if (strspn(value->text, "0123456789.eE+-") == strlen(value->text)) {
    *ret = strtod(value->text, &end);
    if (end != value->text && *end == '\0' && isfinite(*ret) && *ret >= 0) return true;
  }
  spec_refuse(reader, value, "the tolerance of “%.200s” must be a number from 0", value->key);
  return spec_hint_example(reader, row);
}

bool spec_read_tolerance(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (!is_name_map(reader, row, value)) return false;
  ColumnTolerance *tolerances = arena_array(reader->arena, value->n, sizeof *tolerances);
  for (size_t i = 0; i < value->n; i++) {
    tolerances[i].column = spec_key_text(reader, &value->children[i]);
    if (!read_number(reader, row, &value->children[i], &tolerances[i].absolute)) return false;
  }
  spec->tolerances = tolerances;
  spec->n_tolerances = value->n;
  return true;
}

/* ---- downstream -------------------------------------------------------------------------------------------------- */

static bool read_dependant(SpecReader *reader, const SpecRow *row, const DocNode *node, SpecDownstream *ret) {
  SpecReader defaults = {.arena = reader->arena, .level = reader->level, .err = reader->err};
  if (!spec_apply_defaults(&defaults, row->key.name, ret)) return false;
  if (node->kind != DOC_MAPPING) return spec_read_text(reader, row, node, &ret->name);
  if (!spec_read_keys(reader, row->key.name, node, ret)) return false;
  if (ret->name.text != NULL) return true;
  spec_refuse(reader, node, "what is downstream needs a name");
  return error_hint(reader->err, "write: {name: delays dashboard, kind: dashboard, needs: refresh}");
}

bool spec_read_downstream(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  const DocNode *items = value->kind == DOC_SEQUENCE ? value->children : value;
  size_t n = value->kind == DOC_SEQUENCE ? value->n : 1;
  SpecDownstream *list = arena_array(reader->arena, n, sizeof *list);
  for (size_t i = 0; i < n; i++)
    if (!read_dependant(reader, row, &items[i], &list[i])) return false;
  spec->downstream = list;
  spec->n_downstream = n;
  return true;
}
