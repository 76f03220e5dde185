#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/process.h"
#include "cli/cmd_hook.h"
#include "cli/steps.h"
#include "cli/stop.h"

/*
 * Backfill files in a commit, or in the changes between two revisions: each is judged as `tidegate gate SPEC` does, by
 * the text that git has, not the one that stands in the folder.
 */

typedef struct Changes {
  Session *session;
  const char *revision; /* what stands before the colon in `git show REVISION:PATH`; "" is the index */
  const char *top;
  bool github;
  int status;
  size_t judged;
} Changes;

/* git's output of at most what process_run keeps; more is refused. *ret_ok: git found what it was asked for. */
static bool git(const char *const *words, Buf *out, bool *ret_ok, Error *err) {
  enum { MOST = 64 * 1024, MOST_WORDS = 16 };
  static const char shell[] = "sh", flag[] = "-c", line[] = "exec git \"$@\" 2>/dev/null", name[] = "git";
  const char *argv[MOST_WORDS] = {shell, flag, line, name};
  ProcessRules rules = {.timeout = 30, .timeout_name = "the hook"};
  int status;
  for (size_t i = 0; words[i] != NULL && i + 5 < MOST_WORDS; i++) argv[i + 4] = words[i];
  buf_clear(out);
  if (!process_status((char *const *)argv, &rules, out, &status, err)) return false;
  *ret_ok = status == 0;
  if (out->len >= MOST) return error_set(err, ERR_COMMAND, "git %s gives more than %d bytes", words[0], MOST);
  return true;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static bool has_key(const char *text, const char *key) {
  size_t n = strlen(key);
  for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, key, n) == 0 && at[n + strspn(at + n, " \t")] == ':') return true;
  }
  return false;
}

/* Has it a target, and a range or a recompute? Where it cannot be read, its lines tell. */
static bool is_backfill(Arena *arena, const char *path, const char *text, size_t n) {
  const DocNode *root;
  Error ignored;
  if (!doc_parse(arena, path, text, n, &root, &ignored))
    return has_key(text, "target") && (has_key(text, "range") || has_key(text, "recompute"));
  return doc_get(root, "target") != NULL && (doc_get(root, "range") != NULL || doc_get(root, "recompute") != NULL);
}

/* The pipeline's file beside or above it, as git has it; as it stands there where git has none. */
static bool read_pipeline(const Changes *changes, const char *path, const char **ret_path, const char **ret_text,
                          Error *err) {
  Arena *arena = &changes->session->arena;
  BUF_SCOPED text = {0};
  bool found;
  const char *slash = strrchr(path, '/');
  *ret_path = *ret_text = NULL;
  const char *folder = slash == NULL ? "" : arena_strndup(arena, path, (size_t)(slash - path));
  const char *file = spec_pipeline_path(arena, folder);
  if (file == NULL) return true;
  size_t n = strlen(changes->top);
  const char *inside = strncmp(file, changes->top, n) == 0 && file[n] == '/' ? file + n + 1 : file;
  const char *const words[] = {"show", arena_printf(arena, "%s:%s", changes->revision, inside), NULL};
  if (!git(words, &text, &found, err)) return false;
  if (!found) {
    FILE *stream = fopen(file, "re");
    char block[4096];
    buf_clear(&text);
    if (stream == NULL) return error_set(err, ERR_NOT_FOUND, "%s cannot be read", file);
    for (size_t some; (some = fread(block, 1, sizeof block, stream)) > 0;) buf_append(&text, block, some);
    fclose(stream);
  }
  *ret_path = file;
  *ret_text = arena_strdup(arena, buf_text(&text));
  return true;
}

static bool judge(const Changes *changes, const char *path, const char *text, Verdict *ret, Error *err) {
  Session *session = changes->session;
  const char *pipeline_path, *pipeline_text;
  session->spec = (Spec){0};
  session->plan = (Plan){0};
  return read_pipeline(changes, path, &pipeline_path, &pipeline_text, err) &&
         session_spec_text(session, path, text, pipeline_path, pipeline_text, err) &&
         step_plan_spec(session, false, ret, err);
}

/* A message in an annotation is one line (docs.github.com, "Workflow commands"). */
static void put_escaped(Buf *out, const char *text) {
  for (; *text != '\0'; text++)
    if (*text == '%' || *text == '\n' || *text == '\r')
      buf_printf(out, "%%%02X", (unsigned char)*text);
    else
      buf_putc(out, *text);
}

static void tell_fault(Changes *changes, const char *path, const Error *err) {
  Buf *out = &changes->session->buffer;
  int line = 1;
  const char *colon = strncmp(err->where, path, strlen(path)) == 0 ? err->where + strlen(path) : "";
  if (*colon == ':') line = atoi(colon + 1);
  changes->status = error_exit_status(err->code);
  if (changes->github) {
    buf_printf(out, "::error file=%s,line=%d,title=Tidegate::", path, line < 1 ? 1 : line);
    put_escaped(out, err->message);
    put_escaped(out, arena_printf(&changes->session->arena, "\n%s", error_hint_text(err)));
    buf_putc(out, '\n');
  }
  buf_printf(out, "%s: %s: %s\n", *err->where == '\0' ? path : err->where,
             err->code == ERR_DENIED ? "denied" : "cannot be judged, so it is denied", err->message);
  buf_printf(out, "  HINT: %s\n", error_hint_text(err));
}

static void judge_file(Changes *changes, const char *path) {
  Session *session = changes->session;
  BUF_SCOPED text = {0};
  Verdict verdict;
  bool found = false;
  Error err;
  const char *const words[] = {"show", arena_printf(&session->arena, "%s:%s", changes->revision, path), NULL};
  const char *slash = strrchr(path, '/');
  if (strcmp(slash == NULL ? path : slash + 1, "tidegate.yaml") == 0) return;
  if (!git(words, &text, &found, &err)) {
    tell_fault(changes, path, &err);
    return;
  }
  if (!found || !is_backfill(&session->arena, path, buf_text(&text), text.len)) return;
  changes->judged++;
  const char *copy = arena_strdup(&session->arena, buf_text(&text));
  if (!judge(changes, path, copy, &verdict, &err))
    tell_fault(changes, path, &err);
  else if (verdict.allow)
    buf_printf(&session->buffer, "%s: allowed\n", path);
  else if (verdict.waits) /* a commit runs nothing now */
    buf_printf(&session->buffer, "%s: allowed, but not now: %s\n", path, verdict.reasons[0].text);
  else if (!gate_deny(&verdict, &err))
    tell_fault(changes, path, &err);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool go_to_top(Changes *changes, Error *err) {
  static const char *const words[] = {"rev-parse", "--show-toplevel", NULL};
  BUF_SCOPED out = {0};
  bool ok;
  if (!git(words, &out, &ok, err)) return false;
  if (!ok) return error_set(err, ERR_USAGE, "this is no git repository");
  changes->top = arena_strndup(&changes->session->arena, buf_text(&out), strcspn(buf_text(&out), "\n"));
  return chdir(changes->top) == 0 || error_set(err, ERR_USAGE, "%s cannot be entered", changes->top);
}

static int judge_changes(Changes *changes, const char *const *diff) {
  Session *session = changes->session;
  BUF_SCOPED names = {0};
  Error err;
  bool ok;
  if (!git(diff, &names, &ok, &err)) return session_fail(session, &err);
  if (!ok) {
    error_set(&err, ERR_USAGE, "git cannot compare these revisions");
    error_hint(&err, "name ones that are there: tidegate hook run ci BASE [HEAD]; a shallow clone may not have them");
    return session_fail(session, &err);
  }
  const char *copy = arena_alloc(&session->arena, names.len + 1);
  memcpy((char *)copy, buf_text(&names), names.len);
  for (size_t at = 0; at < names.len && *stop_flag() == 0; at += strlen(copy + at) + 1) judge_file(changes, copy + at);
  if (*stop_flag() > 0) changes->status = error_exit_status(ERR_PAUSED);
  return changes->status;
}

int hook_run_git(Session *session) {
  static const char *const diff[] = {"diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=ACMT",
                                     "--",   "*.yaml",   "*.yml",       NULL};
  Changes changes = {.session = session, .revision = ""};
  Error err;
  if (!go_to_top(&changes, &err)) return session_fail(session, &err);
  int status = judge_changes(&changes, diff);
  if (status != 0)
    buf_puts(&session->buffer,
             "Nothing was committed. The reasons above must be put right first; --no-verify goes round "
             "this, and the gate still stands where the backfill is run.\n");
  /* git shows what a hook writes to either; a person reads both as errors. */
  fputs(buf_text(&session->buffer), stderr);
  buf_clear(&session->buffer);
  return status;
}

/* The revision that a pipeline's surroundings name. */
static const char *base_of(Arena *arena) {
  const char *github = getenv("GITHUB_BASE_REF"), *gitlab = getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA");
  if (github != NULL && *github != '\0') return arena_printf(arena, "origin/%s", github);
  return gitlab != NULL && *gitlab != '\0' ? gitlab : NULL;
}

int hook_run_ci(Session *session) {
  Arena *arena = &session->arena;
  const char *base = session_word(session, 2), *head = session_word(session, 3), *github = getenv("GITHUB_ACTIONS");
  Changes changes = {.session = session, .github = github != NULL && strcmp(github, "true") == 0};
  Error err;
  if (base == NULL) base = base_of(arena);
  if (base == NULL || *base == '-' || (head != NULL && *head == '-')) {
    error_set(&err, ERR_USAGE, "hook run ci: changed since which revision?");
    error_hint(&err, "tidegate hook run ci BASE [HEAD]; on GitHub and GitLab a merge request names it");
    return session_fail(session, &err);
  }
  changes.revision = head == NULL ? "HEAD" : head;
  const char *const diff[] = {"diff",
                              "--name-only",
                              "-z",
                              "--no-renames",
                              "--diff-filter=ACMT",
                              arena_printf(arena, "%s...%s", base, changes.revision),
                              "--",
                              "*.yaml",
                              "*.yml",
                              NULL};
  if (!go_to_top(&changes, &err)) return session_fail(session, &err);
  int status = judge_changes(&changes, diff);
  if (status == 0)
    buf_printf(&session->buffer, "tidegate: %zu backfill file%s changed, and %s\n", changes.judged,
               changes.judged == 1 ? "" : "s", changes.judged == 0 ? "nothing is to be judged" : "all may be planned");
  session_flush(session);
  return status;
}
