#include <ctype.h>
#include <string.h>

#include "gate/trigger/commands_int.h"

/* The table of other tools' commands: which entry a command is, and what that says of it. */

static const CommandEntry entries[] = {
#define COMMAND(system, programs, path, traits, operands, flags) {system, programs, path, traits, operands, flags},
#include "gate/trigger/commands.def"
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

bool commands_know(const char *program) {
  for (size_t i = 0; i < N_ENTRIES; i++)
    if (word_in(program, entries[i].programs)) return true;
  return false;
}

/* ---- which entry ------------------------------------------------------------------------------------------------- */

/* How many words of args the path takes, flags before it skipped; 0 when it does not fit; "" takes none. */
static bool path_fits(const char *path, Argv args, size_t *ret_taken) {
  size_t i = 0;
  bool begun = false, behind_flag = false;
  while (*path != '\0') {
    size_t n = strcspn(path, " ");
    if (i >= args.n) return false;
    const char *word = args.words[i++];
    word += strspn(word, "\2");
    bool same = strcspn(word, "\r") == n && commands_same_name(word, path, n);
    if (same) {
      path += n;
      path += strspn(path, " ");
      begun = true;
    } else if (begun ? *word != '-' : *word != '-' && !behind_flag) {
      return false;
    }
    behind_flag = *word == '-';
  }
  *ret_taken = i;
  return true;
}

static const CommandEntry *find_entry(const char *program, Argv args, size_t *ret_taken) {
  const CommandEntry *best = NULL;
  for (size_t i = 0; i < N_ENTRIES; i++) {
    size_t taken;
    if (program != NULL && !word_in(program, entries[i].programs)) continue;
    if (program == NULL && strchr(entries[i].path, ' ') == NULL) continue;
    if (!path_fits(entries[i].path, args, &taken)) continue;
    if (best != NULL && strlen(best->path) >= strlen(entries[i].path)) continue;
    best = &entries[i];
    *ret_taken = taken;
  }
  return best;
}

/* Adds what the command is, unless it is harmless. `why` NULL: the program is the entry's. */
static void judge_entry(Finder *f, const CommandEntry *entry, const char *system, Argv args, size_t taken,
                        const char *why) {
  CommandReading r = {.f = f, .entry = entry};
  if ((entry->traits & NEVER) != 0) return;
  commands_read(&r, args, taken);
  bool known_target = r.instead != NULL || (!r.target_unknown && r.target.len > 0);
  bool sure = why == NULL &&
              ((entry->traits & ASKS) == 0 || r.restates || ((entry->traits & (DATED | LOOSE)) == DATED && r.span.any));
  if (!sure && why == NULL)
    why = arena_printf(f->arena, "what %s%s%s does depends on how it is set up", system,
                       *entry->path == '\0' ? "" : " ", entry->path);
  Trigger found = {.sure = sure,
                   .system = system,
                   .target = !known_target       ? NULL
                             : r.instead != NULL ? r.instead
                                                 : arena_strdup(f->arena, buf_text(&r.target)),
                   .from = r.span.from,
                   .to = r.span.to,
                   .until_midnight = r.until_midnight,
                   .danger = r.danger.len == 0 ? NULL : arena_strdup(f->arena, buf_text(&r.danger)),
                   .why = sure ? NULL : why};
  if ((entry->traits & NAMED) != 0 && !r.span.any && r.danger.len == 0 && found.target != NULL &&
      hints_at_backfill(found.target)) {
    found.sure = false;
    found.why = "its name says that it may rewrite past dates";
    r.span.any = true;
  }
  if (r.hinted && !r.span.any && r.danger.len == 0) {
    found.sure = false;
    found.why = "a parameter's name says that it may rewrite past dates";
    r.span.any = true;
  }
  if (r.unclear && !r.span.any && r.danger.len == 0 && !r.restates) {
    found.sure = false;
    found.why = "which flags it gets is only known when it runs";
    r.span.any = true;
  }
  bool rewrites = (entry->traits & DATED) == 0 || r.span.any || r.restates || r.danger.len > 0;
  buf_release(&r.target);
  buf_release(&r.danger);
  if (!r.dry && rewrites) finder_add(f, found);
}

/* airflow $SUB: which command it is, is only known when it runs. */
static bool path_unknown(Argv args) {
  for (size_t i = 0, words = 0; i < args.n && words < 2; i++) {
    if (!word_known(args.words[i])) return true;
    words += *args.words[i] != '-';
  }
  return false;
}

bool commands_judge(Finder *f, const char *program, Argv args) {
  size_t taken = 0;
  if (!commands_know(program)) return false;
  const CommandEntry *entry = find_entry(program, args, &taken);
  if (entry != NULL)
    judge_entry(f, entry, entry->system, args, taken, NULL);
  else if (strcmp(program, "astro") == 0 && args.n > 2 && strcmp(args.words[0], "dev") == 0 &&
           strcmp(args.words[1], "run") == 0)
    commands_airflow(f, "airflow2", (Argv){args.words + 2, args.n - 2});
  else if (path_unknown(args))
    finder_add(f, (Trigger){.system = "?",
                            .why = arena_printf(f->arena, "which command of %s this is, is only known when it runs",
                                                program)});
  return !trigger_names_table(program); /* a client of a database has SQL besides */
}

bool commands_fit(Finder *f, Argv args, const char *why) {
  size_t taken = 0, before = f->n;
  const CommandEntry *entry = find_entry(NULL, args, &taken);
  if (entry != NULL) judge_entry(f, entry, "?", args, taken, why);
  return f->n > before;
}

void commands_airflow(Finder *f, const char *system, Argv args) {
  size_t taken = 0;
  const CommandEntry *entry = find_entry("airflow", args, &taken);
  if (entry != NULL) judge_entry(f, entry, system, args, taken, NULL);
}

/* ---- code of other languages ------------------------------------------------------------------------------------- */

/* The words of the path, in order, as whole words. */
static bool code_names(const char *code, const CommandEntry *entry) {
  const char *at = code;
  for (const char *path = entry->path; *path != '\0';) {
    char word[32];
    size_t n = strcspn(path, " ");
    memcpy(word, path, n);
    word[n] = '\0';
    do {
      at = strcasestr(at, word);
      if (at == NULL) return false;
      at += n;
    } while (isalnum((unsigned char)*at) || (at - n > code && isalnum((unsigned char)at[-(long)n - 1])));
    path += n;
    path += strspn(path, " ");
  }
  return true;
}

const char *commands_in_code(const char *code) {
  for (size_t i = 0; i < N_ENTRIES; i++) {
    const CommandEntry *entry = &entries[i];
    if (strchr(entry->path, ' ') == NULL || (entry->traits & (NEVER | ASKS)) != 0) continue;
    if (text_names(code, entry->programs) && code_names(code, entry)) return entry->system;
  }
  if (text_names(code, "dbt* dbtRunner*") && text_names(code, "full-refresh* full_refresh* event-time* event_time*"))
    return "dbt";
  if (text_names(code, "run_deployment* create_flow_run*") && text_names(code, "start* end* date*")) return "prefect";
  return NULL;
}
