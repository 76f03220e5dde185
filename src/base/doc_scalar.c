#include "base/doc_int.h"

const char *doc_single_quoted(Arena *arena, const char *s, const char *end) {
  const char *close = s;
  while (close < end && (*close != '\'' || (close + 1 < end && close[1] == '\''))) close += *close == '\'' ? 2 : 1;
  char *text = arena_alloc(arena, (size_t)(close - s) + 1), *out = text;
  while (s < close) {
    const char *after = doc_skip_break(s, close);
    if (after == s) {
      *out++ = *s;
      s += *s == '\'' ? 2 : 1;
      continue;
    }
    while (out > text && (out[-1] == ' ' || out[-1] == '\t')) out--;
    int breaks = 0;
    for (; after != s; after = doc_skip_break(s, close), breaks++)
      for (s = after; s < close && (*s == ' ' || *s == '\t');) s++;
    if (breaks == 1) *out++ = ' ';
    for (; breaks > 1; breaks--) *out++ = '\n';
  }
  *out = '\0'; /* over the blanks that were taken back */
  return text;
}

bool doc_spans_lines(const char *s, const char *end) {
  for (; s < end && *s != '"'; s++) {
    if (*s == '\\' && s + 1 < end) s++;
    if (doc_skip_break(s, end) != s) return true;
  }
  return false;
}
