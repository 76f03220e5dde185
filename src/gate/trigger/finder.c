#include <ctype.h>
#include <string.h>

#include "gate/trigger/trigger_int.h"

/* One command: which kind of program it is, and so who judges it. */

/* ---- words ------------------------------------------------------------------------------------------------------- */

bool word_known(const char *word) { return strchr(word, SHELL_UNKNOWN) == NULL; }

const char *word_sure(Arena *arena, const char *word) {
  if (!word_known(word)) return NULL;
  char *copy = arena_strdup(arena, word), *to = copy;
  for (const char *from = word; *from != '\0'; from++)
    if (*from != SHELL_ASSUMED) *to++ = *from;
  *to = '\0';
  return copy;
}

const char *word_base(Arena *arena, const char *word) {
  const char *slash = strrchr(word, '/');
  char *copy = arena_strdup(arena, slash == NULL ? word : slash + 1), *to = copy;
  for (const char *from = copy; *from != '\0'; from++)
    if (*from != SHELL_ASSUMED && *from != '\r') *to++ = *from;
  *to = '\0';
  return copy;
}

bool word_in(const char *word, const char *list) {
  if (*word == '\0') return false;
  for (const char *at = list;; at++) {
    const char *w = word;
    while (*w != '\0' && *w != ' ' && *w == *at) w++, at++;
    if (*w == '\0' && (*at == ' ' || *at == '\0')) return true;
    while (*at != ' ' && *at != '\0') at++;
    if (*at == '\0') return false;
  }
}

static bool is_word_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool text_names(const char *text, const char *list) {
  while (*list != '\0') {
    char word[40];
    size_t n = strcspn(list, " ");
    bool anywhere = n > 0 && list[n - 1] == '*';
    size_t length = anywhere ? n - 1 : n;
    if (length >= sizeof word) length = sizeof word - 1;
    memcpy(word, list, length);
    word[length] = '\0';
    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++)
      if (anywhere || ((at == text || !is_word_byte(at[-1])) && !is_word_byte(at[length]))) return true;
    list += n;
    list += strspn(list, " ");
  }
  return false;
}

bool text_has_trigger_word(const char *text, size_t n) {
  static const char words[] =
      "airflow* backfill* sqlmesh* dagster* bqetl* luigi* flyte* kestra* prefect* dbt spark-submit* dagruns* "
      "cleartaskinstances* "
      "restate* full-refresh* mage";
  BUF_SCOPED plain = {0};
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\\' && i + 1 < n && text[i + 1] == '\n')
      i++;
    else if (text[i] != '\'' && text[i] != '"' && text[i] != '\\' && text[i] != '\0')
      buf_putc(&plain, text[i]);
  }
  return text_names(buf_text(&plain), words);
}

/* ---- what is found ----------------------------------------------------------------------------------------------- */

static bool equal(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

void finder_add(Finder *f, Trigger trigger) {
  if (f->doubts > 0) {
    trigger.sure = false;
    if (trigger.why == NULL) trigger.why = f->why;
  }
  for (size_t i = 0; i < f->n; i++) {
    Trigger *old = &f->items[i];
    if (!equal(old->system, trigger.system) || !equal(old->target, trigger.target) || !equal(old->from, trigger.from) ||
        !equal(old->to, trigger.to))
      continue;
    old->sure |= trigger.sure;
    return;
  }
  f->items = arena_grow(f->arena, f->items, f->n, sizeof *f->items);
  f->items[f->n++] = trigger;
}

/* ---- shells and other languages ---------------------------------------------------------------------------------- */

static const char shells[] = "bash sh zsh dash ksh ash mksh fish rbash";

void finder_opaque(Finder *f, const char *why) {
  if (f->opaque == NULL) f->opaque = why;
}

/* Nothing of the text is known, but for blanks. */
static bool unseen(const char *text) {
  return strchr(text, SHELL_UNKNOWN) != NULL && text[strspn(text, " \n\1\2\6")] == '\0';
}

void run_input(Finder *f, ShellRun *run, ShellInput input) {
  if (input.text != NULL && unseen(input.text))
    finder_opaque(f, "a shell runs text that is only known when it runs");
  else if (input.text != NULL)
    shell_run_text(run, input.text, (ShellInput){0});
  else if (input.piped)
    finder_opaque(f, "a shell runs what comes through a pipe, and that cannot be seen");
}

bool hints_at_backfill(const char *word) {
  return text_names(word, "backfill* reprocess* recompute* restate* rebackfill* backload*");
}

/* A program that is not known, and whose name says what it does. */
bool finder_judge_name(Finder *f, const char *system, const char *name) {
  if (!hints_at_backfill(name)) return false;
  finder_add(f, (Trigger){.system = system,
                          .why = arena_printf(f->arena,
                                              "%s is not known here, and its name says that it may rewrite past dates",
                                              word_known(name) ? name : "the program")});
  return true;
}

/* manage.py backfill: a word, not a file's name. */
void finder_judge_verb(Finder *f, const char *word) {
  if (*word != '-' && strpbrk(word, "./ ") == NULL) finder_judge_name(f, "script", word);
}

static void script(Finder *f, const char *path) { finder_judge_name(f, "script", word_base(f->arena, path)); }

/* The first of the arguments is $0. */
static void script_code(Finder *f, ShellRun *run, const char *code, Argv arguments, ShellInput input) {
  if (unseen(code)) finder_opaque(f, "a shell runs text that is only known when it runs");
  if (strchr(code, SHELL_MADE) != NULL)
    finder_opaque(f, "a shell runs text that is made of other text, and that cannot be seen");
  size_t named = arguments.n > 0;
  shell_run_named(run, code, named ? arguments.words[0] : NULL, arguments.words + named, arguments.n - named, input);
}

/* bash -s [--] [words]: its input is the code, and the words are its arguments. */
static void input_with(Finder *f, ShellRun *run, const ShellCommand *command, size_t i) {
  while (i < command->n && *command->argv[i] == '-' && strcmp(command->argv[i], "--") != 0) i++;
  if (i < command->n && strcmp(command->argv[i], "--") == 0) i++;
  if (command->input.text != NULL && !unseen(command->input.text))
    shell_run_script(run, command->input.text, command->argv + i, command->n - i, (ShellInput){0});
  else
    run_input(f, run, command->input);
}

/* bash [options] [-c code | file] [words]. */
static void shell_program(Finder *f, ShellRun *run, const ShellCommand *command) {
  size_t i = 1;
  for (; i < command->n; i++) {
    const char *word = command->argv[i];
    if (strcmp(word, "--") == 0 || (*word != '-' && *word != '+')) break;
    if (strcmp(word, "-") == 0) break;
    if (strcmp(word, "--rcfile") == 0 || strcmp(word, "--init-file") == 0 || strcmp(word, "-o") == 0 ||
        strcmp(word, "-O") == 0)
      i++;
    else if (word[1] != '-' && strchr(word, 'c') != NULL) {
      while (i + 1 < command->n && (*command->argv[i + 1] == '-' || *command->argv[i + 1] == '+')) i++;
      if (i + 1 < command->n)
        script_code(f, run, command->argv[i + 1], (Argv){command->argv + i + 2, command->n - i - 2}, command->input);
      return;
    } else if (word[1] != '-' && strchr(word, 's') != NULL) {
      input_with(f, run, command, i + 1);
      return;
    } else if (*word == '-' && word[1] != '-' && strchr(word, 'n') != NULL && strchr(word, 'i') == NULL) {
      /* it only reads */
      return;
    }
  }
  if (i < command->n && strcmp(command->argv[i], "--") == 0) i++;
  if (i >= command->n || strcmp(command->argv[i], "-") == 0 || shell_is_input(command->argv[i])) {
    run_input(f, run, command->input);
    return;
  }
  const char *text = shell_run_file(run, command->argv[i]);
  if (text != NULL)
    script_code(f, run, text, (Argv){command->argv + i, command->n - i}, command->input);
  else if (strncmp(command->argv[i], "/dev/fd/", 8) == 0 || strncmp(command->argv[i], "/proc/", 6) == 0)
    finder_opaque(f, "a shell runs what a pipe gives, and that cannot be seen");
  else if (commands_know(word_base(f->arena, command->argv[i])))
    finder_command(f, run, &(ShellCommand){command->argv + i, command->n - i, command->input});
  else
    script(f, command->argv[i]);
}

/* ---- programs that only look ------------------------------------------------------------------------------------- */

/* They print, search, edit or move text, and run nothing of what their arguments say. */
static const char harmless[] =
    "echo printf cat tac grep egrep fgrep zgrep rg ag ack man info apropos whatis which type whereis git gh glab hub "
    "ls ll "
    "dir cd pushd popd rm rmdir cp mv ln mkdir touch head tail less more most bat vim vi nvim nano emacs code subl ed "
    "diff "
    "colordiff cmp comm wc sort uniq cut tr column fold fmt nl od xxd hexdump strings file stat du df tree locate "
    "realpath "
    "readlink basename dirname pwd tee jq yq gron csvcut mlr base64 md5sum sha256sum gzip gunzip zcat tar zip unzip 7z "
    "ps "
    "pgrep pkill kill killall top htop lsof pidof jobs fg bg wait history fc clear reset test [ [[ true false : export "
    "unset "
    "set shopt read sleep date cal whoami id groups hostname uname uptime env-update pip pip3 pipx apt apt-get "
    "apt-cache dpkg "
    "brew yum dnf apk pacman npm-view journalctl systemctl service chmod chown chgrp touch rsync scp sftp curl-config "
    "helm "
    "terraform tofu pulumi mail mutt sendmail notify-send say figlet cowsay sed hg svn tig lazygit pre-commit pytest "
    "ruff "
    "black mypy flake8 pylint shellcheck tidegate alert open xdg-open pbcopy xclip logger wall write tput stty "
    "printenv help tldr cheat jira llm ollama dialog whiptail zenity ";

/* ---- a program that is not known --------------------------------------------------------------------------------- */

static bool runs_something(Arena *arena, const char *word) {
  const char *base = word_base(arena, word);
  return commands_know(base) || wrappers_know(base) || word_in(base, shells);
}

/* What this text did not write itself is known by its name alone. */
static bool source(Finder *f, const char *program, const ShellCommand *command) {
  if (!word_in(program, "source .") || command->n < 2) return false;
  script(f, command->argv[1]);
  return true;
}

enum { MOST_WORDS = 2000 };

/* db${x}t, if x is empty. */
static const char *without_marks(Arena *arena, const char *word) {
  char *copy = arena_strdup(arena, word_base(arena, word)), *to = copy;
  for (const char *from = copy; *from != '\0'; from++)
    if (*from != SHELL_UNKNOWN && *from != SHELL_MADE) *to++ = *from;
  *to = '\0';
  return copy;
}

static bool names_two_dates(Arena *arena, const ShellCommand *command) {
  size_t dates = 0;
  for (size_t i = 1; i < command->n && i < MOST_WORDS; i++) {
    const char *equals = strchr(command->argv[i], '='), *word = equals == NULL ? command->argv[i] : equals + 1;
    dates += word_known(word) && date_day(arena, word, false) != NULL;
  }
  return dates > 1;
}

static void unknown(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  bool known = word_known(program);
  size_t before = f->n;
  const char *written = shell_run_file(run, command->argv[0]);
  if (written != NULL) {
    shell_run_script(run, written, command->argv + 1, command->n - 1, command->input);
    return;
  }
  if (strchr(command->argv[0], SHELL_MADE) != NULL)
    finder_opaque(f, "what is run is made of other text, and that cannot be seen");
  f->why = known ? arena_printf(f->arena, "what %s does with these words is not known", program)
                 : "which program this runs is only known when it runs";
  f->doubts++;
  for (size_t i = 1; i < command->n && i < MOST_WORDS && f->n == before; i++) {
    if (!runs_something(f->arena, command->argv[i])) continue;
    ShellCommand rest = {command->argv + i, command->n - i, command->input};
    finder_command(f, run, &rest);
  }
  Argv all = {command->argv, command->n};
  if (!known && f->n == before)
    commands_judge(f, without_marks(f->arena, command->argv[0]), (Argv){command->argv + 1, command->n - 1});
  if (f->n == before) commands_fit(f, (Argv){command->argv + 1, command->n - 1}, f->why);
  if (f->n == before && known) commands_fit(f, all, f->why);
  if (f->n == before && !known && names_two_dates(f->arena, command)) finder_add(f, (Trigger){.system = "?"});
  if (command->n > MOST_WORDS && f->n == before) shell_doubt(run, "a command has more words than are looked at");
  for (size_t i = 1; i < command->n && i < MOST_WORDS && f->n == before; i++)
    if (strpbrk(command->argv[i], " \n") != NULL && text_has_trigger_word(command->argv[i], strlen(command->argv[i])))
      shell_run_text(run, command->argv[i], (ShellInput){0});
  f->doubts--;
  if (f->n == before && known && !finder_judge_name(f, "script", program) && command->n > 1)
    finder_judge_verb(f, command->argv[1]);
}

/* make, just, npm run and the like: their targets are programs that nobody here has read. */
static bool runner(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  if (!word_in(program,
               "make gmake just task invoke inv rake npm yarn pnpm tox nox mise ninja bazel gradle mvn ant doit"))
    return false;
  const char *rules = shell_run_file(run, "Makefile");
  for (size_t i = 1; rules == NULL && i + 1 < command->n; i++) {
    const char *word = command->argv[i], *file = command->argv[i + 1];
    if (*word != '-' || word[1] == '-' || word[strlen(word) - 1] != 'f') continue; /* -f, -sf */
    rules = strcmp(file, "-") == 0 ? command->input.text : shell_run_file(run, file);
  }
  if (rules != NULL && text_has_trigger_word(rules, strlen(rules)))
    finder_add(f, (Trigger){.system = program, .why = "its rules name a tool that starts backfills"});
  bool shows = word_in(program, "make gmake just task");
  for (size_t i = 1; i < command->n; i++) {
    const char *word = command->argv[i], *equals = strchr(word, '=');
    if (i == 1 && word_in(program, "npm yarn pnpm") &&
        word_in(word, "view info show install i add ls list search outdated uninstall remove why"))
      return true;
    if (shows && word_in(word, "-n --dry-run --just-print --recon --dry --show --list --summary --dump")) return true;
    if (strcmp(word, "--") == 0) {
      if (i + 1 < command->n && runs_something(f->arena, command->argv[i + 1]))
        shell_run_words(run, command->argv + i + 1, command->n - i - 1, command->input);
      break;
    }
    if (equals != NULL && strpbrk(equals, " \t") != NULL) shell_run_text(run, equals + 1, (ShellInput){0});
    if (*word != '-' && equals == NULL && finder_judge_name(f, program, word)) break;
  }
  return true;
}

/* Programs that start something that stands elsewhere; what it is, only its name says. */
static bool launcher(Finder *f, const char *program, const ShellCommand *command) {
  static const struct {
    const char *programs, *verbs; /* verbs NULL: none is needed */
    size_t from;                  /* where the verb may stand */
    const char *shows;            /* flags, or the first operand, with which it only shows or checks */
  } launchers[] = {{"systemctl service", "start restart", 1, ""},
                   {"gh glab", "run", 2, ""},
                   {"kubectl oc k", "create apply replace", 1, "--dry-run --dry-run=client --dry-run=server"},
                   {"argo", "submit resubmit retry", 1, "--dry-run --server-dry-run"},
                   {"helm", "install upgrade", 1, "--dry-run --dry-run=client --dry-run=server"},
                   {"docker podman nerdctl docker-compose podman-compose", "run up start", 1, ""},
                   {"gcloud", "execute submit run", 1, ""},
                   {"az", "invoke create start", 1, ""},
                   {"aws", "submit-job invoke start-execution start-job-run run-task send-command", 1, ""},
                   {"databricks", "run-now submit", 1, ""},
                   {"ansible-playbook", NULL, 1, "--check -C --syntax-check --list-tasks --list-hosts"},
                   {"npx bunx", NULL, 1, "prettier eslint cspell markdownlint"},
                   {"java", NULL, 1, ""},
                   {"go cargo", "run", 1, ""}};
  size_t k = 0, n = sizeof launchers / sizeof *launchers;
  while (k < n && !word_in(program, launchers[k].programs)) k++;
  if (k == n) return false;
  bool operand = false;
  for (size_t i = 1; i < command->n && strcmp(command->argv[i], "--") != 0; i++) {
    bool flag = *command->argv[i] == '-';
    if ((flag || !operand) && word_in(command->argv[i], launchers[k].shows)) return false;
    operand |= !flag;
  }
  bool starts = launchers[k].verbs == NULL;
  for (size_t i = launchers[k].from; !starts && i < command->n && !word_in(command->argv[i], "exec composer --"); i++)
    starts = word_in(command->argv[i], launchers[k].verbs);
  for (size_t i = 1; starts && i < command->n; i++)
    if (finder_judge_name(f, program, command->argv[i])) return true;
  return false;
}

enum { N_SEEN = sizeof((Finder *)0)->seen / sizeof(char *) };

static bool was_seen(const Finder *f, const char *program) {
  for (size_t i = 0; i < N_SEEN && i < f->n_seen; i++)
    if (strcmp(f->seen[i], program) == 0) return true;
  return false;
}

/* It only looks, whatever its words are; a client of a database could yet be told by them. */
static bool only_looks(Finder *f, const char *program) {
  if (!word_in(program, harmless)) return false;
  if (!trigger_names_table(program)) f->seen[f->n_seen++ % N_SEEN] = program;
  return true;
}

bool finder_knows(const char *program) {
  return commands_know(program) || wrappers_know(program) || word_in(program, shells) || languages_know(program) ||
         word_in(program, harmless);
}

void finder_command(void *finder, ShellRun *run, const ShellCommand *command) {
  Finder *f = finder;
  const char *program = word_base(f->arena, command->argv[0]);
  Argv args = {command->argv + 1, command->n - 1};
  size_t before = f->n;
  bool seen = was_seen(f, program);
  if ((seen || !commands_know(program) || trigger_names_table(program)) && own_judge(f, command)) return;
  if (seen) {
    launcher(f, program, command);
  } else if (!word_known(program) || *program == '\0') {
    unknown(f, run, "\1", command);
  } else if (word_in(program, shells)) {
    shell_program(f, run, command);
  } else if (commands_judge(f, program, settings_as_flags(f, run, program, args)) ||
             wrappers_judge(f, run, program, command) || http_judge(f, program, command) ||
             sql_judge(f, run, program, command) || runner(f, run, program, command)) {
    if (f->n == before) launcher(f, program, command);
  } else if (source(f, program, command) || languages_judge(f, run, program, command)) {
    return;
  } else if (!launcher(f, program, command) && !only_looks(f, program)) {
    unknown(f, run, program, command);
  }
}
