#ifndef TIDEGATE_GATE_TRIGGER_HTTP_INT_H
#define TIDEGATE_GATE_TRIGGER_HTTP_INT_H

#include "base/doc.h"
#include "gate/trigger/trigger_int.h"

/* What the files share that read requests. */

typedef struct HttpRequest {
  Finder *f;
  const char *method;  /* in capitals, none of those that only read */
  const char *path;    /* path or URL with its query; may hold SHELL_UNKNOWN */
  const char *body;    /* NULL: none, or not known */
  const DocNode *json; /* NULL: no body, or not readable */
  const char *suffix;  /* behind the system's name */
} HttpRequest;

/* Takes dates by the names of their keys: of the mapping itself, or (deep) of everything in it. */
void http_dates(const DocNode *node, Arena *arena, bool deep, DateSpan *span);

/* http_airflow.c: Airflow's REST interface, which its page and airflowctl use as well. True: it is Airflow's path. */
bool http_airflow(const HttpRequest *r);

#endif
