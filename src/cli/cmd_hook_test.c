#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/cmd_hook.h"
#include "gate/hook/install.h"

/*
 * A canary through what is installed, by the very command line that stands there: a backfill that must be blocked, and
 * a harmless command that must not be. Programs that would really start are scripts of ours in a folder of their own.
 */

static const char canary[] = "airflow dags backfill tidegate-canary";
enum { SECONDS = 30 };

typedef struct Canary {
  Session *session;
  const char *place;
  char folder[64]; /* of our own; deleted at the end */
  Buf output;
  const char *path; /* what is tested */
} Canary;

static bool write_file(const char *path, const char *text, mode_t mode, Error *err) {
  FILE *file = fopen(path, "we");
  bool ok = file != NULL && fputs(text, file) >= 0;
  ok = (file == NULL || fclose(file) == 0) && ok && chmod(path, mode) == 0;
  return ok || error_set(err, ERR_INTERNAL, "%s cannot be written", path);
}

static bool in_folder(const Canary *c, const char *name) {
  return access(arena_printf(&c->session->arena, "%s/%s", c->folder, name), F_OK) == 0;
}

/* Runs the shell text with its arguments; whatever it prints is kept for the message. */
static bool run_text(Canary *c, const char *shell, const char *const *words, int *ret_status, Error *err) {
  enum { MOST_WORDS = 12 };
  const char *argv[MOST_WORDS] = {shell};
  ProcessRules rules = {.timeout = SECONDS, .timeout_name = "the test"};
  for (size_t i = 0; words[i] != NULL && i + 2 < MOST_WORDS; i++) argv[i + 1] = words[i];
  buf_clear(&c->output);
  return process_status((char *const *)argv, &rules, &c->output, ret_status, err);
}

static bool fail(Canary *c, Error *err, const char *what) {
  const char *said = buf_text(&c->output);
  error_set(err, ERR_COMMAND, "%s: %s%s%s", c->path, what, *said == '\0' ? "" : ". It said: ", said);
  return error_hint(err, "install it again: tidegate hook install %s; then look at: tidegate hook status", c->place);
}

/* ---- agents: the question as JSON to the command that stands in the file ----------------------------------------- */

static const char *question(Arena *arena, const char *place, const char *command) {
  if (strcmp(place, "cursor") == 0)
    return arena_printf(arena,
                        "{\"conversation_id\":\"tidegate-test\",\"hook_event_name\":\"beforeShellExecution\","
                        "\"workspace_roots\":[\"/\"],\"command\":\"%s\",\"cwd\":\"/\"}",
                        command);
  bool gemini = strcmp(place, "gemini") == 0;
  return arena_printf(arena,
                      "{\"session_id\":\"tidegate-test\",\"transcript_path\":\"/dev/null\",\"cwd\":\"/\","
                      "\"hook_event_name\":\"%s\",\"tool_name\":\"%s\",\"tool_input\":{\"command\":\"%s\"}}",
                      gemini ? "BeforeTool" : "PreToolUse", gemini ? "run_shell_command" : "Bash", command);
}

static bool ask_agent(Canary *c, const char *command, const char *text, int *ret_status, Error *err) {
  Arena *arena = &c->session->arena;
  const char *input = arena_printf(arena, "%s/question", c->folder);
  const char *words[] = {"-c", arena_printf(arena, "{ %s\n} <\"$1\"", command), "sh", input, NULL};
  return write_file(input, question(arena, c->place, text), 0600, err) && run_text(c, "sh", words, ret_status, err);
}

static bool test_agent(Canary *c, const char *command, Error *err) {
  int status;
  if (!ask_agent(c, command, canary, &status, err)) return false;
  if (status != hook_place(c->place)->closed) return fail(c, err, "the backfill was not blocked");
  return ask_agent(c, command, "ls", &status, err) &&
         (status == 0 || fail(c, err, "a harmless command was blocked too"));
}

/* ---- shells: an interactive one with the very startup file, and a program that leaves a trace -------------------- */

static bool stub(Canary *c, Error *err) {
  Arena *arena = &c->session->arena;
  return write_file(arena_printf(arena, "%s/airflow", c->folder),
                    arena_printf(arena, "#!/bin/sh\n: > '%s'/\"$2\"\n", c->folder), 0700, err);
}

static bool test_shell(Canary *c, Error *err) {
  Arena *arena = &c->session->arena;
  bool bash = strcmp(c->place, "bash") == 0;
  int status;
  const char *text =
      arena_printf(arena, "PATH='%s':$PATH; airflow dags backfill tidegate-canary; airflow version list", c->folder);
  const char *in_bash[] = {"--rcfile", c->path, "-i", "-c", text, NULL}, *in_zsh[] = {"-i", "-c", text, NULL};
  if (!stub(c, err)) return false;
  if (!bash) setenv("ZDOTDIR", arena_strndup(arena, c->path, (size_t)(strrchr(c->path, '/') - c->path)), 1);
  if (!run_text(c, c->place, bash ? in_bash : in_zsh, &status, err)) return false;
  if (in_folder(c, "backfill")) return fail(c, err, "the backfill was not blocked");
  return in_folder(c, "list") || fail(c, err, "a harmless command was blocked too, or the shell did not come so far");
}

static bool test_shim(Canary *c, const char *name, Error *err) {
  int status;
  const char *words[] = {"-c", "PATH=$1:$2:$PATH; \"$3\" dags backfill tidegate-canary", "sh", c->path, c->folder, name,
                         NULL};
  if (!stub(c, err) || !run_text(c, "sh", words, &status, err)) return false;
  if (status == 0 || in_folder(c, "backfill")) return fail(c, err, "the backfill was not blocked");
  words[1] = "PATH=$1:$2:$PATH; \"$3\" version list";
  return run_text(c, "sh", words, &status, err) &&
         (in_folder(c, "list") || fail(c, err, "a harmless command was blocked too"));
}

/* ---- git: an index of our own that holds a backfill file without a range ----------------------------------------- */

static bool test_git(Canary *c, Error *err) {
  static const char text[] =
      "set -e\n"
      "export GIT_ALTERNATE_OBJECT_DIRECTORIES=$(git rev-parse --git-path objects)\n"
      "case $GIT_ALTERNATE_OBJECT_DIRECTORIES in /*) ;; *) "
      "GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/$GIT_ALTERNATE_OBJECT_DIRECTORIES ;; esac\n"
      "mkdir \"$1/objects\"\n"
      "export GIT_OBJECT_DIRECTORY=$1/objects GIT_INDEX_FILE=$1/index\n"
      "git rev-parse -q --verify HEAD >/dev/null && git read-tree HEAD\n"
      "[ \"$2\" = no ] || { blob=$(git hash-object -w \"$1/canary\"); git update-index --add --cacheinfo "
      "100644,$blob,tidegate-canary.yaml; }\n"
      "set +e\n"
      "exec \"$3\"\n";
  Arena *arena = &c->session->arena;
  int status;
  const char *words[] = {"-c", text, "sh", c->folder, "yes", c->path, NULL};
  if (!write_file(arena_printf(arena, "%s/canary", c->folder), "target: tidegate_canary\nrecompute: SELECT 1\n", 0600,
                  err) ||
      !run_text(c, "sh", words, &status, err))
    return false;
  if (status == 0 || strstr(buf_text(&c->output), "tidegate-canary.yaml") == NULL)
    return fail(c, err, "a backfill file without a range was not blocked");
  return true;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

static bool not_installed(Canary *c, Error *err) {
  error_set(err, ERR_NOT_FOUND, "%s: Tidegate is not installed there (%s)", c->place, c->path);
  return error_hint(err, "tidegate hook install %s", c->place);
}

static bool test_file(Canary *c, const HookFile *file, Error *err) {
  HookTarget target;
  const char *binary, *command;
  if (!hook_target(&c->session->arena, file, args_has(c->session->args, "project"), &target, err)) return false;
  c->path = target.path;
  if (!hook_look(&c->session->arena, &target, &binary, &command, err)) return false;
  if (binary == NULL) return not_installed(c, err);
  return file->config.format == HOOK_SHELL ? test_shell(c, err) : test_agent(c, command, err);
}

static bool test_scripts(Canary *c, Error *err) {
  Arena *arena = &c->session->arena;
  const char *binary, *const *names;
  size_t n;
  if (strcmp(c->place, "git") == 0) {
    if (!git_hook_path(arena, &c->path, err) || !git_hook_look(arena, c->path, &binary, err)) return false;
    return binary == NULL ? not_installed(c, err) : test_git(c, err);
  }
  if (!shim_folder(arena, &c->path, err) || !shim_look(arena, c->path, &names, &n, &binary, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (names[i] != NULL && strcmp(names[i], "airflow") == 0) return test_shim(c, names[i], err);
  if (n == 0) return not_installed(c, err);
  error_set(err, ERR_NOT_FOUND, "%s: there is no shim of airflow, with which this is tested", c->path);
  return error_hint(err, "tidegate hook install shim airflow");
}

static bool test(Canary *c, Error *err) {
  size_t n;
  const HookFile *files = hook_files(&n);
  if (strcmp(c->place, "git") == 0 || strcmp(c->place, "shim") == 0) return test_scripts(c, err);
  for (size_t i = 0; i < n; i++)
    if (strcmp(files[i].config.place, c->place) == 0) return test_file(c, &files[i], err);
  error_set(err, ERR_USAGE, "hook test: there is no place %s", c->place);
  return error_hint(err, "one of: claude-code, codex, gemini, cursor, bash, zsh, shim, git");
}

static void clean(Canary *c) {
  Error ignored;
  int status;
  const char *words[] = {"-rf", "--", c->folder, NULL};
  run_text(c, "rm", words, &status, &ignored);
  buf_release(&c->output);
}

int hook_test(Session *session) {
  Error err;
  const char *place = session_word(session, 1);
  Canary c = {.session = session, .place = place == NULL ? "" : place, .folder = "/tmp/tidegate-canary-XXXXXX"};
  if (mkdtemp(c.folder) == NULL) {
    error_set(&err, ERR_INTERNAL, "/tmp cannot be written");
    return session_fail(session, &err);
  }
  bool ok = test(&c, &err);
  clean(&c);
  if (!ok) return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "place", c.place);
    json_text(&json, "path", c.path);
    json_bool(&json, "blocked", true);
    session_object_end(session, &json);
  } else {
    buf_printf(&session->buffer, "%s: closed (%s): `%s` was blocked, and what is harmless ran\n", c.place, c.path,
               strcmp(c.place, "git") == 0 ? "a backfill file without a range" : canary);
  }
  return session_flush(session);
}
