#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"

typedef struct Parse {
  Arena *arena;
  int argc;
  char *const *argv;
  int next;
  const CliOption **given;
  const char **values, **words;
  Args *args;
} Parse;

static const CliOption none[] = {{NULL, '\0', NULL, NULL}};

static const CliOption *own_options(const Command *command) {
  return command == NULL || command->options == NULL ? none : command->options;
}

/* The command's options, then the global ones; NULL behind the last. */
static const CliOption *option_at(const Command *command, size_t i) {
  const CliOption *own = own_options(command);
  size_t n = 0;
  while (own[n].name != NULL) n++;
  const CliOption *option = i < n ? &own[i] : &global_options()[i - n];
  return option->name == NULL ? NULL : option;
}

static bool unknown_option(const Parse *parse, const char *name, Error *err) {
  const Command *command = parse->args->command;
  const char *names[64];
  size_t n = 0;
  for (const CliOption *o; n < 64 && (o = option_at(command, n)) != NULL;) names[n++] = o->name;
  const char *near = spec_nearest(name, names, n);
  error_set(err, ERR_USAGE, "unknown option --%s%s%s", name, command == NULL ? "" : " of ",
            command == NULL ? "" : command->name);
  if (near != NULL) return error_hint(err, "did you mean --%s?", near);
  return error_hint(err, "see: tidegate %s%s--help", command == NULL ? "" : command->name, command == NULL ? "" : " ");
}

/* Exact name, else a beginning that fits one option alone. NULL with the error set when there is none. */
static const CliOption *find_long(const Parse *parse, const char *name, size_t length, Error *err) {
  const CliOption *found = NULL;
  bool several = false;
  const CliOption *option;
  for (size_t i = 0; (option = option_at(parse->args->command, i)) != NULL; i++) {
    if (strncmp(option->name, name, length) != 0) continue;
    if (option->name[length] == '\0') return option;
    several = several || found != NULL;
    found = option;
  }
  if (found != NULL && length > 0 && !several) return found;
  if (several && length > 0)
    error_set(err, ERR_USAGE, "--%.*s is the beginning of several options", (int)length, name);
  else
    unknown_option(parse, arena_strndup(parse->arena, name, length), err);
  return NULL;
}

static bool take(Parse *parse, const CliOption *option, const char *value, Error *err) {
  Args *args = parse->args;
  for (size_t i = 0; i < args->n_given; i++)
    if (args->given[i] == option) return error_set(err, ERR_USAGE, "--%s is given twice", option->name);
  if (option->arg != NULL && value == NULL) {
    if (parse->next == parse->argc) return error_set(err, ERR_USAGE, "--%s needs %s", option->name, option->arg);
    value = parse->argv[parse->next++];
  }
  parse->given[args->n_given] = option;
  parse->values[args->n_given++] = value;
  return true;
}

static bool take_long(Parse *parse, const char *text, Error *err) {
  size_t length = strcspn(text, "=");
  const char *value = text[length] == '=' ? text + length + 1 : NULL;
  const CliOption *option = find_long(parse, text, length, err);
  if (option == NULL) return false;
  if (value != NULL && option->arg == NULL) return error_set(err, ERR_USAGE, "--%s takes no value", option->name);
  return take(parse, option, value, err);
}

static bool take_letters(Parse *parse, const char *letters, Error *err) {
  for (const char *c = letters; *c != '\0'; c++) {
    const CliOption *option = NULL;
    for (size_t i = 0; (option = option_at(parse->args->command, i)) != NULL; i++)
      if (option->letter == *c) break;
    if (option == NULL) {
      error_set(err, ERR_USAGE, "unknown option -%c", *c);
      return error_hint(err, "see: tidegate --help");
    }
    if (option->arg != NULL) return take(parse, option, c[1] == '\0' ? NULL : c + 1, err);
    if (!take(parse, option, NULL, err)) return false;
  }
  return true;
}

static bool unknown_command(const char *name, Error *err) {
  const char *names[64];
  size_t n = 0;
  for (; n < 64 && commands_all()[n] != NULL; n++) names[n] = commands_all()[n]->name;
  const char *near = spec_nearest(name, names, n);
  error_set(err, ERR_USAGE, "unknown command %s", name);
  if (near != NULL) return error_hint(err, "did you mean: tidegate %s?", near);
  return error_hint(err, "the commands: tidegate --help");
}

/* The command must be known before its options can be: the first word that no option takes for itself. */
static bool find_command(const Parse *parse, Args *args, Error *err) {
  for (int i = 1; i < parse->argc; i++) {
    const char *word = parse->argv[i];
    if (strcmp(word, "--") == 0) return true;
    if (word[0] == '-' && word[1] != '\0') {
      bool database = strcmp(word, "--database") == 0 || strcmp(word, "-d") == 0;
      if (database) i++;
      continue;
    }
    args->command = command_find(word);
    return args->command != NULL || unknown_command(word, err);
  }
  return true;
}

static bool check_words(const Args *args, Error *err) {
  const Command *command = args->command;
  if (command == NULL || args_has(args, "help")) return true;
  if (args->n_words < command->min_args)
    error_set(err, ERR_USAGE, "%s needs %s", command->name, command->arguments);
  else if (args->n_words > command->max_args)
    error_set(err, ERR_USAGE, "%s: one word too many: %s", command->name, args->words[command->max_args]);
  else
    return true;
  return error_hint(err, "tidegate %s %s; see: tidegate %s --help", command->name, command->arguments, command->name);
}

bool args_parse(Arena *arena, int argc, char *const *argv, Args *ret, Error *err) {
  size_t most = (size_t)argc * 8 + 64;
  for (int i = 1; i < argc; i++) most += strlen(argv[i]);
  *ret = (Args){0};
  Parse parse = {.arena = arena,
                 .argc = argc,
                 .argv = argv,
                 .next = 1,
                 .given = arena_array(arena, most, sizeof(CliOption *)),
                 .values = arena_array(arena, most, sizeof(char *)),
                 .words = arena_array(arena, most, sizeof(char *)),
                 .args = ret};
  ret->given = parse.given;
  ret->values = parse.values;
  ret->words = parse.words;
  if (!find_command(&parse, ret, err)) return false;
  bool named = false, options = true;
  while (parse.next < argc) {
    const char *word = argv[parse.next++];
    if (options && strcmp(word, "--") == 0) {
      options = false;
      ret->n_before = ret->n_words;
    } else if (options && strncmp(word, "--", 2) == 0) {
      if (!take_long(&parse, word + 2, err)) return false;
    } else if (options && word[0] == '-' && word[1] != '\0') {
      if (!take_letters(&parse, word + 1, err)) return false;
    } else if (!named && ret->command != NULL) {
      named = true;
    } else {
      parse.words[ret->n_words++] = word;
    }
  }
  if (options) ret->n_before = ret->n_words;
  return check_words(ret, err);
}

bool args_has(const Args *args, const char *name) {
  for (size_t i = 0; i < args->n_given; i++)
    if (strcmp(args->given[i]->name, name) == 0) return true;
  return false;
}

const char *args_value(const Args *args, const char *name) {
  for (size_t i = 0; i < args->n_given; i++)
    if (strcmp(args->given[i]->name, name) == 0) return args->values[i];
  return NULL;
}

bool args_number(const Args *args, const char *name, long least, long fallback, long *ret, Error *err) {
  const char *text = args_value(args, name);
  *ret = fallback;
  if (text == NULL) return true;
  char *end = NULL;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < least)
    return error_set(err, ERR_USAGE, "--%s must be a whole number of at least %ld, not %s", name, least, text);
  *ret = value;
  return true;
}
