#include "gate/hook/hook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"

/* What each place sends, by its contract (tests/cases/interception.md, C.1), and what it must get. */

#define BACKFILL "airflow dags backfill sales"
#define CLAUDE(event, tool, input)                                                                                     \
  "{\"session_id\":\"abc123\",\"transcript_path\":\"/home/u/.claude/projects/p/t.jsonl\",\"cwd\":\"/\","               \
  "\"permission_mode\":\"default\",\"hook_event_name\":\"" event "\",\"tool_name\":\"" tool "\",\"tool_input\":" input \
  ",\"tool_use_id\":\"toolu_01ABC\"}"
#define BASH(command) \
  "{\"command\":\"" command "\",\"description\":\"d\",\"timeout\":120000,\"run_in_background\":false}"
#define GEMINI(tool, input)                                                                                 \
  "{\"session_id\":\"g1\",\"transcript_path\":\"/tmp/t\",\"cwd\":\"/\",\"hook_event_name\":\"BeforeTool\"," \
  "\"timestamp\":\"2026-11-30T16:00:00.000Z\",\"tool_name\":\"" tool "\",\"tool_input\":" input "}"
#define CURSOR_SHELL(command)                                                                          \
  "{\"conversation_id\":\"c1\",\"generation_id\":\"g1\",\"hook_event_name\":\"beforeShellExecution\"," \
  "\"workspace_roots\":[\"/\"],\"command\":\"" command "\",\"cwd\":\"\"}"
#define CURSOR_MCP(input)                                                                               \
  "{\"conversation_id\":\"c1\",\"hook_event_name\":\"beforeMCPExecution\",\"workspace_roots\":[\"/\"]," \
  "\"command\":\"npx some-server\",\"tool_name\":\"run\",\"tool_input\":" input "}"
#define REQUEST(method, path, body)                                                                     \
  "{\"kind\":\"request\",\"method\":\"" method "\",\"path\":\"" path "\",\"query\":\"\",\"body\":" body \
  ",\"user\":\"alice\"}"

typedef struct Got {
  int status;
  char *out, *err;
} Got;

static Got ask_n(Arena *arena, const char *place, const char *input, size_t n) {
  HookReply reply = {0};
  const HookPlace *found = hook_place(place);
  assert_non_null(found);
  hook_answer(arena, found, input, n, &reply);
  Got got = {reply.status, arena_strdup(arena, buf_text(&reply.out)), arena_strdup(arena, buf_text(&reply.err))};
  hook_reply_release(&reply);
  return got;
}

static Got ask(Arena *arena, const char *place, const char *input) { return ask_n(arena, place, input, strlen(input)); }

static const DocNode *document(Arena *arena, const char *text) {
  const DocNode *root;
  Error err;
  if (!doc_parse(arena, "answer", text, strlen(text), &root, &err)) fail_msg("no JSON: %s", text);
  return root;
}

/* Blocked, in the place's own way. */
static bool is_blocked(Arena *arena, const char *place, Got got) {
  if (strcmp(place, "gemini") == 0)
    assert_string_equal(doc_text(document(arena, got.out), "decision", "none"), got.status == 0 ? "none" : "deny");
  if (strcmp(place, "cursor") == 0)
    assert_string_equal(doc_text(document(arena, got.out), "permission", "none"), got.status == 0 ? "none" : "deny");
  if (strcmp(place, "airflow") == 0 && got.status == 0)
    return strcmp(doc_text(document(arena, got.out), "decision", ""), "allow") != 0;
  if (got.status == 0) return false;
  assert_int_equal(got.status, strcmp(place, "airflow") == 0 || strcmp(place, "bash") == 0 ? 3 : 2);
  assert_true(got.err[0] != '\0');
  return true;
}

typedef struct Case {
  const char *place, *input;
  bool blocked;
} Case;

static const Case cases[] = {
    {"claude-code", CLAUDE("PreToolUse", "Bash", BASH("ls -l")), false},
    {"claude-code", CLAUDE("PreToolUse", "Bash", BASH("git commit -m 'airflow dags backfill'")), false},
    {"claude-code", CLAUDE("PreToolUse", "Bash", BASH(BACKFILL)), true},
    {"claude-code", CLAUDE("PreToolUse", "Bash", BASH("cd /x && air\\\\\\nflow dags backfill sales")), true},
    {"claude-code", CLAUDE("PreToolUse", "Bash", BASH("\\u0061irflow dags backfill sales")), true},
    {"claude-code", CLAUDE("PreToolUse", "Write", "{\"file_path\":\"/a\",\"content\":\"" BACKFILL "\"}"), false},
    {"claude-code", CLAUDE("PreToolUse", "Read", "{\"file_path\":\"/a\"}"), false},
    {"claude-code", CLAUDE("PreToolUse", "mcp__shell__run", "{\"arguments\":{\"command\":\"" BACKFILL "\"}}"), true},
    {"claude-code",
     CLAUDE("PreToolUse", "mcp__jupyter__execute", "{\"code\":\"import os; os.system('" BACKFILL "')\"}"), true},
    {"claude-code", CLAUDE("PreToolUse", "mcp__jupyter__execute", "{\"code\":\"print(1)\"}"), false},
    {"claude-code", CLAUDE("PreToolUse", "mcp__pg__query", "{\"sql\":\"SELECT 1\"}"), false},
    {"claude-code", CLAUDE("PreToolUse", "mcp__x__run", "{\"command\":[\"bash\",\"-lc\",\"" BACKFILL "\"]}"), true},
    {"claude-code", CLAUDE("PreToolUse", "mcp__x__run", "{\"commands\":[\"ls\",\"" BACKFILL "\"]}"), true},
    {"claude-code", CLAUDE("PreToolUse", "mcp__x__run", "{\"argv\":[\"echo\",\"" BACKFILL "; ls\"]}"), true},
    {"claude-code", CLAUDE("PreToolUse", "Bash", "{}"), true}, /* a version that names its command otherwise */
    {"claude-code", CLAUDE("PostToolUse", "Bash", BASH("ls")), true},
    {"claude-code", CLAUDE("BeforeToolCall", "Bash", BASH("ls")), true},
    {"claude-code", CLAUDE("Stop", "Bash", "null"), false},
    {"claude-code", "{\"session_id\":\"x\"}", true},
    {"claude-code", "{\"hook_event_name\":\"PreToolUse\",\"tool_input\":{\"command\":[1]}}", true},
    {"codex", CLAUDE("PreToolUse", "Bash", BASH("make test")), false},
    {"codex", CLAUDE("PreToolUse", "Bash", BASH(BACKFILL)), true},
    {"codex", CLAUDE("PreToolUse", "shell", "{\"command\":[\"bash\",\"-lc\",\"" BACKFILL "\"]}"), true},
    {"codex", CLAUDE("PreToolUse", "apply_patch", "{\"command\":\"*** Begin Patch\\n+" BACKFILL "\"}"), false},
    {"gemini", GEMINI("run_shell_command", "{\"command\":\"ls\",\"description\":\"d\"}"), false},
    {"gemini", GEMINI("run_shell_command", "{\"command\":\"" BACKFILL "\"}"), true},
    {"gemini", GEMINI("run_shell_command", "{\"cmdline\":\"ls\"}"), true},
    {"gemini", GEMINI("write_file", "{\"file_path\":\"a\",\"content\":\"x\"}"), false},
    {"cursor", CURSOR_SHELL("ls"), false},
    {"cursor", CURSOR_SHELL(BACKFILL), true},
    {"cursor", CURSOR_MCP("\"{\\\"command\\\":\\\"" BACKFILL "\\\"}\""), true},
    {"cursor", CURSOR_MCP("\"{\\\"query\\\":\\\"x\\\"}\""), false},
    {"cursor", CURSOR_MCP("\"{\\\"query\\\":\""), true},
    {"cursor", "{\"hook_event_name\":\"preToolUse\",\"tool_name\":\"Shell\",\"tool_input\":{\"command\":\"ls\"}}",
     false},
    {"cursor",
     "{\"hook_event_name\":\"preToolUse\",\"tool_name\":\"Shell\",\"tool_input\":{\"command\":\"" BACKFILL "\"}}",
     true},
    {"cursor", "{\"hook_event_name\":\"preToolUse\",\"tool_name\":\"Shell\",\"tool_input\":{}}", true},
    {"cursor", "{\"hook_event_name\":\"beforeshellexecution\",\"command\":\"ls\"}", true},
    {"airflow", REQUEST("GET", "/api/v2/dags", "null"), false},
    {"airflow", REQUEST("POST", "/api/v2/backfills/dry_run", "\"{}\""), false},
    {"airflow", REQUEST("POST", "/api/v2/backfills", "\"{\\\"dag_id\\\":\\\"sales\\\"}\""), true},
    {"airflow", REQUEST("DELETE", "/api/v2/dags/sales/dagRuns/r1", "null"), true},
    {"airflow", REQUEST("POST", "/api/v2/backfills", "{\"dag_id\":1}"), true},
    {"airflow", "{\"kind\":\"cli\",\"argv\":[\"airflow\",\"dags\",\"list\"],\"user\":\"a\"}", false},
    {"airflow", "{\"kind\":\"cli\",\"argv\":[\"airflow\",\"dags\",\"backfill\",\"sales\"],\"user\":\"a\"}", true},
    {"airflow", "{\"kind\":\"cli\",\"argv\":[],\"user\":\"a\"}", true},
    {"airflow", "{\"kind\":\"other\"}", true},
    {"bash", "ls | grep airflow", false},
    {"bash", BACKFILL, true}};

static void test_every_place_answers_by_its_contract(void **state) {
  ARENA_SCOPED arena = {0};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Got got = ask(&arena, cases[i].place, cases[i].input);
    if (is_blocked(&arena, cases[i].place, got) != cases[i].blocked)
      fail_msg("%s: %s: status %d, %s%s", cases[i].place, cases[i].input, got.status, got.out, got.err);
  }
}

/* No beginning of what is blocked, or of what is not, may pass: nobody knows what would have come. */
static void test_what_is_cut_off_is_closed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].place, "bash") == 0) continue;
    for (size_t n = 0; n < strlen(cases[i].input); n++) {
      ARENA_SCOPED arena = {0};
      Got got = ask_n(&arena, cases[i].place, cases[i].input, n);
      if (!is_blocked(&arena, cases[i].place, got)) fail_msg("passes: %.*s", (int)n, cases[i].input);
    }
  }
}

static void test_what_is_no_question_is_closed(void **state) {
  static const char *const inputs[] = {"",
                                       " ",
                                       "null",
                                       "[]",
                                       "\"airflow\"",
                                       "{\"a\":1,\"a\":2}",
                                       "{} {}",
                                       "\xff\xfe",
                                       "{\"x\":\"\xff\"}",
                                       ("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
                                        "\"tool_input\":{\"command\":\"ls\\u0000airflow dags backfill\"}}")};
  static const char *const places[] = {"claude-code", "codex", "gemini", "cursor", "airflow"};
  ARENA_SCOPED arena = {0};
  (void)state;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
      assert_true(is_blocked(&arena, places[p], ask(&arena, places[p], inputs[i])));
  assert_true(is_blocked(&arena, "bash", ask_n(&arena, "bash", "ls\0x", 4)));
}

static void test_what_is_huge_or_deep_is_closed(void **state) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED text = {0};
  (void)state;
  buf_puts(&text, "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"");
  while (text.len <= HOOK_MAX_BYTES) buf_puts(&text, "echo airflow; echo airflow; echo airflow; echo airflow; ");
  buf_puts(&text, "\"}}");
  assert_true(is_blocked(&arena, "claude-code", ask(&arena, "claude-code", buf_text(&text))));
  buf_clear(&text);
  for (int i = 0; i < 100000; i++) buf_puts(&text, "{\"a\":");
  assert_true(is_blocked(&arena, "gemini", ask(&arena, "gemini", buf_text(&text))));
}

/* Only who sees a question may be asked; in all other places it is a denial. */
static void test_questions_are_put_to_those_who_see_them(void **state) {
  ARENA_SCOPED arena = {0};
  (void)state;
  Got got = ask(&arena, "claude-code", CLAUDE("PreToolUse", "Bash", BASH("$X dags backfill sales")));
  if (got.status == 0) {
    const DocNode *said = doc_get(document(&arena, got.out), "hookSpecificOutput");
    assert_string_equal(doc_text(said, "permissionDecision", ""), "ask");
    assert_string_equal(doc_text(said, "hookEventName", ""), "PreToolUse");
  } else {
    assert_int_equal(got.status, 2);
  }
  got = ask(&arena, "codex", CLAUDE("PreToolUse", "Bash", BASH("$X dags backfill sales")));
  assert_int_equal(got.status, 2);
  got = ask(&arena, "gemini", GEMINI("run_shell_command", "{\"command\":\"$X dags backfill sales\"}"));
  assert_int_equal(got.status, 2);
}

/* Whether SQL is anybody's business depends on the tables that tidegate.yaml names. */
static void test_code_becomes_the_command_that_would_run_it(void **state) {
  static const char *const rows[][3] = {{"{\"sql\":\"DELETE FROM a\"}", "mcp__pg__query", "psql -c 'DELETE FROM a'"},
                                        {"{\"code\":\"print(1)\"}", "mcp__jupyter__run", "python3 -c 'print(1)'"},
                                        {"{\"code\":\"f()\",\"language\":\"javascript\"}", "run", "node -e 'f()'"},
                                        {"{\"argv\":[\"a b\",\"c\"]}", "run", "'a b' c"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ARENA_SCOPED arena = {0};
    HookQuestion question;
    Error err;
    bool found = false;
    const char *input = arena_printf(
        &arena, "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"%s\",\"tool_input\":%s}", rows[i][1], rows[i][0]);
    assert_true(hook_read(&arena, hook_place("claude-code"), input, strlen(input), &question, &err));
    for (size_t k = 0; k < question.n; k++) found |= strcmp(question.texts[k], rows[i][2]) == 0;
    if (!found) fail_msg("%s: nothing is %s", rows[i][0], rows[i][2]);
  }
}

static void test_airflow_gets_one_document(void **state) {
  ARENA_SCOPED arena = {0};
  (void)state;
  Got got = ask(&arena, "airflow", REQUEST("POST", "/api/v2/backfills", "\"{\\\"dag_id\\\":\\\"sales\\\"}\""));
  const DocNode *root = document(&arena, got.out), *reasons = doc_get(root, "reasons");
  assert_int_equal(got.status, 0);
  assert_int_equal(root->n, 3);
  assert_string_equal(doc_text(root, "decision", ""), "deny");
  assert_true(strstr(doc_text(root, "message", ""), "sales") != NULL);
  assert_true(reasons != NULL && reasons->n > 0 && doc_text(&reasons->children[0], "text", NULL) != NULL);
}

static void test_words_come_back_from_bash_as_they_were(void **state) {
  ARENA_SCOPED arena = {0};
  (void)state;
  static const char *const words[] = {"airflow", "it's", "", "a b", "$X", "2024-01-01"};
  assert_string_equal(hook_quote_all(&arena, words, 6), "airflow 'it'\\''s' '' 'a b' '$X' 2024-01-01");
  static const char *const program[] = {"A=b", "c"};
  assert_string_equal(hook_quote_all(&arena, program, 2), "'A=b' c");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_place_answers_by_its_contract),
      cmocka_unit_test(test_what_is_cut_off_is_closed),
      cmocka_unit_test(test_what_is_no_question_is_closed),
      cmocka_unit_test(test_what_is_huge_or_deep_is_closed),
      cmocka_unit_test(test_questions_are_put_to_those_who_see_them),
      cmocka_unit_test(test_code_becomes_the_command_that_would_run_it),
      cmocka_unit_test(test_airflow_gets_one_document),
      cmocka_unit_test(test_words_come_back_from_bash_as_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
