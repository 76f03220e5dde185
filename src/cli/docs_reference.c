#include <string.h>

#include "cli/docs.h"
#include "gate/command/command.h"
#include "gate/gate.h"
#include "ledger/ledger.h"
#include "spec/spec.h"

static const char made[] = "<!-- Made by script/docs from the program itself; do not edit. -->\n\n";

/* Text inside a table's cell. */
static void put_cell(Buf *out, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '|')
      buf_puts(out, "\\|");
    else
      buf_putc(out, *text == '\n' ? ' ' : *text);
  }
}

static void put_options(Buf *out, const CliOption *options) {
  for (; options != NULL && options->name != NULL; options++) {
    buf_puts(out, "- `");
    if (options->letter != '\0') buf_printf(out, "-%c, ", options->letter);
    buf_printf(out, "--%s%s%s`: %s\n", options->name, options->arg == NULL ? "" : " ",
               options->arg == NULL ? "" : options->arg, options->help);
  }
}

static void put_command(Buf *out, const Command *command) {
  buf_printf(out, "\n## tidegate %s\n\n", command->name);
  buf_printf(out, "`tidegate %s [OPTION…]%s%s`: %s.\n\n%s\n", command->name, command->arguments[0] == '\0' ? "" : " ",
             command->arguments, command->summary, command->about);
  if (command->options != NULL) buf_putc(out, '\n');
  put_options(out, command->options);
  const char *separator = "\nExit status: ";
  for (int code = 0; code < ERR_COUNT_; code++) {
    if (!command_exits_with(command, (ErrorCode)code)) continue;
    buf_printf(out, "%s%d (%s)", separator, error_exit_status((ErrorCode)code), error_word((ErrorCode)code));
    separator = ", ";
  }
  buf_puts(out, ".\n");
  if (command->examples != NULL) buf_puts(out, "\n```sh\n");
  for (const CliExample *e = command->examples; e != NULL && e->command != NULL; e++)
    buf_printf(out, "%s  # %s\n", e->command, e->what);
  if (command->examples != NULL) buf_puts(out, "```\n");
}

void docs_commands(Buf *out) {
  buf_printf(out, "# Commands\n\n%sOptions may stand anywhere; `--` ends them. Options of every command:\n\n", made);
  put_options(out, global_options());
  buf_puts(out,
           "\nPLAN is the beginning of a backfill's id, the path of its spec file, or its target (then the newest "
           "that is not over).\n");
  for (const Command *const *c = commands_all(); *c != NULL; c++) put_command(out, *c);
}

void docs_exit_codes(Buf *out) {
  buf_printf(out,
             "# Exit status\n\n%sThe word stands in `error.code` of the JSON that `--json` prints.\n\n"
             "| status | word | meaning | what to do, unless the error says more |\n|---|---|---|---|\n",
             made);
  for (int code = 0; code < ERR_COUNT_; code++) {
    Error err = {.code = (ErrorCode)code};
    buf_printf(out, "| %d | %s | %s | ", error_exit_status(err.code), error_word(err.code), exit_meaning(err.code));
    put_cell(out, error_hint_text(&err));
    buf_puts(out, " |\n");
  }
}

void docs_states_diagram(Buf *out) {
  size_t n = 0;
  const Transition *all = state_transitions(&n);
  buf_printf(out, "```mermaid\nstateDiagram-v2\n  [*] --> %s\n", state_name(STATE_planned));
  for (size_t i = 0; i < n; i++)
    buf_printf(out, "  %s --> %s: %s\n", state_name(all[i].from), state_name(all[i].to), all[i].verb);
  for (int state = 0; state < STATE_COUNT_; state++)
    if (state_is_final((State)state)) buf_printf(out, "  %s --> [*]\n", state_name((State)state));
  buf_puts(out, "```\n");
}

void docs_states(Buf *out) {
  size_t n = 0;
  const Transition *all = state_transitions(&n);
  buf_printf(out, "# States\n\n%s", made);
  docs_states_diagram(out);
  buf_puts(out, "\n| state | what the ledger holds then |\n|---|---|\n");
  for (int state = 0; state < STATE_COUNT_; state++)
    buf_printf(out, "| %s | %s |\n", state_name((State)state), state_meaning((State)state));
  buf_puts(out, "\n| from | to | verb | when |\n|---|---|---|---|\n");
  for (size_t i = 0; i < n; i++)
    buf_printf(out, "| %s | %s | %s | %s |\n", state_name(all[i].from), state_name(all[i].to), all[i].verb,
               all[i].when);
}

void docs_gate_rules(Buf *out) {
  size_t n = 0;
  const GateRuleFacts *rules = gate_rules(&n);
  buf_printf(out,
             "# Rules of the gate\n\n%sJudged in this order; a verdict names every rule that matched. The laws are "
             "those of [the design](../design.md).\n\n| rule | law | what it denies |\n|---|---|---|\n",
             made);
  for (size_t i = 0; i < n; i++) {
    buf_printf(out, "| %s | %s | ", rules[i].name, rules[i].law);
    put_cell(out, rules[i].what);
    buf_puts(out, " |\n");
  }
  const CommandRuleFacts *commands = command_rules(&n);
  buf_puts(out,
           "\n## Other tools' commands\n\nJudged in this order too. What a rule needs is looked up only when no rule "
           "before it denied; a command that starts no backfill is allowed before all of them.\n\n"
           "| rule | needs | what it denies |\n|---|---|---|\n");
  for (size_t i = 0; i < n; i++) {
    buf_printf(out, "| %s | %s | ", commands[i].name, commands[i].needs);
    put_cell(out, commands[i].what);
    buf_puts(out, " |\n");
  }
}

void docs_spec(Buf *out) {
  buf_printf(out,
             "# What a spec may hold\n\n%sA backfill's own file wins over the target's entry in `tidegate.yaml` "
             "(`targets: NAME:`), which wins over the top of `tidegate.yaml`, which wins over the default.\n\n"
             "| key | may stand in | default | example | meaning |\n|---|---|---|---|---|\n",
             made);
  const SpecKey *key;
  for (size_t i = 0; (key = spec_key(i)) != NULL; i++) {
    const char *separator = "";
    buf_printf(out, "| `%s` | ", key->name);
    static const char *const places[] = {"backfill", "tidegate.yaml", "target's entry"};
    for (unsigned p = 0; p < 3; p++) {
      if ((key->where >> p & 1) == 0) continue;
      buf_printf(out, "%s%s", separator, places[p]);
      separator = ", ";
    }
    buf_printf(out, " | %s | ", key->fallback == NULL ? "" : key->fallback);
    if (key->example != NULL) {
      buf_puts(out, "`");
      put_cell(out, key->example);
      buf_puts(out, "`");
    }
    buf_puts(out, " | ");
    put_cell(out, key->description);
    buf_puts(out, " |\n");
  }
}
