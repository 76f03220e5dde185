#ifndef TIDEGATE_VIEW_FINDINGS_H
#define TIDEGATE_VIEW_FINDINGS_H

#include "base/json.h"
#include "engine/engine.h"
#include "view/paint.h"

/* Things wrong that were found: what, how often, and a table of examples (date, key, column, old, new). */
void view_findings(Paint *paint, Arena *arena, const FindingRecord *findings, size_t n);

/* The same as an array under the key "findings" of an open object. */
void view_findings_json(Json *json, const FindingRecord *findings, size_t n);

/* Examples alone, as that table. */
void view_examples(Paint *paint, Arena *arena, const Example *examples, size_t n);

#endif
