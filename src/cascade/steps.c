#include <string.h>
#include <unistd.h>

#include "cascade/cascade_int.h"
#include "engine/sql_text.h"

const char cascade_event[] = "cascaded";

const char *cascade_act_name(CascadeAct act) {
  static const char *const names[] = {"nothing", "backfill", "refresh", "hand"};
  return names[act];
}

/* ---- what is to be done ------------------------------------------------------------------------------------------ */

static void by_hand(CascadeStep *step, const char *why, const char *command) {
  step->act = CASCADE_HAND;
  step->why = why;
  step->command = command;
}

/* As the engine is asked for it, where it is a table or view of a database at all; else NULL. */
static const char *relation_of(Arena *arena, const GraphNode *node, bool schemas) {
  if (node->name.table == NULL) return NULL;
  if (node->name.schema == NULL || !schemas) return node->name.table;
  return arena_printf(arena, "%s.%s", sql_ident(arena, node->name.schema), sql_ident(arena, node->name.table));
}

/* *ret_there: the database has it. */
static bool look(Arena *arena, Engine *engine, const GraphNode *node, TableFacts *ret, bool *ret_there, Error *err) {
  const char *name = relation_of(arena, node, engine->ops->grants != NULL);
  *ret_there = false;
  if (name == NULL) return true;
  if (engine->ops->describe_table(engine, arena, name, ret, err)) return *ret_there = true;
  return err->code == ERR_NOT_FOUND;
}

/* An incremental model that was compiled where its table stood gives only what is new since. */
static bool reads_itself(Arena *arena, Engine *engine, const CascadeStep *step) {
  QueryFacts facts;
  Error ignored;
  int offset;
  if (!engine->ops->describe_query(engine, arena, step->query.sql, &facts, &offset, &ignored)) return false;
  for (size_t i = 0; i < facts.n_reads; i++)
    if (strcmp(facts.reads[i].table, step->table) == 0) return true;
  return false;
}

static void choose_backfill(Arena *arena, Engine *engine, const Graph *graph, CascadeStep *step, const char *again) {
  const GraphNode *node = graph_at(graph, step->node->id);
  const char *compiled = node->sql != NULL ? node->sql : lineage_compiled(arena, graph, step->node->id);
  /* In a folder of its own: dbt run leaves out of its manifest the SQL of what it did not run. */
  static const char recompile[] = "dbt compile --full-refresh --target-path lineage";
  if (cascade_is_python(node)) {
    by_hand(step, "it is written in Python", again);
    return;
  }
  step->act = CASCADE_BACKFILL;
  step->query = cascade_query(arena, compiled);
  if (step->query.sql == NULL && cascade_is_model(node))
    by_hand(step, "the manifest holds no SQL of it", recompile);
  else if (step->query.sql == NULL)
    by_hand(step, "no SQL of it is known: write a spec for it", NULL);
  else if (!cascade_is_model(node) || node->reads_itself || !reads_itself(arena, engine, step))
    return;
  else if (node->never_whole)
    by_hand(step,
            "its SQL in the manifest gives only what is new, and with full_refresh: false dbt gives no other: write a "
            "spec for it, or say in_place",
            NULL);
  else
    by_hand(step, "its SQL in the manifest gives only what is new: it was compiled without --full-refresh", recompile);
}

bool cascade_child_spec(Arena *arena, const BackfillRecord *record, const char *table, Spec *ret, Error *err) {
  const char *path = record->pipeline_path;
  if (path != NULL && access(path, R_OK) != 0) path = NULL;
  return spec_load_pipeline(arena, path, table, ret, err);
}

/* Handed to its own tool, where a person has said how. What is made anew as a whole has no dates to be handed over, and
 * what only appends would have its rows twice. */
static bool hand_over(Arena *arena, const Cascade *cascade, CascadeStep *step, bool *ret, Error *err) {
  Spec spec;
  Needs needs = step->node->needs;
  *ret = false;
  if (cascade_appends(graph_at(cascade->parent->radius.graph, step->node->id))) return true;
  if (step->table == NULL || (needs != NEEDS_CASCADE && (needs != NEEDS_UNKNOWN || !step->node->ranged))) return true;
  if (!cascade_child_spec(arena, cascade->record, step->table, &spec, err)) return false;
  if (spec.in_place.text == NULL) return true;
  step->act = CASCADE_BACKFILL;
  step->line = spec.in_place.text;
  return *ret = true;
}

static bool choose(Arena *arena, Engine *engine, const Cascade *cascade, CascadeStep *step, Error *err) {
  const Graph *graph = cascade->parent->radius.graph;
  const GraphNode *node = graph_at(graph, step->node->id);
  const char *again = cascade_is_model(node) ? cascade_dbt_again(arena, cascade, step->node, node) : NULL;
  TableFacts table;
  bool there, handed;
  if (step->node->needs == NEEDS_NOTHING || step->node->needs == NEEDS_FOLLOWS) return true;
  if (!look(arena, engine, node, &table, &there, err)) return false;
  if (there) step->table = table.name;
  if (!hand_over(arena, cascade, step, &handed, err)) return false;
  if (handed) return true;
  switch (step->node->needs) {
    case NEEDS_CASCADE:
      if (there)
        choose_backfill(arena, engine, graph, step, again);
      else
        by_hand(step, "it is not in this database", again);
      break;
    case NEEDS_REFRESH:
      step->act = CASCADE_REFRESH;
      if (!there || engine->ops->refresh == NULL) by_hand(step, "it is no materialized view of this database", again);
      break;
    case NEEDS_REBUILD:
      if (again == NULL && node->never_whole)
        by_hand(step, "it would have to be made anew as a whole, which full_refresh: false keeps dbt from", NULL);
      else
        by_hand(step, step->node->why != NULL ? step->node->why : "it is made anew as a whole", again);
      break;
    case NEEDS_PERSON:
      by_hand(step, step->node->why != NULL ? step->node->why : "somebody has to decide", NULL);
      break;
    default:
      by_hand(step, "what it needs is not known", NULL);
  }
  return true;
}

/* ---- what is done ------------------------------------------------------------------------------------------------ */

const char *cascade_detail(Arena *arena, const CascadeStep *step, const char *how) {
  return arena_printf(arena, "%s: %s", step->node->name, how);
}

/* By it the target's rows changed: what was done before it counts for nothing. */
static bool is_publication(const EventRecord *event) {
  return strcmp(event->what, state_name(STATE_swapped)) == 0 || strcmp(event->what, state_name(STATE_rolled_back)) == 0;
}

static bool read_events(Arena *arena, Engine *engine, Cascade *cascade, Error *err) {
  const EventRecord *events;
  size_t n, first = 0;
  if (!engine->ops->ledger_events(engine, arena, cascade->record->id, &events, &n, err)) return false;
  for (size_t i = n; i > 0 && first == 0; i--)
    if (is_publication(&events[i - 1])) first = i;
  for (size_t i = first; i < n; i++) {
    if (strcmp(events[i].what, cascade_event) != 0 || events[i].detail == NULL) continue;
    for (size_t k = 0; k < cascade->n; k++) {
      const char *name = cascade->steps[k].node->name;
      size_t length = strlen(name);
      if (strncmp(events[i].detail, name, length) == 0 && strncmp(events[i].detail + length, ": ", 2) == 0)
        cascade->steps[k].done = events[i].detail + length + 2;
    }
  }
  return true;
}

static bool follows(Arena *arena, const BackfillRecord *child, const char *id) {
  Spec spec;
  Error ignored;
  return child->spec_text != NULL &&
         spec_parse(arena, child->spec_path, child->spec_text, child->pipeline_path, child->pipeline_text, &spec,
                    &ignored) &&
         spec.follows.text != NULL && strcmp(spec.follows.text, id) == 0;
}

static bool is_dead(const char *state) {
  static const State dead[] = {STATE_superseded, STATE_discarded, STATE_rolled_back, STATE_restored};
  for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
    if (strcmp(state, state_name(dead[i])) == 0) return true;
  return false;
}

static bool is_done(const BackfillRecord *child) {
  static const State done[] = {STATE_swapped, STATE_finished, STATE_checked};
  for (size_t i = 0; i < sizeof done / sizeof *done; i++)
    if (strcmp(child->state, state_name(done[i])) == 0) return true;
  return false;
}

/* The newest that counts of each child. */
static bool read_children(Arena *arena, Engine *engine, Cascade *cascade, Error *err) {
  const BackfillRecord *records;
  size_t n;
  if (!engine->ops->ledger_list(engine, arena, &records, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    const BackfillRecord *record = &records[i];
    if (record->created_at < cascade->since || is_dead(record->state)) continue;
    for (size_t k = 0; k < cascade->n; k++) {
      CascadeStep *step = &cascade->steps[k];
      if (step->table == NULL || step->child != NULL || strcmp(step->table, record->target) != 0 ||
          !follows(arena, record, cascade->record->id))
        continue;
      /* Within the second of the publication it cannot be told which came first: then it is looked at again. */
      bool done = is_done(record);
      if (done && step->done == NULL && record->changed_at <= cascade->since) continue;
      step->child = record;
      if (done) step->done = arena_printf(arena, "backfill %s", record->id);
    }
  }
  return true;
}

/* ---- who waits for whom ------------------------------------------------------------------------------------------ */

bool cascade_is_open(const CascadeStep *step) {
  return step->act == CASCADE_NOTHING ? step->waits != NULL : step->done == NULL;
}

bool cascade_is_told(const CascadeStep *step) { return step->act == CASCADE_HAND && step->node->needs == NEEDS_PERSON; }

void cascade_settle(Cascade *cascade) {
  const Graph *graph = cascade->parent->radius.graph;
  const GraphEdge *edges;
  size_t n_edges, n;
  ARENA_SCOPED arena = {0};
  if (graph == NULL) return;
  edges = graph_edges(graph, &n_edges);
  const CascadeStep **of = arena_array(&arena, graph_count(graph), sizeof *of);
  for (size_t i = 0; i < cascade->n; i++) {
    CascadeStep *step = &cascade->steps[i];
    const uint32_t *in = graph_next(graph, GRAPH_UP, step->node->id, &n);
    step->waits = NULL;
    for (size_t k = 0; k < n && step->waits == NULL && step->node->needs != NEEDS_NOTHING; k++) {
      const CascadeStep *parent = of[edges[in[k]].parent];
      if (parent == NULL || !cascade_is_open(parent)) continue;
      step->waits = parent->act == CASCADE_NOTHING ? parent->waits : parent->node->name;
    }
    of[step->node->id] = step;
  }
}

size_t cascade_left(const Cascade *cascade) {
  size_t left = 0;
  for (size_t i = 0; i < cascade->n; i++) {
    const CascadeStep *step = &cascade->steps[i];
    left += step->act != CASCADE_NOTHING && cascade_is_open(step) && !cascade_is_told(step);
  }
  return left;
}

bool cascade_make(Arena *arena, Engine *engine, const Plan *parent, const BackfillRecord *record, Cascade *ret,
                  Error *err) {
  const BlastRadius *radius = &parent->radius;
  bool back = strcmp(record->state, state_name(STATE_rolled_back)) == 0;
  Cascade cascade = {.steps = arena_array(arena, radius->n, sizeof *cascade.steps),
                     .n = radius->n,
                     .parent = parent,
                     .record = record,
                     .since = back ? record->changed_at : record->swapped_at};
  for (size_t i = 0; i < radius->n; i++) {
    cascade.steps[i].node = &radius->nodes[i];
    if (!choose(arena, engine, &cascade, &cascade.steps[i], err)) return false;
  }
  if (!read_events(arena, engine, &cascade, err) || !read_children(arena, engine, &cascade, err)) return false;
  cascade_settle(&cascade);
  *ret = cascade;
  return true;
}
