#include <stdlib.h>
#include <string.h>

#include "lineage/dbt_int.h"
#include "time/quantity.h"

/*
 * A manifest is an object of sections, most of which are objects of nodes by unique_id; `disabled` holds lists of nodes
 * by unique_id. Whatever is not named here is passed over.
 */

typedef enum Section { SECTION_OTHER, SECTION_METADATA, SECTION_NODES, SECTION_DISABLED } Section;

static const struct {
  const char *name;
  Section section;
} sections[] = {{"metadata", SECTION_METADATA},   {"nodes", SECTION_NODES},      {"sources", SECTION_NODES},
                {"exposures", SECTION_NODES},     {"metrics", SECTION_NODES},    {"semantic_models", SECTION_NODES},
                {"saved_queries", SECTION_NODES}, {"unit_tests", SECTION_NODES}, {"functions", SECTION_NODES},
                {"disabled", SECTION_DISABLED}};

/* The keys that are wanted: of a node (group DBT_OTHER), or inside one of its objects. */
static const struct {
  DbtField group;
  const char *name;
  DbtField field;
} fields[] = {
    {DBT_OTHER, "unique_id", DBT_ID},
    {DBT_OTHER, "resource_type", DBT_TYPE},
    {DBT_OTHER, "name", DBT_NAME},
    {DBT_OTHER, "alias", DBT_ALIAS},
    {DBT_OTHER, "database", DBT_DATABASE},
    {DBT_OTHER, "schema", DBT_SCHEMA},
    {DBT_OTHER, "identifier", DBT_IDENTIFIER},
    {DBT_OTHER, "relation_name", DBT_RELATION},
    {DBT_OTHER, "original_file_path", DBT_FILE},
    {DBT_OTHER, "package_name", DBT_PACKAGE},
    {DBT_OTHER, "url", DBT_URL},
    {DBT_OTHER, "group", DBT_GROUP},
    {DBT_OTHER, "compiled_code", DBT_COMPILED},
    {DBT_OTHER, "compiled_sql", DBT_COMPILED}, /* until dbt 1.2 */
    {DBT_OTHER, "exports", DBT_EXPORTS},
    {DBT_OTHER, "config", DBT_CONFIG},
    {DBT_OTHER, "depends_on", DBT_DEPENDS},
    {DBT_OTHER, "owner", DBT_OWNER},
    {DBT_CONFIG, "materialized", DBT_MATERIALIZED},
    {DBT_CONFIG, "incremental_strategy", DBT_STRATEGY},
    {DBT_CONFIG, "unique_key", DBT_UNIQUE_KEY},
    {DBT_CONFIG, "event_time", DBT_EVENT_TIME},
    {DBT_CONFIG, "batch_size", DBT_BATCH_SIZE},
    {DBT_CONFIG, "begin", DBT_BEGIN},
    {DBT_CONFIG, "full_refresh", DBT_FULL_REFRESH},
    {DBT_DEPENDS, "nodes", DBT_PARENTS},
    {DBT_OWNER, "name", DBT_OWNER_NAME},
    {DBT_OWNER, "email", DBT_OWNER_EMAIL},
};

enum { LONGEST_KEY = 32 };

typedef struct Manifest {
  JsonFile file;
  DbtReading reading;
  uint32_t letters[LONGEST_KEY]; /* by a key's length: with which letters the wanted ones begin */
  Section section;
  int base; /* the depth of a node's own keys */
  DbtField field, inner;
  char meta[32]; /* the key of the metadata that is read */
  const char *version, *project, *schema_version;
  Instant made_at;
} Manifest;

static void set_letters(Manifest *manifest) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    manifest->letters[strlen(fields[i].name)] |= 1u << (fields[i].name[0] - 'a');
}

static DbtField field_of(const Manifest *manifest, DbtField group, const char *key, size_t n) {
  if (n == 0 || n >= LONGEST_KEY || key[0] < 'a' || key[0] > 'z' || (manifest->letters[n] >> (key[0] - 'a') & 1) == 0)
    return DBT_OTHER;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (fields[i].group == group && fields[i].name[0] == key[0] && strncmp(fields[i].name, key, n) == 0 &&
        fields[i].name[n] == '\0')
      return fields[i].field;
  return DBT_OTHER;
}

static int stop(Manifest *manifest, const char *fault) {
  manifest->file.fault = fault;
  return 0;
}

/* A wanted text: not endless, and without a NUL that would make two different ones the same. */
static int check_text(Manifest *manifest, const char *text, size_t n) {
  if (n > JSON_MAX_TEXT) return stop(manifest, "a name, path or id longer than 65536 bytes");
  return memchr(text, '\0', n) == NULL ? 1 : stop(manifest, "a name, path or id with a NUL in it");
}

static size_t keep(DbtNode *node, const char *text, size_t n) {
  size_t at = node->texts.len;
  buf_append(&node->texts, text, n);
  buf_putc(&node->texts, '\0');
  return at;
}

static void keep_parent(DbtNode *node, const char *text, size_t n) {
  if (node->n_parents == node->room) {
    node->room = node->room == 0 ? 64 : node->room * 2;
    node->parents = realloc(node->parents, node->room * sizeof *node->parents);
    if (node->parents == NULL) error_out_of_memory();
  }
  node->parents[node->n_parents++] = keep(node, text, n);
}

/* Several columns of a unique_key, or several owners' addresses, are one text. */
static void keep_more(DbtNode *node, DbtField field, const char *text, size_t n) {
  if (node->at[field] == 0) {
    node->at[field] = keep(node, text, n);
    return;
  }
  size_t before = node->at[field];
  node->at[field] = node->texts.len;
  size_t length = strlen(node->texts.data + before);
  buf_reserve(&node->texts, length + n + 3);
  buf_append(&node->texts, node->texts.data + before, length);
  buf_puts(&node->texts, ", ");
  buf_append(&node->texts, text, n);
  buf_putc(&node->texts, '\0');
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static int on_metadata(Manifest *manifest, const char *text, size_t n) {
  Arena *arena = graph_arena(manifest->reading.graph);
  if (!check_text(manifest, text, n)) return 0;
  if (strcmp(manifest->meta, "dbt_version") == 0)
    manifest->version = arena_strndup(arena, text, n);
  else if (strcmp(manifest->meta, "project_name") == 0)
    manifest->project = arena_strndup(arena, text, n);
  else if (strcmp(manifest->meta, "dbt_schema_version") == 0)
    manifest->schema_version = arena_strndup(arena, text, n);
  else if (strcmp(manifest->meta, "adapter_type") == 0)
    manifest->reading.overwrites = n == 6 && memcmp(text, "athena", n) == 0;
  else if (strcmp(manifest->meta, "generated_at") == 0) {
    Error err;
    if (!instant_parse(arena_strndup(arena, text, n), &manifest->made_at, &err)) manifest->made_at = 0;
    graph_source(manifest->reading.graph, manifest->reading.source)->made_at = manifest->made_at;
  }
  return 1;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool in_nodes(const Manifest *manifest) { return manifest->section >= SECTION_NODES; }

static int on_key(void *context, const unsigned char *bytes, size_t n) {
  Manifest *manifest = context;
  const char *key = (const char *)bytes;
  DbtNode *node = &manifest->reading.node;
  const int depth = manifest->file.depth;
  if (depth == 1) {
    manifest->section = SECTION_OTHER;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
      if (strncmp(sections[i].name, key, n) == 0 && sections[i].name[n] == '\0')
        manifest->section = sections[i].section;
    manifest->reading.disabled = manifest->section == SECTION_DISABLED;
  } else if (manifest->section == SECTION_METADATA && depth == 2) {
    size_t length = n < sizeof manifest->meta ? n : 0;
    memcpy(manifest->meta, key, length);
    manifest->meta[length] = '\0';
  } else if (in_nodes(manifest)) {
    if (depth == 2)
      manifest->base = 3;
    else if (depth == manifest->base)
      manifest->field = field_of(manifest, DBT_OTHER, key, n);
    else if (depth == manifest->base + 1 && manifest->field >= DBT_CONFIG)
      manifest->inner = field_of(manifest, manifest->field, key, n);
    if (manifest->field == DBT_COMPILED && depth == manifest->base) node->compiled_from = json_file_at(&manifest->file);
  }
  return 1;
}

static int on_text(void *context, const unsigned char *bytes, size_t n) {
  Manifest *manifest = context;
  const char *text = (const char *)bytes;
  DbtNode *node = &manifest->reading.node;
  if (manifest->section == SECTION_METADATA && manifest->file.depth == 2) return on_metadata(manifest, text, n);
  if (!in_nodes(manifest)) return 1;
  const int inside = manifest->file.depth - manifest->base;
  if (inside == 0 && manifest->field == DBT_COMPILED) {
    node->compiled_to = json_file_at(&manifest->file);
    return 1;
  }
  DbtField field = inside == 0 ? manifest->field : manifest->field >= DBT_CONFIG ? manifest->inner : DBT_OTHER;
  if (inside < 0 || inside > 2 || field == DBT_OTHER) return 1;
  if (field == DBT_PARENTS ? inside != 2 : field >= DBT_TEXTS) return 1;
  if (!check_text(manifest, text, n)) return 0;
  if (field == DBT_PARENTS)
    keep_parent(node, text, n);
  else if (inside == 2)
    keep_more(node, field, text, n);
  else
    node->at[field] = keep(node, text, n);
  return 1;
}

/* Of what is yes or no only this is wanted. */
static int on_boolean(void *context, int yes) {
  Manifest *manifest = context;
  if (in_nodes(manifest) && manifest->file.depth == manifest->base + 1 && manifest->field == DBT_CONFIG &&
      manifest->inner == DBT_FULL_REFRESH)
    manifest->reading.node.never_whole = yes == 0;
  return 1;
}

static int open_any(Manifest *manifest) {
  return ++manifest->file.depth <= JSON_MAX_DEPTH ? 1 : stop(manifest, "nested deeper than 512");
}

static int on_map(void *context) {
  Manifest *manifest = context;
  if (!open_any(manifest)) return 0;
  if (!in_nodes(manifest)) return 1;
  if (manifest->file.depth == manifest->base) {
    manifest->field = manifest->inner = DBT_OTHER;
    dbt_node_clear(&manifest->reading.node);
    manifest->reading.node.from = json_file_at(&manifest->file) - 1;
  } else if (manifest->file.depth == manifest->base + 1) {
    manifest->inner = DBT_OTHER;
  } else if (manifest->file.depth == manifest->base + 2 && manifest->field == DBT_EXPORTS) {
    manifest->reading.node.exports = true;
  }
  return 1;
}

static int on_map_end(void *context) {
  Manifest *manifest = context;
  manifest->file.depth--;
  if (in_nodes(manifest) && manifest->file.depth == manifest->base - 1 && manifest->file.depth >= 2) {
    manifest->reading.node.to = json_file_at(&manifest->file);
    dbt_node_done(&manifest->reading);
  }
  return 1;
}

/* `disabled` has a list of nodes under each id. */
static int on_array(void *context) {
  Manifest *manifest = context;
  if (!open_any(manifest)) return 0;
  if (in_nodes(manifest) && manifest->file.depth == 3) manifest->base = 4;
  return 1;
}

static int on_array_end(void *context) {
  Manifest *manifest = context;
  manifest->file.depth--;
  return 1;
}

/* ---- what was read ----------------------------------------------------------------------------------------------- */

static void say_covered(const Manifest *manifest) {
  const DbtReading *reading = &manifest->reading;
  Graph *graph = reading->graph;
  GraphSource *source = graph_source(graph, reading->source);
  source->covers = arena_printf(graph_arena(graph),
                                "%zu models, %zu tests, %zu sources, %zu exposures, %zu others%s%.100s, "
                                "by dbt %.40s",
                                reading->n_models, reading->n_tests, reading->n_sources, reading->n_exposures,
                                reading->n_others, manifest->project == NULL ? "" : " of the project ",
                                manifest->project == NULL ? "" : manifest->project,
                                manifest->version == NULL ? "of an unknown version" : manifest->version);
  if (reading->n_disabled > 0)
    source->covers = arena_printf(graph_arena(graph), "%s; %zu disabled", source->covers, reading->n_disabled);
}

/* "https://schemas.getdbt.com/dbt/manifest/v12.json" */
static int schema_number(const char *text) {
  const char *version = text == NULL ? NULL : strstr(text, "/manifest/v");
  return version == NULL ? -1 : atoi(version + strlen("/manifest/v"));
}

static void say_doubts(const Manifest *manifest) {
  enum { OLDEST = 4, NEWEST = 12 };
  const DbtReading *reading = &manifest->reading;
  const char *path = manifest->file.path;
  int number = schema_number(manifest->schema_version);
  GraphSource *source = graph_source(reading->graph, reading->source);
  if (reading->n_nameless > 0)
    graph_blind(reading->graph, "%s: %zu nodes without unique_id or resource_type", path, reading->n_nameless);
  if (reading->n_twice > 0)
    graph_blind(reading->graph,
                "%s: %zu ids or relations stand twice, the first is %.200s: what the later ones say of it", path,
                reading->n_twice, reading->twice);
  if (source->failed != NULL) return;
  if (number < 0)
    source->failed = "it does not say that it is a manifest of dbt (metadata.dbt_schema_version)";
  else if (number < OLDEST || number > NEWEST)
    graph_blind(reading->graph, "%s: what is new or old in version %d of the manifest; 4 to 12 are known", path,
                number);
}

static void say_failed(Manifest *manifest, const Error *err) {
  Graph *graph = manifest->reading.graph;
  graph_source(graph, manifest->reading.source)->failed =
      arena_printf(graph_arena(graph), "%s%s%s", err->where, *err->where == '\0' ? "" : ": ", err->message);
}

void dbt_read_manifest(Graph *graph, const char *path) {
  static const yajl_callbacks callbacks = {.yajl_boolean = on_boolean,
                                           .yajl_string = on_text,
                                           .yajl_map_key = on_key,
                                           .yajl_start_map = on_map,
                                           .yajl_end_map = on_map_end,
                                           .yajl_start_array = on_array,
                                           .yajl_end_array = on_array_end};
  Error err;
  Manifest manifest = {.file = {.path = path}, .reading = {.graph = graph}};
  set_letters(&manifest);
  manifest.reading.source = graph_begin(graph, &(GraphSource){.reader = "dbt manifest", .path = path});
  if (!json_file_read(&manifest.file, &callbacks, &manifest, &err)) say_failed(&manifest, &err);
  graph_source(graph, manifest.reading.source)->stamp = manifest.file.stamp;
  say_covered(&manifest);
  say_doubts(&manifest);
  buf_release(&manifest.reading.node.texts);
  free(manifest.reading.node.parents);
  arena_release(&manifest.reading.scratch);
}
