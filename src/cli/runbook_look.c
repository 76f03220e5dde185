#include "cli/runbook_look.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli/target.h"
#include "lineage/lineage.h"

/* The names that a backfill's tables have in the database. */
static void name_objects(Session *session, const char *id, RunbookFacts *facts) {
  Engine *engine = session->engine;
  Arena *arena = &session->arena;
  if (engine == NULL) {
    facts->changes = "tidegate_ID_changes";
    facts->shadow = "tidegate_ID_shadow";
    facts->snapshot = "tidegate_ID_snapshot";
    return;
  }
  facts->changes = engine->ops->object_name(engine, arena, id, "changes");
  facts->shadow = engine->ops->object_name(engine, arena, id, "shadow");
  facts->snapshot = engine->ops->object_name(engine, arena, id, "snapshot");
}

static bool is_key(const Spec *spec, const ColumnFacts *column) {
  for (size_t i = 0; i < spec->key.n; i++)
    if (strcasecmp(spec->key.items[i].text, column->name) == 0) return true;
  return spec->key.n == 0 && column->primary > 0;
}

/* The columns as a backfill that gives them all would write them, by the declared key, else the primary key. */
static const Shape *plain_shape(Session *session, const TableFacts *table, RunbookLook *look) {
  Arena *arena = &session->arena;
  Shape *shape = arena_array(arena, 1, sizeof *shape);
  ShapeColumn *columns = arena_array(arena, table->n_columns, sizeof *columns);
  DateProfile unused;
  Error err;
  look->lasting.dated = target_shape(session, table->name, shape, &unused, &err);
  if (!look->lasting.dated) {
    *shape = (Shape){.table = table->name, .n = table->n_columns};
    look->wrong = arena_strdup(arena, err.message);
  }
  for (size_t i = 0; i < table->n_columns; i++) {
    const ColumnFacts *column = &table->columns[i];
    columns[i] = (ShapeColumn){.name = column->name,
                               .type = column->type,
                               .key = is_key(&session->spec, column),
                               .given = !column->generated,
                               .generated = column->generated,
                               .not_null = column->not_null};
    shape->keyed = shape->keyed || columns[i].key;
  }
  shape->columns = columns;
  return shape;
}

static bool is_declared(Session *session, const char *target) {
  const char *const *names;
  size_t n;
  Error ignored;
  if (!spec_pipeline_targets(&session->arena, NULL, &names, &n, &ignored)) return false;
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], target) == 0) return true;
  return false;
}

/* The newest backfill, and its plan when it still resolves. Nothing is moved to another state by looking. */
static void look_at_newest(Session *session, RunbookFacts *facts) {
  Arena *arena = &session->arena;
  bool exists = false;
  Error ignored;
  BackfillRecord *record = arena_array(arena, 1, sizeof *record);
  Plan *plan = arena_array(arena, 1, sizeof *plan);
  Spec spec;
  if (!session->engine->ops->ledger_exists(session->engine, &exists, &ignored) || !exists ||
      !ledger_find(session->engine, arena, facts->target, record, &ignored))
    return;
  facts->record = record;
  name_objects(session, record->id, facts);
  const char *pipeline = session->spec.pipeline_file.source;
  if (!spec_parse(arena, record->spec_path, record->spec_text, record->pipeline_path,
                  pipeline == NULL ? record->pipeline_text : pipeline, &spec, &ignored) ||
      !plan_resolve(arena, session->engine, &spec, plan, &ignored))
    return;
  plan->id = record->id;
  facts->plan = plan;
  facts->shape = &plan->shape;
  facts->dated = true;
}

static bool look_at_table(Session *session, const char *target, RunbookLook *look, Error *err) {
  RunbookFacts *facts = &look->lasting;
  Arena *arena = &session->arena;
  Error cause;
  TableFacts *table = arena_array(arena, 1, sizeof *table);
  BlastRadius *radius = arena_array(arena, 1, sizeof *radius);
  if (!session->engine->ops->describe_table(session->engine, arena, target, table, &cause)) {
    if (cause.code == ERR_NOT_FOUND && !is_declared(session, target)) {
      *err = cause;
      return false;
    }
    look->no_table = cause.code == ERR_NOT_FOUND;
    facts->unseen = look->no_table ? NULL : arena_strdup(arena, cause.message);
    facts->no_shape = arena_strdup(arena, cause.message);
    return true;
  }
  facts->target = table->name;
  facts->table = table;
  facts->shape = plain_shape(session, table, look);
  LineageAsk ask = {.target = table->name};
  if (lineage_blast_radius(arena, session->engine, &ask, &session->spec, radius, &cause)) facts->radius = radius;
  if (!session->engine->ops->now(session->engine, &facts->now, &cause)) facts->now = time(NULL);
  return true;
}

/* Opens the database; one that does not answer leaves session->engine NULL and *ret_unseen saying why. */
static bool open_database(Session *session, const char *target, const char **ret_unseen, Error *err) {
  Error cause;
  *ret_unseen = NULL;
  engine_close(&session->engine);
  if (session_pipeline(session, target, &cause)) return true;
  if (cause.code == ERR_SPEC || session->spec.database_path == NULL ||
      (cause.code == ERR_USAGE && strstr(session->spec.database_path, "://") != NULL)) {
    *err = cause;
    return false;
  }
  engine_close(&session->engine);
  *ret_unseen = arena_strdup(&session->arena, cause.message);
  return true;
}

bool runbook_look(Session *session, const char *target, RunbookLook *ret, Error *err) {
  Arena *arena = &session->arena;
  const char *unseen = NULL;
  *ret = (RunbookLook){0};
  session->spec = (Spec){0};
  if (!open_database(session, target, &unseen, err)) return false;
  const char *path = session->spec.database_path;
  Spec *spec = arena_array(arena, 1, sizeof *spec);
  *spec = session->spec;
  RunbookFacts *facts = &ret->lasting;
  *facts =
      (RunbookFacts){.target = arena_strdup(arena, target),
                     .database = path,
                     .engine = strncmp(path, "postgres", 8) == 0 && strstr(path, "://") != NULL ? "postgres" : "sqlite",
                     .unseen = unseen,
                     .no_shape = unseen == NULL ? NULL : "the database could not be looked at",
                     .spec = spec,
                     .now = time(NULL)};
  if (session->engine != NULL) facts->engine = session->engine->ops->name;
  name_objects(session, "ID", facts);
  if (session->engine != NULL && !look_at_table(session, target, ret, err)) return false;
  ret->now = ret->lasting;
  if (facts->table != NULL) look_at_newest(session, &ret->now);
  Page page = view_runbook(arena, facts);
  page_digest(&page, ret->digest);
  return true;
}
