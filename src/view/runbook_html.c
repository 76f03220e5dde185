#include <string.h>

#include "view/runbook_page.h"
#include "view/xml.h"

/* One file, no script, nothing from elsewhere: the policy says so to the browser too. */
static const char head[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1d2329; --paper: #fff; --soft: #f3f5f7; --line: #d5dade; --link: "
    "#0b5cad;"
    " --look: #8a5a00; --stop: #b3261e; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --paper: #14181c; --soft: #1f252b; --line: #39424a;"
    " --link: #7ab8ff; --look: #f0b849; --stop: #ff8a80; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }\n"
    "main, nav { max-width: 56rem; margin: 0 auto; padding: 0 1rem; overflow-wrap: anywhere; }\n"
    "main { padding-bottom: 4rem; }\n"
    "main nav { padding: 0; }\n"
    "h1 { line-height: 1.2; margin: 1.5rem 0 .5rem; }\n"
    "h2 { margin: 3rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }\n"
    "h3 { margin: 2rem 0 .5rem; }\n"
    "h2 a, h3 a { color: inherit; text-decoration: none; }\n"
    "h2 a:hover, h3 a:hover { text-decoration: underline; }\n"
    "a { color: var(--link); }\n"
    "nav details { background: var(--soft); border-radius: .5rem; padding: .5rem 1rem; }\n"
    "summary { cursor: pointer; font-weight: 600; }\n"
    "nav ul { list-style: none; padding: 0; margin: .5rem 0; columns: 2 18rem; }\n"
    "nav li { break-inside: avoid; padding: .15rem 0; }\n"
    "nav li.step { padding-left: 1.25rem; }\n"
    "table { border-collapse: collapse; width: 100%; margin: 1rem 0; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid"
    " var(--line); }\n"
    "th { font-weight: 600; width: 12rem; overflow-wrap: normal; }\n"
    "code, pre { font: .875em/1.5 ui-monospace, monospace; }\n"
    "code { background: var(--soft); padding: .1em .3em; border-radius: .25rem; }\n"
    "pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem;"
    " overflow-x: auto; overflow-wrap: normal; }\n"
    "pre code { background: none; padding: 0; font-size: 1em; }\n"
    "figure { margin: 1rem 0; overflow: auto; max-height: 85vh; border: 1px solid var(--line); border-radius: .5rem; "
    "}\n"
    ".look, .never { border-left: .25rem solid var(--look); padding: .1rem 0 .1rem .75rem; margin: .75rem 0; }\n"
    ".look b { color: var(--look); }\n"
    ".never { border-color: var(--stop); }\n"
    ".never b { color: var(--stop); }\n"
    "@media (max-width: 40rem) { table, tbody, tr, th, td { display: block; width: auto; } th { border: 0; padding: "
    ".5rem 0 0; } pre { margin-left: -1rem; margin-right: -1rem; border-radius: 0; border-left: 0; border-right: 0; "
    "white-space: pre-wrap; overflow-wrap: anywhere; } }\n"
    "@media print { body { font-size: 10pt; color: #000; background: #fff; } pre { white-space: pre-wrap; "
    "overflow-wrap: anywhere; break-inside: auto; background: none; } h2, h3 { break-after: avoid; } .look, .never, tr "
    "{ break-inside: avoid; } a { color: inherit; text-decoration: none; } main, nav { max-width: none; } }\n"
    "</style>\n";

static void line(Buf *out, Arena *arena, const char *text) {
  PageRun run;
  while (page_next_run(&text, &run)) {
    buf_puts(out, run.typed ? "<code>" : "");
    xml_escape(out, page_shown(arena, run.text, run.n, false));
    buf_puts(out, run.typed ? "</code>" : "");
  }
}

/* Open on a wide screen and on paper, as it is short; a person on a phone closes it. */
static void contents(Buf *out, Arena *arena, const Page *page) {
  buf_puts(out, "<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n");
  for (size_t i = 0; i < page->n; i++) {
    const PageBlock *block = &page->blocks[i];
    if (block->kind != PAGE_HEADING || block->level == 1) continue;
    buf_printf(out, "<li%s><a href=\"#%s\">", block->level == 2 ? "" : " class=\"step\"", block->label);
    line(out, arena, block->text);
    buf_puts(out, "</a></li>\n");
  }
  buf_puts(out, "</ul></details></nav>\n");
}

static void heading(Buf *out, Arena *arena, const PageBlock *block) {
  if (block->level == 1) return;
  buf_printf(out, "<h%d id=\"%s\"><a href=\"#%s\">", block->level, block->label, block->label);
  line(out, arena, block->text);
  buf_printf(out, "</a></h%d>\n", block->level);
}

static void put(Buf *out, Arena *arena, const Page *page, size_t i) {
  static const struct {
    const char *list, *open, *close, *end;
  } marks[] = {[PAGE_TEXT] = {"", "<p>", "</p>\n", ""},
               [PAGE_ITEM] = {"<ul>\n", "<li>", "</li>\n", "</ul>\n"},
               [PAGE_BEFORE] = {"", "<p class=\"look\"><b>Look first.</b> ", "</p>\n", ""},
               [PAGE_NEVER] = {"", "<p class=\"never\"><b>Do not</b> ", "</p>\n", ""},
               [PAGE_FACT] = {"<table>\n", "<tr>", "</td></tr>\n", "</table>\n"}};
  const PageBlock *block = &page->blocks[i];
  if (block->kind == PAGE_HEADING) {
    heading(out, arena, block);
    return;
  }
  if (block->kind == PAGE_PICTURE) {
    buf_puts(out, block->text);
    return;
  }
  if (block->kind == PAGE_CODE) {
    buf_printf(out, "<pre tabindex=\"0\"><code class=\"language-%s\">", block->label);
    xml_escape(out, page_shown(arena, block->text, strlen(block->text), true));
    buf_puts(out, "</code></pre>\n");
    return;
  }
  if (i == 0 || page->blocks[i - 1].kind != block->kind) buf_puts(out, marks[block->kind].list);
  buf_puts(out, marks[block->kind].open);
  if (block->kind == PAGE_FACT) {
    buf_puts(out, "<th scope=\"row\">");
    line(out, arena, block->label);
    buf_puts(out, "</th><td>");
  }
  line(out, arena, block->text);
  buf_puts(out, marks[block->kind].close);
  if (i + 1 == page->n || page->blocks[i + 1].kind != block->kind) buf_puts(out, marks[block->kind].end);
}

void page_html(Buf *out, Arena *arena, const Page *page, const char *mark) {
  const char *title = page->n > 0 ? page->blocks[0].text : "";
  buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
  for (PageRun run; page_next_run(&title, &run);) xml_escape(out, page_shown(arena, run.text, run.n, false));
  buf_printf(out, "</title>\n%s", head);
  if (mark != NULL) buf_printf(out, "<!-- %s -->\n", mark);
  buf_puts(out, "</head>\n<body>\n<main>\n<h1>");
  if (page->n > 0) line(out, arena, page->blocks[0].text);
  buf_puts(out, "</h1>\n");
  contents(out, arena, page);
  for (size_t i = 0; i < page->n; i++) put(out, arena, page, i);
  buf_puts(out, "</main>\n</body>\n</html>\n");
}
