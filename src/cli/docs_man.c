#include <string.h>

#include "cli/docs.h"

/* Text with scdoc's signs escaped, a dash only where it would begin a list; what stands in backquotes becomes bold. */
static void put_text(Buf *out, const char *text) {
  char before = '\n';
  for (; *text != '\0'; before = *text++) {
    if (strchr("*_\\[]|#", *text) != NULL || (*text == '-' && before == '\n')) buf_putc(out, '\\');
    buf_putc(out, *text == '`' ? '*' : *text);
  }
}

static void put_options(Buf *out, const CliOption *options) {
  for (; options != NULL && options->name != NULL; options++) {
    if (options->letter != '\0') buf_printf(out, "*-%c*, ", options->letter);
    buf_printf(out, "*--%s*", options->name);
    if (options->arg != NULL) buf_puts(out, " ");
    if (options->arg != NULL) put_text(out, options->arg);
    buf_puts(out, "\n\t");
    put_text(out, options->help);
    buf_puts(out, "\n\n");
  }
}

static void put_exit(Buf *out, ErrorCode code) {
  buf_printf(out, "*%d*\n\t", error_exit_status(code));
  put_text(out, exit_meaning(code));
  buf_puts(out, "\n\n");
}

static void put_examples(Buf *out, const Command *command) {
  if (command->examples == NULL) return;
  buf_puts(out, "# EXAMPLES\n\n");
  for (const CliExample *e = command->examples; e->command != NULL; e++) {
    buf_puts(out, "*");
    put_text(out, e->command);
    buf_puts(out, "*\n\t");
    put_text(out, e->what);
    buf_puts(out, "\n\n");
  }
}

static void put_command(Buf *out, const Command *command) {
  buf_printf(out, "tidegate-%s(1)\n\n# NAME\n\ntidegate-%s - ", command->name, command->name);
  put_text(out, command->summary);
  buf_printf(out, "\n\n# SYNOPSIS\n\n*tidegate %s* \\[OPTION…\\] ", command->name);
  put_text(out, command->arguments);
  buf_puts(out, "\n\n# DESCRIPTION\n\n");
  put_text(out, command->about);
  buf_puts(out, "\n\n# OPTIONS\n\n");
  put_options(out, command->options);
  put_options(out, global_options());
  buf_puts(out, "# EXIT STATUS\n\n");
  for (int code = 0; code < ERR_COUNT_; code++)
    if (command_exits_with(command, (ErrorCode)code)) put_exit(out, (ErrorCode)code);
  put_examples(out, command);
  buf_puts(out, "# SEE ALSO\n\n*tidegate*(1)\n");
}

static void put_main(Buf *out) {
  buf_puts(out,
           "tidegate(1)\n\n# NAME\n\ntidegate - plans and executes a backfill that does not break production\n\n"
           "# SYNOPSIS\n\n*tidegate* COMMAND \\[OPTION…\\] \\[ARGUMENT…\\]\n\n# DESCRIPTION\n\n"
           "Tidegate asks what must be known before a past date range of a production table is recomputed, "
           "refuses what is unsafe, does the work aside, proves it, publishes in one step only what really "
           "changes, and can take it back.\n\n# COMMANDS\n\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    buf_printf(out, "*%s* ", (*c)->name);
    put_text(out, (*c)->arguments);
    buf_puts(out, "\n\t");
    put_text(out, (*c)->summary);
    buf_printf(out, "; see *tidegate-%s*(1)\n\n", (*c)->name);
  }
  buf_puts(out, "# OPTIONS OF EVERY COMMAND\n\n");
  put_options(out, global_options());
  buf_puts(out, "*--version*\n\tprint the version\n\n# EXIT STATUS\n\n");
  int last = -1;
  for (int code = 0; code < ERR_COUNT_; code++) {
    int status = error_exit_status((ErrorCode)code);
    if (status != last) put_exit(out, (ErrorCode)code);
    last = status;
  }
  buf_puts(out,
           "# FILES\n\n*tidegate.yaml*\n\tthe pipeline's runbook as a file: looked for beside the spec, then "
           "upwards\n\n# ENVIRONMENT\n\n*NO\\_COLOR*\n\tno colours when set and not empty\n\n"
           "*TZDIR*\n\twhere the tz database is\n");
}

void docs_man(Buf *out, const Command *command) {
  if (command == NULL)
    put_main(out);
  else
    put_command(out, command);
}
