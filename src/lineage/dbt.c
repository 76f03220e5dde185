#include "lineage/dbt.h"

#include <sys/stat.h>

#include "lineage/readers.h"

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The file meant by a path that may be a project's or a target's folder. */
static const char *artefact(Arena *arena, const char *path, const char *name) {
  if (!is_folder(path)) return path;
  const char *target = arena_printf(arena, "%s/target", path);
  return arena_printf(arena, "%s/%s", is_folder(target) ? target : path, name);
}

bool lineage_read_dbt(LineageCase *reading, Error *err) {
  const SpecLineage *lineage = &reading->spec->lineage;
  for (size_t i = 0; i < lineage->dbt.n; i++)
    dbt_read_manifest(reading->graph, artefact(reading->arena, lineage->dbt.items[i].text, "manifest.json"));
  for (size_t i = 0; i < lineage->catalog.n; i++)
    dbt_read_catalog(reading->graph, artefact(reading->arena, lineage->catalog.items[i].text, "catalog.json"));
  return true;
}
