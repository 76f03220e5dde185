#include "cli/help.h"

#include <stdio.h>
#include <string.h>

enum { HELP_WIDTH = 96, TEXT_COLUMN = 24 };

/* Words of text from `column` on, wrapped; a blank line between paragraphs. */
static void put_wrapped(Buf *out, const char *text, size_t indent) {
  size_t used = indent;
  bool first = true;
  while (*text != '\0') {
    if (strncmp(text, "\n\n", 2) == 0) {
      buf_printf(out, "\n\n%*s", (int)indent, "");
      used = indent;
      first = true;
      text += 2;
      continue;
    }
    if (*text == ' ' || *text == '\n') {
      text++;
      continue;
    }
    size_t n = strcspn(text, " \n");
    if (!first && used + 1 + n > HELP_WIDTH) {
      buf_printf(out, "\n%*s", (int)indent, "");
      used = indent;
      first = true;
    }
    if (!first) buf_putc(out, ' ');
    buf_append(out, text, n);
    used += n + (first ? 0 : 1);
    first = false;
    text += n;
  }
  buf_putc(out, '\n');
}

static void put_entry(Buf *out, const char *head, const char *text) {
  buf_printf(out, "  %-*s", TEXT_COLUMN - 2, head);
  if (strlen(head) > TEXT_COLUMN - 3) buf_printf(out, "\n%*s", TEXT_COLUMN, "");
  put_wrapped(out, text, TEXT_COLUMN);
}

static void put_options(Buf *out, const CliOption *options) {
  for (; options != NULL && options->name != NULL; options++) {
    char head[64];
    char letter[8] = "    ";
    if (options->letter != '\0') snprintf(letter, sizeof letter, "-%c, ", options->letter);
    snprintf(head, sizeof head, "%s--%s%s%s", letter, options->name, options->arg == NULL ? "" : " ",
             options->arg == NULL ? "" : options->arg);
    put_entry(out, head, options->help);
  }
}

void help_orientation(Buf *out) {
  static const char *const first[] = {"init", "plan", "run", "swap", "rollback"};
  buf_puts(out, "Tidegate plans and executes a backfill that does not break production.\n\n");
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
    const Command *command = command_find(first[i]);
    char head[64];
    snprintf(head, sizeof head, "tidegate %s %s", command->name, command->arguments);
    put_entry(out, head, command->summary);
  }
  buf_puts(out,
           "\nOr all of it in one go, asking before production changes: tidegate backfill SPEC\n"
           "All commands: tidegate --help\n");
}

void help_all(Buf *out) {
  buf_puts(out, "usage: tidegate COMMAND [OPTION…] [ARGUMENT…]\n\ncommands:\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    char head[64];
    snprintf(head, sizeof head, "%s %s", (*c)->name, (*c)->arguments);
    put_entry(out, head, (*c)->summary);
  }
  buf_puts(out, "\noptions of every command:\n");
  put_options(out, global_options());
  put_entry(out, "    --version", "print the version");
  buf_puts(out, "\nMore about one: tidegate COMMAND --help\n");
}

void help_command(Buf *out, const Command *command) {
  buf_printf(out, "usage: tidegate %s [OPTION…]%s%s\n\n", command->name, command->arguments[0] == '\0' ? "" : " ",
             command->arguments);
  put_wrapped(out, command->about, 0);
  buf_puts(out, "\noptions:\n");
  put_options(out, command->options);
  put_options(out, global_options());
  buf_puts(out, "\nexit status:\n");
  for (int code = 0; code < ERR_COUNT_; code++) {
    char status[8];
    if (!command_exits_with(command, (ErrorCode)code)) continue;
    snprintf(status, sizeof status, "%d", error_exit_status((ErrorCode)code));
    put_entry(out, status, exit_meaning((ErrorCode)code));
  }
  if (command->examples != NULL) buf_puts(out, "\nexamples:\n");
  for (const CliExample *e = command->examples; e != NULL && e->command != NULL; e++)
    buf_printf(out, "  %s\n      %s\n", e->command, e->what);
}
