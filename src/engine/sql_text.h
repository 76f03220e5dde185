#ifndef TIDEGATE_ENGINE_SQL_TEXT_H
#define TIDEGATE_ENGINE_SQL_TEXT_H

#include "base/arena.h"

/* How every driver puts its statements together. */

/*
 * Fills {name} places of a template from pairs (name, value, name, value, …, NULL). Values are spliced as they are:
 * quote identifiers with sql_ident and texts with sql_literal. An unknown place ends the program by assert: templates
 * are ours.
 */
const char *sql_fill(Arena *arena, const char *template_text, ...) __attribute__((sentinel));
/* "name" with quotes doubled. */
const char *sql_ident(Arena *arena, const char *name);
/* 'text' with quotes doubled. */
const char *sql_literal(Arena *arena, const char *text);

#endif
