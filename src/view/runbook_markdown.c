#include <ctype.h>
#include <string.h>

#include "view/runbook_page.h"

/* What Markdown would act on. An underscore inside a word is plain text. */
static void escaped(Buf *out, const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    bool inside = c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
    if (*c == '<' || *c == '&')
      buf_puts(out, *c == '<' ? "&lt;" : "&amp;");
    else if (strchr("\\`*[]|~#", *c) != NULL || (*c == '_' && !inside))
      buf_printf(out, "\\%c", *c);
    else
      buf_putc(out, *c);
  }
}

static size_t longest_backticks(const char *text) {
  size_t longest = 0;
  for (; *text != '\0'; text++) {
    size_t n = strspn(text, "`");
    if (n > longest) longest = n;
    text += n > 0 ? n - 1 : 0;
  }
  return longest;
}

/* A code span: inside a table a bar is escaped even there. */
static void typed(Buf *out, const char *text, bool cell) {
  size_t fence = longest_backticks(text) + 1;
  bool pad = *text == '`' || (*text != '\0' && text[strlen(text) - 1] == '`');
  for (size_t i = 0; i < fence; i++) buf_putc(out, '`');
  if (pad) buf_putc(out, ' ');
  for (; *text != '\0'; text++) buf_printf(out, cell && *text == '|' ? "\\%c" : "%c", *text);
  if (pad) buf_putc(out, ' ');
  for (size_t i = 0; i < fence; i++) buf_putc(out, '`');
}

static void line(Buf *out, Arena *arena, const char *text, bool cell) {
  PageRun run;
  while (page_next_run(&text, &run)) {
    const char *shown = page_shown(arena, run.text, run.n, false);
    if (run.typed)
      typed(out, shown, cell);
    else
      escaped(out, shown);
  }
}

static void code(Buf *out, Arena *arena, const PageBlock *block) {
  size_t fence = longest_backticks(block->text) + 1;
  if (fence < 3) fence = 3;
  for (size_t i = 0; i < fence; i++) buf_putc(out, '`');
  buf_printf(out, "%s\n%s\n", block->label, page_shown(arena, block->text, strlen(block->text), true));
  for (size_t i = 0; i < fence; i++) buf_putc(out, '`');
  buf_puts(out, "\n\n");
}

static void contents(Buf *out, Arena *arena, const Page *page) {
  for (size_t i = 0; i < page->n; i++) {
    const PageBlock *block = &page->blocks[i];
    if (block->kind != PAGE_HEADING || block->level == 1) continue;
    buf_printf(out, "%s- [", block->level == 2 ? "" : "  ");
    line(out, arena, block->text, false);
    buf_printf(out, "](#%s)\n", block->label);
  }
  buf_putc(out, '\n');
}

static void put(Buf *out, Arena *arena, const Page *page, size_t i) {
  const PageBlock *block = &page->blocks[i];
  bool first = i == 0 || page->blocks[i - 1].kind != block->kind;
  bool last = i + 1 == page->n || page->blocks[i + 1].kind != block->kind;
  static const char *const before[] = {
      [PAGE_TEXT] = "",   [PAGE_ITEM] = "- ", [PAGE_BEFORE] = "> **Look first.** ", [PAGE_NEVER] = "> **Do not** ",
      [PAGE_FACT] = "| ", [PAGE_CODE] = ""};
  if (block->kind == PAGE_PICTURE) return;
  if (block->kind == PAGE_CODE) {
    code(out, arena, block);
    return;
  }
  if (block->kind == PAGE_HEADING) {
    buf_printf(out, "%.*s ", block->level, "###");
    line(out, arena, block->text, false);
    buf_puts(out, "\n\n");
    if (block->level == 1) contents(out, arena, page);
    return;
  }
  if (block->kind == PAGE_FACT && first) buf_puts(out, "| | |\n|---|---|\n");
  buf_puts(out, before[block->kind]);
  if (block->kind == PAGE_FACT) {
    line(out, arena, block->label, true);
    buf_puts(out, " | ");
  }
  line(out, arena, block->text, block->kind == PAGE_FACT);
  if (block->kind == PAGE_FACT) buf_puts(out, " |");
  buf_puts(out, (block->kind == PAGE_FACT || block->kind == PAGE_ITEM) && !last ? "\n" : "\n\n");
}

void page_markdown(Buf *out, Arena *arena, const Page *page, const char *mark) {
  if (mark != NULL) buf_printf(out, "<!-- %s -->\n\n", mark);
  for (size_t i = 0; i < page->n; i++) put(out, arena, page, i);
}
