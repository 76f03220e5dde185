#include <string.h>
#include <sys/stat.h>

#include "cli/session.h"
#include "cli/target.h"
#include "view/impact.h"

static int run(Session *session);

static const CliOption options[] = {
    {"range", 'r', "A..B", "these dates change, both included: each child's own dates are told"},
    {"columns", 'c', "LIST", "these columns change alone: what reads none of them needs nothing"},
    {"upstream", 'u', NULL, "what the target is made from, instead of what is made from it"},
    {"all", 'a', NULL, "collapse nothing, and show what needs nothing too"},
    {"format", 'f', "FORMAT", "text, mermaid, dot, svg or html; else by the ending of FILE, else text"},
    {"output", 'o', "FILE", "write it into FILE"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate impact daily_delays", "the tree: what reads it, and what each needs after a swap"},
    {"tidegate impact daily_delays.yaml",
     "the same for the range and the columns of a backfill, each with its own dates"},
    {"tidegate impact daily_delays --columns avg_dep_delay", "what that one column reaches"},
    {"tidegate impact daily_delays -o impact.svg", "a picture for a page or a message; impact.html has a table too"},
    {"tidegate impact daily_delays --upstream", "what it is made from"},
    {NULL, NULL}};

const Command command_impact = {
    .name = "impact",
    .summary = "show what is downstream of a target, and what each needs",
    .arguments = "TARGET|SPEC|PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Reads every source of lineage that there is (the database's catalogue always, and what tidegate.yaml names "
        "under lineage and downstream) and shows what is made from the target, step by step, with what each needs "
        "after a swap: nothing (it reads no column that changes), follows (a view), refresh, cascade (it is backfilled "
        "too, with a range of its own), rebuild, person (somebody has to decide), unknown. What is wide or deep is "
        "shown as counts; --all shows everything. It always says what was read, how old that is, and what was not."
        "\n\n"
        "TARGET is a table, or anything that lineage knows by name. With SPEC or PLAN the range and the columns are "
        "those of the backfill. Nothing is written but FILE.\n\n"
        "When no source knows the target, that is a finding and not an empty answer: the exit status says so.",
    .exits = {ERR_INCOMPLETE, ERR_DATABASE, ERR_NOT_FOUND, ERR_SPEC, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

typedef enum Format { FORMAT_TEXT, FORMAT_MERMAID, FORMAT_DOT, FORMAT_SVG, FORMAT_HTML, FORMATS_ } Format;
static const char *const format_names[FORMATS_] = {"text", "mermaid", "dot", "svg", "html"};

static bool choose_format(const Session *session, Format *ret, Error *err) {
  static const struct {
    const char *ending;
    Format format;
  } endings[] = {{".mmd", FORMAT_MERMAID}, {".mermaid", FORMAT_MERMAID}, {".dot", FORMAT_DOT}, {".gv", FORMAT_DOT},
                 {".svg", FORMAT_SVG},     {".html", FORMAT_HTML},       {".htm", FORMAT_HTML}};
  const char *word = args_value(session->args, "format"), *file = args_value(session->args, "output");
  *ret = FORMAT_TEXT;
  for (size_t i = 0; word != NULL && i < FORMATS_; i++)
    if (strcmp(word, format_names[i]) == 0) {
      *ret = (Format)i;
      return true;
    }
  if (word != NULL) return error_set(err, ERR_USAGE, "--format is text, mermaid, dot, svg or html, not %s", word);
  const char *dot = file == NULL ? NULL : strrchr(file, '.');
  for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(dot, endings[i].ending) == 0) *ret = endings[i].format;
  return true;
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

typedef struct Asked {
  LineageAsk lineage;
  ImpactAsk shown;
  BlastRadius radius;
} Asked;

/* "a, b,c" into three. */
static bool read_columns(Session *session, LineageAsk *ask, Error *err) {
  const char *text = args_value(session->args, "columns");
  if (text == NULL) return true;
  const char **names = NULL;
  char *rest = arena_strdup(&session->arena, text);
  for (char *name; (name = strsep(&rest, ",")) != NULL;) {
    name += strspn(name, " ");
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == ' ') name[--length] = '\0';
    if (length == 0) return error_set(err, ERR_USAGE, "--columns takes names with commas between them, not %s", text);
    names = arena_grow(&session->arena, names, ask->n_columns, sizeof *names);
    names[ask->n_columns++] = name;
  }
  ask->columns = names;
  return true;
}

static bool read_range(Session *session, const char *target, LineageAsk *ask, Error *err) {
  const char *text = args_value(session->args, "range");
  if (text == NULL) return true;
  Shape shape;
  DateProfile unused;
  if (!target_shape(session, target, &shape, &unused, err)) return false;
  ask->grain = shape.codec.grain;
  ask->zone = shape.codec.zone;
  ask->ranged = true;
  return date_range_parse(text, shape.codec.grain, shape.codec.zone, &ask->range, err);
}

/* Columns that the table does not have would reach nothing, and look harmless. */
static bool check_columns(Arena *arena, const TableFacts *table, const LineageAsk *ask, Error *err) {
  const char *names = "";
  for (size_t i = 0; i < ask->n_columns; i++) {
    bool found = false;
    for (size_t c = 0; c < table->n_columns; c++) found |= strcasecmp(table->columns[c].name, ask->columns[i]) == 0;
    if (found) continue;
    for (size_t c = 0; c < table->n_columns; c++)
      names = arena_printf(arena, "%s%s%s", names, c == 0 ? "" : ", ", table->columns[c].name);
    error_set(err, ERR_USAGE, "%s has no column %s, which --columns names", table->name, ask->columns[i]);
    return error_hint(err, "it has %s", names);
  }
  return true;
}

static bool is_named(const GraphNode *node, const char *word) {
  return strcasecmp(node->shown, word) == 0 || (node->name.id != NULL && strcasecmp(node->name.id, word) == 0);
}

/* A name that lineage alone knows: a dashboard, a metric, a model of another database. *ret is GRAPH_NONE when there is
 * none. */
static bool find_named(Session *session, const Graph *graph, const char *word, NodeId *ret, Error *err) {
  GraphName name = graph_relation(&session->arena, word);
  bool doubtful = false;
  NodeId found = graph_find(graph, &name, &doubtful);
  for (size_t i = 0; found == GRAPH_NONE && i < graph_count(graph); i++)
    if (is_named(graph_at(graph, (NodeId)i), word)) found = (NodeId)i;
  *ret = found;
  if (!doubtful) return true;
  error_set(err, ERR_NOT_FOUND, "several that lineage knows are called %s", word);
  return error_hint(err, "give the schema too, or the database: %s is one of them", graph_at(graph, found)->shown);
}

static bool ask_named(Session *session, const char *word, Asked *asked, const Error *cause, Error *err) {
  const Graph *graph;
  NodeId *start = arena_array(&session->arena, 1, sizeof *start);
  if (!lineage_read(&session->arena, session->engine, NULL, &session->spec, &graph, err) ||
      !find_named(session, graph, word, start, err))
    return false;
  if (*start == GRAPH_NONE) {
    *err = *cause;
    return error_hint(err, "see which tables there are: tidegate init; lineage knows no such name either");
  }
  asked->lineage.start = start;
  asked->lineage.target = graph_at(graph, *start)->shown;
  lineage_radius(&session->arena, graph, session->engine, &asked->lineage, &asked->radius);
  return true;
}

/* A table, or a name that only lineage knows. */
static bool ask_target(Session *session, const char *word, Asked *asked, Error *err) {
  TableFacts table;
  Error cause;
  LineageAsk *ask = &asked->lineage;
  ask->target = word;
  if (!read_columns(session, ask, err) || !session->engine->ops->now(session->engine, &ask->now, err)) return false;
  if (session->engine->ops->describe_table(session->engine, &session->arena, word, &table, &cause)) {
    ask->target = table.name;
    if (!check_columns(&session->arena, &table, ask, err) || !read_range(session, table.name, ask, err)) return false;
  } else if (cause.code == ERR_NOT_FOUND && args_value(session->args, "range") == NULL) {
    return ask_named(session, word, asked, &cause, err);
  } else {
    *err = cause; /* without the table its dates cannot be read */
    return false;
  }
  return lineage_blast_radius(&session->arena, session->engine, ask, &session->spec, &asked->radius, err);
}

/* The range and the scope of a backfill. */
static bool ask_plan(Session *session, Asked *asked, Error *err) {
  const Plan *plan = &session->plan;
  const char *given = args_value(session->args, "range") != NULL     ? "range"
                      : args_value(session->args, "columns") != NULL ? "columns"
                                                                     : NULL;
  if (given != NULL) {
    error_set(err, ERR_USAGE, "--%s is that of the backfill %s", given, session_word(session, 0));
    return error_hint(err, "leave it out, or name the table: tidegate impact %s --%s …", plan->shape.table, given);
  }
  asked->radius = plan->radius;
  asked->lineage = (LineageAsk){.target = plan->shape.table,
                                .ranged = true,
                                .range = plan->range,
                                .grain = plan->shape.codec.grain,
                                .zone = plan->shape.codec.zone};
  return true;
}

static bool is_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* Four hexadecimal digits or more, as an id is; the ledger is asked then. */
static bool is_plan(Session *session, const char *word) {
  bool exists = false;
  Error ignored;
  BackfillRecord record;
  if (strlen(word) < 4 || word[strspn(word, "0123456789abcdef")] != '\0') return false;
  return session->engine->ops->ledger_exists(session->engine, &exists, &ignored) && exists &&
         ledger_find(session->engine, &session->arena, word, &record, &ignored) && strcmp(record.id, word) == 0;
}

static bool ask(Session *session, Asked *ret, Error *err) {
  const char *word = session_word(session, 0);
  *ret = (Asked){0};
  if (is_file(word)) {
    if (!session_spec(session, word, err) ||
        !plan_resolve(&session->arena, session->engine, &session->spec, &session->plan, err) ||
        !ask_plan(session, ret, err))
      return false;
  } else {
    if (!session_pipeline(session, word, err)) return false;
    bool ok = is_plan(session, word) ? session_plan(session, word, err) && ask_plan(session, ret, err)
                                     : ask_target(session, word, ret, err);
    if (!ok) return false;
  }
  const LineageAsk *from = &ret->lineage;
  ret->shown = (ImpactAsk){.target = from->target,
                           .upstream = args_has(session->args, "upstream"),
                           .leave_out = from->columns != NULL && !args_has(session->args, "all") && !session->json,
                           .ranged = from->ranged,
                           .range = from->range,
                           .grain = from->grain,
                           .zone = from->zone,
                           .columns = args_value(session->args, "columns")};
  return session->engine->ops->now(session->engine, &ret->shown.now, err);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool put(Session *session, const ImpactFacts *facts, Format format, Buf *out, Error *err) {
  ImpactSize size = args_has(session->args, "all") ? IMPACT_ALL : IMPACT_READABLE;
  Paint plain = {.out = out};
  switch (format) {
    case FORMAT_TEXT:
    case FORMATS_:
      view_impact(args_value(session->args, "output") == NULL ? &session->paint : &plain, &session->arena, facts, size);
      return true;
    case FORMAT_MERMAID:
      view_impact_mermaid(out, &session->arena, facts, size);
      return true;
    case FORMAT_DOT:
      view_impact_dot(out, &session->arena, facts, size);
      return true;
    case FORMAT_SVG:
      return view_impact_svg(out, &session->arena, facts, size, err);
    case FORMAT_HTML:
      view_impact_html(out, &session->arena, facts, size);
      return true;
  }
  return true;
}

static int run(Session *session) {
  Format format;
  Asked asked;
  ImpactFacts facts;
  Error err;
  BUF_SCOPED text = {0};
  const char *file = args_value(session->args, "output");
  if (!choose_format(session, &format, &err) || !ask(session, &asked, &err)) return session_fail(session, &err);
  impact_facts(&session->arena, &asked.radius, &asked.shown, &facts);
  bool drawn = file != NULL || !session->json;
  if (drawn &&
      (!put(session, &facts, format, &text, &err) || (file != NULL && !session_write(session, file, &text, &err))))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "file", file);
    view_impact_json(&json, &facts);
    session_object_end(session, &json);
  } else if (file == NULL) {
    buf_puts(&session->buffer, buf_text(&text));
  } else if (!session->quiet) {
    paint_line(&session->paint, "written", "%s", file);
    if (facts.finding != NULL) paint_verdict(&session->paint, STYLE_BAD, "finding", "%s", facts.finding);
  }
  int status = session_flush(session);
  return status != 0 || facts.known ? status : error_exit_status(ERR_INCOMPLETE);
}
