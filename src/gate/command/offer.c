#include "gate/command/offer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "gate/command/command_int.h"
#include "gate/trigger/trigger_int.h"

/* ---- the file's name --------------------------------------------------------------------------------------------- */

static const char *file_name(Arena *arena, const char *table, const char *from, const char *to) {
  BUF_SCOPED out = {0};
  for (const char *at = table == NULL ? "target" : table; *at != '\0' && out.len < 100; at++) {
    bool inside = out.len > 0 && strchr("._-", *at) != NULL;
    buf_putc(&out, isalnum((unsigned char)*at) || inside ? *at : '_');
  }
  if (from != NULL && to != NULL) buf_printf(&out, "-%s-%s", from, to);
  buf_puts(&out, ".backfill.yaml");
  return arena_strdup(arena, buf_text(&out));
}

/* ---- the spec ---------------------------------------------------------------------------------------------------- */

static void put_json_text(Buf *out, const char *text) {
  Json json = {.out = out};
  json_text(&json, NULL, text);
}

/* A text of one or more lines; a block where that is read back as it is, because it is easier to change. */
static void put_text(Buf *out, const char *margin, const char *text) {
  size_t n = strlen(text);
  bool block = n > 0 && !isspace((unsigned char)text[0]) && !isspace((unsigned char)text[n - 1]);
  for (const char *at = text; *at != '\0'; at++)
    block = block && (*at == '\n' || ((unsigned char)*at >= ' ' && *at != 0x7F)) &&
            !(at[0] == '\n' && isspace((unsigned char)at[1]));
  if (!block) {
    put_json_text(out, text);
    return;
  }
  buf_puts(out, "|-\n");
  for (const char *at = text;; at++) {
    size_t line = strcspn(at, "\n");
    buf_printf(out, "%s%.*s", margin, (int)line, at);
    at += line;
    if (*at == '\0') break;
    buf_putc(out, '\n');
  }
}

static bool writes(const SpecJob *job, const char *table) {
  for (size_t i = 0; i < job->writes.n; i++)
    if (command_same_table(job->writes.items[i].text, table)) return true;
  return false;
}

/* Does tidegate.yaml say when production runs, for this table? */
static bool knows_production(const Spec *spec, const char *table) {
  if (spec == NULL) return false;
  if (spec->production.none || spec->production.when.expression.text != NULL) return true;
  for (size_t i = 0; i < spec->n_jobs && table != NULL; i++)
    if (writes(&spec->jobs[i], table) && spec->jobs[i].when.expression.text != NULL) return true;
  return false;
}

static void put_field(Buf *out, const char *key, const char *value, const char *comment) {
  size_t before = out->len;
  buf_printf(out, "%s: ", key);
  value == NULL ? buf_puts(out, OFFER_BLANK) : put_json_text(out, value);
  for (size_t width = out->len - before; width < 24; width++) buf_putc(out, ' ');
  buf_printf(out, "  # %s\n", comment);
}

/* The command as a comment: no line end may end it. */
static void put_comment(Buf *out, const char *text) {
  buf_puts(out, "#   ");
  for (; *text != '\0'; text++) {
    if (*text == '\n')
      buf_puts(out, "\n#   ");
    else
      buf_putc(out, (unsigned char)*text < ' ' || *text == 0x7F ? '?' : *text);
  }
  buf_putc(out, '\n');
}

static void put_recompute(Buf *out, const Offer *offer) {
  if (offer->line == NULL)
    buf_printf(
        out,
        "# The command with places for a batch's dates, {from} {to} {to_inclusive}; it is left to you, here and\n"
        "# behind --then: %s.\n",
        offer->why_not);
  else
    buf_puts(out, "# It stays as it is for `tidegate snapshot … --then '…'`, as printed with this file.\n");
  buf_puts(out,
           "# For `tidegate backfill` the tool must write another table: name {shadow} as that table in this line.\n"
           "recompute:\n  command: ");
  offer->line == NULL ? buf_puts(out, OFFER_BLANK) : put_text(out, "    ", offer->line);
  buf_puts(out, "\n  shell: yes\n");
}

static const char *write_yaml(Arena *arena, const OfferAsk *ask, const Trigger *trigger, const Offer *offer,
                              const char *from, const char *to) {
  BUF_SCOPED out = {0};
  const Spec *spec = ask->pipeline;
  buf_puts(&out, "# Drafted instead of this command:\n");
  put_comment(&out, ask->text == NULL ? command_trigger_label(arena, trigger) : mask_secrets(arena, ask->text, ask->n));
  buf_printf(&out,
             "# Write what is right over each " OFFER_BLANK "; tidegate plan %s says what is still to be filled in.\n",
             offer->path);
  if (ask->also != NULL)
    buf_printf(&out, "# It also writes %s: nothing here stands for those rows. Draft and snapshot each table.\n",
               ask->also);
  if (offer->apart)
    buf_puts(&out, "# It also writes dates that are not beside these: draft those by a command of their own.\n");
  if (trigger->danger != NULL) {
    buf_puts(&out, "# It does more than write the dates:\n");
    put_comment(&out, trigger->danger);
  }
  if (spec == NULL || spec->database.text == NULL)
    put_field(&out, "database", NULL, "a SQLite file, or postgresql://host/name without a password");
  put_field(&out, "target", ask->table, "the table that it writes");
  put_field(&out, "range", from == NULL || to == NULL ? NULL : arena_printf(arena, "%s..%s", from, to),
            "the dates of the rows, both included");
  put_field(&out, "wrong", NULL, "what is wrong in them, in words");
  put_field(&out, "correct", NULL, "what they should be, in words");
  put_field(&out, "changes", NULL, "the columns that may change, and where: {net: net < 0}; nothing else may differ");
  buf_puts(&out,
           "# checks: {rows: [net > 0]}    # what must hold of every row afterwards; the more evidence the better\n");
  if (!knows_production(spec, ask->table)) {
    buf_puts(&out, "production:\n");
    put_field(&out, "  schedule", NULL,
              "when production writes it: \"0 2 * * *\"; tidegate init --jobs reads schedules");
    put_field(&out, "  zone", NULL, "the zone of that");
    put_field(&out, "  p95", NULL, "how long such a run takes: 20m");
  }
  put_recompute(&out, offer);
  return arena_strdup(arena, buf_text(&out));
}

/* ---- what to type ------------------------------------------------------------------------------------------------ */

/* One word for a shell. */
static const char *quoted(Arena *arena, const char *text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";
  BUF_SCOPED out = {0};
  if (*text != '\0' && text[strspn(text, plain)] == '\0') return text;
  buf_putc(&out, '\'');
  for (; *text != '\0'; text++) *text == '\'' ? buf_puts(&out, "'\\''") : buf_putc(&out, *text);
  buf_putc(&out, '\'');
  return arena_strdup(arena, buf_text(&out));
}

/* The first whose dates are known, else the first. */
static const Trigger *first_of(const TriggerReport *report) {
  for (size_t i = 0; i < report->n; i++)
    if (report->items[i].from != NULL && report->items[i].to != NULL) return &report->items[i];
  return report->items;
}

/* Its dates, and those beside them that other turns of the same loop write. *ret_apart: some stand alone, and are left
 * out, since a range is never widened. */
static void all_dates(Arena *arena, const TriggerReport *report, const Trigger *trigger, const char **from,
                      const char **to, bool *ret_apart) {
  *from = trigger->from;
  *to = trigger->to;
  *ret_apart = false;
  for (bool grew = *from != NULL && *to != NULL; grew;) {
    grew = *ret_apart = false;
    const char *before = date_add(arena, *from, -1), *behind = date_add(arena, *to, 1);
    for (size_t i = 0; i < report->n && !grew; i++) {
      const Trigger *other = &report->items[i];
      if (other->from == NULL || other->to == NULL) continue;
      bool touches = strcmp(other->from, behind) <= 0 && strcmp(other->to, before) >= 0;
      *ret_apart = *ret_apart || !touches;
      grew = touches && (strcmp(other->from, *from) < 0 || strcmp(other->to, *to) > 0);
      if (grew && strcmp(other->from, *from) < 0) *from = other->from;
      if (grew && strcmp(other->to, *to) > 0) *to = other->to;
    }
  }
}

bool offer_draft(Arena *arena, const OfferAsk *ask, Offer *ret, Error *err) {
  Offer offer = {0};
  if (ask->report->n == 0)
    return error_set(err, ERR_USAGE, "the command starts no backfill, so there is nothing to draft");
  const Trigger *trigger = first_of(ask->report);
  const char *from, *to;
  all_dates(arena, ask->report, trigger, &from, &to, &offer.apart);
  from = from == NULL ? NULL : date_add(arena, from, ask->shift);
  to = to == NULL ? NULL : date_add(arena, to, ask->shift);
  if (from != NULL && to != NULL && strcmp(from, to) > 0) from = to = NULL;
  offer.path = ask->file != NULL ? ask->file : file_name(arena, ask->table, from, to);
  if (ask->text != NULL && memmem(ask->text, ask->n, "{database}", strlen("{database}")) != NULL)
    offer.why_not = "it holds what would be taken for the database's place";
  else
    offer.line = offer_line(arena, ask->text, ask->n, ask->report, ask->shift, &offer.why_not);
  offer.yaml = write_yaml(arena, ask, trigger, &offer, from, to);
  const char *file = quoted(arena, offer.path);
  offer.backfill = arena_printf(arena, "tidegate backfill %s", file);
  offer.snapshot =
      arena_printf(arena, "tidegate snapshot %s --then %s", file, quoted(arena, offer.line == NULL ? "…" : offer.line));
  *ret = offer;
  return true;
}

bool offer_write(const Offer *offer, Error *err) {
  int file = open(offer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    error_set(err, ERR_USAGE, "%s exists already, and what stands in it may be somebody's work", offer->path);
    return error_hint(err, "fill that one in, or give the draft another name");
  }
  if (file < 0) return error_set(err, ERR_USAGE, "cannot write %s: %s", offer->path, strerror(errno));
  size_t n = strlen(offer->yaml);
  bool ok = write(file, offer->yaml, n) == (ssize_t)n;
  int cause = errno;
  ok = close(file) == 0 && ok;
  if (ok) return true;
  unlink(offer->path);
  return error_set(err, ERR_FULL, "cannot write %s: %s", offer->path, strerror(cause));
}
