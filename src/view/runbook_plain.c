#include <ctype.h>
#include <string.h>

#include "view/paint.h"
#include "view/runbook_page.h"

/* As a man page is set: headings at the edge, the rest 4 columns in, 80 columns in all. */
enum { WIDTH = 80, INDENT = 4, LABEL = 20 };

static void spaces(Buf *out, size_t n) {
  for (size_t i = 0; i < n; i++) buf_putc(out, ' ');
}

static const char *bare(Arena *arena, const char *text) {
  BUF_SCOPED out = {0};
  PageRun run;
  while (page_next_run(&text, &run)) {
    const char *quote = run.typed ? "\"" : "";
    buf_printf(&out, "%s%s%s", quote, page_shown(arena, run.text, run.n, false), quote);
  }
  return arena_strdup(arena, buf_text(&out));
}

/* `lead` stands in the first line, `indent` columns before those that follow. A word that is too long is not cut. */
static void wrapped(Buf *out, Arena *arena, const char *lead, size_t indent, const char *text) {
  size_t column = paint_columns(lead);
  bool start = true;
  buf_puts(out, lead);
  size_t n_lead = strlen(lead);
  if (column >= indent && n_lead > 0 && lead[n_lead - 1] != ' ') {
    buf_putc(out, '\n');
    column = 0;
  }
  if (column < indent) spaces(out, indent - column);
  column = indent;
  for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
    size_t n = strcspn(text, " ");
    const char *word = arena_strndup(arena, text, n);
    size_t wide = paint_columns(word);
    if (!start && column + 1 + wide > WIDTH) {
      buf_putc(out, '\n');
      spaces(out, indent);
      column = indent;
      start = true;
    }
    buf_printf(out, "%s%s", start ? "" : " ", word);
    column += wide + (start ? 0 : 1);
    start = false;
    text += n;
  }
  buf_putc(out, '\n');
}

static void heading(Buf *out, Arena *arena, const PageBlock *block) {
  char *text = arena_strdup(arena, bare(arena, block->text));
  if (block->level < 3)
    for (char *c = text; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
  buf_putc(out, '\n');
  wrapped(out, arena, "", block->level < 3 ? 0 : 2, text);
  buf_putc(out, '\n');
}

static void code(Buf *out, Arena *arena, const PageBlock *block) {
  const char *text = page_shown(arena, block->text, strlen(block->text), true);
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    spaces(out, n > 0 ? INDENT : 0);
    buf_append(out, text, n);
    buf_putc(out, '\n');
    text += n + (text[n] == '\n');
  }
  buf_putc(out, '\n');
}

static void put(Buf *out, Arena *arena, const Page *page, size_t i) {
  static const char *const leads[] = {[PAGE_TEXT] = "    ",
                                      [PAGE_ITEM] = "    - ",
                                      [PAGE_BEFORE] = "    LOOK FIRST: ",
                                      [PAGE_NEVER] = "    DO NOT ",
                                      [PAGE_FACT] = ""};
  const PageBlock *block = &page->blocks[i];
  if (block->kind == PAGE_PICTURE) return;
  bool last = i + 1 == page->n || page->blocks[i + 1].kind != block->kind;
  if (block->kind == PAGE_HEADING) {
    heading(out, arena, block);
  } else if (block->kind == PAGE_CODE) {
    code(out, arena, block);
  } else if (block->kind == PAGE_FACT) {
    wrapped(out, arena, arena_printf(arena, "    %s", bare(arena, block->label)), INDENT + LABEL,
            bare(arena, block->text));
    if (last) buf_putc(out, '\n');
  } else {
    size_t indent = block->kind == PAGE_ITEM ? INDENT + 2 : INDENT;
    const char *lead = leads[block->kind];
    if (strlen(lead) > indent) /* words in capitals: part of the text */
      wrapped(out, arena, "    ", indent, arena_printf(arena, "%s%s", lead + INDENT, bare(arena, block->text)));
    else
      wrapped(out, arena, lead, indent, bare(arena, block->text));
    if (last || block->kind != PAGE_ITEM) buf_putc(out, '\n');
  }
}

void page_plain(Buf *out, Arena *arena, const Page *page, const char *mark) {
  for (size_t i = 0; i < page->n; i++) put(out, arena, page, i);
  if (mark != NULL) buf_printf(out, "%s\n", mark);
}
