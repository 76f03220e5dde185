#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/* Keys of production that the recompute no longer gives: judged over the whole range, because a key may only have moved
 * between batches. */

/* The conditions under which `changes` lets rows vanish. */
static const char *allowed(Arena *arena, const Job *job) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < job->n_scope; i++) {
    if (job->scope[i].kind != JOB_SCOPE_VANISHED) continue;
    buf_printf(&out, "%s(%s\n)", out.len == 0 ? "" : " OR ",
               job->scope[i].where == NULL ? "TRUE" : job->scope[i].where);
  }
  return out.len == 0 ? "FALSE" : arena_strdup(arena, buf_text(&out));
}

/* "old_c" AS "c" for every stored column. */
static const char *old_row(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const char *name = sql->shape->columns[sql->stored[i]].name;
    buf_printf(&out, "%s%s AS %s", i == 0 ? "" : ", ", sql_ident(arena, arena_printf(arena, "old_%s", name)),
               sql_ident(arena, name));
  }
  return arena_strdup(arena, buf_text(&out));
}

static Example example(Arena *arena, const ShapeSql *sql, Stmt *stmt) {
  BUF_SCOPED key = {0};
  Example ret = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const char *text = sql_text(arena, stmt, (int)i);
    if (sql->stored[i] == sql->shape->date) ret.date = text;
    if (sql->shape->columns[sql->stored[i]].key)
      buf_printf(&key, "%s%s", key.len == 0 ? "" : ", ", text == NULL ? "NULL" : text);
  }
  ret.key = arena_strdup(arena, buf_text(&key));
  return ret;
}

bool sqlite_vanished(Engine *base, Arena *arena, const Job *job, Finding *ret, Error *err) {
  static const char doing[] = "looking for keys that vanish";
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  ShapeSql sql;
  if (!shape_sql(engine, arena, job->shape, &sql, err)) return false;
  const char *text = sql_fill(
      arena, sql_vanished_rows, "columns", shape_list(arena, job->shape, sql.stored, sql.n_stored, "", ""), "old",
      old_row(arena, &sql), "changes", shape_object(arena, job->id, "changes"), "allowed", allowed(arena, job), NULL);
  if (!sql_prepare(engine, text, &stmt, doing, err)) return false;
  Finding finding = {.kind = FINDING_VANISHED};
  Example *examples = arena_array(arena, job->max_examples, sizeof *examples);
  for (bool row;; finding.count++) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    if (finding.n < job->max_examples) examples[finding.n++] = example(arena, &sql, &stmt);
  }
  finding.examples = examples;
  *ret = finding;
  return true;
}
