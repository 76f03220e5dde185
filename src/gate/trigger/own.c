#include <fnmatch.h>
#include <string.h>

#include "gate/trigger/trigger_int.h"

/* Command lines that the user's tidegate.yaml says are backfills. */

enum { MOST_WORDS = 2000 };

/* The words with one blank between, the program as `first`; what is not known is a question mark. */
static const char *joined(Arena *arena, const ShellCommand *command, const char *first) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < command->n && i < MOST_WORDS; i++) {
    const char *word = i == 0 ? first : command->argv[i];
    if (i > 0) buf_putc(&out, ' ');
    for (; *word != '\0'; word++)
      if (*word != SHELL_ASSUMED && *word != SHELL_MADE) buf_putc(&out, *word == SHELL_UNKNOWN ? '?' : *word);
  }
  return arena_strdup(arena, buf_text(&out));
}

/* From the first date to the last: one alone is no range. */
static void own_dates(Arena *arena, const ShellCommand *command, Trigger *ret) {
  for (size_t i = 1; i < command->n && i < MOST_WORDS; i++) {
    const char *equals = strchr(command->argv[i], '=');
    const char *word = word_sure(arena, equals == NULL ? command->argv[i] : equals + 1);
    const char *day = word == NULL ? NULL : date_day(arena, word, false);
    if (day == NULL) continue;
    if (ret->from == NULL)
      ret->from = day;
    else
      ret->to = day;
  }
}

bool own_judge(Finder *f, const ShellCommand *command) {
  for (size_t i = 0; i < f->n_own; i++) {
    Trigger found = {.sure = true, .system = "script", .target = f->own[i].target};
    if (fnmatch(f->own[i].pattern, joined(f->arena, command, command->argv[0]), 0) != 0 &&
        fnmatch(f->own[i].pattern, joined(f->arena, command, word_base(f->arena, command->argv[0])), 0) != 0)
      continue;
    own_dates(f->arena, command, &found);
    finder_add(f, found);
    return true;
  }
  return false;
}
