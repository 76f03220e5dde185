#include <string.h>

#include "gate/trigger/trigger_int.h"

/* Clients of databases, and where each has its SQL. */

/* Where a client has its SQL: the values of options, operands from `operand` on (−1: none), else its input. */
typedef struct SqlClient {
  const char *program, *verb, *options, *valued, *files;
  int operand;
} SqlClient;

static const SqlClient clients[] = {
    {"psql", NULL, "-c --command",
     "-h -p -U -d -v -P -o -L --host --port --username --dbname --set --variable --output", "-f --file", -1},
    {"sqlite3 sqlite litecli", NULL, "-cmd", "-separator -nullvalue -newline -init", "-init", 1},
    {"duckdb", NULL, "-c -s -cmd", "-separator -init -nullvalue", "-init -f", 1},
    {"bq", "query", "",
     "--project_id --location --dataset_id --destination_table --format --max_rows --parameter --job_id", "", 0},
    {"snowsql", NULL, "-q --query",
     "-a -u -d -s -r -w -c -o --accountname --username --dbname --schemaname --rolename --warehouse --connection",
     "-f --filename", -1},
    {"snow", "sql", "-q --query", "-c --connection", "-f --filename", -1},
    {"clickhouse-client clickhouse clickhouse-local", NULL, "-q --query --multiquery",
     "-h -u -d --host --port --user --password --database --format -f", "--queries-file", -1},
    {"mysql mariadb", NULL, "-e --execute", "-h -P -u -D --host --port --user --database", "", -1},
    {"trino presto", NULL, "--execute", "--server --catalog --schema --user", "-f --file", -1},
    {"spark-sql beeline hive impala-shell", NULL, "-e -q --query", "-u -n -p -d -i --hiveconf --conf --master", "-f",
     -1},
    {"sqlcmd", NULL, "-Q -q", "-S -U -P -d", "-i", -1},
    {"cockroach", "sql", "-e --execute", "--url --host --database", "-f --file", -1},
};

bool trigger_names_table(const char *system) {
  for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
    if (word_in(system, clients[i].program)) return true;
  return false;
}

static const SqlClient *find_client(const char *program, Argv *args) {
  for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
    if (!word_in(program, clients[i].program)) continue;
    size_t k = 0;
    while (clients[i].verb != NULL && k < args->n && strcmp(args->words[k], clients[i].verb) != 0) k++;
    if (clients[i].verb != NULL && k == args->n) continue;
    if (clients[i].verb != NULL) *args = (Argv){args->words + k + 1, args->n - k - 1};
    return &clients[i];
  }
  return NULL;
}

void sql_file(Finder *f, ShellRun *run, const char *system, const char *name) {
  const char *text = shell_run_file(run, name);
  if (text != NULL)
    sql_statements(f, run, system, text);
  else if (text_names(name, "backfill* reprocess* recompute* restate*"))
    finder_add(f, (Trigger){.system = system,
                            .why = "the file's name says that it may rewrite past dates, and it is not read here"});
}

bool sql_judge(Finder *f, ShellRun *run, const char *program, const ShellCommand *command) {
  Argv args = {command->argv + 1, command->n - 1};
  const SqlClient *client = find_client(program, &args);
  if (client == NULL) return word_in(program, "psql bq snow clickhouse cockroach");
  const char *system =
      strcmp(program, "clickhouse-client") == 0 || strcmp(program, "clickhouse-local") == 0 ? "clickhouse" : program;
  int operand = 0;
  bool any = false;
  for (size_t i = 0; strcmp(program, "bq") == 0 && i < args.n; i++)
    if (word_in(args.words[i], "--dry_run --dry_run=true --nodry_run=false")) return true;
  for (size_t i = 0; i < args.n; i++) {
    const char *word = args.words[i];
    size_t n = strcspn(word, "=");
    const char *name = arena_strndup(f->arena, word, n);
    const char *value = word[n] == '=' ? word + n + 1 : i + 1 < args.n ? args.words[i + 1] : "";
    char letter[3] = {'-', word[1], '\0'}, last[3] = {'-', n > 0 ? word[n - 1] : '-', '\0'};
    bool cluster = *word == '-' && word[1] != '-' && word[1] != '\0' && word[2] != '\0';
    bool flag = word[n] != '=' && *value == '-' && strpbrk(value, " \n") == NULL; /* --multiquery -q … */
    if (*word == '-' && !flag && word_in(name, client->options)) {
      sql_statements(f, run, system, value);
      any = true;
      i += word[n] != '=';
    } else if (cluster && word_in(letter, client->options) && client->operand < 0) {
      sql_statements(f, run, system, word + 2);
      any = true;
    } else if (cluster && client->operand < 0 && word_in(last, client->options)) {
      sql_statements(f, run, system, value);
      any = true;
      i += word[n] != '=';
    } else if (*word == '-' &&
               (word_in(name, client->files) || (cluster && client->operand < 0 && word_in(last, client->files)))) {
      sql_file(f, run, system, value);
      any = true;
      i += word[n] != '=';
    } else if (*word == '-') {
      i += word[n] != '=' && word_in(name, client->valued);
    } else if (operand++ >= client->operand && client->operand >= 0) {
      sql_statements(f, run, system, word);
      any = true;
    }
  }
  if (any) return true;
  if (command->input.text != NULL)
    sql_statements(f, run, system, command->input.text);
  else if (command->input.file != NULL)
    sql_file(f, run, system, command->input.file);
  return true;
}
