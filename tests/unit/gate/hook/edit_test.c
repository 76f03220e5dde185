#include "gate/hook/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "gate/hook/configs.h"

static const HookConfig *config_of(const char *place) {
  size_t n;
  const HookFile *files = hook_files(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(files[i].config.place, place) == 0) return &files[i].config;
  fail_msg("%s has no file", place);
  return NULL;
}

static const char *const program = "/opt/it's here/tidegate";

static const char *added(Arena *arena, const char *place, const char *text, const char *binary) {
  const char *ret;
  Error err;
  if (!hook_edit_add(arena, config_of(place), "file", text, binary, &ret, &err))
    fail_msg("%s: %s: %s: %s\n%s", place, text, err.where, err.message, err.snippet);
  return ret;
}

static const char *removed(Arena *arena, const char *place, const char *text) {
  const char *ret;
  Error err;
  if (!hook_edit_remove(arena, config_of(place), "file", text, &ret, &err)) fail_msg("%s: %s", err.where, err.message);
  return ret;
}

static const char *found(Arena *arena, const char *place, const char *text) {
  const char *binary, *command;
  Error err;
  if (!hook_edit_find(arena, config_of(place), "file", text, &binary, &command, &err)) fail_msg("%s", err.message);
  return binary;
}

/* Files as people have them: indentation, comments, line ends, neighbours. */
static const char *const json[] = {
    "{\n}\n",
    "{}",
    "{ \"model\": \"opus\" }",
    "{\"a\":1,\"b\":[1,2,{\"c\":null}]}",
    "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
    "{\n\t\"model\": \"opus\" // why\n\t/* more */\n}\n",
    "// top\n{\n    \"a\": \"//x\", // y\n    \"b\": [1, 2,],\n}\n",
    "{\r\n  \"a\": 1\r\n}\r\n",
    "\xEF\xBB\xBF{\n  \"t\u00e9\": \"\u20ac\",\n  \"x\": \"\\\"/*\"\n}",
    ("{\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\"matcher\": \"Edit\", "
     "\"hooks\": [{\"type\": \"command\", \"command\": "
     "\"fmt\"}]}\n    ]\n  },\n  \"z\": 1\n}\n"),
    ("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": "
     "[{\"type\": \"command\", \"command\": "
     "\"other\"}]} // theirs\n    ],\n    \"BeforeTool\": [{\"hooks\":[]}], "
     "\"beforeShellExecution\": [{\"command\": \"x\"}],\n"
     "    \"beforeMCPExecution\": [{\"command\": \"x\"}]\n  }, \"version\": 1\n}\n")};

static const char *const blocks[] = {"",
                                     "\n",
                                     "x = 1",
                                     "x = 1\n",
                                     "# c\n[a]\nb = \"\"\"\n[hooks]\n\"\"\"\n",
                                     "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'x'\n",
                                     "[hooks]\n[features]\nhooks = true\nc = [\n 1, # [\n]\n",
                                     "a = 1\r\n"};

static void test_an_entry_is_added_once_and_leaves_no_trace(void **state) {
  static const char *const places[] = {"claude-code", "gemini", "cursor", "codex", "bash", "zsh"};
  (void)state;
  for (size_t p = 0; p < 6; p++)
    for (size_t i = 0; i < (p < 3 ? sizeof json / sizeof *json : sizeof blocks / sizeof *blocks); i++) {
      ARENA_SCOPED arena = {0};
      const char *before = p < 3 ? json[i] : blocks[i], *place = places[p];
      assert_null(found(&arena, place, before));
      const char *after = added(&arena, place, before, program);
      assert_string_equal(found(&arena, place, after), program);
      assert_ptr_equal(added(&arena, place, after, program), after);
      const char *moved = added(&arena, place, after, "/usr/bin/tidegate");
      assert_string_equal(found(&arena, place, moved), "/usr/bin/tidegate");
      assert_string_equal(added(&arena, place, moved, program), after);
      const char *back = removed(&arena, place, after);
      assert_null(found(&arena, place, back));
      bool version = strcmp(place, "cursor") == 0 && strstr(before, "version") == NULL; /* stays: it harms nobody */
      if (i > 1 && !version) assert_string_equal(back, before);
    }
}

/* What others wrote behind the entry stays when it goes. */
static void test_neighbours_that_came_later_stay(void **state) {
  ARENA_SCOPED arena = {0};
  (void)state;
  assert_string_equal(
      removed(&arena, "cursor",
              "{\"version\":1,\"hooks\":{\"beforeShellExecution\":[{\"command\":\"/a/tidegate hook run cursor\"}, "
              "{\"command\":\"x\"}],\"stop\":[]}}"),
      "{\"version\":1,\"hooks\":{\"beforeShellExecution\":[ {\"command\":\"x\"}],\"stop\":[]}}");
  assert_string_equal(
      removed(&arena, "claude-code",
              "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"command\":\"mine\"},{\"command\":"
              "\"'/a b/tidegate' hook run claude-code\"}]}]}}"),
      "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"command\":\"mine\"}]}]}}");
  const char *text = added(&arena, "bash", "a\n", program);
  assert_string_equal(removed(&arena, "bash", arena_printf(&arena, "%sb\n", text)), "a\nb\n");
}

static void test_what_is_not_understood_is_left_alone(void **state) {
  static const char *const bad[][2] = {{"claude-code", "[]"},
                                       {"claude-code", "{\"hooks\": []}"},
                                       {"claude-code", "{\"hooks\": {\"PreToolUse\": {}}}"},
                                       {"claude-code", "{\"a\": 1"},
                                       {"claude-code", "{\"a\": 1} x"},
                                       {"claude-code", "hooks:\n  a: 1\n"},
                                       {"claude-code", "{\"a\": 1, /* no end"},
                                       {"claude-code", "{'a': 1}"},
                                       {"claude-code", "{\"a\": 1, \"a\": 2}"},
                                       {"claude-code", "{\"a\": 1 2}"},
                                       {"claude-code", "{\"a\": yes}"},
                                       {"codex", "hooks = {}\n"},
                                       {"codex", "[hooks]\nPreToolUse = []\n"},
                                       {"codex", "hooks.PreToolUse = []\n"},
                                       {"codex", "\"hooks\" . 'PreToolUse' = []\n"},
                                       {"codex", "[hooks.PreToolUse]\na = 1\n"},
                                       {"codex", "a = \"\"\"\nno end\n"},
                                       {"codex", "a = [1,\n"},
                                       {"codex", "just words\n"},
                                       {"bash", "# >>> tidegate bash: x\n"},
                                       {"bash", "# <<< tidegate bash\n"}};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ARENA_SCOPED arena = {0};
    const char *ret = NULL;
    Error err;
    if (hook_edit_add(&arena, config_of(bad[i][0]), "file", bad[i][1], program, &ret, &err))
      fail_msg("%s: %s was taken:\n%s", bad[i][0], bad[i][1], ret);
    assert_true(err.message[0] != '\0' && err.hint[0] != '\0');
    if (strcmp(bad[i][0], "bash") != 0 && strncmp(err.where, "file:", 5) != 0)
      fail_msg("%s at '%s'", bad[i][1], err.where);
    if (strcmp(bad[i][0], "bash") != 0) assert_true(strncmp(err.where, "file", 4) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_entry_is_added_once_and_leaves_no_trace),
                                     cmocka_unit_test(test_neighbours_that_came_later_stay),
                                     cmocka_unit_test(test_what_is_not_understood_is_left_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
