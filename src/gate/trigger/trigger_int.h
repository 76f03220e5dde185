#ifndef TIDEGATE_GATE_TRIGGER_TRIGGER_INT_H
#define TIDEGATE_GATE_TRIGGER_TRIGGER_INT_H

#include "base/buf.h"
#include "gate/trigger/shell_run.h"
#include "gate/trigger/trigger.h"

/* What the files share that know programs. A word here is an expanded one: it may hold SHELL_UNKNOWN. */

typedef struct Finder {
  Arena *arena;
  Trigger *items;
  size_t n;
  int doubts;         /* above 0: what is found now is not sure */
  const char *why;    /* … and why */
  const char *opaque; /* code is run that cannot be seen; NULL: none is */
  const TriggerOwn *own;
  size_t n_own;
  const char
      *seen[8];  /* programs that were looked for everywhere and only look: scripts name the same again and again */
  size_t n_seen; /* … all that ever were; the oldest make room */
} Finder;

typedef struct Argv {
  const char *const *words;
  size_t n;
} Argv;

/* finder.c */
void finder_add(Finder *f, Trigger trigger);
bool word_known(const char *word);
/* The word without its marks, NULL when a part of it is not known. */
const char *word_sure(Arena *arena, const char *word);
/* Behind the last slash, marks removed. */
const char *word_base(Arena *arena, const char *word);
/* Is the word one of the list, blanks between? */
bool word_in(const char *word, const char *list);
/* Does the text hold one of the list's words, as a whole word or, where the list has it with *, anywhere? */
bool text_names(const char *text, const char *list);
/* Does a name say that what bears it rewrites past dates? */
bool hints_at_backfill(const char *name);
/* Does the text name a tool whose commands are known here? Quotes, backslashes and continued lines do not hide it. */
bool text_has_trigger_word(const char *text, size_t n);

/* The sink: judges one command, whatever it is. */
void finder_command(void *finder, ShellRun *run, const ShellCommand *command);

/* Code is run that cannot be seen; the first reason stays. */
void finder_opaque(Finder *f, const char *why);
/* A program that is not known, and whose name says what it does: perhaps. False: it does not say so. */
bool finder_judge_name(Finder *f, const char *system, const char *name);
/* The same for a word behind it, as in manage.py backfill, if it is no file's name. */
void finder_judge_verb(Finder *f, const char *word);

/* A shell reads its input as code. */
void run_input(Finder *f, ShellRun *run, ShellInput input);

/* Is it known what the program does with its words? */
bool finder_knows(const char *program);

/* dates.c: the day of a date or time stamp, NULL when it is none; `before`: the last day that ends before it. */
const char *date_day(Arena *arena, const char *text, bool before);
const char *date_add(Arena *arena, const char *day, int days);
/* A parameter's role by its name: 'f' from, 't' to, 'o' on, '\0' none of these. */
char date_role(const char *name);
typedef struct DateSpan {
  const char *from, *to;
  bool any; /* something was given, known or not */
} DateSpan;
/* Takes a value for a role ('f', 't', 'o'); `exclusive`: a 't' is the first day not meant. A value that is not known
 * takes away what was there. */
void date_take(Arena *arena, DateSpan *span, char role, const char *value, bool exclusive);

/* commands.c: the table of other tools' commands. True: the program is one of theirs. */
bool commands_judge(Finder *f, const char *program, Argv args);
/* The same with a program that is not known: does a command of any tool fit? Adds what is not sure. */
bool commands_fit(Finder *f, Argv args, const char *why);
bool commands_know(const char *program);
/* The system of a command that code of another language names; NULL: of none. */
const char *commands_in_code(const char *code);
/* Airflow's arguments from elsewhere: Composer, Amazon's, Astronomer's. */
void commands_airflow(Finder *f, const char *system, Argv args);

/* languages.c: interpreters, awk and sed. True: the program is one of them. */
bool languages_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command);
bool languages_know(const char *program);

/* settings.c */

/* The arguments, and behind them the flags that the program takes from what the text put into its environment: what is
 * given as a flag wins. */
Argv settings_as_flags(Finder *f, const ShellRun *run, const char *program, Argv args);

/* wrappers.c: programs that run what their arguments say. */
bool wrappers_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command);
bool wrappers_know(const char *program);

/* cloud.c: clients of clouds. True: nothing else is to be told of it. */
bool cloud_judge(Finder *f, ShellRun *run, const char *program, Argv args);

/* own.c: the user's own commands, by pattern. */
bool own_judge(Finder *f, const ShellCommand *command);

/* http.c, sql.c: clients of REST interfaces and of databases. */
bool http_judge(Finder *f, const char *program, const ShellCommand *command);
bool sql_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command);
/* sql_statement.c: what the text, statements and lines of a client, rewrites; `system` is the client. */
void sql_statements(Finder *f, ShellRun *run, const char *system, const char *sql);
/* A file of SQL: what this text wrote into it, else by its name alone. */
void sql_file(Finder *f, ShellRun *run, const char *system, const char *name);
/* One request: path or URL, body NULL: none or not known. */
void http_request(Finder *f, const char *method, const char *url, const char *body, const char *suffix);

#endif
