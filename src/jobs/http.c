#include "jobs/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#undef curl_easy_setopt /* macros that check types, around the functions of the same name */
#undef curl_easy_getinfo

enum { MOST_BODY = 32 * 1024 * 1024 };

struct Http {
  CURL *curl;
};

/* libcurl is loaded with the first question, and not with the program (docs/decisions/0021). */
typedef struct Curl {
  __typeof__(curl_easy_cleanup) *easy_cleanup;
  __typeof__(curl_easy_getinfo) *easy_getinfo;
  __typeof__(curl_easy_init) *easy_init;
  __typeof__(curl_easy_perform) *easy_perform;
  __typeof__(curl_easy_reset) *easy_reset;
  __typeof__(curl_easy_setopt) *easy_setopt;
  __typeof__(curl_easy_strerror) *easy_strerror;
  __typeof__(curl_free) *free;
  __typeof__(curl_slist_append) *slist_append;
  __typeof__(curl_slist_free_all) *slist_free_all;
  __typeof__(curl_url) *url;
  __typeof__(curl_url_cleanup) *url_cleanup;
  __typeof__(curl_url_get) *url_get;
  __typeof__(curl_url_set) *url_set;
} Curl;

/* Filled by the first load, then only read. */
static Curl lib;

static bool load(Error *err) {
  static void *library;
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  static const struct {
    const char *name;
    size_t at;
  } wanted[] = {{"curl_easy_cleanup", offsetof(Curl, easy_cleanup)},
                {"curl_easy_getinfo", offsetof(Curl, easy_getinfo)},
                {"curl_easy_init", offsetof(Curl, easy_init)},
                {"curl_easy_perform", offsetof(Curl, easy_perform)},
                {"curl_easy_reset", offsetof(Curl, easy_reset)},
                {"curl_easy_setopt", offsetof(Curl, easy_setopt)},
                {"curl_easy_strerror", offsetof(Curl, easy_strerror)},
                {"curl_free", offsetof(Curl, free)},
                {"curl_slist_append", offsetof(Curl, slist_append)},
                {"curl_slist_free_all", offsetof(Curl, slist_free_all)},
                {"curl_url", offsetof(Curl, url)},
                {"curl_url_cleanup", offsetof(Curl, url_cleanup)},
                {"curl_url_get", offsetof(Curl, url_get)},
                {"curl_url_set", offsetof(Curl, url_set)}};
  void *opened = NULL;
  Curl found;
  if (library != NULL) return true;
  for (size_t i = 0; opened == NULL && i < sizeof names / sizeof *names; i++)
    opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (opened == NULL) {
    error_set(err, ERR_DATABASE, "what is asked over the network is asked by libcurl, which is not on this machine");
    return error_hint(err, "install it (Debian: libcurl4)");
  }
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *function = dlsym(opened, wanted[i].name);
    if (function == NULL) {
      dlclose(opened);
      return error_set(err, ERR_DATABASE, "the libcurl of this machine has no %s: it is too old", wanted[i].name);
    }
    memcpy((char *)&found + wanted[i].at, &function, sizeof function); /* a function in an object pointer: POSIX */
  }
  lib = found;
  library = opened;
  return true;
}

bool http_open(Http **ret, Error *err) {
  if (!load(err)) return false;
  Http *http = calloc(1, sizeof *http);
  if (http == NULL) error_out_of_memory();
  http->curl = lib.easy_init();
  if (http->curl == NULL) error_out_of_memory();
  *ret = http;
  return true;
}

void http_close(Http **http) {
  if (*http == NULL) return;
  lib.easy_cleanup((*http)->curl);
  free(*http);
  *http = NULL;
}

/* A part of the address in the arena-free form that curl gives; NULL: not there. */
static char *part(CURLU *url, CURLUPart what) {
  char *text = NULL;
  return lib.url_get(url, what, &text, 0) == CURLUE_OK ? text : NULL;
}

bool http_check_url(const char *url, Error *err) {
  if (!load(err)) return false;
  CURLU *parts = lib.url();
  if (parts == NULL) error_out_of_memory();
  bool read = lib.url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK;
  char *scheme = part(parts, CURLUPART_SCHEME), *user = part(parts, CURLUPART_USER),
       *password = part(parts, CURLUPART_PASSWORD);
  bool web = read && scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
  bool secret = user != NULL || password != NULL;
  lib.free(scheme);
  lib.free(user);
  lib.free(password);
  lib.url_cleanup(parts);
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
  lib.easy_reset(curl); /* the connection stays */
  lib.easy_setopt(curl, CURLOPT_URL, question->url);
  lib.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  lib.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  lib.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(curl, CURLOPT_TIMEOUT_MS, ms);
  lib.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms);
  lib.easy_setopt(curl, CURLOPT_USERAGENT, "tidegate/" TIDEGATE_VERSION);
  lib.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  lib.easy_setopt(curl, CURLOPT_WRITEDATA, body);
  lib.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (question->json != NULL) lib.easy_setopt(curl, CURLOPT_POSTFIELDS, question->json);
  if (question->token != NULL) {
    lib.easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
    lib.easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, question->token);
  } else if (question->user != NULL) {
    lib.easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    lib.easy_setopt(curl, CURLOPT_USERNAME, question->user);
    lib.easy_setopt(curl, CURLOPT_PASSWORD, question->password == NULL ? "" : question->password);
  }
}

bool http_ask(Http *http, const HttpQuestion *question, long *ret_status, Buf *ret_body, Error *err) {
  long status = 0;
  struct curl_slist *headers = lib.slist_append(NULL, "Accept: application/json");
  if (question->json != NULL) headers = lib.slist_append(headers, "Content-Type: application/json");
  prepare(http->curl, question, ret_body, headers);
  CURLcode code = lib.easy_perform(http->curl);
  lib.easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
  lib.easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
  lib.slist_free_all(headers);
  if (code != CURLE_OK) {
    error_set(err, ERR_DATABASE, "%s does not answer: %s", question->url, lib.easy_strerror(code));
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
