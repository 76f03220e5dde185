#ifndef TIDEGATE_VIEW_RUNBOOK_PAGE_H
#define TIDEGATE_VIEW_RUNBOOK_PAGE_H

#include "base/arena.h"
#include "base/buf.h"

/*
 * The runbook as data, rendered three times. Nothing that comes from a file or a database needs escaping when it is put
 * in: each rendering does that. In a format of this header `backquotes` say "as it is typed"; in its arguments they are
 * plain text.
 */
typedef enum PageKind {
  PAGE_HEADING,
  PAGE_TEXT,
  PAGE_ITEM,   /* one of a list */
  PAGE_BEFORE, /* what to look at before the step */
  PAGE_NEVER,  /* what not to do */
  PAGE_FACT,   /* a label and what it is */
  PAGE_CODE,
  PAGE_PICTURE /* for HTML alone: markup as it is, of which everything from outside is escaped already */
} PageKind;

typedef struct PageBlock {
  PageKind kind;
  int level;         /* of a heading: 1 is the title, 2 a chapter, 3 a step */
  const char *label; /* of a fact: its name; of a heading: its anchor; of code: its language */
  const char *text;
  bool passing; /* it changes by itself as time goes: not in the digest */
} PageBlock;

typedef struct Page {
  Arena *arena;
  PageBlock *blocks;
  size_t n;
  bool passing; /* what is put in now is so */
} Page;

/* NULL text shows a fact as "not declared". */
void page_heading(Page *page, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_say(Page *page, PageKind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_fact(Page *page, const char *label, const char *text);
void page_code(Page *page, const char *language, const char *text);
/* Not in the digest: what it shows stands elsewhere in words. */
void page_picture(Page *page, const char *html);

/* 32 hex digits over all that does not pass: the same for every rendering. */
void page_digest(const Page *page, char text[33]);

/* The pieces of a text: plain, then as typed, and so on in turn. False at its end. */
typedef struct PageRun {
  const char *text;
  size_t n;
  bool typed;
} PageRun;
bool page_next_run(const char **text, PageRun *run);

typedef enum PageFormat { PAGE_MARKDOWN, PAGE_HTML, PAGE_PLAIN } PageFormat;

/* "markdown", "html", "text". */
bool page_format_parse(const char *word, PageFormat *ret);

/*
 * Markdown (CommonMark with tables); one HTML file without outside resources; text of 80 columns, where only what was
 * typed by hand may be wider. `mark` stands in it as a line that is not shown (text: as the last line); NULL: none.
 */
void page_render(Buf *out, Arena *arena, const Page *page, PageFormat format, const char *mark);
void page_markdown(Buf *out, Arena *arena, const Page *page, const char *mark);
void page_html(Buf *out, Arena *arena, const Page *page, const char *mark);
void page_plain(Buf *out, Arena *arena, const Page *page, const char *mark);

/* A text without what a terminal would act on (paint_escape); line ends and tabs of code stay. */
const char *page_shown(Arena *arena, const char *text, size_t n, bool code);

#endif
