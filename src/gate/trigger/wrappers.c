#include <stdlib.h>
#include <string.h>

#include "gate/trigger/trigger_int.h"

/* Programs that run the command in their arguments. */

/* What wrappers.def says of its entries. */
typedef enum WrapperHow { AS_WORDS, AS_CODE, KEYS, NOTHING } WrapperHow;

typedef struct Wrapper {
  const char *programs, *verb, *valued;
  int skip;
  WrapperHow how;
  const char *code;
} Wrapper;

#define PARALLEL "-j -P -n -N -I -S -a --jobs --arg-file --joblog --results --delay --timeout --retries"

static const Wrapper wrappers[] = {
#define WRAPPER(programs, verb, valued, skip, how, code) {programs, verb, valued, skip, how, code},
#include "gate/trigger/wrappers.def"
};

enum { N_WRAPPERS = sizeof wrappers / sizeof *wrappers };

bool wrappers_know(const char *program) {
  if (word_in(program, "xargs find at batch crontab gcloud")) return true;
  for (size_t i = 0; i < N_WRAPPERS; i++)
    if (word_in(program, wrappers[i].programs)) return true;
  return false;
}

/* ---- one wrapper ------------------------------------------------------------------------------------------------- */

/* typed: \n is a line end, as screen has it. */
static void run_code(Finder *f, ShellRun *run, Argv rest, bool typed, ShellInput input) {
  BUF_SCOPED code = {0};
  for (size_t i = 0; i < rest.n; i++) buf_printf(&code, "%s%s", i == 0 ? "" : " ", rest.words[i]);
  for (char *at = code.len == 0 ? NULL : strstr(code.data, "\\n"); typed && at != NULL; at = strstr(at, "\\n"))
    at[0] = ' ', at[1] = '\n';
  shell_run_text(run, arena_strdup(f->arena, buf_text(&code)), input);
}

static void run_keys(Finder *f, ShellRun *run, Argv rest) {
  BUF_SCOPED code = {0};
  for (size_t i = 0; i < rest.n; i++)
    buf_puts(&code, word_in(rest.words[i], "Enter KPEnter C-m C-j") ? "\n" : rest.words[i]);
  shell_run_text(run, arena_strdup(f->arena, buf_text(&code)), (ShellInput){0});
}

static void run_rest(Finder *f, ShellRun *run, const Wrapper *w, Argv rest, ShellInput input) {
  if (rest.n == 0) {
    if (word_in("ssh", w->programs) || word_in("sudo", w->programs) || word_in("su", w->programs) ||
        word_in("sg", w->programs))
      run_input(f, run, input); /* a shell reads it */
  } else if (w->how == KEYS)
    run_keys(f, run, rest);
  else if (w->how == AS_CODE || (rest.n == 1 && strpbrk(rest.words[0], " \n") != NULL))
    run_code(f, run, rest, w->verb != NULL && strcmp(w->verb, "stuff") == 0, input);
  else
    shell_run_words(run, rest.words, rest.n, input);
}

/* docker run [--entrypoint X] apache/airflow dags backfill …: what the image starts, before the words given. */
static Argv with_entrypoint(Arena *arena, Argv args, size_t i, Argv rest) {
  const char *image = word_base(arena, i > 0 ? args.words[i - 1] : ""), *program = NULL;
  for (size_t k = 0; k + 1 < i; k++) {
    if (strcmp(args.words[k], "--entrypoint") == 0) program = args.words[k + 1];
    if (strncmp(args.words[k], "--entrypoint=", 13) == 0) program = args.words[k] + 13;
  }
  bool own = rest.n > 0 && finder_knows(word_base(arena, rest.words[0]));
  if (program == NULL && !own && strncmp(image, "airflow", 7) == 0) program = "airflow";
  if (program == NULL && !own && strncmp(image, "dbt", 3) == 0) program = "dbt";
  if (program == NULL) return rest;
  const char **words = arena_array(arena, rest.n + 1, sizeof *words);
  words[0] = program;
  for (size_t k = 0; k < rest.n; k++) words[k + 1] = rest.words[k];
  return (Argv){words, rest.n + 1};
}

static bool is_assignment(const char *word) {
  const char *equals = strchr(word, '=');
  return equals != NULL && equals > word &&
         strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == (size_t)(equals - word);
}

/* Where in a cluster of short options, -itu, the first one of the list stands; 0: nowhere. */
static size_t valued_letter(const char *word, const char *list) {
  for (size_t k = 1; word[k] != '\0' && word[k] != '='; k++)
    if (word_in((const char[]){'-', word[k], '\0'}, list)) return k;
  return 0;
}

/* Behind the options at i; *ret_code: the value of an option that is code. */
static size_t skip_options(Arena *arena, const Wrapper *w, Argv args, size_t i, const char **ret_code) {
  *ret_code = NULL;
  for (; i < args.n; i++) {
    const char *word = args.words[i];
    if (strcmp(word, "--") == 0) return i + 1;
    if (i + 1 < args.n && is_assignment(word)) continue;
    if (strcmp(word, "-") == 0 && w->code != NULL) continue; /* su - user */
    if (*word != '-' || word[1] == '\0') return i;
    size_t n = strcspn(word, "=");
    const char *code = w->code == NULL ? "" : w->code, *name = arena_strndup(arena, word, n);
    size_t k = word[1] == '-' ? 0 : valued_letter(word, code);
    if (k > 0 && word[k + 1] != '\0' && valued_letter(word, w->valued) == 0) { /* -S'a b' */
      *ret_code = word + k + 1;
      return i + 1;
    }
    if (word_in(name, code) || k > 0) {
      *ret_code = word[n] == '=' ? word + n + 1 : i + 1 < args.n ? args.words[i + 1] : NULL;
      i += word[n] == '=' ? 1 : 2;
      return i < args.n ? i : args.n;
    }
    k = word[1] == '-' || word_in(name, w->valued) ? 0 : valued_letter(word, w->valued);
    if ((word_in(name, w->valued) && word[n] != '=') || (k > 0 && word[k + 1] == '\0')) i++;
  }
  return i < args.n ? i : args.n;
}

/* The place behind the verb; false when there is none of them. */
static bool find_verb(const Wrapper *w, Argv args, size_t *ret) {
  *ret = 0;
  if (w->verb == NULL) return true;
  for (size_t i = 0; i < args.n; i++) {
    if (!word_in(args.words[i], w->verb)) continue;
    *ret = i + 1;
    return true;
  }
  return false;
}

/* What the words hold that runs something, wherever it begins: for options that are not known here. */
static void search(Finder *f, ShellRun *run, Argv args, ShellInput input) {
  for (size_t i = 0; i < args.n; i++) {
    const char *base = word_base(f->arena, args.words[i]);
    bool shell = word_in(base, "bash sh zsh dash") && i + 1 < args.n;
    if (!commands_know(base) && !wrappers_know(base) && !shell) continue;
    shell_run_words(run, args.words + i, args.n - i, input);
    return;
  }
}

/* alias.x=!code of git, !code of an editor. */
static const char *behind_bang(const char *code) {
  const char *bang = strstr(code, "=!");
  if (strncmp(code, "alias.", 6) == 0 && bang != NULL) return bang + 2;
  return code + strspn(code, ":!");
}

static bool use_wrapper(Finder *f, ShellRun *run, const Wrapper *w, Argv args, ShellInput input) {
  size_t i;
  const char *code;
  if (!find_verb(w, args, &i)) return false;
  if (w->verb == NULL && args.n > 0 && word_in(args.words[0], "-v -V") && word_in(w->programs, "command builtin"))
    return true;
  size_t begin = i, before = f->n;
  if (w->how == NOTHING) {
    for (; i < args.n; i++) {
      i = skip_options(f->arena, w, args, i, &code);
      if (code != NULL) shell_run_text(run, behind_bang(code), input);
    }
    return true;
  }
  i = skip_options(f->arena, w, args, i, &code);
  bool ended = i > begin && strcmp(args.words[i - 1], "--") == 0;
  /* What follows an image is the command's, options too. */
  bool image = begin > 0 && strcmp(args.words[begin - 1], "run") == 0 && word_in("docker", w->programs);
  for (int k = 0; k < w->skip && !(ended && w->verb != NULL) && i < args.n; k++) {
    i++;
    if (!image && code == NULL && (i < args.n && (*args.words[i] == '-' || is_assignment(args.words[i])))) {
      size_t at = i;
      i = skip_options(f->arena, w, args, i, &code);
      ended = i > at && strcmp(args.words[i - 1], "--") == 0;
    }
  }
  for (size_t k = begin; k < i && k < args.n; k++)
    if (is_assignment(args.words[k])) shell_run_setting(run, args.words[k]);
  if (code != NULL) shell_run_text(run, code, input);
  Argv rest = {args.words + i, i <= args.n ? args.n - i : 0};
  if (image) rest = with_entrypoint(f->arena, args, i, rest);
  if (code == NULL && i <= args.n) run_rest(f, run, w, rest, input);
  bool known = code != NULL || (i < args.n && finder_knows(word_base(f->arena, args.words[i])));
  if (f->n == before && !known) search(f, run, (Argv){args.words + begin, args.n - begin}, input);
  return true;
}

/* ---- those with rules of their own ------------------------------------------------------------------------------- */

/* find … -exec command ; */
static void find(ShellRun *run, Argv args) {
  for (size_t i = 0; i < args.n; i++) {
    if (!word_in(args.words[i], "-exec -execdir -ok -okdir")) continue;
    size_t end = i + 1;
    while (end < args.n && strcmp(args.words[end], ";") != 0 && strcmp(args.words[end], "+") != 0) end++;
    shell_run_words(run, args.words + i + 1, end - i - 1, (ShellInput){0});
    i = end;
  }
}

static const char *replaced(Arena *arena, const char *word, const char *mark, const char *value) {
  BUF_SCOPED text = {0};
  for (const char *at; (at = strstr(word, mark)) != NULL; word = at + strlen(mark)) {
    buf_append(&text, word, (size_t)(at - word));
    buf_puts(&text, value);
  }
  buf_puts(&text, word);
  return arena_strdup(arena, buf_text(&text));
}

enum { MOST_LINES = 400 };

/* xargs takes quotes and backslashes away. */
static const char *unquoted(Arena *arena, const char *text, size_t n) {
  char *copy = arena_strndup(arena, text, n), *to = copy;
  for (const char *from = copy; *from != '\0'; from++)
    if (strchr("'\"\\", *from) == NULL) *to++ = *from;
  *to = '\0';
  return copy;
}

/* parallel COMMAND ::: A B …: the command once a value, in the place of {} or behind it. */
static bool parallel(Finder *f, ShellRun *run, Argv args, ShellInput input) {
  static const Wrapper options = {"parallel", NULL, PARALLEL, 0, AS_CODE, NULL};
  const char *code;
  size_t from = skip_options(f->arena, &options, args, 0, &code), to = from;
  while (to < args.n && strcmp(args.words[to], ":::") != 0) to++;
  if (to + 1 >= args.n || to == from) return false;
  for (size_t i = to + 1; i < args.n && i <= to + MOST_LINES; i++) {
    bool marked = false;
    const char **words = arena_array(f->arena, to - from + 1, sizeof *words);
    if (strncmp(args.words[i], ":::", 3) == 0) return false; /* several lists: which values meet is not followed */
    for (size_t k = from; k < to; k++) {
      marked |= strstr(args.words[k], "{}") != NULL;
      words[k - from] = replaced(f->arena, args.words[k], "{}", args.words[i]);
    }
    words[to - from] = args.words[i];
    run_code(f, run, (Argv){words, to - from + !marked}, false, input);
  }
  return true;
}

/* The command once a line of the input, the mark replaced; once with an unknown value when the input is not known. */
static void once_a_line(Finder *f, ShellRun *run, Argv rest, const char *mark, const char *input) {
  const char *line = input == NULL ? "\1" : input;
  const char **words = arena_array(f->arena, rest.n + 1, sizeof *words);
  for (int turns = 0; *line != '\0' && turns < MOST_LINES; turns++) {
    size_t n = strcspn(line, "\n");
    const char *value = unquoted(f->arena, line, n);
    for (size_t i = 0; i < rest.n; i++) words[i] = replaced(f->arena, rest.words[i], mark, value);
    shell_run_words(run, words, rest.n, (ShellInput){0});
    line += n + (line[n] == '\n');
  }
}

/* The input's words behind the command's own, all at once or so many a turn. */
static void with_words(Finder *f, ShellRun *run, Argv rest, size_t most, const char *input) {
  const char **words = arena_array(f->arena, rest.n + MOST_LINES + 1, sizeof *words);
  memcpy(words, rest.words, rest.n * sizeof *words);
  const char *at = input == NULL ? "\1 \1 \1" : input + strspn(input, " \t\n"); /* how many come is not known */
  size_t added = 0, turns = 0;
  do {
    for (added = 0; *at != '\0' && added < most && added < MOST_LINES; added++) {
      size_t n = strcspn(at, " \t\n");
      words[rest.n + added] = unquoted(f->arena, at, n);
      at += n;
      at += strspn(at, " \t\n");
    }
    shell_run_words(run, words, rest.n + added, (ShellInput){0});
  } while (*at != '\0' && ++turns < MOST_LINES);
}

static void xargs(Finder *f, ShellRun *run, Argv args, ShellInput input) {
  static const char valued[] =
      "-I -i -n -P -L -l -d -E -s -a --replace --max-args --max-procs --max-lines --delimiter --arg-file";
  const char *mark = NULL;
  size_t most = MOST_LINES, i = 0;
  for (; i < args.n && *args.words[i] == '-'; i++) {
    const char *word = args.words[i], *value = i + 1 < args.n ? args.words[i + 1] : "";
    bool own = word_in(word, valued);
    if (word_in(word, "-a --arg-file")) input.text = shell_run_file(run, value);
    if (strncmp(word, "-I", 2) == 0) mark = word[2] == '\0' ? value : word + 2;
    if (strncmp(word, "-n", 2) == 0 || strncmp(word, "-L", 2) == 0)
      most = strtoul(word[2] == '\0' ? value : word + 2, NULL, 10);
    if (own) i++;
  }
  Argv rest = {args.words + i, i < args.n ? args.n - i : 0};
  if (rest.n == 0) return;
  if (mark != NULL && *mark != '\0')
    once_a_line(f, run, rest, mark, input.text);
  else
    with_words(f, run, rest, most == 0 ? 1 : most, input.text);
}

/* A crontab's lines, the five fields or @daily before their commands. */
static void crontab(Finder *f, ShellRun *run, const char *lines) {
  for (const char *line = lines; line != NULL && *line != '\0'; line += *line == '\n') {
    const char *end = line + strcspn(line, "\n"), *at = line + strspn(line, " \t");
    for (int fields = *at == '@' ? 1 : 5; fields > 0 && *at != '#'; fields--) {
      at += strcspn(at, " \t\n");
      at += strspn(at, " \t");
    }
    if (at < end && *at != '#') shell_run_text(run, arena_strndup(f->arena, at, (size_t)(end - at)), (ShellInput){0});
    line = end;
  }
}

bool wrappers_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  Argv args = {command->argv + 1, command->n - 1};
  if (strcmp(program, "find") == 0) return find(run, args), true;
  if (strcmp(program, "xargs") == 0) return xargs(f, run, args, command->input), true;
  if (strcmp(program, "parallel") == 0 && parallel(f, run, args, command->input)) return true;
  if (word_in(program, "at batch")) return run_input(f, run, command->input), true;
  if (strcmp(program, "crontab") == 0 && command->input.text != NULL) return crontab(f, run, command->input.text), true;
  if (strcmp(program, "crontab") == 0) return run_input(f, run, command->input), true;
  if (cloud_judge(f, run, program, args)) return true;
  bool known = false;
  for (size_t i = 0; i < N_WRAPPERS; i++) {
    if (!word_in(program, wrappers[i].programs)) continue;
    if (use_wrapper(f, run, &wrappers[i], args, command->input)) return true;
    known = true;
  }
  if (known && !word_in(program, "git tar bsdtar rsync vim vi nvim")) { /* another verb of it may run words too */
    f->why = arena_printf(f->arena, "what %s does with these words is not known", program);
    f->doubts++;
    search(f, run, args, command->input);
    f->doubts--;
  }
  return known;
}
