#include "gate/trigger/shell_run.h"

#include <string.h>

#include "gate/trigger/shell_run_int.h"

void shell_doubt(ShellRun *run, const char *why) {
  if (run->why_not == NULL) run->why_not = why;
}

/* ./x is x. */
static const char *file_name(const char *name) {
  while (name[0] == '.' && name[1] == '/') name += 2;
  return name;
}

void shell_write_file(ShellRun *run, const char *name, const ShellOutput *printed) {
  const char *before = shell_run_file(run, name), *text = before;
  shell_spend(run, printed->text.len + (before == NULL ? 0 : strlen(before)));
  if (run->bytes > SHELL_MAX_EXPANDED) return;
  if (!printed->unknown && strlen(before == NULL ? "" : before) + printed->text.len > SHELL_MAX_BYTES)
    shell_doubt(run, "a file becomes longer than is followed");
  else if (!printed->unknown)
    text = arena_printf(run->arena, "%s%s", before == NULL ? "" : before, buf_text(&printed->text));
  shell_name(run, &run->files, (ShellNamed){.name = file_name(name), .text = text});
}

bool shell_is_input(const char *name) {
  return strcmp(name, "/dev/stdin") == 0 || strcmp(name, "/dev/fd/0") == 0 || strcmp(name, "/proc/self/fd/0") == 0;
}

const char *shell_run_file(const ShellRun *run, const char *name) {
  const ShellNamed *file = shell_named(&run->files, file_name(name));
  return file == NULL ? NULL : file->text;
}

/* ---- redirections ------------------------------------------------------------------------------------------------ */

/* What the redirections make of the input, and where the output goes; NULL: where it went before. */
static void redirect(ShellRun *run, const ShellNode *node, ShellInput *input, const char **ret_file) {
  *ret_file = NULL;
  for (size_t i = 0; i < node->n_redirects; i++) {
    const ShellRedirect *r = &node->redirects[i];
    const char *text = shell_expand_text(run, r->word);
    if (r->other) continue;
    if (r->kind == SHELL_HERE) *input = (ShellInput){text, true, NULL};
    if (r->kind == SHELL_INPUT && r->fd && strcmp(text, "-") != 0) *input = (ShellInput){NULL, true, NULL};
    if (r->kind == SHELL_INPUT && !r->fd)
      *input = (ShellInput){shell_run_file(run, text), strcmp(text, "/dev/null") != 0, text};
    if (r->kind == SHELL_OUTPUT && !r->fd) *ret_file = text;
  }
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

enum { MOST_CALLS = 32 };

static void call(ShellRun *run, const ShellNode *body, const ShellCommand *command, ShellOutput *out) {
  ShellFields before = run->arguments;
  bool had = run->has_arguments;
  if (run->depth >= MOST_CALLS) {
    shell_doubt(run, "functions call one another deeper than is followed");
    return;
  }
  size_t hidden = run->n_hidden;
  run->depth++;
  run->calls++;
  run->arguments = (ShellFields){.items = (const char **)command->argv + 1, .n = command->n - 1};
  run->has_arguments = true;
  shell_eval(run, body, command->input, out);
  shell_unhide(run, hidden);
  run->calls--;
  run->arguments = before;
  run->has_arguments = had;
  run->depth--;
}

/* Words in single quotes, so that they read as themselves. */
static void put_quoted(Buf *text, const char *word) {
  buf_puts(text, " '");
  for (; *word != '\0'; word++) *word == '\'' ? buf_puts(text, "'\\''") : buf_putc(text, *word);
  buf_putc(text, '\'');
}

/* An alias is text: it is read anew with the other words behind it, of which the first may be an alias too if it ends
 * with a blank. */
static void use_alias(ShellRun *run, ShellNamed *alias, const ShellCommand *command) {
  BUF_SCOPED text = {0};
  const char *body = alias->text;
  size_t place = (size_t)(alias - run->aliases.items); /* the table may move */
  buf_puts(&text, body);
  const char *last = body;
  for (size_t i = 1; i < command->n; i++) {
    bool next = *last != '\0' && strchr(" \t", last[strlen(last) - 1]) != NULL;
    const ShellNamed *more = next ? shell_named(&run->aliases, command->argv[i]) : NULL;
    last = more == NULL || more->text == NULL ? "" : more->text;
    if (*last == '\0')
      put_quoted(&text, command->argv[i]);
    else
      buf_puts(&text, last);
  }
  alias->text = NULL; /* it does not mean itself inside */
  shell_run_text(run, buf_text(&text), command->input);
  run->aliases.items[place].text = body;
}

/* The function's last definition, and the one before it when that one may not hold. False: it may be none. */
static bool call_named(ShellRun *run, const ShellCommand *command, ShellOutput *out) {
  bool last = true, unset = false;
  const char *name = command->argv[0];
  for (size_t i = run->functions.chains[shell_chain(name, strlen(name))], next; i > 0; i = next) {
    ShellNamed item = run->functions.items[i - 1];
    next = item.next;
    if (strcmp(item.name, name) != 0 || (item.busy && !last)) continue;
    unset |= item.body == NULL;
    if (item.body == NULL && item.perhaps) continue;
    if (item.body == NULL) return false;
    run->functions.items[i - 1].busy = true;
    call(run, item.body, command, out);
    run->functions.items[i - 1].busy = item.busy;
    if (!item.perhaps) return !unset;
    last = false;
  }
  return !unset;
}

/* What the shell has built in, or a program. */
static void run_program(ShellRun *run, const ShellCommand *command, ShellOutput *out) {
  if (!shell_builtin(run, command)) run->sink(run->context, run, command);
  shell_print(run, command, out);
}

static void command_once(ShellRun *run, const ShellCommand *command, ShellOutput *out) {
  const ShellNamed *function = shell_named(&run->functions, command->argv[0]);
  ShellNamed *alias = shell_named(&run->aliases, command->argv[0]);
  if (function != NULL && call_named(run, command, out)) return;
  if (alias != NULL && alias->text != NULL) {
    use_alias(run, alias, command);
    out->unknown = true;
  } else {
    run_program(run, command, out);
  }
}

/* Does the command take NAME=(…) and NAME=value as assignments? */
static bool declares(const ShellWord *word) {
  static const char *const names[] = {"local", "export", "declare", "typeset", "readonly"};
  if (word->n != 1 || word->parts[0].kind != SHELL_TEXT) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(word->parts[0].text, names[i]) == 0) return true;
  return false;
}

/* local, declare, export and their kin. */
static void declare(ShellRun *run, const ShellNode *node) {
  const char *name = node->words[node->n_assigned].parts[0].text;
  bool own = run->calls > 0 && strcmp(name, "export") != 0 && strcmp(name, "readonly") != 0;
  bool refers = false, keyed = false;
  for (size_t i = node->n_assigned + 1; i < node->n_words; i++) {
    const ShellWord *word = &node->words[i];
    const char *option = word->n == 0 || word->parts[0].kind != SHELL_TEXT ? "" : word->parts[0].text;
    if (*option == '-') {
      refers |= strchr(option, 'n') != NULL && strcmp(name, "export") != 0;
      own &= strchr(option, 'g') == NULL;
      keyed |= strchr(option, 'A') != NULL;
    }
    shell_assign(run, word, own, refers);
    if (keyed && *option != '-' && strchr(option, '=') == NULL) shell_set_keyed(run, option);
  }
}

/* $(<file) */
static void print_file(ShellInput input, ShellOutput *out) {
  if (input.piped && input.text != NULL)
    buf_puts(&out->text, input.text);
  else if (input.piped)
    out->unknown = true, out->file = input.file;
}

static void simple(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  size_t first = node->n_assigned;
  bool declared = first < node->n_words && declares(&node->words[first]);
  if (first == node->n_words)
    for (size_t i = 0; i < first; i++) shell_assign(run, &node->words[i], false, false);
  if (declared) declare(run, node);
  size_t widest = 1;
  for (size_t choice = 0; choice < widest; choice++) {
    ShellFields fields;
    const char *file;
    ShellInput own = input;
    run->choice = choice;
    run->widest = 1;
    redirect(run, node, &own, &file);
    shell_expand(run, first < node->n_words ? &node->words[first] : NULL, node->n_words - first, &fields);
    if (run->widest > widest) widest = run->widest;
    while (fields.n > 0 && *fields.items[0] == '\0') fields.items++, fields.n--;
    ShellCommand command = {fields.items, fields.n, own};
    ShellOutput printed = {0};
    if (fields.n == 1 && own.piped && strcmp(fields.items[0], "exec") == 0) run->input = own;
    if (!own.piped) command.input = run->input;
    if (node->n_words == 0) print_file(own, file == NULL ? out : &printed);
    size_t hidden = run->n_hidden;
    for (size_t i = 0; i < first && first < node->n_words; i++) shell_assign(run, &node->words[i], true, false);
    if (fields.n > 0 && !declared) command_once(run, &command, file == NULL ? out : &printed);
    shell_unhide(run, hidden);
    if (file != NULL) shell_write_file(run, file, &printed);
    buf_release(&printed.text);
  }
  run->choice = 0;
}

/* ---- compound commands ------------------------------------------------------------------------------------------- */

static void pipeline(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  bool branching = run->branching;
  run->branching = true; /* each part has a shell of its own */
  for (size_t i = 0; i < node->n; i++) {
    ShellOutput printed = {0};
    bool last = i + 1 == node->n;
    shell_eval(run, node->children[i], input, last ? out : &printed);
    out->made |= printed.made;
    if (!last)
      input =
          (ShellInput){printed.unknown ? NULL : arena_strdup(run->arena, buf_text(&printed.text)), true, printed.file};
    buf_release(&printed.text);
  }
  run->branching = branching;
}

static void for_words(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  ShellFields values;
  const char *name = shell_expand_text(run, &node->words[0]);
  if (node->no_in)
    values = run->arguments;
  else
    shell_expand(run, node->words + 1, node->n_words - 1, &values);
  if (node->no_in && !run->has_arguments) shell_add_field(run, &values, "\1");
  if (values.n > SHELL_MAX_LOOP) {
    shell_doubt(run, "a loop has more turns than are followed");
    values.n = SHELL_MAX_LOOP;
  }
  for (size_t i = 0; i < values.n; i++) {
    ShellFields value = {.items = &values.items[i], .n = 1};
    bool branching = run->branching;
    run->branching = false;
    shell_set(run, name, strlen(name), value);
    run->branching = branching;
    shell_eval(run, node->children[0], input, out);
  }
}

/* Does it read a line of its input? */
static bool reads(const ShellNode *node) {
  if (node->kind != SHELL_SIMPLE) return node->kind != SHELL_FUNCTION && node->n > 0 && reads(node->children[0]);
  if (node->n_assigned == node->n_words || node->n_redirects > 0) return false;
  const ShellWord *word = &node->words[node->n_assigned];
  if (word->n != 1 || word->parts[0].kind != SHELL_TEXT || strcmp(word->parts[0].text, "read") != 0) return false;
  const ShellWord *option = node->n_assigned + 1 < node->n_words ? word + 1 : NULL;
  if (option == NULL || option->n == 0 || option->parts[0].kind != SHELL_TEXT) return true;
  const char *text = option->parts[0].text; /* others read less than a line, or more */
  return *text != '-' || strcmp(text, "-r") == 0 || strcmp(text, "-a") == 0 || strcmp(text, "-ra") == 0;
}

static void skip_line(ShellInput *input) {
  input->text += strcspn(input->text, "\n");
  input->text += *input->text == '\n';
}

/* while read: a turn for each line of what is known. */
static void each_line(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  bool branching = run->branching;
  for (size_t turn = 0; turn == 0 || *input.text != '\0'; turn++) {
    if (turn == SHELL_MAX_LOOP) {
      shell_doubt(run, "a loop has more turns than are followed");
      return;
    }
    run->branching = false;
    shell_eval(run, node->children[0], input, out);
    run->branching = branching;
    skip_line(&input);
    for (size_t i = 1; i < node->n; i++) shell_eval(run, node->children[i], input, out);
  }
}

/* Each may run or not, the first surely; the turns of a loop see what earlier ones assigned. */
static void branches(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  bool branching = run->branching;
  for (size_t i = 0; i < node->n_words; i++) shell_touch(run, &node->words[i]);
  if (node->loop && input.text != NULL && node->n > 0 && reads(node->children[0])) {
    each_line(run, node, input, out);
    return;
  }
  for (int turn = 0; turn < (node->loop ? 2 : 1); turn++) {
    for (size_t i = 0; i < node->n; i++) {
      run->branching = branching || i > 0 || node->n_words > 0 || node->loop;
      shell_eval(run, node->children[i], input, out);
    }
  }
  run->branching = branching;
}

static void eval_kind(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  switch (node->kind) {
    case SHELL_SIMPLE:
      simple(run, node, input, out);
      break;
    case SHELL_LIST:
    case SHELL_GROUP: {
      bool branching = run->branching;
      run->branching |= node->apart;
      for (size_t i = 0; i < node->n; i++) {
        shell_eval(run, node->children[i], input, out);
        if (input.text != NULL && node->children[i]->kind == SHELL_SIMPLE && reads(node->children[i]))
          skip_line(&input);
      }
      run->branching = branching;
      break;
    }
    case SHELL_PIPE:
      pipeline(run, node, input, out);
      break;
    case SHELL_FOR:
      for_words(run, node, input, out);
      break;
    case SHELL_BRANCHES:
      branches(run, node, input, out);
      break;
    case SHELL_FUNCTION:
      shell_name(
          run, &run->functions,
          (ShellNamed){
              .name = shell_expand_text(run, &node->words[0]), .body = node->children[0], .perhaps = run->branching});
      break;
  }
}

void shell_eval(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out) {
  const char *file;
  if (++run->steps > SHELL_MAX_STEPS) {
    shell_doubt(run, "more commands would run than are followed");
    return;
  }
  if (node->kind == SHELL_SIMPLE || node->n_redirects == 0) {
    eval_kind(run, node, input, out);
    return;
  }
  ShellOutput printed = {0};
  redirect(run, node, &input, &file);
  eval_kind(run, node, input, file == NULL ? out : &printed);
  if (file != NULL) shell_write_file(run, file, &printed);
  buf_release(&printed.text);
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void shell_run(Arena *arena, const ShellNode *root, ShellSink *sink, void *context, const char **ret_why_not) {
  ShellRun run = {.arena = arena, .sink = sink, .context = context};
  ShellOutput out = {0};
  shell_eval(&run, root, (ShellInput){0}, &out);
  buf_release(&out.text);
  *ret_why_not = run.why_not;
}

void shell_run_text(ShellRun *run, const char *text, ShellInput input) {
  if (run->depth >= MOST_CALLS) {
    shell_doubt(run, "code runs code deeper than is followed");
    return;
  }
  shell_spend(run, 3 * strlen(text)); /* its tree is larger than the text */
  if (run->bytes > SHELL_MAX_EXPANDED) return;
  ShellText inside = shell_read(run->arena, text, strlen(text));
  ShellOutput out = {0};
  size_t choice = run->choice, widest = run->widest;
  if (inside.why_not != NULL) shell_doubt(run, inside.why_not);
  run->depth++;
  shell_eval(run, inside.root, input, &out);
  run->depth--;
  run->choice = choice;
  run->widest = widest;
  buf_release(&out.text);
}

void shell_run_script(ShellRun *run, const char *text, const char *const *arguments, size_t n, ShellInput input) {
  ShellFields before = run->arguments;
  bool had = run->has_arguments;
  run->arguments = (ShellFields){.items = (const char **)arguments, .n = n};
  run->has_arguments = true;
  shell_run_text(run, text, input);
  run->arguments = before;
  run->has_arguments = had;
}

void shell_run_named(ShellRun *run, const char *text, const char *name, const char *const *arguments, size_t n,
                     ShellInput input) {
  const char *before = run->zero;
  run->zero = name;
  shell_run_script(run, text, arguments, n, input);
  run->zero = before;
}

void shell_run_words(ShellRun *run, const char *const *words, size_t n, ShellInput input) {
  ShellCommand command = {words, n, input};
  ShellOutput out = {0};
  if (n == 0) return;
  if (run->depth >= MOST_CALLS) {
    shell_doubt(run, "commands run commands deeper than is followed");
    return;
  }
  size_t choice = run->choice, widest = run->widest;
  run->depth++;
  run_program(run, &command, &out);
  run->depth--;
  run->choice = choice;
  run->widest = widest;
  buf_release(&out.text);
}
