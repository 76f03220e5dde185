#include <stdlib.h>
#include <string.h>

#include "jobs/http.h"
#include "lineage/openlineage.h"
#include "lineage/openlineage_int.h"

/* The events that a Marquez server keeps (GET /api/v1/events/lineage), the newest first. */

enum { PAGE = 100, MOST_PAGES = 100 };

static bool ask_page(OpenLineage *reading, Http *http, int page, size_t *ret_new, Error *err) {
  BUF_SCOPED body = {0};
  BUF_SCOPED url = {0};
  long status;
  size_t before = reading->n_seen;
  buf_printf(&url, "%s/api/v1/events/lineage?limit=%d&offset=%d&sortDirection=desc", reading->path, PAGE, page * PAGE);
  HttpQuestion question = {.url = buf_text(&url), .token = getenv("OPENLINEAGE_API_KEY"), .timeout = 30};
  if (!http_ask(http, &question, &status, &body, err)) return false;
  if (status != 200) return error_set(err, ERR_DATABASE, "%s answered with status %ld", reading->path, status);
  openlineage_add(reading, reading->path, 0, buf_text(&body), body.len);
  *ret_new = reading->n_seen - before;
  return true;
}

void openlineage_ask(Graph *graph, const char *url) {
  Http *http = NULL;
  Error err;
  char *base = arena_strdup(graph_arena(graph), url);
  for (size_t n = strlen(base); n > 0 && base[n - 1] == '/'; n--) base[n - 1] = '\0';
  bool plain = http_check_url(base, &err);
  OpenLineage *reading = openlineage_begin(graph, plain ? base : "a web server");
  bool ok = plain && http_open(&http, &err);
  size_t got = PAGE;
  for (int page = 0; ok && got == PAGE && page < MOST_PAGES; page++) ok = ask_page(reading, http, page, &got, &err);
  if (ok && got == PAGE)
    openlineage_fault(reading, reading->path, 0, "only the newest %d events were read", PAGE * MOST_PAGES);
  if (!ok) openlineage_fault(reading, reading->path, 0, "%s", err.message);
  http_close(&http);
  openlineage_end(reading);
}
