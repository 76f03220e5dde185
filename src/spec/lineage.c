#include <string.h>

#include "spec/spec_int.h"

/* `lineage`: where it is read, and what no source says. */

bool spec_read_paths(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  SpecTexts texts;
  if (!spec_read_texts(reader, row, value, &texts)) return false;
  SpecText *paths = arena_array(reader->arena, texts.n, sizeof *paths);
  for (size_t i = 0; i < texts.n; i++) {
    paths[i] = texts.items[i];
    const DocNode *node = value->kind == DOC_SEQUENCE ? &value->children[i] : value;
    if (strstr(paths[i].text, "://") == NULL)
      paths[i].text = spec_beside(reader, paths[i].text);
    else if (!spec_read_url(reader, row, node, &paths[i]))
      return false;
  }
  *(SpecTexts *)member = (SpecTexts){.items = paths, .n = texts.n};
  return true;
}

bool spec_read_overrides(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (value->kind != DOC_MAPPING || value->n == 0) {
    spec_refuse(reader, value, "“%s” must be a map of names", row->key.name);
    return spec_hint_example(reader, row);
  }
  SpecNodeDates *overrides = arena_array(reader->arena, value->n, sizeof *overrides);
  for (size_t i = 0; i < value->n; i++) {
    const DocNode *node = &value->children[i];
    overrides[i].node = spec_key_text(reader, node);
    if (node->kind != DOC_MAPPING || node->n == 0) {
      spec_refuse(reader, node, "what is said of “%.200s” must be a map of grain, lookback, window or cumulative",
                  node->key);
      return spec_hint_example(reader, row);
    }
    if (!spec_read_keys(reader, row->key.name, node, &overrides[i])) return false;
  }
  spec->lineage.overrides = overrides;
  spec->lineage.n_overrides = value->n;
  return true;
}
