#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/openlineage.h"
#include "lineage/openlineage_int.h"
#include "lineage/sql_text.h"

/* What the events say together: edges from what runs read to what they write. */

enum { MOST_FAULTS = 3 };

OpenLineage *openlineage_begin(Graph *graph, const char *path) {
  Arena *arena = graph_arena(graph);
  OpenLineage *reading = arena_alloc(arena, sizeof *reading);
  *reading = (OpenLineage){.graph = graph, .arena = arena, .path = arena_strdup(arena, path)};
  reading->source = graph_begin(graph, &(GraphSource){.reader = "OpenLineage", .path = reading->path});
  return reading;
}

void openlineage_fault(OpenLineage *reading, const char *file, int line, const char *format, ...) {
  va_list args;
  if (++reading->n_faults > MOST_FAULTS) return;
  buf_printf(&reading->faults, "%s%s", reading->faults.len > 0 ? "; " : "", file);
  if (line > 0) buf_printf(&reading->faults, ":%d", line);
  buf_puts(&reading->faults, ": ");
  va_start(args, format);
  buf_vprintf(&reading->faults, format, args);
  va_end(args);
}

/* By job, those that succeeded first, the newest first. */
static int by_job(const void *left, const void *right) {
  const OlRun *a = left, *b = right;
  int order = strcmp(a->space, b->space);
  if (order == 0) order = strcmp(a->job, b->job);
  if (order == 0) order = (a->end > b->end) - (a->end < b->end);
  return order != 0 ? order : (a->at < b->at) - (a->at > b->at);
}

static bool same_job(const OlRun *a, const OlRun *b) {
  return strcmp(a->space, b->space) == 0 && strcmp(a->job, b->job) == 0;
}

/* A job's runs, from `runs` on; what it is called beside an edge, by how the run ended; and the edges drawn. */
typedef struct OlJob {
  const OlRun *runs;
  size_t n;
  bool writes;
  const char *via[OL_GOING + 1];
  uint64_t *drawn; /* open addressing: parent and child, 0 is free */
  size_t n_slots, n_drawn;
  bool parsed;
  const SqlStatement *statement; /* what its SQL says, when it is one statement that could be read; else NULL */
} OlJob;

static const char *via_of(OpenLineage *reading, OlJob *job, const OlRun *run) {
  static const char *const ends[] = {"", ", in a run that failed", ", in a run that has not ended"};
  if (job->via[run->end] == NULL)
    job->via[run->end] =
        arena_printf(reading->arena, "job %s%s%s%s%s", run->job, run->schedule != NULL ? " (" : "",
                     run->schedule != NULL ? run->schedule : "", run->schedule != NULL ? ")" : "", ends[run->end]);
  return job->via[run->end];
}

/* False: the edge is there already. */
static bool put_drawn(uint64_t *slots, size_t n_slots, uint64_t pair) {
  size_t i = (pair * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (n_slots - 1);
  for (; slots[i] != 0; i = (i + 1) & (n_slots - 1))
    if (slots[i] == pair) return false;
  slots[i] = pair;
  return true;
}

/* Is the edge in an earlier run of the job? Then that one speaks for it. */
static bool drawn_before(OpenLineage *reading, OlJob *job, NodeId parent, NodeId child) {
  if ((job->n_drawn + 1) * 2 > job->n_slots) {
    uint64_t *old = job->drawn;
    size_t n_old = job->n_slots;
    job->n_slots = n_old == 0 ? 16 : n_old * 2;
    job->drawn = arena_array(&reading->scratch, job->n_slots, sizeof *job->drawn);
    for (size_t i = 0; i < n_old; i++)
      if (old[i] != 0) put_drawn(job->drawn, job->n_slots, old[i]);
  }
  bool fresh = put_drawn(job->drawn, job->n_slots, ((uint64_t)parent << 32 | child) + 1);
  job->n_drawn += fresh;
  return !fresh;
}

/* By the newest SQL that the job sent along. */
static const SqlStatement *statement_of(OpenLineage *reading, OlJob *job) {
  for (const OlRun *run = job->runs; run < job->runs + job->n && !job->parsed; run++) {
    if (run->sql == NULL) continue;
    SqlScript script = sql_parse_query(reading->arena, run->sql);
    job->parsed = true;
    if (script.n == 1 && script.n_unread == 0) job->statement = script.statements;
  }
  return job->statement;
}

/* Emitters that leave out what is filtered and joined by may still send the SQL, which has it. */
static void columns_by_sql(OpenLineage *reading, OlJob *job, GraphEdge *edge) {
  const SqlStatement *statement = statement_of(reading, job);
  const char *table = graph_facts(reading->graph, edge->parent)->name.table;
  const SqlRead *found = NULL;
  for (size_t i = 0; statement != NULL && table != NULL && i < statement->n; i++) {
    if (strcasecmp(statement->reads[i].table.name, table) != 0) continue;
    if (found != NULL) return; /* two of that name */
    found = &statement->reads[i];
  }
  if (found == NULL || found->all || found->n == 0) return;
  edge->columns = found->columns;
  edge->n_columns = (uint32_t)found->n;
}

static void draw(OpenLineage *reading, OlJob *job, const OlRun *run, const OlOutput *output, NodeId parent) {
  GraphEdge edge = {.parent = parent, .child = output->node};
  if (drawn_before(reading, job, parent, output->node)) return;
  edge.via = via_of(reading, job, run);
  for (size_t i = 0; i < output->n && output->indirect; i++)
    if (output->columns[i].input == parent) {
      edge.columns = output->columns[i].names;
      edge.n_columns = (uint32_t)output->columns[i].n;
    }
  if (edge.columns == NULL && run->n_outputs == 1) columns_by_sql(reading, job, &edge);
  graph_edge(reading->graph, &edge);
}

/* What the job says of what it writes. Its SQL speaks for one output alone. */
static void tell_output(OpenLineage *reading, const OlRun *run, NodeId node) {
  GraphNode *facts = graph_facts(reading->graph, node);
  if (run->at > facts->at) facts->at = run->at;
  if (facts->url == NULL) facts->url = run->url;
  if (facts->owner == NULL) facts->owner = run->owner;
  if (run->sql != NULL && run->n_outputs == 1 && facts->sql == NULL) {
    facts->sql = run->sql;
    SqlDates dates = sql_dates_of(reading->arena, run->sql);
    sql_tell_dates(facts, &dates);
  }
  if (run->dbt_id != NULL && run->n_outputs == 1)
    graph_alias(reading->graph, node, &(GraphName){.space = "dbt", .id = run->dbt_id},
                "OpenLineage names the dbt node that wrote it");
}

/* A job that writes nothing that is known still reads. */
static NodeId job_node(OpenLineage *reading, const OlRun *run) {
  const char *space = arena_printf(reading->arena, "openlineage job:%s", run->space);
  NodeId node = graph_node(reading->graph, &(GraphName){.space = space, .id = run->job});
  GraphNode *facts = graph_facts(reading->graph, node);
  facts->kind = run->type != NULL && strcmp(run->type, "TEST") == 0 ? "test" : "job";
  facts->shown = run->job;
  if (run->at > facts->at) facts->at = run->at;
  facts->url = run->url;
  facts->owner = run->owner;
  return node;
}

static void draw_job(OpenLineage *reading, OlJob *job) {
  for (size_t i = 0; i < job->n; i++) job->writes = job->writes || job->runs[i].n_outputs > 0;
  for (const OlRun *run = job->runs; run < job->runs + job->n; run++) {
    for (size_t k = 0; k < run->n_outputs; k++) {
      tell_output(reading, run, run->outputs[k].node);
      for (size_t i = 0; i < run->n_inputs; i++) draw(reading, job, run, &run->outputs[k], run->inputs[i]);
    }
    if (job->writes || run->n_inputs == 0) continue;
    NodeId node = job_node(reading, run);
    for (size_t i = 0; i < run->n_inputs; i++)
      graph_edge(reading->graph, &(GraphEdge){.parent = run->inputs[i], .child = node});
  }
}

void openlineage_end(OpenLineage *reading) {
  size_t n_jobs = 0;
  if (reading->n_runs > 1) qsort(reading->runs, reading->n_runs, sizeof *reading->runs, by_job);
  for (size_t i = 0; i < reading->n_runs; n_jobs++) {
    OlJob job = {.runs = &reading->runs[i]};
    while (i < reading->n_runs && same_job(&reading->runs[i], job.runs)) i++, job.n++;
    draw_job(reading, &job);
  }
  GraphSource *source = graph_source(reading->graph, reading->source);
  source->made_at = reading->newest;
  source->covers = arena_printf(reading->arena, "%zu events of %zu jobs", reading->n_events, n_jobs);
  if (reading->n_faults > MOST_FAULTS) buf_printf(&reading->faults, "; and %zu more", reading->n_faults - MOST_FAULTS);
  if (reading->n_faults > 0) source->failed = arena_strdup(reading->arena, buf_text(&reading->faults));
  buf_release(&reading->faults);
  arena_release(&reading->scratch);
}
