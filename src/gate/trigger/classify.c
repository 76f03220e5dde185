#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/trigger/shell.h"
#include "gate/trigger/trigger_int.h"

/* From text to verdict. */

const char *trigger_verdict_name(TriggerVerdict verdict) {
  static const char *const names[] = {[TRIGGER_NO] = "not_trigger", [TRIGGER_YES] = "trigger", [TRIGGER_ASK] = "ask"};
  return names[verdict];
}

/* The bytes by which the rooms below mark what is not known must not come from outside. */
static bool has_marks(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (text[i] >= 1 && text[i] <= 6) return true;
  return false;
}

/* What was found, and the reason not everything was (NULL: it was). */
static TriggerReport report_of(Finder *f, const char *why_not) {
  TriggerReport ret = {0};
  for (size_t i = 0; i < f->n; i++) {
    if (f->items[i].sure) ret.verdict = TRIGGER_YES;
    if (!f->items[i].sure && ret.why == NULL) ret.why = f->items[i].why;
  }
  if (f->opaque != NULL) finder_add(f, (Trigger){.system = "?", .why = f->opaque});
  if (why_not != NULL) finder_add(f, (Trigger){.system = "?", .why = why_not});
  if (ret.verdict == TRIGGER_NO && f->n > 0) ret.verdict = TRIGGER_ASK;
  if (ret.verdict == TRIGGER_ASK && ret.why == NULL) ret.why = f->items[f->n - 1].why;
  ret.items = f->items;
  ret.n = f->n;
  return ret;
}

TriggerReport trigger_request(Arena *arena, const char *method, const char *url, const char *body) {
  Finder f = {.arena = arena};
  bool marked = has_marks(method, strlen(method)) || has_marks(url, strlen(url)) ||
                (body != NULL && has_marks(body, strlen(body)));
  if (!marked) http_request(&f, method, url, body, "");
  return report_of(&f, marked ? "the request holds control bytes" : NULL);
}

static TriggerReport classify(Arena *arena, const char *text, size_t n, const TriggerOwn *own, size_t n_own) {
  Finder f = {.arena = arena, .own = own, .n_own = n_own};
  ShellText tree = {0};
  const char *why_not = NULL;
  if (has_marks(text, n)) {
    why_not = "the text holds control bytes";
  } else {
    tree = shell_read(arena, text, n);
    shell_run(arena, tree.root, finder_command, &f, &why_not);
    if (tree.why_not != NULL) why_not = tree.why_not;
  }
  return report_of(&f, why_not != NULL && text_has_trigger_word(text, n) ? why_not : NULL);
}

TriggerReport trigger_classify(Arena *arena, const char *text, size_t n) { return classify(arena, text, n, NULL, 0); }

/* ---- in a process of its own ------------------------------------------------------------------------------------- */

enum { MOST_SECONDS = 1 };

static void put_field(Buf *out, const char *text) {
  buf_puts(out, text == NULL ? "\1" : text);
  buf_putc(out, '\0');
}

static _Noreturn void answer(int to, const char *text, size_t n, const TriggerOwn *own, size_t n_own) {
  Arena arena = {0};
  Buf out = {0};
  signal(SIGALRM, SIG_DFL);
  alarm(MOST_SECONDS);
  TriggerReport report = classify(&arena, text, n, own, n_own);
  buf_putc(&out, (char)report.verdict);
  put_field(&out, report.why);
  for (size_t i = 0; i < report.n; i++) {
    const Trigger *item = &report.items[i];
    buf_putc(&out, item->sure ? 'y' : 'n');
    buf_putc(&out, item->until_midnight ? 'y' : 'n');
    const char *const fields[] = {item->system, item->target, item->from, item->to, item->danger, item->why};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) put_field(&out, fields[k]);
  }
  size_t written = 0;
  while (written < out.len) {
    ssize_t some = write(to, out.data + written, out.len - written);
    if (some <= 0) _exit(1);
    written += (size_t)some;
  }
  _exit(0);
}

static const char *take_field(const char **at) {
  const char *text = *at;
  *at += strlen(text) + 1;
  return *text == '\1' ? NULL : text;
}

static TriggerReport read_answer(Arena *arena, const char *text, size_t n) {
  TriggerReport ret = {.verdict = (TriggerVerdict)*text};
  const char *at = text + 1, *end = text + n;
  Trigger *items = NULL;
  ret.why = take_field(&at);
  while (at < end) {
    Trigger item = {.sure = *at++ == 'y'};
    item.until_midnight = *at++ == 'y';
    const char **const fields[] = {&item.system, &item.target, &item.from, &item.to, &item.danger, &item.why};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) *fields[k] = take_field(&at);
    items = arena_grow(arena, items, ret.n, sizeof *items);
    items[ret.n++] = item;
  }
  ret.items = items;
  return ret;
}

static TriggerReport no_answer(Arena *arena) {
  Trigger *item = arena_alloc(arena, sizeof *item);
  *item = (Trigger){.system = "?",
                    .why = "the text could not be read through: it ended or delayed the program that reads it"};
  return (TriggerReport){.verdict = TRIGGER_ASK, .items = item, .n = 1, .why = item->why};
}

TriggerReport trigger_classify_apart(Arena *arena, const char *text, size_t n) {
  return trigger_classify_own(arena, text, n, NULL, 0);
}

TriggerReport trigger_classify_own(Arena *arena, const char *text, size_t n, const TriggerOwn *own, size_t n_own) {
  int ends[2], status;
  BUF_SCOPED out = {0};
  if (pipe(ends) != 0) return no_answer(arena);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    answer(ends[1], text, n, own, n_own);
  }
  close(ends[1]);
  for (ssize_t some = 1; child > 0 && some > 0;) {
    buf_reserve(&out, 4096);
    some = read(ends[0], out.data + out.len, 4096);
    if (some > 0) out.len += (size_t)some;
  }
  close(ends[0]);
  bool whole = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!whole || out.len < 3) return no_answer(arena);
  char *copy = arena_alloc(arena, out.len + 1);
  memcpy(copy, out.data, out.len);
  return read_answer(arena, copy, out.len);
}
