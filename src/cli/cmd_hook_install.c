#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd_hook.h"
#include "gate/hook/install.h"

/* `hook install`, `hook remove`, `hook status`. */

static const char *const by_hand[][2] = {
    {"airflow", "it is a Python package: see docs/how-to-airflow.md"},
    {"ci", "add the step of integrations/ci to your pipeline"},
    {"opa", "see integrations/opa: tidegate hook run opa prints the document, and backfill.rego is the policy"}};

static const HookFile *file_of(const char *place) {
  size_t n;
  const HookFile *files = hook_files(&n);
  for (size_t i = 0; place != NULL && i < n; i++)
    if (strcmp(files[i].config.place, place) == 0) return &files[i];
  return NULL;
}

static bool unknown_place(const char *place, Error *err) {
  for (size_t i = 0; place != NULL && i < sizeof by_hand / sizeof *by_hand; i++) {
    if (strcmp(by_hand[i][0], place) != 0) continue;
    error_set(err, ERR_USAGE, "hook: %s is not installed by this command", place);
    return error_hint(err, "%s", by_hand[i][1]);
  }
  error_set(err, ERR_USAGE, "hook: %s%s", place == NULL ? "for which place?" : "there is no place ",
            place == NULL ? "" : place);
  return error_hint(err, "one of: claude-code, codex, gemini, cursor, bash, zsh, shim, git");
}

/* ---- one result, as a line or as JSON ---------------------------------------------------------------------------- */

static void tell_change(Session *session, const char *place, const char *path, HookChange change, bool install) {
  static const char *const installed[] = {"was installed already", "installed", "installed", "installed"};
  static const char *const removed[] = {"was not installed", "removed; the rest of the file stays",
                                        "removed; the file is as it was before", "removed"};
  const char *what = (install ? installed : removed)[change];
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "place", place);
    json_text(&json, "path", path);
    json_bool(&json, "changed", change != HOOK_UNCHANGED);
    json_text(&json, "what", what);
    session_object_end(session, &json);
    return;
  }
  buf_printf(&session->buffer, "%s: %s (%s)\n", place, what, path);
}

static void tell_next(Session *session, const char *place) {
  if (session->json) return;
  if (strcmp(place, "codex") == 0)
    buf_puts(&session->buffer, "Codex runs it only once you trusted it: type /hooks there.\n");
  if (strcmp(place, "bash") == 0 || strcmp(place, "zsh") == 0 || strcmp(place, "shim") == 0)
    buf_puts(&session->buffer, "Shells that are open already do not have it: start a new one.\n");
  buf_printf(&session->buffer, "See that it is closed: tidegate hook test %s\n", place);
}

/* ---- shims: scripts, and a line in the startup files that puts their folder first -------------------------------- */

static const HookConfig shim_config = {.place = "shim",
                                       .format = HOOK_SHELL,
                                       .template = "case $PATH in @TIDEGATE@:*) ;; *) PATH=@TIDEGATE@:$PATH ;; esac\n"};

/* The startup files of shells that this user has; *ret[n] with path NULL ends. */
static bool shim_files(Arena *arena, HookTarget ret[3], Error *err) {
  static const HookFile files[] = {{.config = {.place = "shim"}, .user = ".bashrc"},
                                   {.config = {.place = "shim"}, .user = ".zshrc", .variable = "ZDOTDIR"}};
  static const char *const shells[] = {"bash", "zsh"};
  const char *shell = getenv("SHELL");
  size_t n = 0;
  for (size_t i = 0; i < 2; i++) {
    HookTarget target;
    if (!hook_target(arena, &files[i], false, &target, err)) return false;
    bool own = shell != NULL && strlen(shell) >= strlen(shells[i]) &&
               strcmp(shell + strlen(shell) - strlen(shells[i]), shells[i]) == 0;
    if (access(target.path, F_OK) == 0 || own) ret[n++] = (HookTarget){&shim_config, target.path};
  }
  ret[n] = (HookTarget){0};
  return true;
}

static bool install_shims(Session *session, const char *binary, Error *err) {
  Arena *arena = &session->arena;
  const char *folder, *const *tools = shim_tools();
  HookTarget targets[3];
  size_t n = 0;
  if (!shim_folder(arena, &folder, err)) return false;
  for (size_t i = 0; session_word(session, 2) == NULL ? tools[i] != NULL : session_word(session, i + 2) != NULL; i++) {
    HookChange change;
    const char *name = session_word(session, 2) == NULL ? tools[i] : session_word(session, i + 2);
    if (session_word(session, 2) == NULL && shim_real(arena, name) == NULL) continue;
    if (!shim_install(arena, folder, name, binary, &change, err)) return false;
    tell_change(session, "shim", arena_printf(arena, "%s/%s", folder, name), change, true);
    n++;
  }
  if (n == 0) {
    error_set(err, ERR_NOT_FOUND, "no program of a tool that starts backfills is on PATH");
    return error_hint(err, "name those that will be: tidegate hook install shim airflow dbt");
  }
  if (!shim_files(arena, targets, err)) return false;
  for (size_t i = 0; targets[i].path != NULL; i++) {
    HookChange change;
    if (!hook_install(arena, &targets[i], folder, &change, err)) return false;
    tell_change(session, "shim", targets[i].path, change, true);
  }
  return true;
}

static bool remove_shims(Session *session, Error *err) {
  Arena *arena = &session->arena;
  const char *folder;
  HookTarget targets[3];
  HookChange change;
  if (!shim_folder(arena, &folder, err) || !shim_files(arena, targets, err)) return false;
  for (size_t i = 0; targets[i].path != NULL; i++) {
    if (!hook_uninstall(arena, &targets[i], &change, err)) return false;
    tell_change(session, "shim", targets[i].path, change, false);
  }
  if (!shim_uninstall(arena, folder, &change, err)) return false;
  tell_change(session, "shim", folder, change, false);
  return true;
}

/* ---- all places -------------------------------------------------------------------------------------------------- */

static bool change(Session *session, bool install, Error *err) {
  Arena *arena = &session->arena;
  const char *place = session_word(session, 1), *binary, *path;
  const HookFile *file = file_of(place);
  HookTarget target;
  HookChange done;
  bool project = args_has(session->args, "project");
  if (!hook_binary(arena, &binary, err)) return false;
  if (place != NULL && strcmp(place, "shim") == 0)
    return install ? install_shims(session, binary, err) : remove_shims(session, err);
  if (place != NULL && strcmp(place, "git") == 0) {
    if (!git_hook_path(arena, &path, err)) return false;
    if (!(install ? git_hook_install(arena, path, binary, &done, err) : git_hook_uninstall(arena, path, &done, err)))
      return false;
  } else {
    if (file == NULL) return unknown_place(place, err);
    if (!hook_target(arena, file, project, &target, err)) return false;
    path = target.path;
    if (!(install ? hook_install(arena, &target, binary, &done, err) : hook_uninstall(arena, &target, &done, err)))
      return false;
  }
  tell_change(session, place, path, done, install);
  return true;
}

int hook_install_place(Session *session) {
  Error err;
  if (!change(session, true, &err)) return session_fail(session, &err);
  tell_next(session, session_word(session, 1));
  return session_flush(session);
}

int hook_remove_place(Session *session) {
  Error err;
  return change(session, false, &err) ? session_flush(session) : session_fail(session, &err);
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

typedef struct Looker {
  Session *session;
  const char *own; /* this program */
  Json json;
  bool bad;
} Looker;

static void tell_state(Looker *looker, const char *place, const char *path, const char *binary, const Error *err) {
  Session *session = looker->session;
  const char *state = "installed", *why = "";
  if (err != NULL)
    state = "not readable", why = err->message;
  else if (binary == NULL)
    state = "not installed";
  else if (*binary == '\0')
    state = "broken", why = "what stands there is not what this Tidegate writes: install it again";
  else if (access(binary, X_OK) != 0)
    state = "broken", why = arena_printf(&session->arena, "%s is not there: install it again", binary);
  else if (strcmp(binary, looker->own) != 0)
    why = arena_printf(&session->arena, "calls another program than this: %s", binary);
  looker->bad |= err != NULL || strcmp(state, "broken") == 0;
  if (session->json) {
    json_object(&looker->json, NULL);
    json_text(&looker->json, "place", place);
    json_text(&looker->json, "path", path);
    json_text(&looker->json, "state", state);
    json_text(&looker->json, "program", binary);
    json_text(&looker->json, "why", *why == '\0' ? NULL : why);
    json_object_end(&looker->json);
    return;
  }
  buf_printf(&session->buffer, "%-12s %-13s %s%s%s\n", place, state, path, *why == '\0' ? "" : ": ", why);
}

static void look_at_file(Looker *looker, const HookFile *file, bool project) {
  Arena *arena = &looker->session->arena;
  HookTarget target;
  const char *binary = NULL, *command;
  Error err;
  bool ok = hook_target(arena, file, project, &target, &err);
  const char *path = ok ? target.path : "?";
  ok = ok && hook_look(arena, &target, &binary, &command, &err);
  if (project && ok && binary == NULL) return; /* most projects have none */
  tell_state(looker, file->config.place, path, binary, ok ? NULL : &err);
}

static void look_at_scripts(Looker *looker) {
  Arena *arena = &looker->session->arena;
  const char *path, *binary, *const *names;
  size_t n;
  Error err;
  if (shim_folder(arena, &path, &err) && shim_look(arena, path, &names, &n, &binary, &err)) {
    tell_state(looker, "shim", path, binary, NULL);
    const char *first = getenv("PATH"), *own = n == 0 ? NULL : shim_real(arena, names[0]);
    bool ahead = first != NULL && strncmp(first, path, strlen(path)) == 0;
    if (n > 0 && !ahead && own != NULL && !looker->session->json)
      buf_printf(&looker->session->buffer, "%-12s %-13s here PATH does not begin with it, so `%s` may be %s\n", "", "",
                 names[0], own);
  }
  if (git_hook_path(arena, &path, &err)) {
    bool ok = git_hook_look(arena, path, &binary, &err);
    tell_state(looker, "git", path, ok ? binary : NULL, ok ? NULL : &err);
  }
}

int hook_status(Session *session) {
  Looker looker = {.session = session};
  Error err;
  size_t n;
  const HookFile *files = hook_files(&n);
  char here[4096] = "";
  const char *home = getenv("HOME");
  bool in_home = home != NULL && getcwd(here, sizeof here) != NULL && strcmp(here, home) == 0;
  if (!hook_binary(&session->arena, &looker.own, &err)) return session_fail(session, &err);
  if (session->json) {
    looker.json = session_object(session);
    json_array(&looker.json, "places");
  }
  for (size_t i = 0; i < n; i++) {
    look_at_file(&looker, &files[i], false);
    if (files[i].project != NULL && !in_home) look_at_file(&looker, &files[i], true);
  }
  look_at_scripts(&looker);
  if (session->json) {
    json_array_end(&looker.json);
    session_object_end(session, &looker.json);
  }
  int status = session_flush(session);
  return looker.bad ? error_exit_status(ERR_INCOMPLETE) : status;
}
