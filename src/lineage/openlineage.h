#ifndef TIDEGATE_LINEAGE_OPENLINEAGE_H
#define TIDEGATE_LINEAGE_OPENLINEAGE_H

#include "lineage/readers.h"

/*
 * OpenLineage events into the graph: what goes in and out of a run gives edges. Events of one run are taken together
 * (inputs may come at its start, outputs at its end), so that nothing is drawn before openlineage_end.
 */
typedef struct OpenLineage OpenLineage;

/* Longer lines are left out, and said. */
enum { OPENLINEAGE_MAX_LINE = 64 * 1024 * 1024 };

/* Begins a source of the graph. path: file, folder or URL without secrets. */
OpenLineage *openlineage_begin(Graph *graph, const char *path);

/* One event, or an array of them, as `n` bytes of JSON. What is not understood is left out and remembered with its
 * place. file and line: for that. False: it was no JSON. */
bool openlineage_add(OpenLineage *reading, const char *file, int line, const char *text, size_t n);

/* Something of the source that could not be read at all. */
void openlineage_fault(OpenLineage *reading, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Draws the edges, says what was covered and what was left out, and frees the reading. */
void openlineage_end(OpenLineage *reading);

/* The whole of a file of NDJSON or JSON, a folder of them, or what a Marquez server at a URL knows. */
void openlineage_read(Graph *graph, const char *path);

#endif
