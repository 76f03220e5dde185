#ifndef TIDEGATE_VIEW_PAINT_H
#define TIDEGATE_VIEW_PAINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Text for people. Everything that comes from a database or a spec goes through paint_escape, so that no value can move
 * the cursor, set a colour or write over a line: control characters, bytes that are not UTF-8 and marks that turn the
 * direction of writing are shown as escapes.
 */
typedef enum Style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_WARN } Style;

typedef struct Paint {
  Buf *out;
  bool colour;
  int width; /* columns of the terminal; 0: no limit */
} Paint;

/* The columns that a label takes, its space included. */
enum { PAINT_LABEL = 10 };

/* Colours only on a terminal that knows them, and never when NO_COLOR is set and not empty (no-color.org). */
bool paint_wants_colour(bool terminal);
/* Columns of the terminal behind fd, 80 when it does not say; 0 when it is none. */
int paint_terminal_width(int fd);

/* Appends the text with everything escaped that a terminal would act on. NULL writes "NULL". */
void paint_escape(Buf *out, const char *text);
/* The same, at most so many columns of it (at least 1); where something is cut off the last of them is "…". */
void paint_cut(Buf *out, const char *text, size_t columns);
/* How many columns an escaped text takes. */
size_t paint_columns(const char *text);

/* Escaped text in a style. */
void paint_styled(Paint *paint, Style style, const char *text);
/* Escaped text, no style. */
void paint_text(Paint *paint, const char *text);

/*
 * One line of a report: the label in its column, then the text, escaped and wrapped under itself. Line breaks in the
 * text become spaces. label "" continues the one above.
 */
void paint_line(Paint *paint, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with the label in a style of its own: ALLOW, DENY, SWAPPED. */
void paint_verdict(Paint *paint, Style style, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Aligned columns. Cells are escaped and, where longer than 40 columns, cut with "…". NULL cells stay empty. */
typedef struct Table {
  const char *const *heads; /* NULL: no heads */
  const char *const *cells; /* rows × columns */
  size_t columns, rows;
  unsigned right; /* bit c: column c is aligned to the right */
  int indent;
} Table;
void paint_table(Paint *paint, const Table *table);

#endif
