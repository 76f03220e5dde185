#ifndef TIDEGATE_JOBS_HTTP_H
#define TIDEGATE_JOBS_HTTP_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Asking a web server, by libcurl. In a build without the feature `http` nothing can be asked: http_open says so. Only
 * http and https; a redirection is never followed, since it would carry a password to somebody else; certificates are
 * checked. No message holds a password, a token or what was sent.
 */
typedef struct Http Http; /* keeps its connection between questions; for one thread at a time */

typedef struct HttpQuestion {
  const char *url;
  const char *user, *password; /* basic authentication; NULL: none */
  const char *token;           /* bearer; NULL: none */
  const char *json;            /* the body of a POST; NULL: a GET */
  double timeout;              /* seconds for all of it */
} HttpQuestion;

/* ERR_USAGE when this build cannot. */
bool http_open(Http **ret, Error *err);
/* Closes; NULL is fine. */
void http_close(Http **http);
#define HTTP_SCOPED __attribute__((cleanup(http_close))) Http *

/*
 * Is the address one that may be asked: http or https, with a host, and without a user or password in it? Errors:
 * ERR_USAGE.
 */
bool http_check_url(const char *url, Error *err);

/* *ret_status: of the answer, 2xx to 5xx; the body (up to 32 MiB) is put behind what `ret_body` holds. Errors:
 * ERR_DATABASE when there is no answer in time, or one that redirects. */
bool http_ask(Http *http, const HttpQuestion *question, long *ret_status, Buf *ret_body, Error *err);

/* `text` as one part of a path or a query: everything but letters, digits and -._~ as %XX. In `out`. */
void http_escape(Buf *out, const char *text);

#endif
