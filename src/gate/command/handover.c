#include <inttypes.h>
#include <string.h>

#include "gate/command/command_int.h"

/*
 * One command line may pass several places: the shell or the agent where it is typed, then the shim in front of the
 * program, then the program itself. What the outer one let through is not judged once more by an inner one, or nothing
 * could ever pass both. Each inner place takes it over once, and soon.
 */
enum { SOON = 30, MOST_RECORDS = 50 }; /* seconds: `airflow` takes some five to start */

static bool is_inner(const char *place) {
  return place != NULL && (strcmp(place, "shim") == 0 || strcmp(place, "airflow") == 0);
}

static bool let_through(const AuditRecord *record) {
  return strcmp(record->verdict, "allow") == 0 || strcmp(record->verdict, "override") == 0;
}

bool command_take_over(CommandCase *c, CommandVerdict *verdict, Error *err) {
  const AuditRecord *records;
  size_t n;
  verdict->taken_over = false;
  if (c->ask->text == NULL || !is_inner(c->ask->place) || !command_open_database(c)) return true;
  if (!c->engine->ops->audit_list(c->engine, c->arena, NULL, MOST_RECORDS, &records, &n, err)) return false;
  const char *own = command_mask(c->arena, c->ask->text, c->ask->n);
  size_t outer = 0, taken = 0;
  for (size_t i = 0; i < n && *own != '\0'; i++) {
    const AuditRecord *record = &records[i];
    if (record->at + SOON < c->now || !let_through(record) || strstr(record->command, own) == NULL) continue;
    if (record->place != NULL && strcmp(record->place, c->ask->place) == 0) taken++;
    if (is_inner(record->place)) continue;
    outer++;
    verdict->backfill = record->backfill;
    verdict->until = record->until;
  }
  verdict->taken_over = taken < outer;
  return true;
}
