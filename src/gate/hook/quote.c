#include <string.h>

#include "gate/hook/hook.h"

static bool is_plain(const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  return *word != '\0' && word[strspn(word, plain)] == '\0';
}

const char *hook_quote(Arena *arena, const char *word) {
  BUF_SCOPED out = {0};
  if (is_plain(word)) return word;
  buf_putc(&out, '\'');
  for (; *word != '\0'; word++)
    if (*word == '\'')
      buf_puts(&out, "'\\''");
    else
      buf_putc(&out, *word);
  buf_putc(&out, '\'');
  return arena_strdup(arena, buf_text(&out));
}

const char *hook_quote_all(Arena *arena, const char *const *words, size_t n) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++) {
    /* NAME=value as the first word would be an assignment, where it was a program's name. */
    bool assigns = i == 0 && strchr(words[i], '=') != NULL && is_plain(words[i]);
    buf_printf(&out, "%s%s%s%s", i == 0 ? "" : " ", assigns ? "'" : "", hook_quote(arena, words[i]),
               assigns ? "'" : "");
  }
  return arena_strdup(arena, buf_text(&out));
}
