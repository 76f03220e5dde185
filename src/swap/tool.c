#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "ledger/opened.h"
#include "swap/in_place.h"

/*
 * A tool outlives the tidegate that started it and was killed. It is known by its environment, which everything that it
 * starts inherits, whatever group or session it is put into.
 */

/* Seconds that a killed process gets to be gone, and between two looks. */
static const double GONE_SECONDS = 10, LOOK_SECONDS = 0.02;

enum { MOST_ENVIRON = 4 * 1024 * 1024 };

/* The environment of a process, its variables each ended by NUL; empty when it cannot be seen. */
static void read_environ(const char *pid, Buf *ret) {
  char path[64], block[65536];
  buf_clear(ret);
  snprintf(path, sizeof path, "/proc/%s/environ", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t n;
  while (ret->len < MOST_ENVIRON && (n = read(file, block, sizeof block)) > 0) buf_append(ret, block, (size_t)n);
  close(file);
}

static bool has_variable(const Buf *settings, const char *variable) {
  const char *text = buf_text(settings);
  for (size_t at = 0; at < settings->len; at += strnlen(text + at, settings->len - at) + 1)
    if (strcmp(text + at, variable) == 0) return true;
  return false;
}

static size_t each_tool(const BackfillRecord *record, int signal_number, int *ret_pid) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED settings = {0};
  const char *variable = arena_printf(&arena, OPENED_VARIABLE "=%s", opened_mark(&arena, record));
  size_t found = 0;
  DIR *processes = opendir("/proc");
  if (processes == NULL) return 0;
  for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
    int pid = atoi(entry->d_name);
    if (pid <= 1 || pid == getpid()) continue;
    read_environ(entry->d_name, &settings);
    if (!has_variable(&settings, variable)) continue;
    found++;
    *ret_pid = pid;
    if (signal_number != 0) kill(pid, signal_number);
  }
  closedir(processes);
  return found;
}

size_t in_place_tools(const BackfillRecord *record, int *ret_pid) { return each_tool(record, 0, ret_pid); }

static bool end_processes(const BackfillRecord *record, Error *err) {
  int pid = 0;
  double until = clock_seconds() + GONE_SECONDS;
  while (each_tool(record, SIGKILL, &pid) > 0) {
    if (clock_seconds() > until) {
      error_set(err, ERR_COMMAND, "process %d of the tool cannot be ended, and it may still write production", pid);
      return error_hint(err, "end it, then: tidegate restore %s", record->id);
    }
    nanosleep(&(struct timespec){0, (long)(LOOK_SECONDS * 1e9)}, NULL);
  }
  return true;
}

const char *in_place_application(Arena *arena, const BackfillRecord *record) {
  return arena_printf(arena, "backfill-%s-tool", record->id);
}

/* A statement goes on in the server when its client is killed. */
static bool end_sessions(Engine *engine, const BackfillRecord *record, Error *err) {
  ARENA_SCOPED name = {0};
  SessionQuestion question = {.application = in_place_application(&name, record)};
  double until = clock_seconds() + GONE_SECONDS;
  if (engine->ops->end_sessions == NULL || engine->ops->sessions == NULL) return true;
  for (;;) {
    ARENA_SCOPED arena = {0};
    SessionFacts facts = {0};
    if (!engine->ops->end_sessions(engine, question.application, err) ||
        !engine->ops->sessions(engine, &arena, &question, GONE_SECONDS, &facts, err))
      return false;
    if (facts.found == NULL) return true; /* what cannot be seen of others is not taken for the tool's */
    if (clock_seconds() > until) {
      error_set(err, ERR_LOCKED, "the tool's session in the database does not end, and it may still write: %s",
                facts.found);
      return error_hint(err, "end it as its own role or as a superuser, then: tidegate restore %s", record->id);
    }
    nanosleep(&(struct timespec){0, (long)(LOOK_SECONDS * 1e9)}, NULL);
  }
}

bool in_place_quiet(Engine *engine, const BackfillRecord *record, Error *err) {
  return end_processes(record, err) && end_sessions(engine, record, err);
}
