#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/hook/edit_int.h"
#include "gate/hook/files.h"
#include "gate/hook/hook.h"
#include "gate/hook/install.h"

enum { SCRIPT_MODE = 0755, MOST_SHIMS = 64 };

static const char mark[] =
    "# tidegate: asks before it starts the real program; `tidegate hook remove shim` takes it out\n";
static const char lead[] = "exec ";

const char *const *shim_tools(void) {
  static const char *const tools[] = {"airflow",  "airflowctl", "astro",   "dbt",          "dbtf",      "sqlmesh",
                                      "dagster",  "dg",         "prefect", "bqetl",        "luigi",     "pyflyte",
                                      "flytectl", "kestra",     "mage",    "spark-submit", "spark-sql", NULL};
  return tools;
}

bool shim_folder(Arena *arena, const char **ret, Error *err) {
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  if (data != NULL && *data == '/')
    *ret = arena_printf(arena, "%s/tidegate/shims", data);
  else if (home != NULL && *home == '/')
    *ret = arena_printf(arena, "%s/.local/share/tidegate/shims", home);
  else
    return error_set(err, ERR_USAGE, "HOME names no folder, so there is no place for shims");
  return true;
}

static const char *script_of(Arena *arena, const char *name, const char *binary) {
  return arena_printf(arena, "#!/bin/sh\n%s%s%s hook run shim %s -- \"$@\"\n", mark, lead, hook_quote(arena, binary),
                      hook_quote(arena, name));
}

static bool is_shim(Arena *arena, const char *path, const char **ret_text) {
  char head[sizeof mark + 16] = "";
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  size_t n = fread(head, 1, sizeof head - 1, file);
  fclose(file);
  head[n] = '\0';
  if (strstr(head, mark) == NULL) return false;
  TextFile text;
  Error ignored;
  if (ret_text != NULL) *ret_text = file_read(arena, path, &text, &ignored) ? text.text : "";
  return true;
}

bool shim_install(Arena *arena, const char *folder, const char *name, const char *binary, HookChange *ret, Error *err) {
  const char *path = arena_printf(arena, "%s/%s", folder, name), *script = script_of(arena, name, binary), *old = NULL;
  if (*name == '\0' || strchr(name, '/') != NULL || *name == '.')
    return error_set(err, ERR_USAGE, "a shim is named as the program is, and %s is no program's name", name);
  if (file_is_there(path) && !is_shim(arena, path, &old))
    return error_set(err, ERR_INTERNAL, "%s is there already, and is none of Tidegate's", path);
  *ret = old != NULL && strcmp(old, script) == 0 ? HOOK_UNCHANGED : HOOK_WRITTEN;
  return *ret == HOOK_UNCHANGED || file_write(path, script, NULL, SCRIPT_MODE, err);
}

bool shim_look(Arena *arena, const char *folder, const char *const **ret, size_t *ret_n, const char **ret_binary,
               Error *err) {
  const char **names = arena_array(arena, MOST_SHIMS, sizeof *names);
  (void)err;
  *ret = names;
  *ret_n = 0;
  *ret_binary = NULL;
  DIR *directory = opendir(folder);
  if (directory == NULL) return true;
  for (const struct dirent *entry; *ret_n < MOST_SHIMS && (entry = readdir(directory)) != NULL;) {
    const char *path = arena_printf(arena, "%s/%s", folder, entry->d_name), *text;
    if (entry->d_name[0] == '.' || !is_shim(arena, path, &text)) continue;
    names[(*ret_n)++] = arena_strdup(arena, entry->d_name);
    const char *at = strstr(text, lead), *end = at == NULL ? NULL : strstr(at, " -- ");
    if (end == NULL) continue;
    const char *command = arena_strndup(arena, at + strlen(lead), (size_t)(end - at) - strlen(lead));
    *ret_binary = hook_program_of(arena, command, arena_printf(arena, "shim %s", entry->d_name));
  }
  closedir(directory);
  return true;
}

bool shim_uninstall(Arena *arena, const char *folder, HookChange *ret, Error *err) {
  const char *const *names, *binary;
  size_t n;
  *ret = HOOK_UNCHANGED;
  if (!shim_look(arena, folder, &names, &n, &binary, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (!file_delete(arena_printf(arena, "%s/%s", folder, names[i]), err)) return false;
  if (n > 0) *ret = HOOK_DELETED;
  if (rmdir(folder) == 0) rmdir(arena_strndup(arena, folder, (size_t)(strrchr(folder, '/') - folder)));
  return true;
}

const char *shim_real(Arena *arena, const char *name) {
  const char *path = getenv("PATH");
  for (const char *at = path == NULL ? "" : path; *at != '\0';) {
    size_t n = strcspn(at, ":");
    const char *full = n == 0 ? name : arena_printf(arena, "%.*s/%s", (int)n, at, name);
    struct stat facts;
    if (stat(full, &facts) == 0 && S_ISREG(facts.st_mode) && access(full, X_OK) == 0 && !is_shim(arena, full, NULL))
      return full;
    at += n + (at[n] == ':');
  }
  return NULL;
}
