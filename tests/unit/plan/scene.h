#ifndef TIDEGATE_TESTS_PLAN_SCENE_H
#define TIDEGATE_TESTS_PLAN_SCENE_H

#include "../engine/open.h"

#include "plan/plan.h"

/* Sales of two shops, 1–10 March 2024; the orders that they are computed from; something downstream. */
static const char sales_sql[] =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, day TEXT NOT NULL, shop TEXT NOT NULL, amount INTEGER NOT NULL);"
    "CREATE INDEX orders_by_day ON orders (day);"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)"
    "INSERT INTO orders (day, shop, amount) SELECT date('2024-03-01', (i / 4) || ' days'), char(97 + i % 2), i FROM n;"
    "CREATE TABLE sales (day TEXT NOT NULL, shop TEXT NOT NULL, total INTEGER, note TEXT DEFAULT '', "
    "PRIMARY KEY (day, shop));"
    "INSERT INTO sales (day, shop, total) SELECT day, shop, sum(amount) FROM orders GROUP BY 1, 2;"
    "UPDATE sales SET total = 0 WHERE day BETWEEN '2024-03-05' AND '2024-03-06' AND shop = 'a';"
    "CREATE VIEW best AS SELECT max(total) FROM sales;";

#define HEAD "target: sales\nrange: 2024-03-05..2024-03-07\nwrong: w\ncorrect: c\n"
#define RECOMPUTE                                                                                                    \
  "recompute: |\n  SELECT shop, day, sum(amount) AS TOTAL\n  FROM orders WHERE day >= :from AND day < :to GROUP BY " \
  "1, 2\n"
#define EVIDENCE "changes: {total: shop = 'a'}\n"
#define GOOD HEAD EVIDENCE "control: 2024-03-01..2024-03-03\nproduction: none\n" RECOMPUTE

static inline bool try_plan(Fixture *f, const char *yaml, Plan *ret, Error *err) {
  Spec spec;
  must(spec_parse(&f->arena, "/nowhere/sales.yaml", yaml, NULL, NULL, &spec, err), err);
  return plan_resolve(&f->arena, f->engine, &spec, ret, err);
}

static inline Plan plan_of(Fixture *f, const char *yaml) {
  Plan plan;
  Error err = {0};
  must(try_plan(f, yaml, &plan, &err), &err);
  return plan;
}

static inline Plan measured(Fixture *f, const char *yaml) {
  Plan plan = plan_of(f, yaml);
  Error err = {0};
  must(plan_measure(&f->arena, f->engine, &plan, NULL, &err), &err);
  return plan;
}

static inline void assert_inferred(const Plan *plan, const char *name, const char *value, const char *from) {
  for (size_t i = 0; i < plan->n_inferred; i++) {
    if (strcmp(plan->inferred[i].name, name) != 0) continue;
    assert_string_equal(plan->inferred[i].value, value);
    assert_has(plan->inferred[i].from, from);
    return;
  }
  fail_msg("%s was not inferred", name);
}

static inline void assert_among(const char *const *texts, size_t n, const char *part) {
  for (size_t i = 0; i < n; i++)
    if (strstr(texts[i], part) != NULL) return;
  fail_msg("“%s” is in none of %zu texts", part, n);
}

#endif
