#include "view/runbook_page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "view/paint.h"

/* Turns between plain and typed in a text. paint_escape shows control characters as escapes, so no value has it. */
enum { TURN = '\x01' };

static PageBlock *add(Page *page, PageKind kind, const char *text) {
  page->blocks = arena_grow(page->arena, page->blocks, page->n, sizeof *page->blocks);
  PageBlock *block = &page->blocks[page->n++];
  *block = (PageBlock){.kind = kind, .label = "", .text = text, .passing = page->passing};
  return block;
}

__attribute__((format(printf, 2, 0))) static const char *fill(Page *page, const char *format, va_list args) {
  char *pattern = arena_strdup(page->arena, format);
  for (char *c = pattern; *c != '\0'; c++)
    if (*c == '`') *c = TURN;
  return arena_vprintf(page->arena, pattern, args);
}

/* As GitHub makes them: small letters, digits and hyphens; one that is taken already gets a number. */
static const char *anchor(const Page *page, const char *text) {
  BUF_SCOPED out = {0};
  for (const char *c = text; *c != '\0'; c++) {
    if (isalnum((unsigned char)*c) || *c == '-' || *c == '_') buf_putc(&out, (char)tolower((unsigned char)*c));
    if (*c == ' ') buf_putc(&out, '-');
  }
  int taken = 0;
  for (size_t i = 0; i < page->n; i++) {
    const PageBlock *block = &page->blocks[i];
    size_t n = out.len;
    if (block->kind == PAGE_HEADING && strncmp(block->label, buf_text(&out), n) == 0 &&
        (block->label[n] == '\0' || (block->label[n] == '-' && isdigit((unsigned char)block->label[n + 1]))))
      taken++;
  }
  return taken == 0 ? arena_strdup(page->arena, buf_text(&out))
                    : arena_printf(page->arena, "%s-%d", buf_text(&out), taken);
}

void page_heading(Page *page, int level, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = fill(page, format, args);
  va_end(args);
  const char *label = anchor(page, text);
  PageBlock *block = add(page, PAGE_HEADING, text);
  block->level = level;
  block->label = label;
}

void page_say(Page *page, PageKind kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(page, kind, fill(page, format, args));
  va_end(args);
}

void page_fact(Page *page, const char *label, const char *text) {
  PageBlock *block = add(page, PAGE_FACT, text == NULL ? "not declared" : arena_strdup(page->arena, text));
  block->label = arena_strdup(page->arena, label);
}

void page_code(Page *page, const char *language, const char *text) {
  PageBlock *block = add(page, PAGE_CODE, arena_strdup(page->arena, text));
  block->label = language;
}

void page_picture(Page *page, const char *html) { add(page, PAGE_PICTURE, html)->passing = true; }

void page_digest(const Page *page, char text[33]) {
  BUF_SCOPED all = {0};
  for (size_t i = 0; i < page->n; i++) {
    const PageBlock *block = &page->blocks[i];
    if (block->passing) continue;
    buf_printf(&all, "%d:%s:", (int)block->kind, block->label);
    buf_puts(&all, block->text);
    buf_putc(&all, '\0');
  }
  hash_hex(buf_text(&all), all.len, text);
}

bool page_next_run(const char **text, PageRun *run) {
  const char *at = *text;
  bool typed = *at == TURN;
  if (typed) at++;
  if (!typed && *at == '\0') return false;
  size_t n = strcspn(at, "\x01");
  *run = (PageRun){at, n, typed};
  *text = at + n + (typed && at[n] == TURN);
  return true;
}

bool page_format_parse(const char *word, PageFormat *ret) {
  static const char *const words[] = {[PAGE_MARKDOWN] = "markdown", [PAGE_HTML] = "html", [PAGE_PLAIN] = "text"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(word, words[i]) != 0) continue;
    *ret = (PageFormat)i;
    return true;
  }
  return false;
}

const char *page_shown(Arena *arena, const char *text, size_t n, bool code) {
  BUF_SCOPED out = {0};
  for (const char *end = text + n; text < end;) {
    size_t piece = code ? strcspn(text, "\n\t") : strlen(text);
    if (piece > (size_t)(end - text)) piece = (size_t)(end - text);
    char *line = arena_strndup(arena, text, piece);
    for (char *c = line; *c != '\0' && !code; c++)
      if (*c == '\n' || *c == '\t') *c = ' ';
    paint_escape(&out, line);
    text += piece;
    if (text < end) buf_putc(&out, *text++);
  }
  return arena_strdup(arena, buf_text(&out));
}

void page_render(Buf *out, Arena *arena, const Page *page, PageFormat format, const char *mark) {
  if (format == PAGE_HTML) page_html(out, arena, page, mark);
  if (format == PAGE_MARKDOWN) page_markdown(out, arena, page, mark);
  if (format == PAGE_PLAIN) page_plain(out, arena, page, mark);
}
