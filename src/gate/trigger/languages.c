#include <string.h>

#include "gate/trigger/trigger_int.h"

/* Interpreters of other languages, awk and sed: their code is not read, but searched for tools and for what runs them.
 */

static const char interpreters[] = "perl ruby node nodejs php Rscript lua deno bun osascript pwsh expect tclsh";

/* Code of another language that names a command. */
static void scan_code(Finder *f, const char *code, const char *language) {
  static const char running[] =
      "subprocess* system* exec* popen* spawn* requests* urllib* http* dagbag* shell* cmd* `* %x* qx open3* run(* "
      "call(* "
      "run_deployment* create_flow_run* clear(* check_output* import_module* __import__* main(* backfill(* invoke(* "
      "plan(* materialize(* .func(* get_parser*";
  const char *system = text_names(code, running) ? commands_in_code(code) : NULL;
  if (system != NULL)
    finder_add(f, (Trigger){.sure = true, .system = system});
  else if (text_names(code, running) && text_has_trigger_word(code, strlen(code)))
    finder_add(f, (Trigger){.system = "?",
                            .why = arena_printf(f->arena, "code of %s names a tool that starts backfills", language)});
}

static void code_input(Finder *f, const char *language, ShellInput input) {
  if (input.text != NULL)
    scan_code(f, input.text, language);
  else if (input.piped)
    finder_opaque(f, "an interpreter runs what comes through a pipe, and that cannot be seen");
}

static void scan_file(Finder *f, const char *text, const char *language) {
  if (strchr(text, SHELL_MADE) != NULL)
    finder_opaque(f, "an interpreter runs what a pipe gives, and that cannot be seen");
  scan_code(f, text, language);
}

static bool is_python(const char *program) {
  return strncmp(program, "python", 6) == 0 || word_in(program, "pypy pypy3 ipython ipython3 uvx pipx");
}

static void python(Finder *f, ShellRun *run, const ShellCommand *command) {
  for (size_t i = 1; i < command->n; i++) {
    const char *word = command->argv[i];
    if (strcmp(word, "-c") == 0 && i + 1 < command->n) {
      scan_code(f, command->argv[i + 1], "Python");
      return;
    }
    if (strncmp(word, "-m", 2) == 0 && (word[2] != '\0' || i + 1 < command->n)) {
      size_t at = word[2] != '\0' ? i : i + 1;
      const char **words = arena_array(f->arena, command->n - at, sizeof *words);
      const char *module = command->argv[at] + (word[2] != '\0' ? 2 : 0);
      words[0] = arena_strndup(f->arena, module, strcspn(module, "."));
      bool inside = strchr(module, '.') != NULL && !commands_know(words[0]);
      if ((inside || !finder_knows(words[0])) && finder_judge_name(f, "script", module)) return;
      for (size_t k = at + 1; k < command->n; k++) words[k - at] = command->argv[k];
      shell_run_words(run, words, command->n - at, command->input);
      return;
    }
    if (word_in(word, "-W -X")) i++;
    if (*word != '-') {
      ShellCommand rest = {command->argv + i, command->n - i, command->input};
      const char *text = shell_run_file(run, word);
      if (commands_know(word_base(f->arena, word)))
        finder_command(f, run, &rest);
      else if (text != NULL)
        scan_file(f, text, "Python");
      else if (!finder_judge_name(f, "script", word_base(f->arena, word)) && i + 1 < command->n)
        finder_judge_verb(f, command->argv[i + 1]);
      return;
    }
  }
  code_input(f, "Python", command->input);
}

static void interpreter(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  bool verbs = word_in(program, "deno bun");
  for (size_t i = 1; i < command->n; i++) {
    const char *word = command->argv[i];
    if (verbs && strcmp(word, "run") == 0) continue;
    if (word_in(program, "pwsh") && word_in(word, "-c -C -Command -command") && i + 1 < command->n) {
      shell_run_text(run, command->argv[i + 1], command->input);
      return;
    }
    if (word_in(word, "-e -E -r -c --eval -p -Command -pe -ne") && i + 1 < command->n) {
      scan_code(f, command->argv[i + 1], program);
      return;
    }
    if (*word == '-') continue;
    const char *text = shell_run_file(run, word);
    if (text != NULL)
      scan_file(f, text, program);
    else if (!finder_judge_name(f, "script", word_base(f->arena, word)) && i + 1 < command->n)
      finder_judge_verb(f, command->argv[i + 1]);
    return;
  }
  code_input(f, program, command->input);
}

/* awk and its kin can run commands, which stand in its literals. */
static void awk(Finder *f, const ShellCommand *command) {
  for (size_t i = 1; i < command->n; i++) {
    const char *code = command->argv[i];
    if (strstr(code, "system") == NULL && strchr(code, '|') == NULL) continue;
    for (const char *at = code; (at = strchr(at, '"')) != NULL;) {
      size_t n = strcspn(at + 1, "\"");
      const char *literal = arena_strndup(f->arena, at + 1, n);
      if (text_has_trigger_word(literal, n)) scan_code(f, arena_printf(f->arena, "system(%s)", literal), "awk");
      at += n + 1 + (at[n + 1] != '\0');
    }
  }
}

/* The text of s/…/TEXT/ with the flag e, which runs it; NULL: it is none. */
static const char *run_replacement(Arena *arena, const char *code) {
  if (*code != 's' || code[1] == '\0') return NULL;
  char between = code[1];
  const char *text = strchr(code + 2, between), *end = text == NULL ? NULL : strchr(text + 1, between);
  if (end == NULL || strchr(end, 'e') == NULL || strspn(end + 1, "egpiIM0123456789") != strlen(end + 1)) return NULL;
  return arena_strndup(arena, text + 1, (size_t)(end - text - 1));
}

/* sed's command e, behind an address or another command, runs what stands behind it. */
static void sed(Finder *f, ShellRun *run, const ShellCommand *command) {
  for (size_t i = 1; i < command->n; i++) {
    const char *made = run_replacement(f->arena, command->argv[i]);
    if (made != NULL) shell_run_text(run, made, (ShellInput){0});
    for (const char *code = command->argv[i], *at = code; (at = strstr(at, "e ")) != NULL; at += 2) {
      const char *rest = at + 2, *before = at;
      while (before > code && before[-1] == ' ') before--;
      if (before > code && strchr("0123456789$/;{}!\n", before[-1]) == NULL) continue;
      if (text_has_trigger_word(rest, strlen(rest))) shell_run_text(run, rest, (ShellInput){0});
    }
  }
}

bool languages_know(const char *program) { return is_python(program) || word_in(program, interpreters); }

bool languages_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  if (is_python(program))
    python(f, run, command);
  else if (word_in(program, interpreters))
    interpreter(f, run, program, command);
  else if (word_in(program, "awk gawk mawk nawk"))
    awk(f, command);
  else if (word_in(program, "sed gsed"))
    sed(f, run, command);
  else
    return false;
  return true;
}
