#include "cli/target.h"

#include <string.h>

#include "plan/plan_int.h"

bool target_candidates(Session *session, const TableFacts *table, const DateCandidate **ret, size_t *ret_n,
                       Error *err) {
  DateCandidate *found = arena_array(&session->arena, table->n_columns, sizeof *found);
  size_t n = 0;
  for (size_t i = 0; i < table->n_columns; i++) {
    DateLook look = {0};
    if (!plan_date_look(&session->arena, session->engine, table->name, &table->columns[i], false, &look, err))
      return false;
    if (!look.looks || !plan_date_joins(found[0].kind, &n, look.kind)) continue;
    found[n++] = (DateCandidate){table->columns[i].name, look.kind, look.separator, look.profile};
  }
  *ret = found;
  *ret_n = n;
  return true;
}

/* The index of a column by its own letters, else with small and capital letters the same; n_columns: none. */
static size_t find_column(const TableFacts *table, const char *name) {
  size_t found = table->n_columns;
  for (size_t i = table->n_columns; i-- > 0;)
    if (strcasecmp(table->columns[i].name, name) == 0 &&
        (found == table->n_columns || strcmp(table->columns[found].name, name) != 0))
      found = i;
  return found;
}

/* The one that the spec names, or the only one that there is. */
static bool pick(Session *session, const TableFacts *table, DateCandidate *ret, Error *err) {
  const SpecText *named = &session->spec.date_column;
  const DateCandidate *all = NULL;
  size_t n = 0;
  const char *names = "";
  if (named->text != NULL) {
    size_t i = find_column(table, named->text);
    if (i < table->n_columns) {
      DateLook look = {0};
      if (!plan_date_look(&session->arena, session->engine, table->name, &table->columns[i], true, &look, err))
        return false;
      *ret = (DateCandidate){table->columns[i].name, look.kind, look.separator, look.profile};
      return look.known || session->spec.date_kind.text != NULL ||
             spec_error(err, &named->place, "the values of %s are not dates that Tidegate knows", named->text);
    }
    spec_error(err, &named->place, "%s has no column %s", table->name, named->text);
    return false;
  }
  if (!target_candidates(session, table, &all, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    names = arena_printf(&session->arena, "%s%s%s", names, i == 0 ? "" : ", ", all[i].column);
  if (n == 1) {
    *ret = all[0];
    return true;
  }
  error_set(err, ERR_SPEC,
            n == 0 ? "%s has no column that looks like dates%s" : "%s has several columns that look like dates: %s",
            table->name, names);
  error_hint(err,
             strchr(table->name, '"') == NULL ? "name it in tidegate.yaml: targets: {%s: {date_column: NAME}}"
                                              : "name it in tidegate.yaml: targets: {'%s': {date_column: NAME}}",
             table->name);
  return false;
}

bool target_shape(Session *session, const char *target, Shape *ret, DateProfile *ret_profile, Error *err) {
  TableFacts table;
  DateCandidate date = {0};
  const Spec *spec = &session->spec;
  Arena *arena = &session->arena;
  if (!session->engine->ops->describe_table(session->engine, arena, target, &table, err) ||
      !pick(session, &table, &date, err))
    return false;
  ShapeColumn *columns = arena_array(arena, table.n_columns, sizeof *columns);
  DateCodec codec = {.kind = date.kind, .zone = zone_utc(), .separator = date.separator};
  if (spec->date_kind.text != NULL && !date_kind_parse(spec->date_kind.text, &codec.kind))
    return spec_error(err, &spec->date_kind.place, "%s is not a kind of date", spec->date_kind.text);
  codec.grain = date_kind_usual_grain(codec.kind);
  if (spec->grain.text != NULL && !grain_parse(spec->grain.text, &codec.grain))
    return spec_error(err, &spec->grain.place, "%s is not a grain", spec->grain.text);
  /* A civil day needs no zone. */
  if (spec->zone.text != NULL && !date_kind_is_civil(codec.kind) &&
      !zone_open(arena, spec->zone.text, &codec.zone, err))
    return false;
  *ret = (Shape){.table = table.name, .columns = columns, .n = table.n_columns, .codec = codec};
  for (size_t i = 0; i < table.n_columns; i++) {
    const ColumnFacts *column = &table.columns[i];
    bool is_date = strcmp(column->name, date.column) == 0;
    columns[i] = (ShapeColumn){.name = column->name,
                               .type = column->type,
                               .given = is_date,
                               .generated = column->generated,
                               .not_null = column->not_null};
    if (is_date) ret->date = i;
  }
  *ret_profile = date.profile;
  return true;
}
