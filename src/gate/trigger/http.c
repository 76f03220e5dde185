#include <ctype.h>
#include <string.h>

#include "base/doc.h"
#include "gate/trigger/http_int.h"

/* curl, wget, HTTPie, xh: requests that start a backfill. */

/* ---- what a request means ---------------------------------------------------------------------------------------- */

static const DocNode *field(const DocNode *node, const char *name) {
  if (node == NULL) return NULL;
  const DocNode *found = doc_get(node, name);
  for (size_t i = 0; found == NULL && i < node->n; i++)
    if (node->children[i].kind == DOC_MAPPING) found = field(&node->children[i], name);
  return found;
}

static const char *text_of(const HttpRequest *r, const char *const *names) {
  for (; *names != NULL; names++) {
    const DocNode *found = field(r->json, *names);
    if (found != NULL && found->kind == DOC_SCALAR) return found->text;
  }
  return NULL;
}

void http_dates(const DocNode *node, Arena *arena, bool deep, DateSpan *span) {
  char role = node->kind == DOC_SCALAR && node->key != NULL ? date_role(node->key) : '\0';
  if (role != '\0' && date_day(arena, node->text, false) != NULL && !(role == 'o' && span->any))
    date_take(arena, span, role, node->text, false);
  for (size_t i = 0; i < node->n; i++)
    if (deep || node->children[i].kind == DOC_SCALAR) http_dates(&node->children[i], arena, deep, span);
}

/* The part of the path behind a segment, up to the next slash; NULL when it is not there. */
static const char *segment_behind(const HttpRequest *r, const char *segment) {
  const char *at = strstr(r->path, segment);
  if (at == NULL) return NULL;
  at += strlen(segment);
  const char *part = arena_strndup(r->f->arena, at, strcspn(at, "/?#"));
  return word_known(part) && *part != '\0' && strcmp(part, "~") != 0 ? part : NULL;
}

static bool has(const HttpRequest *r, const char *part) { return strstr(r->path, part) != NULL; }
static bool is(const HttpRequest *r, const char *methods) { return word_in(r->method, methods); }

static bool ends(const HttpRequest *r, const char *end) {
  size_t n = strcspn(r->path, "?#"), m = strlen(end);
  while (n > 0 && r->path[n - 1] == '/') n--;
  return n >= m && memcmp(r->path + n - m, end, m) == 0;
}

static void add(const HttpRequest *r, const char *system, const char *target, const char *why) {
  DateSpan span = {0};
  if (r->json != NULL) http_dates(r->json, r->f->arena, true, &span);
  finder_add(r->f, (Trigger){.sure = why == NULL,
                             .system = arena_printf(r->f->arena, "%s%s", system, r->suffix),
                             .target = target,
                             .from = span.from,
                             .to = span.to,
                             .why = why});
}

/* Amazon's Airflow takes a command line as the body. */
static bool mwaa(const HttpRequest *r) {
  if (!has(r, "/aws_mwaa/cli") || r->body == NULL) return has(r, "/aws_mwaa/");
  const char **words = arena_array(r->f->arena, strlen(r->body) / 2 + 1, sizeof *words);
  size_t n = 0;
  for (const char *at = r->body + strspn(r->body, " \n"); *at != '\0'; at += strspn(at, " \n")) {
    size_t length = strcspn(at, " \n");
    words[n++] = arena_strndup(r->f->arena, at, length);
    at += length;
  }
  commands_airflow(r->f, "airflow2 (MWAA)", (Argv){words, n});
  return true;
}

/* The first and the last date that a query names, and the first path of an asset. */
static void dagster_backfill(const HttpRequest *r) {
  Trigger found = {.sure = true, .system = arena_printf(r->f->arena, "dagster API%s", r->suffix)};
  for (const char *at = r->body; *at != '\0'; at++) {
    if (!isdigit((unsigned char)*at) || (at > r->body && isalnum((unsigned char)at[-1]))) continue;
    const char *word = arena_strndup(r->f->arena, at, strspn(at, "0123456789-"));
    const char *day = date_day(r->f->arena, word, false);
    if (day != NULL && (found.from == NULL || strcmp(day, found.from) < 0)) found.from = day;
    if (day != NULL && (found.to == NULL || strcmp(day, found.to) > 0)) found.to = day;
    at += strlen(word) - 1;
  }
  found.target = text_of(r, (const char *const[]){"partitionSetName", "jobName", "pipelineName", NULL});
  const char *path = strstr(r->body, "assetSelection");
  if (found.target == NULL && path != NULL && (path = strstr(path, "path")) != NULL) {
    path += 4 + strspn(path + 4, "\\\": [");
    const char *end = path + strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (end > path) found.target = arena_strndup(r->f->arena, path, (size_t)(end - path));
  }
  finder_add(r->f, found);
}

static bool dagster(const HttpRequest *r) {
  if (!has(r, "/graphql") || r->body == NULL || !is(r, "POST")) return false;
  if (text_names(r->body, "launchPartitionBackfill* launchBackfill* wipeAssets*"))
    dagster_backfill(r);
  else if (text_names(r->body, "launchRun* launchPipelineExecution* launchMultipleRuns* launchRunReexecution*"))
    add(r, "dagster API", text_of(r, (const char *const[]){"jobName", "pipelineName", NULL}),
        "a run of any dates may be launched");
  return true;
}

/* …/executions/NAMESPACE/FLOW, in older releases …/executions/trigger/NAMESPACE/FLOW. */
static const char *kestra_flow(const HttpRequest *r) {
  const char *namespace = segment_behind(r, has(r, "/executions/trigger/") ? "/executions/trigger/" : "/executions/");
  return namespace == NULL ? NULL : segment_behind(r, arena_printf(r->f->arena, "/%s/", namespace));
}

static bool others(const HttpRequest *r) {
  if (!is(r, "POST PUT PATCH")) return false;
  if (has(r, "/create_flow_run"))
    add(r, "prefect API", segment_behind(r, "/deployments/"), NULL);
  else if (has(r, "/api/") && has(r, "/executions/") && !has(r, "/search"))
    add(r, "kestra API", kestra_flow(r), "an execution may be of any dates");
  else if (has(r, "/triggers") && r->body != NULL && text_names(r->body, "backfill*"))
    add(r, "kestra API", text_of(r, (const char *const[]){"flowId", NULL}), NULL);
  else if (has(r, "/backfills"))
    add(r, "mage API", segment_behind(r, "/pipelines/"), NULL);
  else if (has(r, "/pipeline_runs") || (has(r, "/pipeline_schedules/") && has(r, "/api_trigger")))
    add(r, "mage API", NULL, "a pipeline's run may be of any dates");
  else if (has(r, "/jobs/") && ends(r, "/run") && has(r, "/accounts/"))
    add(r, "dbt API", segment_behind(r, "/jobs/"),
        r->body != NULL && text_names(r->body, "full-refresh* event-time*") ? NULL
                                                                            : "a job's steps may rewrite past dates");
  else
    return false;
  return true;
}

void http_request(Finder *f, const char *method, const char *url, const char *body, const char *suffix) {
  char upper[16] = "";
  for (size_t i = 0; method[i] != '\0' && i + 1 < sizeof upper; i++) upper[i] = (char)toupper((unsigned char)method[i]);
  const char *sure_body = body == NULL ? NULL : word_sure(f->arena, body);
  HttpRequest r = {.f = f, .method = upper, .path = url, .body = sure_body, .suffix = suffix};
  Error ignored;
  if (word_in(upper, "GET HEAD OPTIONS")) return;
  if (sure_body == NULL || !doc_parse(f->arena, "body", sure_body, strlen(sure_body), &r.json, &ignored)) r.json = NULL;
  if (http_airflow(&r) || mwaa(&r) || dagster(&r) || others(&r)) return;
  bool hints = body != NULL && text_names(body, "dag_id* dag_run_id* from_date* clear_task*");
  if (body != NULL && !word_known(url)) hints |= text_names(body, "backfill*");
  if (hints || (!word_known(url) && text_names(url, "backfill* dagruns* cleartask*")))
    add(&r, "API", text_of(&r, (const char *const[]){"dag_id", NULL}), "where this request goes is not understood");
}

/* ---- the clients ------------------------------------------------------------------------------------------------- */

typedef struct Client {
  Arena *arena;
  const char *method, *body, *config;
  const char *urls[8];
  size_t n;
  bool has_body;
} Client;

static void take_url(Client *c, const char *url) {
  if (c->n < sizeof c->urls / sizeof *c->urls) c->urls[c->n++] = url;
}

/* "@file" and "@-": what stands there, when it is known. */
static const char *body_of(const char *value, ShellInput input) {
  if (*value != '@') return value;
  return strcmp(value, "@-") == 0 ? input.text : NULL;
}

/* name=value of a form, added to the others as JSON; a file's content is not known. */
static void take_field(Client *c, const char *field) {
  const char *equals = strchr(field, '=');
  bool first = !c->has_body;
  size_t n = c->body == NULL ? 0 : strlen(c->body);
  c->has_body = true;
  if (equals == NULL || strchr("@<", equals[1]) != NULL || strpbrk(field, "\"\\") != NULL ||
      (!first && (n == 0 || c->body[n - 1] != '}'))) {
    c->body = NULL;
    return;
  }
  c->body = arena_printf(c->arena, "%.*s%s\"%.*s\": \"%s\"}", n == 0 ? 0 : (int)n - 1, n == 0 ? "" : c->body,
                         n == 0 ? "{" : ", ", (int)(equals - field), field, equals + 1);
}

static void curl_flag(Client *c, char letter, const char *value, ShellInput input) {
  if (letter == 'X') c->method = value;
  if (letter == 'F') take_field(c, value);
  if (letter == 'd' || letter == 'T') {
    c->has_body = true;
    c->body = letter == 'd' ? body_of(value, input) : NULL;
    if (letter == 'T' && c->method == NULL) c->method = "PUT";
  }
  if (letter == 'K') c->config = value;
}

static void curl(Client *c, Argv args, ShellInput input) {
  static const struct {
    const char *name;
    char letter;
  } longs[] = {{"--request", 'X'},     {"--data", 'd'},  {"--data-raw", 'd'},       {"--data-ascii", 'd'},
               {"--data-binary", 'd'}, {"--json", 'd'},  {"--data-urlencode", 'd'}, {"--form", 'F'},
               {"--upload-file", 'T'}, {"--config", 'K'}};
  static const char
      valued[] = "XdFTKHAbcCDeEmoQrtuUwxyYzP",
      long_valued[] =
          "--header --user --user-agent --cookie --cookie-jar --output --max-time --retry --proxy --cacert --cert "
          "--key --connect-timeout --write-out --referer --oauth2-bearer --resolve --unix-socket --retry-delay "
          "--aws-sigv4 --url";
  bool get = false, head = false;
  for (size_t i = 0; i < args.n; i++) {
    const char *word = args.words[i], *next = i + 1 < args.n ? args.words[i + 1] : "";
    if (*word != '-' || word[1] == '\0') {
      take_url(c, word);
    } else if (word[1] == '-') {
      size_t k = 0, n = sizeof longs / sizeof *longs;
      while (k < n && strcmp(longs[k].name, word) != 0) k++;
      if (k < n) curl_flag(c, longs[k].letter, next, input);
      if (strcmp(word, "--url") == 0) take_url(c, next);
      if (strcmp(word, "--get") == 0) get = true;
      if (strcmp(word, "--head") == 0) head = true;
      if (k < n || word_in(word, long_valued)) i++;
    } else {
      for (size_t k = 1; word[k] != '\0'; k++) {
        if (word[k] == 'G') get = true;
        if (word[k] == 'I') head = true;
        if (strchr(valued, word[k]) == NULL) continue;
        curl_flag(c, word[k], word[k + 1] != '\0' ? word + k + 1 : next, input);
        if (word[k + 1] == '\0') i++;
        break;
      }
    }
  }
  if (c->method == NULL) c->method = head ? "HEAD" : get ? "GET" : c->has_body ? "POST" : "GET";
}

static void wget(Client *c, Argv args, ShellInput input) {
  for (size_t i = 0; i < args.n; i++) {
    const char *word = args.words[i], *equals = strchr(word, '=');
    if (*word != '-') {
      take_url(c, word);
      continue;
    }
    const char *value = equals != NULL ? equals + 1 : i + 1 < args.n ? args.words[i + 1] : "";
    bool data = strncmp(word, "--post-data", 11) == 0 || strncmp(word, "--body-data", 11) == 0;
    bool file = strncmp(word, "--post-file", 11) == 0 || strncmp(word, "--body-file", 11) == 0;
    bool method = strncmp(word, "--method", 8) == 0;
    if (data || file) c->has_body = true;
    if (data) c->body = value;
    if (file) c->body = strcmp(value, "-") == 0 ? input.text : NULL;
    if (method) c->method = value;
    if (equals == NULL &&
        (data || file || method || word_in(word, "-O -o -U -T -t --header --user --password --output-document")))
      i++;
  }
  if (c->method == NULL) c->method = c->has_body ? "POST" : "GET";
}

/* http [METHOD] URL [key=value key:=json …] */
static void httpie(Finder *f, Client *c, Argv args, ShellInput input) {
  BUF_SCOPED body = {0};
  bool known = true;
  for (size_t i = 0; i < args.n; i++) {
    const char *word = args.words[i], *raw = strncmp(word, "--raw", 5) == 0 ? word + 5 : NULL;
    if (raw != NULL) {
      c->has_body = true;
      c->body = *raw == '=' ? raw + 1 : i + 1 < args.n ? args.words[++i] : "";
    } else if (*word == '-') {
      if (word_in(
              word,
              "-a -A --auth --auth-type -o --output --timeout --session -s --style -p --print --verify --cert --proxy"))
        i++;
    } else if (c->method == NULL && c->n == 0 &&
               (strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(word) ||
                word_in(word, "get post put patch delete head options"))) {
      c->method = word;
    } else if (c->n == 0) {
      take_url(c, word);
    } else {
      const char *equals = strchr(word, '='), *colon = strchr(word, ':');
      if (equals == NULL || (colon != NULL && colon + 1 < equals)) continue; /* a header, or name==value of the query */
      if (equals[1] == '=') continue;
      bool is_json = colon != NULL && colon + 1 == equals;
      c->has_body = true;
      known = known && word_known(word);
      buf_printf(&body, "%s\"%.*s\": ", body.len == 0 ? "{" : ", ", (int)((is_json ? colon : equals) - word), word);
      if (is_json)
        buf_puts(&body, equals + 1);
      else
        buf_printf(&body, "\"%s\"", equals + 1);
    }
  }
  if (body.len > 0 && c->body == NULL && known) {
    buf_putc(&body, '}');
    c->body = arena_strdup(f->arena, buf_text(&body));
  }
  if (!c->has_body && input.text != NULL) c->has_body = true, c->body = input.text;
  if (c->method == NULL) c->method = c->has_body || input.piped ? "POST" : "GET";
}

/* dagster-graphql -p NAME -v VARIABLES, -t TEXT: its own client. */
static void dagster_graphql(Finder *f, Argv args) {
  const char *query = "", *variables = "";
  for (size_t i = 0; i + 1 < args.n; i++) {
    if (word_in(args.words[i], "-t --text -p --predefined")) query = args.words[i + 1];
    if (word_in(args.words[i], "-v --variables")) variables = args.words[i + 1];
  }
  http_request(f, "POST", "/graphql", arena_printf(f->arena, "%s %s", query, variables), "");
}

bool http_judge(Finder *f, const char *program, const ShellCommand *command) {
  Client c = {.arena = f->arena};
  Argv args = {command->argv + 1, command->n - 1};
  if (strcmp(program, "dagster-graphql") == 0)
    dagster_graphql(f, args);
  else if (strcmp(program, "curl") == 0)
    curl(&c, args, command->input);
  else if (word_in(program, "wget wget2"))
    wget(&c, args, command->input);
  else if (word_in(program, "http https xh xhs httpie curlie"))
    httpie(f, &c, args, command->input);
  else
    return false;
  if (c.config != NULL)
    finder_add(f, (Trigger){.system = "API", .why = "the request stands in a file that is not read here"});
  for (size_t i = 0; i < c.n; i++) http_request(f, c.method, c.urls[i], c.body, "");
  return true;
}
