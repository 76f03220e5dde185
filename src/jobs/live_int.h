#ifndef TIDEGATE_JOBS_LIVE_INT_H
#define TIDEGATE_JOBS_LIVE_INT_H

#include "jobs/live.h"

/* What the files that ask share. */
typedef struct Asking {
  Arena *arena;
  Engine *engine;
  JobAsk *ask;
  const SpecLive *live;
  double timeout;  /* seconds for each question */
  double deadline; /* monotonic seconds for all of them; 0: none */
  JobAnswer answer;
} Asking;

/* live.c: notes an answer; the first of the worst state is told. `since` 0: unknown. live_unknown: is it this one? */
void live_running(Asking *asking, Instant since, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool live_unknown(Asking *asking, const char *todo, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with the words and the hint of an error. */
void live_failed(Asking *asking, const char *what, const Error *err);
/* Seconds that the next question may take; 0: the time is up, which is noted. */
double live_time(Asking *asking);
/* Something worth telling that is no reason to wait. */
void live_note(Asking *asking, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* live_airflow.c */
void live_airflow(Asking *asking);
/* live_machine.c: this machine's systemd, and a command of the user's */
void live_systemd(Asking *asking);
void live_command(Asking *asking);
/* live_process.c: this machine's processes, and a file that one of them locks */
void live_process(Asking *asking);
void live_lock_file(Asking *asking);

#endif
