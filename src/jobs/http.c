#include "jobs/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODY = 32 * 1024 * 1024 };

struct Http {
  CURL *curl;
};

bool http_open(Http **ret, Error *err) {
  Http *http = calloc(1, sizeof *http);
  if (http == NULL) error_out_of_memory();
  http->curl = curl_easy_init();
  if (http->curl == NULL) error_out_of_memory();
  *ret = http;
  return true;
}

void http_close(Http **http) {
  if (*http == NULL) return;
  curl_easy_cleanup((*http)->curl);
  free(*http);
  *http = NULL;
}

/* A part of the address in the arena-free form that curl gives; NULL: not there. */
static char *part(CURLU *url, CURLUPart what) {
  char *text = NULL;
  return curl_url_get(url, what, &text, 0) == CURLUE_OK ? text : NULL;
}

bool http_check_url(const char *url, Error *err) {
  CURLU *parts = curl_url();
  if (parts == NULL) error_out_of_memory();
  bool read = curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK;
  char *scheme = part(parts, CURLUPART_SCHEME), *user = part(parts, CURLUPART_USER),
       *password = part(parts, CURLUPART_PASSWORD);
  bool web = read && scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
  bool secret = user != NULL || password != NULL;
  curl_free(scheme);
  curl_free(user);
  curl_free(password);
  curl_url_cleanup(parts);
  if (secret) {
    error_set(err, ERR_USAGE, "the address holds a user or a password, which would end up in logs and in the ledger");
    return error_hint(err, "take it out of the address and write user and password_env beside it");
  }
  if (web) return true;
  error_set(err, ERR_USAGE, "“%s” is not an address that can be asked", url);
  return error_hint(err, "write it as http://HOST:PORT or https://HOST");
}

static size_t take(char *bytes, size_t size, size_t n, void *context) {
  Buf *body = context;
  if (body->len + size * n > MOST_BODY) return 0;
  buf_append(body, bytes, size * n);
  return size * n;
}

static void prepare(CURL *curl, const HttpQuestion *question, Buf *body, struct curl_slist *headers) {
  long ms = question->timeout < 0.001 ? 1 : (long)(question->timeout * 1000);
  curl_easy_reset(curl); /* the connection stays */
  curl_easy_setopt(curl, CURLOPT_URL, question->url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ms);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "tidegate/" TIDEGATE_VERSION);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (question->json != NULL) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question->json);
  if (question->token != NULL) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, question->token);
  } else if (question->user != NULL) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERNAME, question->user);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, question->password == NULL ? "" : question->password);
  }
}

bool http_ask(Http *http, const HttpQuestion *question, long *ret_status, Buf *ret_body, Error *err) {
  long status = 0;
  struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
  if (question->json != NULL) headers = curl_slist_append(headers, "Content-Type: application/json");
  prepare(http->curl, question, ret_body, headers);
  CURLcode code = curl_easy_perform(http->curl);
  curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) {
    error_set(err, ERR_DATABASE, "%s does not answer: %s", question->url, curl_easy_strerror(code));
    return error_hint(err, "is it up, is that its address, and may this machine reach it?");
  }
  if (status >= 300 && status < 400) {
    error_set(err, ERR_DATABASE, "%s sends the question to another address (status %ld), which is not followed",
              question->url, status);
    return error_hint(err, "write the address that answers itself, with https:// if that is it");
  }
  *ret_status = status;
  return true;
}

void http_escape(Buf *out, const char *text) {
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    bool plain = (c < 128 && isalnum(c)) || strchr("-._~", c) != NULL;
    plain ? buf_putc(out, (char)c) : buf_printf(out, "%%%02X", c);
  }
}
