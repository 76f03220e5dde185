#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "gate/hook/edit_int.h"
#include "gate/hook/files.h"
#include "gate/hook/hook.h"
#include "gate/hook/install.h"

/* Scripts of our own in other programs' folders: git's pre-commit hook, and shims. Each has our mark in its second
 * line. */

enum { SCRIPT_MODE = 0755 };

static const char git_mark[] =
    "# tidegate: judges the backfill files of a commit; `tidegate hook remove git` takes it out\n";

static const char *git_script(Arena *arena, const char *binary) {
  return arena_printf(arena,
                      "#!/bin/sh\n%s"
                      "%s hook run git || exit 1\n"
                      "# The hook that stood here before\n"
                      "before=${0%%/*}/pre-commit.before-tidegate\n"
                      "[ ! -x \"$before\" ] || exec \"$before\" \"$@\"\n",
                      git_mark, hook_quote(arena, binary));
}

bool git_hook_path(Arena *arena, const char **ret, Error *err) {
  char *const argv[] = {"git", "rev-parse", "--git-path", "hooks/pre-commit", NULL};
  ProcessRules rules = {.timeout = 10, .timeout_name = "the hook"};
  BUF_SCOPED out = {0};
  int status;
  if (!process_status(argv, &rules, &out, &status, err)) return false;
  if (status != 0) {
    error_set(err, ERR_USAGE, "this is no git repository: %s", buf_text(&out));
    return error_hint(err, "change into the repository whose commits are to be judged");
  }
  *ret = arena_strndup(arena, buf_text(&out), strcspn(buf_text(&out), "\n"));
  return true;
}

static bool is_ours(const TextFile *file, const char *mark) { return strstr(file->text, mark) != NULL; }

bool git_hook_install(Arena *arena, const char *path, const char *binary, HookChange *ret, Error *err) {
  TextFile file = {.exists = false, .text = ""};
  const char *script = git_script(arena, binary), *before = arena_printf(arena, "%s.before-tidegate", path);
  *ret = HOOK_UNCHANGED;
  /* A hook that is no text (a compiled program) is none of ours, whatever is in it. */
  bool readable = file_read(arena, path, &file, err);
  if (readable && file.exists && strcmp(file.text, script) == 0) return true;
  bool ours = readable && file.exists && is_ours(&file, git_mark);
  if (!ours && file_is_there(path)) {
    if (file_is_there(before)) {
      error_set(err, ERR_INTERNAL, "%s is in the way of the hook that is to be kept", before);
      return error_hint(err, "move it elsewhere, then install again");
    }
    if (!file_move(path, before, err)) return false;
  }
  *ret = HOOK_WRITTEN;
  return file_write(path, script, NULL, SCRIPT_MODE, err);
}

bool git_hook_uninstall(Arena *arena, const char *path, HookChange *ret, Error *err) {
  TextFile file;
  const char *before = arena_printf(arena, "%s.before-tidegate", path);
  *ret = HOOK_UNCHANGED;
  if (!file_read(arena, path, &file, err)) return false;
  if (!file.exists || !is_ours(&file, git_mark)) return true;
  bool kept = file_is_there(before);
  *ret = kept ? HOOK_RESTORED : HOOK_DELETED;
  return kept ? file_move(before, path, err) : file_delete(path, err);
}

bool git_hook_look(Arena *arena, const char *path, const char **ret_binary, Error *err) {
  TextFile file;
  *ret_binary = NULL;
  if (!file_read(arena, path, &file, err)) return false;
  if (!file.exists || !is_ours(&file, git_mark)) return true;
  const char *line = strstr(file.text, git_mark) + sizeof git_mark - 1, *end = strstr(line, " || exit 1\n");
  const char *command = arena_strndup(arena, line, end == NULL ? 0 : (size_t)(end - line));
  const char *binary = hook_program_of(arena, command, "git");
  *ret_binary = binary == NULL ? "" : binary;
  return true;
}
