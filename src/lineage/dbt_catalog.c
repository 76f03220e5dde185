#include <string.h>

#include "lineage/dbt.h"
#include "lineage/json_file.h"
#include "time/quantity.h"

/*
 * catalog.json: {nodes: {unique_id: {metadata: {type, database, schema, name, owner}, …}}, sources: …}. It says how the
 * database itself calls what a manifest knows by its id.
 */

typedef enum CatalogField { CATALOG_TYPE, CATALOG_DATABASE, CATALOG_SCHEMA, CATALOG_NAME, CATALOG_OWNER } CatalogField;
enum { CATALOG_FIELDS = CATALOG_OWNER + 1 };

static const char *const names[CATALOG_FIELDS] = {"type", "database", "schema", "name", "owner"};

typedef struct Catalog {
  JsonFile file;
  Graph *graph;
  Arena scratch;
  uint32_t source;
  size_t n;
  bool nodes, metadata,
      generated; /* inside a section of nodes; a node's metadata; the file's own generated_at is next */
  bool own;      /* inside the file's own metadata */
  int field;     /* of the metadata; −1: none that is wanted */
  const char *id;
  const char *texts[CATALOG_FIELDS];
} Catalog;

static int stop(Catalog *catalog, const char *fault) {
  catalog->file.fault = fault;
  return 0;
}

static const char *keep(Catalog *catalog, const unsigned char *bytes, size_t n) {
  if (n > JSON_MAX_TEXT || memchr(bytes, '\0', n) != NULL) return NULL;
  return arena_strndup(&catalog->scratch, (const char *)bytes, n);
}

static bool is(const unsigned char *key, size_t n, const char *name) {
  return strlen(name) == n && memcmp(key, name, n) == 0;
}

static int on_key(void *context, const unsigned char *key, size_t n) {
  Catalog *catalog = context;
  if (catalog->file.depth == 1) {
    catalog->nodes = is(key, n, "nodes") || is(key, n, "sources");
    catalog->own = is(key, n, "metadata");
  } else if (catalog->file.depth == 2) {
    catalog->generated = catalog->own && is(key, n, "generated_at");
    if (!catalog->nodes) return 1;
    catalog->id = keep(catalog, key, n);
    memset(catalog->texts, 0, sizeof catalog->texts);
    if (catalog->id == NULL) return stop(catalog, "an id longer than 65536 bytes, or with a NUL in it");
  } else if (catalog->file.depth == 3) {
    catalog->metadata = catalog->nodes && is(key, n, "metadata");
  } else if (catalog->file.depth == 4 && catalog->metadata) {
    catalog->field = -1;
    for (int i = 0; i < CATALOG_FIELDS; i++)
      if (is(key, n, names[i])) catalog->field = i;
  }
  return 1;
}

static int on_text(void *context, const unsigned char *text, size_t n) {
  Catalog *catalog = context;
  Error err;
  if (catalog->file.depth == 2 && catalog->generated) {
    const char *copy = keep(catalog, text, n);
    Instant *at = &graph_source(catalog->graph, catalog->source)->made_at;
    if (copy == NULL || !instant_parse(copy, at, &err)) *at = 0;
  }
  if (catalog->file.depth != 4 || !catalog->metadata || catalog->field < 0) return 1;
  catalog->texts[catalog->field] = keep(catalog, text, n);
  return catalog->texts[catalog->field] != NULL ? 1
                                                : stop(catalog, "a name longer than 65536 bytes, or with a NUL in it");
}

/* "BASE TABLE", "VIEW", "MATERIALIZED VIEW", as each database says it. */
static const char *kind_of(const char *type) {
  if (type == NULL) return NULL;
  if (strcasestr(type, "materialized") != NULL) return "materialized view";
  return strcasestr(type, "view") != NULL ? "view" : "table";
}

static void node_done(Catalog *catalog) {
  Graph *graph = catalog->graph;
  const char *const *texts = catalog->texts;
  if (texts[CATALOG_NAME] == NULL) return;
  GraphName id = {.space = "dbt", .id = catalog->id};
  GraphName relation = {
      .database = texts[CATALOG_DATABASE], .schema = texts[CATALOG_SCHEMA], .table = texts[CATALOG_NAME]};
  NodeId node = graph_node(graph, &id);
  graph_alias(graph, node, &relation, "dbt's catalog gives this name to that id");
  GraphNode *facts = graph_facts(graph, node);
  if (facts->kind == NULL) facts->kind = kind_of(texts[CATALOG_TYPE]);
  if (facts->owner == NULL) facts->owner = arena_strdup(graph_arena(graph), texts[CATALOG_OWNER]);
  catalog->n++;
  arena_release(&catalog->scratch);
}

static int on_map(void *context) {
  Catalog *catalog = context;
  return ++catalog->file.depth <= JSON_MAX_DEPTH ? 1 : stop(catalog, "nested deeper than 512");
}

static int on_map_end(void *context) {
  Catalog *catalog = context;
  catalog->file.depth--;
  if (catalog->nodes && catalog->file.depth == 2 && catalog->id != NULL) {
    node_done(catalog);
    catalog->id = NULL;
  }
  return 1;
}

static int on_array_end(void *context) {
  Catalog *catalog = context;
  catalog->file.depth--;
  return 1;
}

void dbt_read_catalog(Graph *graph, const char *path) {
  static const yajl_callbacks callbacks = {.yajl_string = on_text,
                                           .yajl_map_key = on_key,
                                           .yajl_start_map = on_map,
                                           .yajl_end_map = on_map_end,
                                           .yajl_start_array = on_map,
                                           .yajl_end_array = on_array_end};
  Error err;
  Catalog catalog = {.file = {.path = path}, .graph = graph, .field = -1};
  catalog.source = graph_begin(graph, &(GraphSource){.reader = "dbt catalog", .path = path});
  bool ok = json_file_read(&catalog.file, &callbacks, &catalog, &err);
  GraphSource *source = graph_source(graph, catalog.source);
  source->covers = arena_printf(graph_arena(graph), "the names of %zu tables and views", catalog.n);
  if (!ok)
    source->failed = arena_printf(graph_arena(graph), "%s%s%s", err.where, *err.where == '\0' ? "" : ": ", err.message);
  arena_release(&catalog.scratch);
}
