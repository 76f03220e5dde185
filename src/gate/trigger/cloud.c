#include <string.h>

#include "base/doc.h"
#include "gate/trigger/trigger_int.h"

/* Clients of clouds that carry a command to where it runs. Plain ones stand in wrappers.def. */

/* gcloud composer environments run ENV … dags backfill -- -s …: Airflow's words around the --. */
static bool gcloud(Finder *f, Argv args) {
  while (args.n > 0 && word_in(args.words[0], "alpha beta")) args.words++, args.n--;
  if (args.n < 4 || strcmp(args.words[0], "composer") != 0) return false;
  const char **words = arena_array(f->arena, args.n, sizeof *words);
  size_t n = 0, i = 0;
  bool behind = false;
  while (i < args.n && strcmp(args.words[i], "run") != 0) i++;
  for (i += 2; i < args.n; i++) {
    const char *word = args.words[i];
    if (!behind && strcmp(word, "--") == 0)
      behind = true;
    else if (!behind && *word == '-')
      i += strchr(word, '=') == NULL;
    else
      words[n++] = word;
  }
  commands_airflow(f, "airflow2 (Composer)", (Argv){words, n});
  return true;
}

/* aws mwaa invoke-rest-api --path … --method … --body …, and the commands that others are given. */
/* {"commands": ["a line"]}, {"command": ["a", "word"]}, wherever they stand: aws ssm send-command, ecs run-task. */
static void run_tree(Finder *f, ShellRun *run, const DocNode *node) {
  bool words = node->key != NULL && strcasecmp(node->key, "command") == 0;
  bool lines = node->key != NULL && strcasecmp(node->key, "commands") == 0;
  const char **all = arena_array(f->arena, node->n + 1, sizeof *all);
  size_t n = 0;
  for (size_t i = 0; i < node->n; i++) {
    if (node->children[i].kind != DOC_SCALAR)
      run_tree(f, run, &node->children[i]);
    else if (lines)
      shell_run_text(run, node->children[i].text, (ShellInput){0});
    else if (words)
      all[n++] = node->children[i].text;
  }
  shell_run_words(run, all, n, (ShellInput){0});
  if (node->kind == DOC_SCALAR && (words || lines)) shell_run_text(run, node->text, (ShellInput){0});
}

/* The value of --parameters and --overrides: JSON, or NAME=JSON. */
static void run_json(Finder *f, ShellRun *run, const char *value) {
  const DocNode *root;
  Error ignored;
  const char *sure = word_sure(f->arena, value), *equals = strchr(value, '=');
  if (sure == NULL || *sure == '\0') return;
  if (equals != NULL && strchr("{[", *sure) == NULL)
    sure = arena_printf(f->arena, "{%.*s: %s%s}", (int)(equals - value), value, equals + 1,
                        strchr(equals, '{') != NULL && strchr(equals, '}') == NULL ? "}" : "");
  if (doc_parse(f->arena, "argument", sure, strlen(sure), &root, &ignored)) run_tree(f, run, root);
}

static bool aws(Finder *f, ShellRun *run, Argv args) {
  const char *path = NULL, *method = "GET", *body = NULL;
  if (args.n < 2) return false;
  for (size_t i = 2; i < args.n; i++) {
    const char *word = args.words[i], *equals = *word == '-' ? strchr(word, '=') : NULL;
    const char *value = equals != NULL ? equals + 1 : i + 1 < args.n ? args.words[i + 1] : "";
    if (strncmp(word, "--path", 6) == 0) path = value;
    if (strncmp(word, "--method", 8) == 0) method = value;
    if (strncmp(word, "--body", 6) == 0) body = value;
    if (word_in(word, "--parameters --overrides --container-overrides")) run_json(f, run, value);
  }
  if (strcmp(args.words[0], "mwaa") != 0 || strcmp(args.words[1], "invoke-rest-api") != 0) return false;
  if (path != NULL)
    http_request(f, method, arena_printf(f->arena, "/api/v1%s%s", *path == '/' ? "" : "/", path), body, " (MWAA)");
  return true;
}

bool cloud_judge(Finder *f, ShellRun *run, const char *program, Argv args) {
  if (strcmp(program, "gcloud") == 0) return gcloud(f, args);
  return strcmp(program, "aws") == 0 && aws(f, run, args);
}
