#include <inttypes.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/publish.h"

static const char doing[] = "looking for rows that refer to those that change";

/* One foreign key to the target that passes on what happens to its rows. */
typedef struct Child {
  const char *table;
  bool itself;
  const char *const *columns, *const *parent_columns;
  size_t n;
} Child;

/* "p.q IS DISTINCT FROM n.new_q OR …" over the columns referred to that change; NULL: none does. */
static const char *referred_change(const Publish *publish, const Child *child, const bool *columns, const char *to) {
  const ShapeSql *sql = publish->sql;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < child->n; i++)
    for (size_t k = 0; k < sql->n_stored; k++) {
      size_t column = sql->stored[k];
      const char *name = sql->shape->columns[column].name;
      if (!columns[column] || strcmp(name, child->parent_columns[i]) != 0) continue;
      const char *then = arena_printf(publish->arena, "n.%s",
                                      sql_ident(publish->arena, arena_printf(publish->arena, "%s%s", to, name)));
      buf_printf(&out, "%s%s", out.len == 0 ? "" : " OR ",
                 shape_differs(publish->arena, sql, column,
                               arena_printf(publish->arena, "p.%s", sql->columns[column].name), then));
    }
  return out.len == 0 ? NULL : arena_strdup(publish->arena, buf_text(&out));
}

static bool touched(const Publish *publish, const PublishRows *rows, const Child *child, const char *change,
                    int64_t *ret, Error *err) {
  Arena *arena = publish->arena;
  BUF_SCOPED refers = {0};
  for (size_t i = 0; i < child->n; i++)
    buf_printf(&refers, "%sk.%s = p.%s", i == 0 ? "" : " AND ", sql_ident(arena, child->columns[i]),
               sql_ident(arena, child->parent_columns[i]));
  if (change != NULL) buf_printf(&refers, " AND (%s)", change);
  const char *stays = child->itself && change == NULL
                          ? sql_fill(arena, sql_publish_itself_stays, "changes", publish->changes, "of", rows->of,
                                     "found", pg_publish_match(publish, "k.", rows->key), NULL)
                          : "";
  const char *text = sql_fill(arena, sql_publish_touched, "child", child->table, "target", publish->sql->table,
                              "changes", publish->changes, "found", pg_publish_match(publish, "p.", rows->key), "of",
                              rows->of, "refers", buf_text(&refers), "and", stays, NULL);
  return pg_number(publish->engine, text, NULL, 0, ret, doing, err);
}

static bool refuse(const Child *child, int64_t n, bool deletes, Error *err) {
  error_set(err, ERR_HELD,
            "%" PRId64 " rows of %s refer to rows that would %s: their foreign key would change or delete them too", n,
            child->table, deletes ? "be deleted" : "get another value there");
  return error_hint(err, "move or delete those rows of %s first, then try again", child->table);
}

bool pg_publish_spares_children(const Publish *publish, const PublishRows *rows, const bool *columns, const char *to,
                                Error *err) {
  PG_SCOPED keys = NULL;
  if (rows->expected == 0) return true;
  if (!pg_query(publish->engine, sql_publish_children, &publish->sql->table, 1, &keys, doing, err)) return false;
  for (int i = 0; i < PQntuples(keys); i++) {
    size_t n;
    int64_t count;
    Child child = {.table = pg_text(publish->arena, keys, i, 0), .itself = pg_bool(keys, i, 5)};
    child.columns = pg_array(publish->arena, pg_peek(keys, i, 3), &child.n);
    child.parent_columns = pg_array(publish->arena, pg_peek(keys, i, 4), &n);
    const char *change = columns == NULL ? NULL : referred_change(publish, &child, columns, to);
    if (!pg_bool(keys, i, columns == NULL ? 1 : 2) || (columns != NULL && change == NULL)) continue;
    if (!touched(publish, rows, &child, change, &count, err)) return false;
    if (count > 0) return refuse(&child, count, columns == NULL, err);
  }
  return true;
}
