#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/docs.h"
#include "cli/help.h"
#include "ledger/ledger.h"
#include "spec/spec.h"

static void every_command_is_described(void **state) {
  (void)state;
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    assert_ptr_equal(command_find((*c)->name), *c);
    assert_non_null((*c)->summary);
    assert_non_null((*c)->arguments);
    assert_non_null((*c)->about);
    assert_non_null((*c)->run);
    assert_true((*c)->max_args >= (*c)->min_args);
    assert_int_equal((*c)->exits[CLI_EXITS - 1], ERR_NONE);
  }
}

static void no_option_is_there_twice(void **state) {
  (void)state;
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    const CliOption *all[32];
    size_t n = 0;
    for (const CliOption *o = (*c)->options; o != NULL && o->name != NULL; o++) all[n++] = o;
    for (const CliOption *o = global_options(); o->name != NULL; o++) all[n++] = o;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++) {
        assert_string_not_equal(all[i]->name, all[j]->name);
        assert_true(all[i]->letter == '\0' || all[i]->letter != all[j]->letter);
      }
  }
}

static void every_exit_status_has_a_meaning(void **state) {
  (void)state;
  for (int code = 0; code < ERR_COUNT_; code++) assert_string_not_equal(exit_meaning((ErrorCode)code), "");
}

static void the_reference_names_everything(void **state) {
  (void)state;
  BUF_SCOPED commands = {0}, codes = {0}, states = {0}, spec = {0};
  docs_commands(&commands);
  docs_exit_codes(&codes);
  docs_states(&states);
  docs_spec(&spec);
  for (const Command *const *c = commands_all(); *c != NULL; c++)
    assert_non_null(strstr(buf_text(&commands), (*c)->name));
  for (int code = 0; code < ERR_COUNT_; code++) assert_non_null(strstr(buf_text(&codes), error_word((ErrorCode)code)));
  size_t n = 0;
  const Transition *all = state_transitions(&n);
  for (size_t i = 0; i < n; i++) {
    BUF_SCOPED arrow = {0};
    buf_printf(&arrow, "  %s --> %s: %s\n", state_name(all[i].from), state_name(all[i].to), all[i].verb);
    assert_non_null(strstr(buf_text(&states), buf_text(&arrow)));
  }
  for (size_t i = 0; spec_key(i) != NULL; i++) assert_non_null(strstr(buf_text(&spec), spec_key(i)->name));
}

static void help_and_completions_name_every_command(void **state) {
  (void)state;
  BUF_SCOPED help = {0}, bash = {0}, zsh = {0};
  help_all(&help);
  docs_bash(&bash);
  docs_zsh(&zsh);
  for (const Command *const *c = commands_all(); *c != NULL; c++) {
    BUF_SCOPED man = {0}, one = {0};
    docs_man(&man, *c);
    help_command(&one, *c);
    assert_non_null(strstr(buf_text(&help), (*c)->name));
    assert_non_null(strstr(buf_text(&bash), (*c)->name));
    assert_non_null(strstr(buf_text(&zsh), (*c)->name));
    assert_non_null(strstr(buf_text(&man), (*c)->name));
    assert_non_null(strstr(buf_text(&one), (*c)->name));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_command_is_described), cmocka_unit_test(no_option_is_there_twice),
      cmocka_unit_test(every_exit_status_has_a_meaning), cmocka_unit_test(the_reference_names_everything),
      cmocka_unit_test(help_and_completions_name_every_command)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
