#include <string.h>

#include "gate/trigger/shell_words_int.h"

/* Quotes in a word: '…', "…" and $'…'. */

bool word_single_quotes(WordBuilder *b) {
  ShellReader *r = b->r;
  b->quoted = true;
  for (r->at++; !shell_ended(r); r->at++) {
    if (shell_peek(r, 0) == '\'') {
      r->at++;
      return true;
    }
    word_put(b, shell_peek(r, 0), true);
  }
  return shell_refuse(r, "a single quote is not closed");
}

bool word_double_quotes(WordBuilder *b) {
  ShellReader *r = b->r;
  b->quoted = true;
  r->at++;
  while (!shell_ended(r)) {
    char c = shell_peek(r, 0), next = shell_peek(r, 1);
    if (c == '"') {
      r->at++;
      return true;
    }
    if (c == '\\' && next != '\0' && strchr("$`\"\\\n", next) != NULL) {
      if (next != '\n') word_put(b, next, true);
      r->at += 2;
    } else if (c == '$' || c == '`') {
      if (!word_take_piece(b, true)) return false;
    } else {
      word_put(b, c, true);
      r->at++;
    }
  }
  return shell_refuse(r, "a double quote is not closed");
}

/* The value of up to `most` digits of a base at the place, which moves behind them. */
static int digits(ShellReader *r, int most, int base) {
  int value = 0;
  for (int i = 0; i < most; i++, r->at++) {
    char c = shell_peek(r, 0);
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    if (digit >= base) break;
    value = value * base + digit;
  }
  return value;
}

static void put_utf8(WordBuilder *b, unsigned code) {
  if (code < 0x80) {
    word_put(b, (char)code, true);
  } else if (code < 0x800) {
    word_put(b, (char)(0xC0 | code >> 6), true);
    word_put(b, (char)(0x80 | (code & 63)), true);
  } else {
    if (code >= 0x10000) word_put(b, (char)(0xF0 | (code >> 18 & 7)), true);
    word_put(b, (char)(code >= 0x10000 ? 0x80 | (code >> 12 & 63) : 0xE0 | code >> 12), true);
    word_put(b, (char)(0x80 | (code >> 6 & 63)), true);
    word_put(b, (char)(0x80 | (code & 63)), true);
  }
}

/* Behind the backslash of $'…'. */
static void ansi_escape(WordBuilder *b) {
  static const char names[] = "abeEfnrtv\\'\"?", values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
  ShellReader *r = b->r;
  char c = shell_peek(r, 0);
  const char *name = c == '\0' ? NULL : strchr(names, c);
  r->at++;
  if (name != NULL) {
    word_put(b, values[name - names], true);
  } else if (c == 'x') {
    word_put(b, (char)digits(r, 2, 16), true);
  } else if (c == 'u' || c == 'U') {
    put_utf8(b, (unsigned)digits(r, c == 'u' ? 4 : 8, 16));
  } else if (c >= '0' && c <= '7') {
    r->at--;
    word_put(b, (char)digits(r, 3, 8), true);
  } else if (c == 'c') {
    word_put(b, (char)(shell_peek(r, 0) & 31), true);
    r->at++;
  } else {
    word_put(b, '\\', true);
    word_put(b, c, true);
  }
}

bool word_ansi_quotes(WordBuilder *b) {
  ShellReader *r = b->r;
  b->quoted = true;
  r->at += 2;
  while (!shell_ended(r)) {
    char c = shell_peek(r, 0);
    r->at++;
    if (c == '\'') return true;
    if (c == '\\')
      ansi_escape(b);
    else
      word_put(b, c, true);
  }
  return shell_refuse(r, "a quote of $'…' is not closed");
}
