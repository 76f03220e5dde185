#include "cli/session.h"
#include "lineage/lineage.h"
#include "view/runbook.h"

static int run(Session *session);

static const CliExample examples[] = {
    {"tidegate runbook daily_delays > runbook.md", "the document to keep where the pipeline's code is"}, {NULL, NULL}};

const Command command_runbook = {
    .name = "runbook",
    .summary = "print the runbook of a target as a document",
    .arguments = "TARGET",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Prints Markdown: who answers for the target, when it may be touched, how correctness is judged, the way "
        "with Tidegate, and the plain SQL of every step, so that a person can publish or take back with Tidegate "
        "missing.",
    .exits = {ERR_DATABASE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

/* The columns as a backfill that gives them all would write them, with the primary key as the key. */
static bool plain_shape(Session *session, const char *target, Shape *ret, Error *err) {
  TableFacts table;
  if (!session->engine->ops->describe_table(session->engine, &session->arena, target, &table, err)) return false;
  ShapeColumn *columns = arena_array(&session->arena, table.n_columns, sizeof *columns);
  *ret = (Shape){.table = table.name, .columns = columns, .n = table.n_columns};
  for (size_t i = 0; i < table.n_columns; i++) {
    const ColumnFacts *column = &table.columns[i];
    columns[i] = (ShapeColumn){.name = column->name,
                               .type = column->type,
                               .key = column->primary > 0,
                               .given = !column->generated,
                               .generated = column->generated};
    ret->keyed = ret->keyed || column->primary > 0;
  }
  return true;
}

/* The newest backfill's plan, when there is one that still resolves. */
static bool newest_plan(Session *session, const char *target) {
  bool exists = false;
  Error ignored;
  return session->engine->ops->ledger_exists(session->engine, &exists, &ignored) && exists &&
         ledger_find(session->engine, &session->arena, target, &session->record, &ignored) &&
         plan_load(&session->arena, session->engine, &session->record, &session->plan, &ignored);
}

static int run(Session *session) {
  Shape shape;
  BlastRadius radius;
  Error err;
  const char *target = session_word(session, 0);
  if (!session_pipeline(session, target, &err) || !plain_shape(session, target, &shape, &err) ||
      !lineage_blast_radius(&session->arena, session->engine, shape.table, &session->spec, &radius, &err))
    return session_fail(session, &err);
  bool planned = newest_plan(session, shape.table);
  const EngineOps *ops = session->engine->ops;
  const char *id = planned ? session->record.id : NULL;
  RunbookFacts facts = {
      .target = shape.table,
      .database = session->spec.database_path,
      .spec = planned ? &session->plan.spec : &session->spec,
      .shape = planned ? &session->plan.shape : &shape,
      .id = id,
      .engine = ops->name,
      .changes = ops->object_name(session->engine, &session->arena, id == NULL ? "ID" : id, "changes"),
      .radius = &radius};
  BUF_SCOPED text = {0};
  Buf *out = session->json ? &text : &session->buffer;
  view_runbook(out, &session->arena, &facts);
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "target", facts.target);
    json_text(&json, "runbook", buf_text(&text));
    session_object_end(session, &json);
  }
  return session_flush(session);
}
