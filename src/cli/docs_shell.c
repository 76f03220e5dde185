#include <string.h>

#include "cli/docs.h"

static void put_names(Buf *out, const CliOption *options) {
  for (; options != NULL && options->name != NULL; options++) buf_printf(out, " --%s", options->name);
}

void docs_bash(Buf *out) {
  buf_puts(out,
           "# bash completion of tidegate, made by script/docs from the program itself.\n_tidegate() {\n"
           "  local word=${COMP_WORDS[COMP_CWORD]} command= words i\n"
           "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "    [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }\n  done\n"
           "  case $command in\n    '') words='--version");
  put_names(out, global_options());
  for (const Command *const *c = commands_all(); *c != NULL; c++) buf_printf(out, " %s", (*c)->name);
  buf_puts(out, "' ;;\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    buf_printf(out, "    %s) words='", (*c)->name);
    put_names(out, (*c)->options);
    put_names(out, global_options());
    if (strcmp((*c)->name, "help") == 0)
      for (const Command *const *other = commands_all(); *other != NULL; other++)
        buf_printf(out, " %s", (*other)->name);
    buf_puts(out, "' ;;\n");
  }
  buf_puts(out,
           "    *) words= ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
           "complete -o default -F _tidegate tidegate\n");
}

/* Text inside a zsh specification in single quotes. */
static void put_zsh(Buf *out, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\'')
      buf_puts(out, "'\\''");
    else if (strchr("[]:\\", *text) != NULL)
      buf_printf(out, "\\%c", *text);
    else
      buf_putc(out, *text);
  }
}

static void put_zsh_options(Buf *out, const CliOption *options) {
  for (; options != NULL && options->name != NULL; options++) {
    buf_printf(out, "        '--%s%s[", options->name, options->arg == NULL ? "" : "=");
    put_zsh(out, options->help);
    buf_puts(out, "]");
    if (options->arg != NULL) {
      buf_puts(out, ":");
      put_zsh(out, options->arg);
      buf_puts(out, strcmp(options->arg, "PATH") == 0 ? ":_files" : ":");
    }
    buf_puts(out, "' \\\n");
  }
}

void docs_zsh(Buf *out) {
  buf_puts(out,
           "#compdef tidegate\n# zsh completion of tidegate, made by script/docs from the program itself.\n"
           "_tidegate() {\n  local state line\n  local -a commands\n  commands=(\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    buf_printf(out, "    '%s:", (*c)->name);
    put_zsh(out, (*c)->summary);
    buf_puts(out, "'\n");
  }
  buf_puts(out,
           "  )\n  _arguments -C '1: :->command' '*:: :->rest'\n  case $state in\n"
           "    command) _describe command commands ;;\n    rest)\n      case $words[1] in\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    buf_printf(out, "      %s) _arguments \\\n", (*c)->name);
    put_zsh_options(out, (*c)->options);
    put_zsh_options(out, global_options());
    buf_puts(out, strcmp((*c)->name, "help") == 0 ? "        '1:command:_describe command commands' ;;\n"
                                                  : "        '*:file:_files' ;;\n");
  }
  buf_puts(out, "      esac ;;\n  esac\n}\n_tidegate \"$@\"\n");
}
