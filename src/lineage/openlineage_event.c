#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "lineage/openlineage.h"
#include "lineage/openlineage_int.h"
#include "time/quantity.h"

/* One event: which run of which job it speaks of, and what it adds to it. */

static const char *member(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text != NULL && text[0] != '\0' ? text : NULL;
}

static const json_t *facet(const json_t *object, const char *name) {
  return json_object_get(json_object_get(object, "facets"), name);
}

/* ---- runs by job and id ------------------------------------------------------------------------------------------ */

static OlRun *run_slot(OpenLineage *reading, const RowHash *hash) {
  size_t i = hash->low & (reading->n_slots - 1);
  while (reading->slots[i] != 0) {
    OlRun *run = &reading->runs[reading->slots[i] - 1];
    if (run->hash.low == hash->low && run->hash.high == hash->high) return run;
    i = (i + 1) & (reading->n_slots - 1);
  }
  reading->slots[i] = (uint32_t)reading->n_runs + 1;
  return NULL;
}

static void grow_slots(OpenLineage *reading) {
  if ((reading->n_runs + 1) * 2 <= reading->n_slots) return;
  reading->n_slots = reading->n_slots == 0 ? 256 : reading->n_slots * 2;
  reading->slots = arena_array(&reading->scratch, reading->n_slots, sizeof *reading->slots);
  for (size_t i = 0; i < reading->n_runs; i++) {
    size_t at = reading->runs[i].hash.low & (reading->n_slots - 1);
    while (reading->slots[at] != 0) at = (at + 1) & (reading->n_slots - 1);
    reading->slots[at] = (uint32_t)i + 1;
  }
}

static OlRun *find_run(OpenLineage *reading, const char *space, const char *job, const char *id) {
  BUF_SCOPED key = {0};
  const char *const parts[] = {space, job, id};
  for (size_t i = 0; i < 3; i++) buf_append(&key, parts[i], strlen(parts[i]) + 1);
  RowHash hash = hash_bytes(key.data, key.len);
  grow_slots(reading);
  OlRun *run = run_slot(reading, &hash);
  if (run != NULL) return run;
  reading->runs = arena_grow(&reading->scratch, reading->runs, reading->n_runs, sizeof *reading->runs);
  run = &reading->runs[reading->n_runs++];
  *run = (OlRun){.hash = hash, .space = arena_strdup(reading->arena, space), .job = arena_strdup(reading->arena, job)};
  return run;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

/* A dataset's name; where it may be a table's, as a relation too. Paths and topics are none, unless the event says that
 * it is a TABLE: Spark's and Flink's have the namespace of where the rows lie. type: of a symlink; NULL: it says none.
 */
static GraphName dataset_name(Arena *arena, const char *space, const char *name, const char *type) {
  static const char *const others[] = {"file", "s3",   "s3a",  "gs",    "gcs",  "abfss", "abfs",   "wasbs",
                                       "wasb", "dbfs", "hdfs", "kafka", "http", "https", "pubsub", NULL};
  size_t scheme = strcspn(space, ":/");
  GraphName ret = {0};
  bool other = strchr(name, '/') != NULL;
  bool said = type != NULL && strcasecmp(type, "TABLE") == 0;
  if (type != NULL && strcasecmp(type, "LOCATION") == 0) other = true;
  for (size_t i = 0; !said && others[i] != NULL; i++)
    other = other || (strlen(others[i]) == scheme && strncasecmp(space, others[i], scheme) == 0);
  if (!other) ret = graph_relation(arena, name);
  ret.space = arena_printf(arena, "openlineage:%s", space);
  ret.id = arena_strdup(arena, name);
  return ret;
}

/* GRAPH_NONE: it has no name. */
static NodeId add_dataset(OpenLineage *reading, const json_t *dataset) {
  const char *space = member(dataset, "namespace"), *name = member(dataset, "name");
  size_t i;
  json_t *other;
  if (space == NULL || name == NULL) return GRAPH_NONE;
  GraphName full = dataset_name(reading->arena, space, name, NULL);
  NodeId node = graph_node(reading->graph, &full);
  GraphNode *facts = graph_facts(reading->graph, node);
  if (facts->kind == NULL) facts->kind = full.table == NULL ? "dataset" : "table";
  if (facts->shown == NULL && full.table == NULL) facts->shown = full.id;
  json_array_foreach(json_object_get(facet(dataset, "symlinks"), "identifiers"), i, other) {
    const char *other_space = member(other, "namespace"), *other_name = member(other, "name");
    if (other_space == NULL || other_name == NULL) continue;
    GraphName alias = dataset_name(reading->arena, other_space, other_name, member(other, "type"));
    graph_alias(reading->graph, node, &alias, "OpenLineage names one the symlink of the other");
  }
  return node;
}

static OlOutput *find_output(OpenLineage *reading, OlRun *run, NodeId node) {
  for (size_t i = 0; i < run->n_outputs; i++)
    if (run->outputs[i].node == node) return &run->outputs[i];
  run->outputs = arena_grow(&reading->scratch, run->outputs, run->n_outputs, sizeof *run->outputs);
  run->outputs[run->n_outputs] = (OlOutput){.node = node};
  return &run->outputs[run->n_outputs++];
}

static void add_input(OpenLineage *reading, OlRun *run, NodeId node) {
  if (node == GRAPH_NONE) return;
  for (size_t i = 0; i < run->n_inputs; i++)
    if (run->inputs[i] == node) return;
  run->inputs = arena_grow(&reading->scratch, run->inputs, run->n_inputs, sizeof *run->inputs);
  run->inputs[run->n_inputs++] = node;
}

static OlColumns *find_columns(OpenLineage *reading, OlOutput *output, NodeId input) {
  for (size_t i = 0; i < output->n; i++)
    if (output->columns[i].input == input) return &output->columns[i];
  output->columns = arena_grow(&reading->scratch, output->columns, output->n, sizeof *output->columns);
  output->columns[output->n] = (OlColumns){.input = input};
  return &output->columns[output->n++];
}

static bool is_indirect(const json_t *field) {
  size_t i;
  json_t *step;
  json_array_foreach(json_object_get(field, "transformations"), i, step) {
    const char *type = member(step, "type");
    if (type != NULL && strcmp(type, "INDIRECT") == 0) return true;
  }
  return false;
}

static void add_fields(OpenLineage *reading, OlRun *run, size_t output, const json_t *fields) {
  size_t i;
  json_t *field;
  json_array_foreach(fields, i, field) {
    const char *name = member(field, "field");
    NodeId input = add_dataset(reading, field);
    if (input == GRAPH_NONE) continue;
    add_input(reading, run, input);
    if (is_indirect(field)) run->outputs[output].indirect = true;
    if (name == NULL) continue;
    OlColumns *columns = find_columns(reading, &run->outputs[output], input);
    bool known = false;
    for (size_t k = 0; k < columns->n && !known; k++) known = strcmp(columns->names[k], name) == 0;
    if (known) continue;
    columns->names = arena_grow(reading->arena, columns->names, columns->n, sizeof *columns->names);
    columns->names[columns->n++] = arena_strdup(reading->arena, name);
  }
}

static void add_output(OpenLineage *reading, OlRun *run, const json_t *dataset) {
  const char *column;
  json_t *value;
  NodeId node = add_dataset(reading, dataset);
  if (node == GRAPH_NONE) return;
  size_t output = (size_t)(find_output(reading, run, node) - run->outputs);
  const json_t *lineage = facet(dataset, "columnLineage");
  const json_t *filters = json_object_get(lineage, "dataset");
  json_object_foreach(json_object_get(lineage, "fields"), column, value)
      add_fields(reading, run, output, json_object_get(value, "inputFields"));
  add_fields(reading, run, output, filters);
  if (json_array_size(filters) > 0) run->outputs[output].indirect = true;
}

/* ---- the event --------------------------------------------------------------------------------------------------- */

static void set_text(Arena *arena, const char **place, const char *text) {
  if (text != NULL) *place = arena_strdup(arena, text);
}

/* Facets that say something of the job itself. */
static void add_job_facets(OpenLineage *reading, OlRun *run, const json_t *event) {
  const json_t *job = json_object_get(event, "job");
  const json_t *owners = json_object_get(facet(job, "ownership"), "owners");
  const json_t *airflow = json_object_get(facet(json_object_get(event, "run"), "airflow"), "dag");
  set_text(reading->arena, &run->type, member(facet(job, "jobType"), "jobType"));
  set_text(reading->arena, &run->sql, member(facet(job, "sql"), "query"));
  set_text(reading->arena, &run->url, member(facet(job, "sourceCodeLocation"), "url"));
  set_text(reading->arena, &run->owner, member(json_array_get(owners, 0), "name"));
  set_text(reading->arena, &run->dbt_id, member(facet(job, "dbt_node"), "unique_id"));
  set_text(reading->arena, &run->schedule, member(airflow, "schedule_interval"));
}

static OlEnd end_of(const char *type) {
  if (type == NULL || strcmp(type, "COMPLETE") == 0) return OL_COMPLETE;
  if (strcmp(type, "FAIL") == 0 || strcmp(type, "ABORT") == 0) return OL_FAILED;
  return OL_GOING;
}

static bool add_event(OpenLineage *reading, const char *file, int line, const json_t *event) {
  size_t i;
  json_t *dataset;
  Error ignored;
  Instant at = 0;
  reading->n_seen++;
  const json_t *job = json_object_get(event, "job");
  const char *space = member(job, "namespace"), *name = member(job, "name"), *time = member(event, "eventTime");
  const char *id = member(json_object_get(event, "run"), "runId");
  if (time != NULL && !instant_parse(time, &at, &ignored)) at = 0;
  if (at > reading->newest) reading->newest = at;
  if (job == NULL && json_object_get(event, "dataset") != NULL) { /* an event of a dataset alone: its other names */
    add_dataset(reading, json_object_get(event, "dataset"));
    return true;
  }
  if (space == NULL || name == NULL) {
    openlineage_fault(reading, file, line, "no OpenLineage event: it has no job with namespace and name");
    return false;
  }
  OlRun *run = find_run(reading, space, name, id == NULL ? "" : id);
  OlEnd end = end_of(member(event, "eventType"));
  if (end != OL_GOING || run->at == 0) run->end = end;
  if (at > run->at) run->at = at;
  add_job_facets(reading, run, event);
  json_array_foreach(json_object_get(event, "inputs"), i, dataset)
      add_input(reading, run, add_dataset(reading, dataset));
  json_array_foreach(json_object_get(event, "outputs"), i, dataset) add_output(reading, run, dataset);
  return true;
}

bool openlineage_add(OpenLineage *reading, const char *file, int line, const char *text, size_t n) {
  json_error_t fault;
  size_t i;
  json_t *item;
  json_t *root = json_loadb(text, n, JSON_ALLOW_NUL, &fault);
  if (root == NULL) {
    openlineage_fault(reading, file, line + fault.line - 1, "no JSON: %s", fault.text);
    return false;
  }
  const json_t *events = json_is_array(root) ? root : json_object_get(root, "events"); /* as Marquez answers */
  if (events == NULL) {
    reading->n_events += add_event(reading, file, line, root);
  } else {
    json_array_foreach(events, i, item) reading->n_events += add_event(reading, file, line, item);
  }
  json_decref(root);
  return true;
}
