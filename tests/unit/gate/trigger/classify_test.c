#include "gate/trigger/trigger.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gate/trigger/cases.h"

/* ---- the shared case files --------------------------------------------------------------------------------------- */

static char *told(Arena *arena, const TriggerReport *report) {
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < report->n; i++) {
    const Trigger *item = &report->items[i];
    buf_printf(&text, "%s[%s %s..%s]", i == 0 ? "" : " ", item->system, item->from == NULL ? "-" : item->from,
               item->to == NULL ? "-" : item->to);
  }
  return arena_strdup(arena, buf_text(&text));
}

static bool is_day(const char *text) { return strlen(text) >= 10 && text[4] == '-' && text[7] == '-' && *text == '2'; }

/* What the file's column `range_seen` means, in the form of told(). */
static char *expected(Arena *arena, const char *system, const char *range) {
  const char *dots = strstr(range, "..");
  if (strstr(range, "start only") != NULL) return arena_printf(arena, "[%s 2024-01-01..-]", system);
  if (strstr(range, "(loop)") != NULL)
    return arena_printf(arena, "[%s %.10s..%.10s] [%s %.10s..%.10s]", system, range, range, system, range + 12,
                        range + 12);
  if (is_day(range) && dots != NULL) return arena_printf(arena, "[%s %.10s..%.10s]", system, range, dots + 2);
  if (is_day(range)) return arena_printf(arena, "[%s %.10s..%.10s]", system, range, range);
  return arena_printf(arena, "[%s -..-]", system);
}

/* A command a line, \n, \t and \\ written out: those that start a backfill or run what cannot be seen, and those that
 * do not. */
static void every_line(const char *name, bool pass) {
  ARENA_SCOPED arena = {0};
  size_t lines = 0, wrong = 0;
  char *at = read_cases(&arena, name), *line;
  for (; next_row(&at, &line, 1) > 0; lines++) {
    char *command = unescape(&arena, line);
    TriggerReport report = trigger_classify(&arena, command, strlen(command));
    if ((report.verdict == TRIGGER_NO) == pass) continue;
    wrong++;
    print_message("%s: %s %s\n", line, trigger_verdict_name(report.verdict), told(&arena, &report));
  }
  assert_true(lines > 100);
  assert_int_equal(wrong, 0);
}

static void every_line_that_must_be_seen(void **state) {
  (void)state;
  every_line("trigger_seen.txt", false);
}

static void every_line_that_may_pass(void **state) {
  (void)state;
  every_line("trigger_passed.txt", true);
}

static void every_row_of_triggers(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  char *at = read_cases(&arena, "triggers.tsv"), *fields[6];
  size_t rows = 0, wrong = 0;
  next_row(&at, fields, 6);
  while (next_row(&at, fields, 6) >= 5) {
    char *command = unescape(&arena, fields[1]);
    TriggerReport report = trigger_classify(&arena, command, strlen(command));
    bool right = strcmp(trigger_verdict_name(report.verdict), fields[2]) == 0;
    bool none = strcmp(fields[2], "not_trigger") == 0;
    const char *wanted = none ? "" : expected(&arena, fields[3], fields[4]), *got = told(&arena, &report);
    rows++;
    if (right && strcmp(wanted, got) == 0) continue;
    wrong++;
    print_message("%s: %s %s, not %s %s\n", fields[0], fields[2], wanted, trigger_verdict_name(report.verdict), got);
  }
  assert_true(rows >= 60);
  assert_int_equal(wrong, 0);
}

static bool field_is(const char *wanted, const char *got) {
  return strcmp(wanted, "*") == 0 || strcmp(wanted, got == NULL ? "-" : got) == 0;
}

/* verdict, system, target, first and last date of the first trigger, command; * for what is not asserted. */
static void every_row_of_lines(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  char *at = read_cases(&arena, "trigger_lines.tsv"), *fields[6];
  size_t rows = 0, wrong = 0;
  for (; next_row(&at, fields, 6) == 6; rows++) {
    char *command = unescape(&arena, fields[5]);
    TriggerReport report = trigger_classify(&arena, command, strlen(command));
    Trigger first = report.n == 0 ? (Trigger){0} : report.items[0];
    if (strcmp(trigger_verdict_name(report.verdict), fields[0]) == 0 && field_is(fields[1], first.system) &&
        field_is(fields[2], first.target) && field_is(fields[3], first.from) && field_is(fields[4], first.to))
      continue;
    wrong++;
    print_message("%s: not %s %s %s..%s but %s %s\n", fields[5], fields[0], fields[2], fields[3], fields[4],
                  trigger_verdict_name(report.verdict), told(&arena, &report));
  }
  assert_true(rows >= 100);
  assert_int_equal(wrong, 0);
}

/* What real bash ran must be seen. What it did not run, for want of a file or a line of input, may be seen too. */
static void every_row_of_shell(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  char *at = read_cases(&arena, "shell.tsv"), *fields[4];
  size_t rows = 0, missed = 0;
  next_row(&at, fields, 4);
  for (size_t n; (n = next_row(&at, fields, 4)) > 0;) {
    if (n < 4 || strcmp(fields[2], "yes") != 0) continue;
    char *command = unescape(&arena, fields[1]);
    TriggerReport report = trigger_classify(&arena, command, strlen(command));
    rows++;
    if (report.verdict == TRIGGER_YES || (report.verdict == TRIGGER_NO && strstr(fields[3], "backfill") == NULL))
      continue;
    missed++;
    print_message("%s: bash runs it; %s\n", fields[0], trigger_verdict_name(report.verdict));
  }
  assert_true(rows >= 80);
  assert_int_equal(missed, 0);
}

/* Of these bash runs nothing, whatever they mention. */
static void text_is_not_code(void **state) {
  (void)state;
  static const char *const commands[] = {"cat <<'E'\n$(airflow dags backfill)\nE",
                                         "echo airflow dags backfill",
                                         "echo { airflow dags backfill }",
                                         "echo 'airflow dags backfill' # airflow dags backfill",
                                         "grep -r 'dbt run --full-refresh' .",
                                         "git commit -m 'airflow dags backfill -s 2024-01-01'",
                                         "man airflow",
                                         "cat backfill.md | less",
                                         "x='airflow dags backfill'; echo \"$x\"",
                                         "airflow dags list; dbt run; dagster job list",
                                         "command -v airflow"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    ARENA_SCOPED arena = {0};
    TriggerReport report = trigger_classify(&arena, commands[i], strlen(commands[i]));
    if (report.verdict != TRIGGER_NO) fail_msg("%s: %s", commands[i], told(&arena, &report));
  }
}

/* ---- generated command lines ------------------------------------------------------------------------------------- */

typedef struct Maker {
  Arena *arena;
  unsigned long long state;
  int depth;
} Maker;

static unsigned pick(Maker *m, unsigned n) {
  m->state = m->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(m->state >> 33) % n;
}

/* The text as one word in single quotes. */
static char *quoted(Maker *m, const char *text) {
  BUF_SCOPED out = {0};
  buf_putc(&out, '\'');
  for (; *text != '\0'; text++) *text == '\'' ? buf_puts(&out, "'\\''") : buf_putc(&out, *text);
  buf_putc(&out, '\'');
  return arena_strdup(m->arena, buf_text(&out));
}

static const char *const triggers[] = {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales_daily",
                                       "airflow tasks clear -y -s 2024-01-01 -e 2024-01-31 sales_daily",
                                       "airflow backfill create --dag-id d --from-date 2024-01-01 --to-date 2024-01-31",
                                       "airflowctl backfill create --dag-id d --from=2024-01-01 --to=2024-01-31",
                                       "dbt run --select m --event-time-start 2024-01-01 --event-time-end 2024-02-01",
                                       "dbt build --full-refresh",
                                       "sqlmesh plan --restate-model db.m -s 2024-01-01 -e 2024-01-31",
                                       "dagster job backfill -j j --all --noprompt",
                                       "bqetl backfill initiate a.b.c",
                                       "curl -X POST http://a/api/v2/backfills -d '{\"dag_id\": \"d\"}'"};
static const char *const mentions[] = {"echo airflow dags backfill -s 2024-01-01",
                                       "grep -rn \"airflow dags backfill\" docs",
                                       "git commit -m \"fix airflow dags backfill\"",
                                       "man airflow",
                                       "cat backfill.md",
                                       "ls airflow/dags/backfill",
                                       "vim dags/backfill.py",
                                       "airflow dags list",
                                       "airflow dags list-runs -d d -s 2024-01-01 -e 2024-01-31",
                                       "rg 'dbt run --full-refresh' .",
                                       "pip install apache-airflow dbt-core dagster",
                                       "docker logs airflow-backfill-worker",
                                       "kubectl get pods -l app=airflow",
                                       "tail -n 5 /var/log/airflow/backfill.log",
                                       "awk '/airflow dags backfill/ {print}' x",
                                       "dbt test --select m",
                                       "printf '%s\\n' 'airflow dags backfill'",
                                       "gh issue create --title \"airflow dags backfill fails\"",
                                       "which airflow sqlmesh",
                                       "diff a b # airflow dags backfill",
                                       "airflow dags backfill --help",
                                       "rm backfill.log"};

/* The first word written so that bash reads the same. */
static char *disguised(Maker *m, const char *command) {
  size_t n = strcspn(command, " "), cut = n > 1 ? 1 + pick(m, (unsigned)n - 1) : 0;
  const char *rest = command + n;
  switch (pick(m, 6)) {
    case 0:
      return arena_printf(m->arena, "\"%.*s\"'%.*s'%s", (int)cut, command, (int)(n - cut), command + cut, rest);
    case 1:
      return arena_printf(m->arena, "\\%s", command);
    case 2:
      return arena_printf(m->arena, "/usr/bin/%s", command);
    case 3:
      return arena_printf(m->arena, "%.*s\\\n%s", (int)cut, command, command + cut);
    case 4:
      return arena_printf(m->arena, "$'%.*s'%s", (int)n, command, rest);
    default:
      return arena_strdup(m->arena, command);
  }
}

/* %s: the command itself, which must be simple; %q: the command as a quoted word. */
static const char *const simple_layers[] = {
    "sudo -u etl %s", "env -u X A=1 %s", "nohup %s &", "timeout 2h %s",        "nice -n 19 %s",
    "X=1 Y=2 %s",     "> out %s",        "command %s", "docker exec -it c %s", "kubectl exec p -c c -- %s",
    "stdbuf -oL %s",  "poetry run %s"};
static const char *const layers[] = {"( %s )",
                                     "{ %s; }",
                                     "if true; then %s; fi",
                                     "if false; then :; else %s; fi",
                                     "for i in 1 2; do %s; done",
                                     "while read x; do %s; done",
                                     "f() { %s; }; f",
                                     "function g { %s; }; g a b",
                                     "case x in *) %s;; esac",
                                     "true && %s",
                                     "false || %s",
                                     "cd /tmp; %s",
                                     "! %s",
                                     "x=$( %s )",
                                     "echo \"$( %s )\"",
                                     "cat <( %s )",
                                     "( %s ) 2>&1 | tee log"};
static const char *const quoted_layers[] = {"bash -c %q",
                                            "sh -ec %q",
                                            "eval %q",
                                            "bash <<< %q",
                                            "echo %q | bash",
                                            "printf '%%s\\n' %q | sh",
                                            "ssh -p 22 host %q",
                                            "docker compose -f x.yml exec -T s bash -c %q",
                                            "su - etl -c %q",
                                            "trap %q EXIT",
                                            "find . -exec bash -c %q \\;",
                                            "C=%q; eval \"$C\"",
                                            "C=%q; bash -c \"$C\"",
                                            "tmux new -d %q",
                                            "echo 1 | xargs -I{} bash -c %q",
                                            "python3 -m airflow version; bash -c %q"};

static char *fill(Maker *m, const char *layer, const char *command) {
  BUF_SCOPED out = {0};
  for (; *layer != '\0'; layer++) {
    if (*layer != '%')
      buf_putc(&out, *layer);
    else if (*++layer == '%')
      buf_putc(&out, '%');
    else
      buf_puts(&out, *layer == 'q' ? quoted(m, command) : command);
  }
  return arena_strdup(m->arena, buf_text(&out));
}

#define ANY(list) list[pick(m, sizeof list / sizeof *list)]

static char *wrapped(Maker *m, const char *command, unsigned most) {
  bool simple = strchr(command, '#') == NULL;
  char *text = arena_strdup(m->arena, command);
  for (unsigned i = pick(m, most + 1); i > 0; i--) {
    switch (simple ? pick(m, 4) : 1 + pick(m, 3)) {
      case 0:
        text = fill(m, ANY(simple_layers), text);
        break;
      case 1:
        text = fill(m, ANY(quoted_layers), text);
        break;
      case 2:
        text = arena_printf(m->arena, "bash <<'E%d'\n%s\nE%d\n", m->depth, text, m->depth);
        m->depth++;
        break;
      default:
        if (strchr(text, '#') == NULL && strchr(text, '&') == NULL && strstr(text, "<<") == NULL)
          text = fill(m, ANY(layers), text);
    }
    simple = false;
  }
  return text;
}

static size_t rounds(size_t usual) {
  const char *soak = getenv("TIDEGATE_SOAK");
  return soak == NULL ? usual : usual * 20;
}

static void wrapped_triggers_are_seen(void **state) {
  (void)state;
  size_t asked = 0, n = rounds(5000);
  for (size_t i = 0; i < n; i++) {
    ARENA_SCOPED arena = {0};
    Maker maker = {.arena = &arena, .state = 77 + i}, *m = &maker;
    char *text = wrapped(m, disguised(m, ANY(triggers)), 5);
    TriggerReport report = trigger_classify(&arena, text, strlen(text));
    if (report.verdict == TRIGGER_NO) fail_msg("missed, seed %zu:\n%s", 77 + i, text);
    asked += report.verdict == TRIGGER_ASK;
  }
  print_message("%zu of %zu triggers were not sure\n", asked, n);
  assert_true(asked * 50 <= n);
}

static void wrapped_mentions_are_let_through(void **state) {
  (void)state;
  size_t alarms = 0, n = rounds(5000);
  for (size_t i = 0; i < n; i++) {
    ARENA_SCOPED arena = {0};
    Maker maker = {.arena = &arena, .state = 33 + i}, *m = &maker;
    char *text = wrapped(m, ANY(mentions), 4);
    TriggerReport report = trigger_classify(&arena, text, strlen(text));
    if (report.verdict == TRIGGER_NO) continue;
    if (alarms++ < 10) print_message("seed %zu: %s\n%s\n", 33 + i, told(&arena, &report), text);
  }
  print_message("%zu of %zu mentions were stopped\n", alarms, n);
  assert_true(alarms * 100 < n);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void a_text_that_is_too_much_asks(void **state) {
  (void)state;
  static const struct {
    const char *piece, *end;
    size_t n;
  } texts[] = {{"(", "airflow", 100000},
               {"$(", "airflow", 100000},
               {"`", "airflow", 100000},
               {"{a,b}", " airflow", 40000},
               {"echo ${x:-", "airflow", 30000},
               {"if ", "airflow", 60000},
               {"x=$x$x;", "airflow $x", 30000},
               {"f(){ f;f; };", "f;airflow", 2},
               {"for i in {1..400}; do ", "airflow", 20},
               {"for i in {1..400}; do for j in {1..400}; do x=$x$x; done; done; ", "airflow $x", 1},
               {"x=a; for i in {1..400}; do x=$x$x; done; ", "airflow $x", 1},
               {"x={a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}; echo $x$x "
                "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b};",
                "airflow $x", 3},
               {"<<E ", "airflow", 20000},
               {"'", "airflow", 1000001}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ARENA_SCOPED arena = {0};
    BUF_SCOPED text = {0};
    for (size_t k = 0; k < texts[i].n; k++) buf_puts(&text, texts[i].piece);
    buf_puts(&text, texts[i].end);
    TriggerReport report = trigger_classify_apart(&arena, buf_text(&text), text.len);
    if (report.verdict == TRIGGER_NO) fail_msg("%s…: let through", texts[i].piece);
  }
}

static void nothing_of_a_tool_is_let_through_whatever_it_is(void **state) {
  (void)state;
  static const char *const texts[] = {"ls 'unclosed", "if x; then", "", "\n\n", "a )", "\x01\x02", "echo ${", "((("};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ARENA_SCOPED arena = {0};
    assert_int_equal(trigger_classify(&arena, texts[i], strlen(texts[i])).verdict, TRIGGER_NO);
  }
}

static void an_answer_from_apart_is_the_same(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  const char *text = "airflow dags backfill -i -s 2024-01-01 -e 2024-01-31 d; ./backfill.sh";
  TriggerReport here = trigger_classify(&arena, text, strlen(text)),
                apart = trigger_classify_apart(&arena, text, strlen(text));
  assert_int_equal(apart.verdict, TRIGGER_YES);
  assert_int_equal(apart.n, 2);
  assert_string_equal(told(&arena, &here), told(&arena, &apart));
  assert_string_equal(apart.items[0].target, "d");
  assert_non_null(strstr(apart.items[0].danger, "ignores dependencies"));
  assert_false(apart.items[1].sure);
  assert_string_equal(apart.items[1].why, here.items[1].why);
}

static bool child_dies;
static void in_child(void) {
  if (child_dies) raise(SIGKILL);
}

/* Whoever reads the text may die of it; then nothing is let through. */
static void a_reader_that_dies_asks(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  assert_int_equal(pthread_atfork(NULL, NULL, in_child), 0);
  assert_int_equal(trigger_classify_apart(&arena, "ls", 2).verdict, TRIGGER_NO);
  child_dies = true;
  TriggerReport report = trigger_classify_apart(&arena, "ls", 2);
  child_dies = false;
  assert_int_equal(report.verdict, TRIGGER_ASK);
  assert_non_null(strstr(report.why, "could not be read through"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_of_triggers),
      cmocka_unit_test(every_line_that_must_be_seen),
      cmocka_unit_test(every_line_that_may_pass),
      cmocka_unit_test(every_row_of_lines),
      cmocka_unit_test(every_row_of_shell),
      cmocka_unit_test(text_is_not_code),
      cmocka_unit_test(wrapped_triggers_are_seen),
      cmocka_unit_test(wrapped_mentions_are_let_through),
      cmocka_unit_test(a_text_that_is_too_much_asks),
      cmocka_unit_test(nothing_of_a_tool_is_let_through_whatever_it_is),
      cmocka_unit_test(an_answer_from_apart_is_the_same),
      cmocka_unit_test(a_reader_that_dies_asks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
