#include <string.h>

#include "gate/hook/hook_int.h"

/* Coding agents: one JSON object tells which tool is to be called with what. */

typedef struct Agent {
  const char *place;
  const char *events[4]; /* before a tool is called; NULL ends */
  const char *shells[8]; /* tools that run a command always; NULL ends */
  bool top;              /* the command may stand at the top level */
} Agent;

static const Agent agents[] = {
    {"claude-code", {"PreToolUse"}, {"Bash", "PowerShell"}, false},
    {"codex", {"PreToolUse"}, {"Bash", "shell", "local_shell", "exec_command", "unified_exec"}, false},
    {"gemini", {"BeforeTool"}, {"run_shell_command"}, false},
    {"cursor", {"beforeShellExecution", "beforeMCPExecution", "preToolUse"}, {"Shell"}, true}};

static const Agent *agent_of(const char *place) {
  for (size_t i = 0; i < sizeof agents / sizeof *agents; i++)
    if (strcmp(agents[i].place, place) == 0) return &agents[i];
  return NULL;
}

static bool is_in(const char *word, const char *const *list, size_t n) {
  for (size_t i = 0; i < n && list[i] != NULL; i++)
    if (strcmp(list[i], word) == 0) return true;
  return false;
}

/* An event that is not known, or that comes when it is too late. With a command in it nobody can say what it means. */
static bool refuse_event(const Agent *agent, const DocNode *root, const char *event, Error *err) {
  if (event[0] != '\0' && !hook_has_command(root)) return true;
  error_set(err, ERR_USAGE, "%s asks about the event %s, and %s alone is understood", agent->place,
            event[0] == '\0' ? "(none)" : event, agent->events[0]);
  return error_hint(err,
                    "look at: tidegate hook status; install it again: tidegate hook install %s; or get a newer "
                    "Tidegate",
                    agent->place);
}

/* The arguments, which some send as a text of JSON. */
static bool collect_input(HookTexts *texts, const Agent *agent, const DocNode *input, const char *tool, Error *err) {
  const DocNode *inside;
  if (input == NULL || input->kind == DOC_NULL) return true;
  if (input->kind != DOC_SCALAR) {
    hook_collect(texts, input, tool);
    return true;
  }
  const char *text = input->text + strspn(input->text, " \t\r\n");
  if (*text == '\0') return true;
  if (*text == '{') {
    if (!hook_parse(texts->arena, agent->place, text, strlen(text), &inside, err)) return false;
    hook_collect(texts, inside, tool);
    return true;
  }
  hook_add_text(texts, text);
  return true;
}

/* Nobody sees a question where every permission is given beforehand. */
static bool sees_questions(const HookPlace *place, const DocNode *root) {
  const char *mode = doc_text(root, "permission_mode", "default");
  return place->can_ask && strcmp(mode, "bypassPermissions") != 0 && strcmp(mode, "dontAsk") != 0;
}

bool hook_read_agent(Arena *arena, const HookPlace *place, const char *input, size_t n, HookQuestion *ret, Error *err) {
  const Agent *agent = agent_of(place->name);
  const DocNode *root;
  HookTexts texts = {.arena = arena};
  if (!hook_parse(arena, place->name, input, n, &root, err)) return false;
  const char *event = doc_text(root, "hook_event_name", ""), *tool = doc_text(root, "tool_name", "");
  *ret = (HookQuestion){.directory = doc_text(root, "cwd", NULL), .can_ask = sees_questions(place, root)};
  if (!is_in(event, agent->events, sizeof agent->events / sizeof *agent->events))
    return refuse_event(agent, root, event, err);
  const DocNode *command = agent->top ? doc_get(root, "command") : NULL;
  bool shell = agent->top && strcmp(event, agent->events[0]) == 0;
  if (shell && command != NULL && command->kind == DOC_SCALAR) hook_add_text(&texts, command->text);
  if (!collect_input(&texts, agent, doc_get(root, "tool_input"), tool, err)) return false;
  shell = shell || is_in(tool, agent->shells, sizeof agent->shells / sizeof *agent->shells);
  if (shell && texts.n == 0)
    return error_set(err, ERR_USAGE, "%s calls %s, and no command can be found in what it sent", place->name,
                     tool[0] == '\0' ? event : tool);
  if (!shell && tool[0] == '\0')
    return error_set(err, ERR_USAGE, "%s does not say which tool is to be called", place->name);
  if (ret->directory == NULL && agent->top) {
    const DocNode *roots = doc_get(root, "workspace_roots");
    if (roots != NULL && roots->n > 0 && roots->children[0].kind == DOC_SCALAR)
      ret->directory = roots->children[0].text;
  }
  ret->texts = texts.items;
  ret->n = texts.n;
  return true;
}
