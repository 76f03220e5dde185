#include "gate/hook/configs.h"

#include "gate/hook/hook_text.h"

/* In entries a tab is one level of indentation, and {} the command line. */
static const HookFile files[] = {
    {.config = {.place = "claude-code",
                .format = HOOK_JSON,
                .events = {{"PreToolUse",
                            "{\n\t\"matcher\": \"*\",\n\t\"hooks\": [\n\t\t{\n\t\t\t\"type\": \"command\",\n"
                            "\t\t\t\"command\": {},\n\t\t\t\"timeout\": 15\n\t\t}\n\t]\n}"}}},
     .user = ".claude/settings.json",
     .variable = "CLAUDE_CONFIG_DIR",
     .project = ".claude/settings.json"},
    {.config = {.place = "codex",
                .format = HOOK_TOML,
                .template = "[[hooks.PreToolUse]]\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n"
                            "command = \"@TIDEGATE@ hook run codex\"\ntimeout = 15\n"},
     .user = ".codex/config.toml",
     .variable = "CODEX_HOME",
     .project = ".codex/config.toml"},
    {.config = {.place = "gemini",
                .format = HOOK_JSON,
                .events = {{"BeforeTool",
                            "{\n\t\"hooks\": [\n\t\t{\n\t\t\t\"name\": \"tidegate\",\n\t\t\t\"type\": \"command\",\n"
                            "\t\t\t\"command\": {},\n\t\t\t\"timeout\": 15000\n\t\t}\n\t]\n}"}}},
     .user = ".gemini/settings.json",
     .project = ".gemini/settings.json"},
    {.config =
         {.place = "cursor",
          .format = HOOK_JSON,
          .head = "\"version\": 1",
          .events = {{"beforeShellExecution", "{\n\t\"command\": {},\n\t\"timeout\": 15,\n\t\"failClosed\": true\n}"},
                     {"beforeMCPExecution", "{\n\t\"command\": {},\n\t\"timeout\": 15,\n\t\"failClosed\": true\n}"}}},
     .user = ".cursor/hooks.json",
     .project = ".cursor/hooks.json"},
    {.config = {.place = "bash", .format = HOOK_SHELL, .template = text_tidegate_bash}, .user = ".bashrc"},
    {.config = {.place = "zsh", .format = HOOK_SHELL, .template = text_tidegate_zsh},
     .user = ".zshrc",
     .variable = "ZDOTDIR"}};

const HookFile *hook_files(size_t *ret_n) {
  *ret_n = sizeof files / sizeof *files;
  return files;
}
