#include "jobs/http.h"

/* In a build without the feature `http`. */

static bool cannot(Error *err) {
  error_set(err, ERR_USAGE, "this build of Tidegate cannot ask web servers");
  return error_hint(err, "build it with -Dhttp=enabled (it needs libcurl)");
}

bool http_open(Http **ret, Error *err) { return cannot(err); }

void http_close(Http **http) { *http = NULL; }

bool http_check_url(const char *url, Error *err) { return cannot(err); }

bool http_ask(Http *http, const HttpQuestion *question, long *ret_status, Buf *ret_body, Error *err) {
  return cannot(err);
}

void http_escape(Buf *out, const char *text) { buf_puts(out, text); }
