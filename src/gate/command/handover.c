#include <inttypes.h>
#include <string.h>

#include "gate/command/command_int.h"

/*
 * One command line may pass several places: `tidegate gate` itself, the shell where it is typed, or an agent, then the
 * shim in front of the program, then the program itself. What an outer one let through is not judged once more by an
 * inner one, or nothing could ever pass both, and an override could not be used. Each inner place takes it over once,
 * and soon. An agent takes over nothing: it could override for itself.
 */
enum {
  SOON = 30,
  SOON_TYPED = 120,
  MOST_RECORDS = 50,
  MOST_RANKS = 4
}; /* seconds: `airflow` takes some five to start */

/* How far inside a place is; 0 takes over nothing. */
static int takes_over(const char *place) {
  static const char *const ranks[MOST_RANKS][2] = {{NULL}, {"bash", "zsh"}, {"shim"}, {"airflow"}};
  for (int i = 1; i < MOST_RANKS; i++)
    for (int k = 0; k < 2; k++)
      if (place != NULL && ranks[i][k] != NULL && strcmp(place, ranks[i][k]) == 0) return i;
  return 0;
}

/* A shell takes over what `tidegate gate` let through, and the others what anybody outside of them did. */
static bool is_outside(const char *place, const char *own) {
  int rank = takes_over(own);
  if (place == NULL) return false;
  return rank == 1 ? strcmp(place, "shell") == 0 : takes_over(place) < rank;
}

static bool let_through(const AuditRecord *record) {
  return strcmp(record->verdict, "allow") == 0 || strcmp(record->verdict, "override") == 0;
}

/* Is `own` one whole command of the line? Part of one could do more: `dbt run` of `dbt run --select a`. */
static bool is_command_of(const char *line, const char *own) {
  size_t n = strlen(own);
  for (const char *at = strstr(line, own); at != NULL; at = strstr(at + 1, own)) {
    const char *end = at + n + strspn(at + n, " \t");
    if ((at == line || strchr(" \t\n;|&(", at[-1]) != NULL) && (*end == '\0' || strchr("\n\r;|&)", *end) != NULL))
      return true;
  }
  return false;
}

bool command_take_over(CommandCase *c, CommandVerdict *verdict, Error *err) {
  const AuditRecord *records;
  size_t n, outside[MOST_RANKS] = {0}, most = 0, taken = 0;
  const char *place = c->ask->place;
  verdict->taken_over = false;
  int soon = takes_over(place) == 1 ? SOON_TYPED : SOON;
  if (c->ask->text == NULL || takes_over(place) == 0 || !command_open_database(c)) return true;
  if (!c->engine->ops->audit_list(c->engine, c->arena, NULL, MOST_RECORDS, &records, &n, err)) return false;
  const char *own = mask_secrets(c->arena, c->ask->text, c->ask->n);
  size_t length = strlen(own);
  while (length > 0 && strchr(" \t\r\n", own[length - 1]) != NULL) length--;
  own = arena_strndup(c->arena, own, length);
  for (size_t i = 0; i < n && length > 0; i++) {
    const AuditRecord *record = &records[i];
    if (record->at + soon < c->now || !let_through(record) || !is_command_of(record->command, own)) continue;
    if (record->place != NULL && strcmp(record->place, place) == 0) taken++;
    if (!is_outside(record->place, place)) continue;
    size_t *count = &outside[takes_over(record->place)];
    if (++*count > most) most = *count; /* one passage leaves a record at each place */
    verdict->backfill = record->backfill;
    verdict->until = record->until;
  }
  verdict->taken_over = taken < most;
  return true;
}
