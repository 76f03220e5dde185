#include <stdio.h>
#include <string.h>

#include "cli/runbook_look.h"
#include "view/runbook_check.h"

static int run(Session *session);

static const CliOption options[] = {
    {"format", 'f', "FORMAT", "markdown, html or text; else by the ending of FILE, else markdown"},
    {"output", 'o', "FILE", "write the runbook into FILE, with a line by which --check knows whether it is still true"},
    {"check", 'c', NULL, "say what is missing or out of date, of targets or of runbooks that were written"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate runbook daily_delays", "Markdown, to read now"},
    {"tidegate runbook daily_delays --output docs/daily_delays.html",
     "the document to keep where the on-call finds it"},
    {"tidegate runbook --check", "every target of tidegate.yaml, for CI"},
    {"tidegate runbook --check docs/daily_delays.html", "is the one that was written still true?"},
    {NULL, NULL}};

const Command command_runbook = {
    .name = "runbook",
    .summary = "print the runbook of a target, or check what it lacks",
    .arguments = "[TARGET|FILE…]",
    .min_args = 0,
    .max_args = 1000,
    .options = options,
    .about =
        "Prints one document of a target: who answers for it and whom to call, what it is made from and feeds, when "
        "production runs and how to ask whether it runs now, when work is allowed, how correctness is judged, and the "
        "plain SQL of every step, so that a person can look at a backfill, stop it, make one, publish it and take it "
        "back with Tidegate missing. With the database down it is printed from tidegate.yaml alone, and says so."
        "\n\n"
        "With --check nothing is printed but what is missing or no longer so: owner, contacts, schedule, p95 (also one "
        "that rests on fewer than 5 runs, or was measured more than 30 days ago), retention, correctness, rollback; "
        "what "
        "is downstream and needs nobody knows what; tables, columns and files that tidegate.yaml names and that are "
        "gone; "
        "schedules and durations that are no longer those of the place under `from`; a written runbook that differs "
        "from "
        "what would be written now. Without a TARGET or FILE it checks every target of tidegate.yaml. The exit status "
        "is "
        "0 when nothing is found.",
    .exits = {ERR_INCOMPLETE, ERR_DATABASE, ERR_SPEC, ERR_NOT_FOUND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static bool choose_format(const Session *session, PageFormat *ret, Error *err) {
  const char *word = args_value(session->args, "format"), *file = args_value(session->args, "output");
  *ret = PAGE_MARKDOWN;
  if (word != NULL)
    return page_format_parse(word, ret) ||
           error_set(err, ERR_USAGE, "--format is markdown, html or text, not %s", word);
  if (file != NULL && (ends_with(file, ".html") || ends_with(file, ".htm"))) *ret = PAGE_HTML;
  if (file != NULL && ends_with(file, ".txt")) *ret = PAGE_PLAIN;
  return true;
}

static int print(Session *session) {
  static const char *const formats[] = {[PAGE_MARKDOWN] = "markdown", [PAGE_HTML] = "html", [PAGE_PLAIN] = "text"};
  const char *file = args_value(session->args, "output");
  PageFormat format;
  RunbookLook look;
  Error err;
  BUF_SCOPED text = {0};
  if (session->args->n_words != 1) {
    error_set(&err, ERR_USAGE, "of which target? One name of a table is needed");
    return session_fail(session, &err);
  }
  if (!choose_format(session, &format, &err) || !runbook_look(session, session_word(session, 0), &look, &err))
    return session_fail(session, &err);
  look.now.pictures = format == PAGE_HTML;
  Page page = view_runbook(&session->arena, &look.now);
  const char *mark = runbook_mark(&session->arena, look.now.target, look.digest);
  page_render(&text, &session->arena, &page, format, file == NULL ? NULL : mark);
  if (file != NULL && !session_write(session, file, &text, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "target", look.now.target);
    json_text(&json, "format", formats[format]);
    json_text(&json, "digest", look.digest);
    json_text(&json, "file", file);
    json_text(&json, "not_looked_at", look.now.unseen);
    json_text(&json, "runbook", file == NULL ? buf_text(&text) : NULL);
    session_object_end(session, &json);
  } else if (file == NULL) {
    buf_puts(&session->buffer, buf_text(&text));
  } else if (!session->quiet) {
    paint_line(&session->paint, "written", "%s%s", file,
               look.now.unseen == NULL ? "" : ", from tidegate.yaml alone: the database could not be looked at");
  }
  return session_flush(session);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

typedef struct Checker {
  Session *session;
  Json json;
  size_t found;
} Checker;

/* A written runbook: its text; NULL when the word is no such file. */
static const char *written_runbook(Arena *arena, const char *word) {
  FILE *file = fopen(word, "re");
  if (file == NULL) return NULL;
  BUF_SCOPED text = {0};
  char piece[8192];
  size_t n;
  while (text.len < DOC_MAX_BYTES && (n = fread(piece, 1, sizeof piece, file)) > 0) buf_append(&text, piece, n);
  fclose(file);
  const char *target, *digest;
  return runbook_mark_find(arena, buf_text(&text), &target, &digest) ? arena_strdup(arena, buf_text(&text)) : NULL;
}

static void tell(Checker *checker, const char *target, const char *file, const RunbookFindings *findings) {
  Session *session = checker->session;
  checker->found += findings->n;
  if (session->json) {
    json_object(&checker->json, NULL);
    json_text(&checker->json, "target", target);
    json_text(&checker->json, "file", file);
    json_array(&checker->json, "findings");
    for (size_t i = 0; i < findings->n; i++) {
      json_object(&checker->json, NULL);
      json_text(&checker->json, "what", findings->items[i].what);
      json_text(&checker->json, "text", findings->items[i].text);
      json_text(&checker->json, "todo", findings->items[i].todo);
      json_object_end(&checker->json);
    }
    json_array_end(&checker->json);
    json_object_end(&checker->json);
    return;
  }
  const char *of = file == NULL ? target : arena_printf(&session->arena, "%s (%s)", target, file);
  if (findings->n == 0 && !session->quiet) paint_verdict(&session->paint, STYLE_GOOD, "complete", "%s", of);
  if (findings->n > 0) paint_verdict(&session->paint, STYLE_BAD, "lacks", "%s", of);
  for (size_t i = 0; i < findings->n; i++) {
    paint_line(&session->paint, findings->items[i].what, "%s", findings->items[i].text);
    paint_line(&session->paint, "", "HINT: %s", findings->items[i].todo);
  }
}

static void compare_file(RunbookFindings *findings, const RunbookLook *look, const char *file, const char *digest) {
  if (look->lasting.unseen != NULL || strcmp(digest, look->digest) == 0) return;
  runbook_find(
      findings, "file",
      arena_printf(findings->arena, "write it again: tidegate runbook %s --output %s", look->lasting.target, file),
      "%s is not what would be written now: tidegate.yaml, the table or Tidegate changed since", file);
}

static bool check_one(Checker *checker, const char *word, Error *err) {
  Session *session = checker->session;
  Arena *arena = &session->arena;
  const char *target = word, *digest = NULL, *document = written_runbook(arena, word);
  RunbookFindings findings = {.arena = arena};
  RunbookLook look;
  if (document != NULL) runbook_mark_find(arena, document, &target, &digest);
  if (!runbook_look(session, target, &look, err)) {
    if (err->code != ERR_NOT_FOUND || document == NULL) return false;
    runbook_find(&findings, "table", "take the file away, or write the runbook of the table's new name", "%s",
                 err->message);
    tell(checker, target, word, &findings);
    return true;
  }
  runbook_check_written(&findings, &look.now);
  if (look.lasting.unseen != NULL)
    runbook_find(&findings, "database", "check again when it answers; what rests on it was not looked at", "%s",
                 look.lasting.unseen);
  if (look.no_table)
    runbook_find(&findings, "table", "correct its name under targets in tidegate.yaml, or take it out", "%s",
                 look.lasting.no_shape);
  if (look.lasting.shape != NULL && !look.lasting.dated)
    runbook_find(&findings, "date_column", "write date_column in tidegate.yaml", "%s", look.wrong);
  if (session->engine != NULL) runbook_check_catalogue(&findings, session->engine, &look.now);
  runbook_check_sources(&findings, session->engine, &look.now);
  if (document != NULL) compare_file(&findings, &look, word, digest);
  tell(checker, look.now.target, document == NULL ? NULL : word, &findings);
  return true;
}

static bool check_all(Checker *checker, Error *err) {
  Session *session = checker->session;
  const char *const *words = session->args->words;
  size_t n = session->args->n_words;
  if (n == 0 && !spec_pipeline_targets(&session->arena, NULL, &words, &n, err)) return false;
  if (n == 0) {
    error_set(err, ERR_USAGE, "no target is given, and no tidegate.yaml from here upwards lists any under targets");
    return error_hint(err, "name one: tidegate runbook --check TARGET; or write targets: {NAME: {owner: …}}");
  }
  for (size_t i = 0; i < n; i++)
    if (!check_one(checker, words[i], err)) return false;
  return true;
}

static int check(Session *session) {
  Checker checker = {.session = session, .json = {.out = &session->buffer}};
  Error err;
  if (args_has(session->args, "format") || args_has(session->args, "output")) {
    error_set(&err, ERR_USAGE, "--check prints no runbook: --format and --output have no part in it");
    return session_fail(session, &err);
  }
  if (session->json) checker.json = session_object(session);
  if (session->json) json_array(&checker.json, "targets");
  if (!check_all(&checker, &err)) return session_fail(session, &err);
  if (session->json) {
    json_array_end(&checker.json);
    json_bool(&checker.json, "complete", checker.found == 0);
    session_object_end(session, &checker.json);
  }
  int status = session_flush(session);
  return status != 0 || checker.found == 0 ? status : error_exit_status(ERR_INCOMPLETE);
}

static int run(Session *session) { return args_has(session->args, "check") ? check(session) : print(session); }
