#include "jobs/airflow.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "jobs/http.h"

enum { MOST_SECRET = 16 * 1024 };

struct Airflow {
  const SpecAirflow *spec;
  Http *http;
  double timeout, deadline; /* deadline: monotonic seconds, 0: none */
  char *base;               /* the address without a slash at its end */
  char *password, *token;   /* NULL: none */
  bool traded;              /* the token was traded for the password: it can be had again */
  int version;              /* 0: not known yet */
};

/* ---- secrets ----------------------------------------------------------------------------------------------------- */

static char *copy(const char *text) {
  char *own = strdup(text);
  if (own == NULL) error_out_of_memory();
  return own;
}

static void forget(char **secret) {
  if (*secret == NULL) return;
  explicit_bzero(*secret, strlen(*secret));
  free(*secret);
  *secret = NULL;
}

static bool from_environment(const char *name, const char *key, char **ret, Error *err) {
  const char *value = getenv(name);
  if (value == NULL || *value == '\0') {
    error_set(err, ERR_USAGE, "the environment variable %s, which airflow's %s names, is not set", name, key);
    return error_hint(err, "set %s for whoever runs tidegate, or name another variable", name);
  }
  *ret = copy(value);
  return true;
}

/* The first line of the file. */
static bool from_file(const char *path, char **ret, Error *err) {
  char line[MOST_SECRET];
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return error_set(err, ERR_USAGE, "airflow's token_file %s cannot be read: %s", path, strerror(errno));
  bool read = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  line[read ? strcspn(line, "\r\n") : 0] = '\0';
  if (line[0] == '\0') return error_set(err, ERR_USAGE, "airflow's token_file %s holds no token", path);
  *ret = copy(line);
  explicit_bzero(line, sizeof line);
  return true;
}

static bool read_secrets(Airflow *airflow, Error *err) {
  const SpecAirflow *spec = airflow->spec;
  if (spec->token_env.text != NULL) return from_environment(spec->token_env.text, "token_env", &airflow->token, err);
  if (spec->token_file.text != NULL) return from_file(spec->token_file.text, &airflow->token, err);
  if (spec->password_env.text == NULL) return true; /* an Airflow that lets everybody in */
  if (spec->user.text == NULL) return error_set(err, ERR_USAGE, "airflow has a password_env and no user");
  return from_environment(spec->password_env.text, "password_env", &airflow->password, err);
}

bool airflow_open(const SpecAirflow *spec, double timeout, Airflow **ret, Error *err) {
  Airflow *airflow = calloc(1, sizeof *airflow);
  if (airflow == NULL) error_out_of_memory();
  *airflow = (Airflow){.spec = spec, .timeout = timeout, .version = spec->version};
  airflow->base = copy(spec->url.text == NULL ? "" : spec->url.text);
  for (size_t n = strlen(airflow->base); n > 0 && airflow->base[n - 1] == '/'; n--) airflow->base[n - 1] = '\0';
  if (!http_check_url(airflow->base, err) || !http_open(&airflow->http, err) || !read_secrets(airflow, err)) {
    airflow_close(&airflow);
    return false;
  }
  *ret = airflow;
  return true;
}

void airflow_close(Airflow **airflow) {
  if (*airflow == NULL) return;
  http_close(&(*airflow)->http);
  forget(&(*airflow)->password);
  forget(&(*airflow)->token);
  free((*airflow)->base);
  free(*airflow);
  *airflow = NULL;
}

void airflow_within(Airflow *airflow, double seconds) {
  airflow->deadline = seconds > 0 ? clock_seconds() + seconds : 0;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* `authorised`: with what proves who asks. */
static bool ask(Airflow *airflow, const char *url, const char *json, bool authorised, long *ret_status, Buf *ret_body,
                Error *err) {
  HttpQuestion question = {.url = url, .json = json, .timeout = airflow->timeout};
  if (airflow->deadline > 0 && airflow->deadline - clock_seconds() < question.timeout)
    question.timeout = airflow->deadline - clock_seconds();
  if (question.timeout <= 0) return error_set(err, ERR_DATABASE, "%s did not answer in time", airflow->base);
  if (authorised && airflow->token != NULL) {
    question.token = airflow->token;
  } else if (authorised) {
    question.user = airflow->spec->user.text;
    question.password = airflow->password;
  }
  return http_ask(airflow->http, &question, ret_status, ret_body, err);
}

bool airflow_version(Airflow *airflow, int *ret, Error *err) {
  static const struct {
    int version;
    const char *path;
  } ways[] = {{3, "/api/v2/version"}, {2, "/api/v1/version"}};
  long status = 0;
  for (size_t i = 0; airflow->version == 0 && i < sizeof ways / sizeof *ways; i++) {
    ARENA_SCOPED arena = {0};
    BUF_SCOPED body = {0};
    const DocNode *root;
    if (!ask(airflow, arena_printf(&arena, "%s%s", airflow->base, ways[i].path), NULL, false, &status, &body, err))
      return false;
    Error ignored;
    if (status == 200 && doc_parse(&arena, "version", buf_text(&body), body.len, &root, &ignored) &&
        doc_text(root, "version", NULL) != NULL)
      airflow->version = ways[i].version;
  }
  *ret = airflow->version;
  if (airflow->version != 0) return true;
  error_set(err, ERR_DATABASE, "%s answers, but not as Airflow 2 or 3 does (status %ld)", airflow->base, status);
  return error_hint(err,
                    "write the address of Airflow's web server under live.airflow.url, with its path if it has one");
}

static bool trade(Airflow *airflow, Error *err) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED json_out = {0};
  BUF_SCOPED body = {0};
  Json json = {.out = &json_out};
  const DocNode *root;
  long status;
  json_object(&json, NULL);
  json_text(&json, "username", airflow->spec->user.text);
  json_text(&json, "password", airflow->password);
  json_object_end(&json);
  const char *url = arena_printf(&arena, "%s/auth/token", airflow->base);
  bool answered = ask(airflow, url, buf_text(&json_out), false, &status, &body, err);
  explicit_bzero(json_out.data, json_out.len);
  if (!answered) return false;
  Error ignored;
  const char *token =
      (status == 200 || status == 201) && doc_parse(&arena, "token", buf_text(&body), body.len, &root, &ignored)
          ? doc_text(root, "access_token", NULL)
          : NULL;
  if (body.len > 0) explicit_bzero(body.data, body.len);
  if (token != NULL) {
    airflow->token = copy(token);
    return airflow->traded = true;
  }
  error_set(err, status == 401 || status == 403 ? ERR_USAGE : ERR_DATABASE, "%s gives %s no token (status %ld)",
            airflow->base, airflow->spec->user.text, status);
  return error_hint(err,
                    "look at live.airflow.user and at what the variable of password_env holds; a sign-in by other "
                    "means needs token_env or token_file");
}

static bool refused(const Airflow *airflow, const char *path, long status, Error *err) {
  if (status == 404) {
    error_set(err, ERR_NOT_FOUND, "%s does not know %.*s", airflow->base, (int)strcspn(path, "?"), path);
    return error_hint(err, "look at the name under live.airflow.dag, and whether whoever asks may see that DAG");
  }
  if (status == 401 || status == 403) {
    error_set(err, ERR_USAGE, "%s does not let %s ask (status %ld)", airflow->base,
              airflow->spec->user.text == NULL ? "us" : airflow->spec->user.text, status);
    return error_hint(err,
                      "give live.airflow a user and password_env, token_env or token_file of somebody who may read "
                      "DAGs and their runs%s",
                      airflow->version == 2 ? "; Airflow 2 must allow basic authentication ([api] auth_backends)" : "");
  }
  error_set(err, ERR_DATABASE, "%s answers with status %ld", airflow->base, status);
  return error_hint(err, "look at Airflow's own log");
}

bool airflow_get(Airflow *airflow, Arena *arena, const char *path, const DocNode **ret, Error *err) {
  int version;
  if (!airflow_version(airflow, &version, err)) return false;
  const char *url = arena_printf(arena, "%s/api/v%d%s", airflow->base, version - 1, path);
  for (bool again = false;; again = true) {
    BUF_SCOPED body = {0};
    long status;
    if (version == 3 && airflow->token == NULL && airflow->password != NULL && !trade(airflow, err)) return false;
    if (!ask(airflow, url, NULL, true, &status, &body, err)) return false;
    if (status == 401 && airflow->traded && !again) { /* it has expired */
      forget(&airflow->token);
      continue;
    }
    if (status != 200) return refused(airflow, path, status, err);
    const char *text = arena_strndup(arena, buf_text(&body), body.len);
    Error unreadable;
    if (doc_parse(arena, path, text, body.len, ret, &unreadable)) return true;
    return error_set(err, ERR_DATABASE, "what %s answers cannot be read: %s", airflow->base, unreadable.message);
  }
}

/* ---- small things ------------------------------------------------------------------------------------------------ */

const char *airflow_name(Arena *arena, const char *name) {
  BUF_SCOPED out = {0};
  http_escape(&out, name);
  return arena_strdup(arena, buf_text(&out));
}

bool airflow_time(const DocNode *node, const char *key, Instant *ret) {
  const char *text = doc_text(node, key, NULL);
  Error ignored;
  return text != NULL && instant_parse(text, ret, &ignored);
}
