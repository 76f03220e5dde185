#include "base/mask.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"

/*
 * A command line as the record keeps it: what may be a secret is replaced by ***. Read byte by byte, not as bash does:
 * a text that cannot be understood may hold one too. Masking too much does no harm.
 */

enum { MOST_BYTES = 4096 };

/* Values of the environment that are shorter stand in any text. */
enum { LEAST_VALUE = 6 };

static const char stars[] = "***";

static bool is_word_byte(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.'; }

/* Does a name, such as DB_PASSWORD or --api-token, say that its value is a secret? */
static bool names_secret(const char *name, size_t n) {
  static const char *const words[] = {"password",   "passwd",        "passphrase",  "pwd",        "secret",
                                      "token",      "apikey",        "api_key",     "api-key",    "access_key",
                                      "access-key", "private_key",   "private-key", "credential", "pgpass",
                                      "cookie",     "authorization", "signature"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i]);
    for (size_t at = 0; at + length <= n; at++)
      if (strncasecmp(name + at, words[i], length) == 0) return true;
  }
  return false;
}

/* Where a value that begins here ends: at its closing quote, else before a blank or what ends a command. */
static size_t value_end(const char *text, size_t n, size_t at, char open) {
  char quote = open != '\0' ? open : at < n && (text[at] == '\'' || text[at] == '"') ? text[at] : '\0';
  if (quote == '\0') {
    while (at < n && !isspace((unsigned char)text[at]) && strchr("\"';|&<>)}&,", text[at]) == NULL)
      at += text[at] == '\\' && at + 1 < n ? 2 : 1;
    return at < n ? at : n;
  }
  if (open == '\0') at++;
  while (at < n && text[at] != quote) at += text[at] == '\\' && at + 1 < n ? 2 : 1;
  return at < n ? at + (open == '\0') : n;
}

/* The quote that is open at a place, by counting from the start. */
static char open_quote(const char *text, size_t at) {
  char quote = '\0';
  for (size_t i = 0; i < at; i++) {
    if (text[i] == '\\' && quote != '\'') {
      i++;
    } else if (quote == '\0' && (text[i] == '\'' || text[i] == '"')) {
      quote = text[i];
    } else if (text[i] == quote) {
      quote = '\0';
    }
  }
  return quote;
}

/* Well-known forms of tokens, wherever they stand. */
static bool is_token(const char *word, size_t n) {
  static const char *const begins[] = {"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
                                       "sk-",  "AKIA", "ASIA", "eyJ",         "hvs.",   "dapi",  "dbtc_"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (n >= 16 && n > strlen(begins[i]) && strncmp(word, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}

typedef struct Masking {
  const char *text;
  size_t n, at;
  Buf *out;
} Masking;

/* Copies up to `from` and puts stars for what stands between there and `to`. */
static void replace(Masking *m, size_t from, size_t to) {
  buf_append(m->out, m->text + m->at, from - m->at);
  if (to > from) buf_puts(m->out, stars);
  m->at = to;
}

/* scheme://user:secret@host: from the first colon to the last @ before the path's end. */
static bool mask_url(Masking *m) {
  if (strncmp(m->text + m->at, "://", 3) != 0) return false;
  size_t from = m->at + 3, end = from, colon = 0, sign = 0;
  while (end < m->n && !isspace((unsigned char)m->text[end]) && strchr("/?#'\"", m->text[end]) == NULL) {
    if (m->text[end] == ':' && colon == 0) colon = end;
    if (m->text[end] == '@') sign = end;
    end++;
  }
  if (sign == 0) return false;
  if (colon == 0 || colon > sign) colon = from - 1; /* a token alone before the @ */
  replace(m, colon + 1, sign);
  return true;
}

/* The value of a name that ends before m->at: NAME=value, NAME: value, "name":"value", --name value. */
static bool mask_value(Masking *m, size_t begin) {
  size_t at = m->at;
  char quote = open_quote(m->text, begin);
  if (at + 1 < m->n && m->text[at] == '\\') at++; /* \"name\" in JSON in quotes */
  if (at < m->n && (m->text[at] == '"' || m->text[at] == '\'') && (at > m->at || m->text[at] != quote)) at++;
  size_t gap = at;
  while (gap < m->n && (m->text[gap] == ' ' || m->text[gap] == '\t')) gap++;
  bool assigned = gap < m->n && (m->text[gap] == '=' || m->text[gap] == ':');
  bool flag = m->text[begin] == '-' && gap > at;
  if (assigned) gap++;
  while (gap < m->n && (m->text[gap] == ' ' || m->text[gap] == '\t')) gap++;
  if ((!assigned && !flag) || gap >= m->n) return false;
  if (flag && !assigned && m->text[gap] == '-') return false;
  bool rest = assigned && quote != '\0' && m->text[gap] != '"' && m->text[gap] != '\''; /* a header: all that follows */
  replace(m, gap, value_end(m->text, m->n, gap, rest ? quote : '\0'));
  return true;
}

/* curl's -u user:secret, mysql's -psecret. */
static bool mask_short(Masking *m, size_t begin, size_t end) {
  const char *text = m->text;
  bool user = (end - begin == 2 && strncmp(text + begin, "-u", 2) == 0) ||
              (end - begin == 6 && strncmp(text + begin, "--user", 6) == 0);
  if (user) {
    size_t at = end + (end < m->n && text[end] == '=');
    while (at < m->n && (text[at] == ' ' || text[at] == '\t')) at++;
    size_t stop = value_end(text, m->n, at, '\0'), colon = at;
    while (colon < stop && text[colon] != ':') colon++;
    if (colon >= stop) return false;
    replace(m, colon + 1, stop);
    return true;
  }
  bool digits = true;
  for (size_t i = begin + 2; i < end; i++) digits = digits && isdigit((unsigned char)text[i]);
  if (end - begin < 3 || strncmp(text + begin, "-p", 2) != 0 || digits) return false;
  replace(m, begin + 2, value_end(text, m->n, begin + 2, '\0'));
  return true;
}

static void mask_word(Masking *m) {
  size_t begin = m->at, end = begin;
  while (end < m->n && is_word_byte(m->text[end])) end++;
  if (is_token(m->text + begin, end - begin)) {
    replace(m, begin, end);
    return;
  }
  if (m->text[begin] == '-' && mask_short(m, begin, end)) return;
  buf_append(m->out, m->text + begin, end - begin);
  m->at = end;
  if (names_secret(m->text + begin, end - begin)) mask_value(m, begin);
}

static const char *mask(Arena *arena, const char *text, size_t n, size_t most) {
  BUF_SCOPED out = {0};
  bool cut = n > most;
  char *copy = arena_strndup(arena, text, cut ? most : n); /* ends at a NUL byte, if there is one */
  Masking m = {.text = copy, .n = strlen(copy), .out = &out};
  while (m.at < m.n) {
    char c = m.text[m.at];
    if (is_word_byte(c)) {
      mask_word(&m);
    } else if (c != ':' || !mask_url(&m)) {
      buf_putc(&out, iscntrl((unsigned char)c) && c != '\n' && c != '\t' ? '?' : c);
      m.at++;
    }
  }
  if (cut) buf_puts(&out, " …");
  return arena_strdup(arena, buf_text(&out));
}

const char *mask_secrets(Arena *arena, const char *text, size_t n) { return mask(arena, text, n, MOST_BYTES); }

static const char *mask_each(Arena *arena, const char *text, const char *value) {
  BUF_SCOPED out = {0};
  size_t n = strlen(value);
  for (const char *found; (found = strstr(text, value)) != NULL; text = found + n) {
    buf_append(&out, text, (size_t)(found - text));
    buf_puts(&out, stars);
  }
  buf_puts(&out, text);
  return arena_strdup(arena, buf_text(&out));
}

const char *mask_output(Arena *arena, const char *text, size_t n) {
  const char *masked = arena_strndup(arena, text, n);
  for (char **variable = environ; *variable != NULL; variable++) {
    size_t name = strcspn(*variable, "=");
    const char *value = *variable + name + ((*variable)[name] == '=');
    if (strlen(value) >= LEAST_VALUE && names_secret(*variable, name) && strstr(masked, value) != NULL)
      masked = mask_each(arena, masked, value);
  }
  return mask(arena, masked, strlen(masked), SIZE_MAX);
}
