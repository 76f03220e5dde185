#include "view/impact_int.h"

static void put_nodes(Json *json, const ImpactFacts *facts) {
  json_array(json, "nodes");
  for (size_t i = 0; i < facts->n; i++) {
    const ImpactNode *node = &facts->nodes[i];
    json_object(json, NULL);
    json_int(json, "id", (int64_t)i);
    json_text(json, "name", node->name);
    json_text(json, "kind", node->kind);
    json_text(json, "needs", i == 0 || facts->upstream ? NULL : needs_name(node->needs));
    json_text(json, "range", node->range);
    json_text(json, "first", node->first);
    json_text(json, "last", node->last);
    json_text(json, "grain", node->grain);
    json_bool(json, "assumed", node->assumed);
    json_text(json, "why", node->why);
    json_text(json, "reader", node->reader);
    json_text(json, "place", node->place);
    json_text(json, "age", node->age);
    json_text(json, "owner", node->owner);
    json_int(json, "level", node->level);
    json_int(json, "depth", node->depth);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_edges(Json *json, const ImpactFacts *facts) {
  json_array(json, "edges");
  for (size_t i = 0; i < facts->n_arrows; i++) {
    const ImpactArrow *arrow = &facts->arrows[i];
    json_object(json, NULL);
    json_int(json, "parent", (int64_t)(facts->upstream ? arrow->far : arrow->near));
    json_int(json, "child", (int64_t)(facts->upstream ? arrow->near : arrow->far));
    json_text(json, "columns", arrow->columns);
    json_text(json, "via", arrow->via);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_texts(Json *json, const char *key, const char *const *texts, size_t n) {
  json_array(json, key);
  for (size_t i = 0; i < n; i++) json_text(json, NULL, texts[i]);
  json_array_end(json);
}

void view_impact_json(Json *json, const ImpactFacts *facts) {
  json_text(json, "target", facts->nodes[0].name);
  json_text(json, "way", facts->upstream ? "upstream" : "downstream");
  json_bool(json, "known", facts->known);
  json_text(json, "range", facts->range);
  json_text(json, "columns", facts->columns);
  json_text(json, "finding", facts->finding);
  json_int(json, "left_out", (int64_t)facts->left_out);
  put_nodes(json, facts);
  put_edges(json, facts);
  put_texts(json, "cycles", facts->cycles, facts->n_cycles);
  json_array(json, "read");
  for (size_t i = 0; i < facts->n_sources; i++) {
    const ImpactSource *source = &facts->sources[i];
    json_object(json, NULL);
    json_text(json, "reader", source->reader);
    json_text(json, "path", source->path);
    json_text(json, "covers", source->covers);
    json_text(json, "age", source->age);
    json_text(json, "failed", source->failed);
    json_object_end(json);
  }
  json_array_end(json);
  put_texts(json, "not_read", facts->blind, facts->n_blind);
  put_texts(json, "same", facts->joins, facts->n_joins);
}
