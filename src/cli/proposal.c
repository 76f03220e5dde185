#include "cli/proposal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "jobs/idle.h"
#include "time/quantity.h"

void proposal_scalar(Buf *out, const char *text) {
  Json json = {.out = out};
  json_text(&json, NULL, text);
}

/* A comment stays on its line and is UTF-8 whatever its source wrote: as JSON has it, the escapes taken back. */
static void put_line(Buf *out, const char *text) {
  BUF_SCOPED quoted = {0};
  proposal_scalar(&quoted, text);
  const char *end = buf_text(&quoted) + quoted.len - 1;
  for (const char *c = buf_text(&quoted) + 1; c < end; c++) {
    bool escape = *c == '\\';
    c += escape;
    buf_putc(out, escape && *c != '"' && *c != '\\' ? ' ' : *c);
    if (escape && *c == 'u') c += 4;
  }
}

/* Never shorter than measured: up to whole seconds, from ten minutes on to whole minutes. */
static void put_duration(Buf *out, double seconds) {
  long long s = seconds < 1 ? 1 : (long long)ceil(seconds);
  if (s >= 600) s = (s + 59) / 60 * 60;
  if (s >= 3600) buf_printf(out, "%lldh", s / 3600);
  if (s % 3600 >= 60) buf_printf(out, "%lldm", s % 3600 / 60);
  if (s % 60 > 0) buf_printf(out, "%llds", s % 60);
}

static void put_doubts(Buf *out, const JobHistory *job, const char *key) {
  for (size_t i = 0; i < job->n_doubts; i++) {
    if (strcmp(job->doubts[i].key, key) != 0) continue;
    buf_printf(out, "    # confirm %s: ", key);
    put_line(out, job->doubts[i].text);
    buf_putc(out, '\n');
  }
}

static void put_text(Buf *out, const char *key, const char *value) {
  buf_printf(out, "    %s: ", key);
  proposal_scalar(out, value);
  buf_putc(out, '\n');
}

static void put_schedule(Buf *out, const JobHistory *job) {
  if (job->refusal != NULL) {
    buf_puts(out, "    # no schedule: ");
    put_line(out, job->refusal);
    buf_putc(out, '\n');
    return;
  }
  put_doubts(out, job, "schedule");
  if (job->expression == NULL) {
    buf_puts(out, "    # schedule: \"0 2 * * *\"\n    # dialect: vixie\n    # zone: Europe/Berlin\n");
    return;
  }
  put_text(out, "schedule", job->expression);
  buf_printf(out, "    dialect: %s\n", job->dialect);
  put_doubts(out, job, "zone");
  buf_printf(out, "    zone: %s\n", job->zone == NULL ? "confirm" : job->zone);
  if (job->interval) buf_puts(out, "    timetable: interval\n");
}

static void put_jitter(Buf *out, const JobHistory *job) {
  if (job->refusal != NULL || job->jitter <= 0) return;
  if (isinf(job->jitter)) {
    buf_puts(out, "    # confirm jitter: its source gives it in words that are not understood\n    jitter: confirm\n");
    return;
  }
  buf_puts(out, "    jitter: ");
  put_duration(out, job->jitter);
  buf_putc(out, '\n');
}

static void put_durations(Buf *out, const JobHistory *job) {
  char longest[32], at[40];
  put_doubts(out, job, "p95");
  if (job->p95 >= 0) {
    const JobRun *most = NULL;
    for (size_t i = 0; i < job->n; i++)
      if (!job->items[i].late &&
          (most == NULL || job->items[i].ended - job->items[i].scheduled > most->ended - most->scheduled))
        most = &job->items[i];
    if (most != NULL) {
      duration_label((double)(most->ended - most->scheduled), longest);
      instant_rfc3339(most->scheduled, zone_utc(), at);
      buf_printf(out, "    # the longest run took %s, that of %s", longest, at);
      if (job->late > 0)
        buf_printf(out, "; left out: %d that began only after the next was due, with nothing in %s way", job->late,
                   job->late == 1 ? "its" : "their");
      buf_putc(out, '\n');
    }
    buf_puts(out, "    p95: ");
    put_duration(out, job->p95);
    buf_printf(out, "\n    runs: %d\n", job->runs);
  } else {
    buf_puts(out, "    # p95: 20m\n");
  }
}

static void put_live(Buf *out, const JobHistory *job, const SpecAirflow *access) {
  if (job->unit != NULL) {
    buf_puts(out, "    live: {systemd: ");
    proposal_scalar(out, job->unit);
    buf_puts(out, "}\n");
  }
  if (job->airflow == NULL) return;
  buf_puts(out, "    live: {airflow: {url: ");
  proposal_scalar(out, job->airflow);
  buf_puts(out, ", dag: ");
  proposal_scalar(out, job->name);
  const struct {
    const char *key, *value;
  } keys[] = {
      {"user", access->user.text}, {"password_env", access->password_env.text}, {"token_env", access->token_env.text}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (keys[i].value == NULL) continue;
    buf_printf(out, ", %s: ", keys[i].key);
    proposal_scalar(out, keys[i].value);
  }
  buf_puts(out, "}}\n");
}

/* A key of a map occurs once; how many before it have the same name? */
static void put_name(Buf *out, const JobHistory *items, size_t at) {
  ARENA_SCOPED arena = {0};
  int before = 0;
  for (size_t i = 0; i < at; i++) before += strcmp(items[i].name, items[at].name) == 0;
  const char *name = items[at].name;
  if (before > 0) name = arena_printf(&arena, "%s_%d", name, before + 1);
  bool plain = isalpha((unsigned char)name[0]);
  for (const char *c = name; *c != '\0'; c++) plain = plain && (isalnum((unsigned char)*c) || *c == '_' || *c == '-');
  if (plain)
    buf_puts(out, name);
  else
    proposal_scalar(out, name);
}

void proposal_jobs(Buf *out, const JobHistory *items, size_t n, const SpecAirflow *access) {
  buf_puts(
      out,
      "# Jobs as their sources describe them. A job closes the window of a backfill when it writes its target, reads "
      "it,\n# or feeds it: say of each what it writes and reads, look at what a comment doubts, and take away the "
      "entries that\n# are no business of these tables. Until then the file is refused.\njobs:\n");
  for (size_t i = 0; i < n; i++) {
    const JobHistory *job = &items[i];
    char day[40];
    instant_rfc3339(job->read_at, zone_utc(), day);
    buf_puts(out, "  ");
    put_name(out, items, i);
    buf_puts(out, ":\n");
    if (job->command != NULL) {
      buf_puts(out, "    # runs: ");
      put_line(out, job->command);
      buf_putc(out, '\n');
    }
    buf_puts(out, "    # confirm: the tables\n    # writes: []\n    # reads: []\n");
    put_schedule(out, job);
    put_durations(out, job);
    put_jitter(out, job);
    buf_printf(out, "    measured: %.10s\n", day);
    put_text(out, "from", job->from);
    put_live(out, job, access);
  }
}

static const Zone *idle_zone(Arena *arena, const JobHistory *items, size_t n) {
  const Zone *zone;
  Error ignored;
  for (size_t i = 0; i < n; i++)
    if (items[i].zone != NULL && zone_open(arena, items[i].zone, &zone, &ignored)) return zone;
  return zone_utc();
}

void proposal_idle(Buf *out, Arena *arena, const JobHistory *items, size_t n) {
  size_t all = 0, used = 0;
  for (size_t i = 0; i < n; i++) all += items[i].n;
  JobRun *runs = arena_array(arena, all, sizeof *runs);
  for (size_t i = 0; i < n; i++) {
    if (items[i].n > 0) memcpy(runs + used, items[i].items, items[i].n * sizeof *runs);
    used += items[i].n;
  }
  const Zone *zone = idle_zone(arena, items, n);
  const char *why;
  IdleEvidence evidence;
  const char *hours = jobs_idle_hours(arena, runs, all, zone, &evidence, &why);
  if (hours == NULL) {
    buf_printf(out, "\n# No idle hours can be proposed from these runs: %s.\n", why);
    return;
  }
  buf_printf(out,
             "\n# Idle hours as these runs show them: %s.\n# They do not show people, reports and other programs: take "
             "the # away when nobody else needs the database then.\n# idle: {hours: \"%s\", zone: %s}\n",
             jobs_idle_evidence(arena, &evidence, zone), hours, zone_name(zone));
}
