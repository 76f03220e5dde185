#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/shell_run_int.h"

/* What the shell and well-known programs print that may feed a shell. */

static void put_escape(Buf *out, const char **at) {
  static const char names[] = "abefnrtv\\", values[] = "\a\b\033\f\n\r\t\v\\";
  const char *name = **at == '\0' ? NULL : strchr(names, **at);
  if (name != NULL) {
    buf_putc(out, values[name - names]);
    (*at)++;
  } else if (**at == 'x' || isdigit((unsigned char)**at)) {
    bool hex = **at == 'x';
    int value = 0, most = hex ? 2 : 4;
    if (hex) (*at)++;
    for (int i = 0; i < most && (hex ? isxdigit((unsigned char)**at) : **at >= '0' && **at <= '7'); i++, (*at)++) {
      int digit = isdigit((unsigned char)**at) ? **at - '0' : tolower((unsigned char)**at) - 'a' + 10;
      value = value * (hex ? 16 : 8) + digit;
    }
    buf_putc(out, value == 0 ? '\n' : (char)value); /* for xargs -0 and its kin it ends a piece, too */
  } else {
    buf_putc(out, '\\');
  }
}

static void put_escaped(Buf *out, const char *text) {
  while (*text != '\0') {
    if (*text == '\\') {
      text++;
      put_escape(out, &text);
    } else {
      buf_putc(out, *text++);
    }
  }
}

static void echo(const ShellCommand *c, Buf *out) {
  size_t i = 1;
  bool line = true, escapes = false;
  for (; i < c->n && *c->argv[i] == '-' && c->argv[i][1] != '\0' &&
         strspn(c->argv[i] + 1, "neE") == strlen(c->argv[i] + 1);
       i++) {
    if (strchr(c->argv[i], 'n') != NULL) line = false;
    if (strchr(c->argv[i], 'e') != NULL) escapes = true;
  }
  for (size_t k = i; k < c->n; k++) {
    if (k > i) buf_putc(out, ' ');
    escapes ? put_escaped(out, c->argv[k]) : buf_puts(out, c->argv[k]);
  }
  if (line) buf_putc(out, '\n');
}

static bool is_number(const char *text) {
  size_t n = strspn(text, "0123456789");
  return n > 0 && n < 10 && text[n] == '\0' && (*text != '0' || n == 1); /* 08 is octal, and an error */
}

/* One pass over the format, from the argument *i on. */
static void print_once(const ShellCommand *c, const char *format, size_t *i, Buf *out) {
  for (const char *at = format; *at != '\0';) {
    if (*at == '\\') {
      at++;
      put_escape(out, &at);
    } else if (*at == '%' && at[1] == '%') {
      buf_putc(out, '%');
      at += 2;
    } else if (*at == '%') {
      const char *flags = at + 1, *value = *i < c->n ? c->argv[*i] : "";
      at += 1 + strspn(at + 1, "-+ #0123456789.*");
      (*i)++;
      if (*at == 's' || ((*at == 'd' || *at == 'i') && at == flags))
        buf_puts(out, value);
      else if ((*at == 'd' || *at == 'i') && *flags == '0' && is_number(value))
        buf_printf(out, "%0*ld", (int)(strtoul(flags, NULL, 10) % 100), strtol(value, NULL, 10));
      else if (*at == 'b')
        put_escaped(out, value);
      else
        buf_putc(out, SHELL_UNKNOWN);
      if (*at != '\0') at++;
    } else {
      buf_putc(out, *at++);
    }
  }
}

static void print(const ShellCommand *c, Buf *out) {
  size_t i = 1;
  if (i < c->n && strcmp(c->argv[i], "--") == 0) i++;
  if (i + 2 < c->n && strcmp(c->argv[i], "-v") == 0) i += 2;
  if (i >= c->n) return;
  const char *format = c->argv[i++];
  size_t before;
  do {
    before = i;
    print_once(c, format, &i, out);
  } while (i < c->n && i > before);
}

/* printf -v NAME */
static void print_into(ShellRun *run, const ShellCommand *c) {
  ShellFields value = {0};
  BUF_SCOPED text = {0};
  print(c, &text);
  shell_add_field(run, &value, arena_strdup(run->arena, buf_text(&text)));
  shell_set(run, c->argv[2], strlen(c->argv[2]), value);
}

/* Several files or options that change the text cannot be told. */
static void cat(ShellRun *run, const ShellCommand *c, bool only_input, ShellOutput *out) {
  bool any = false;
  for (size_t i = 1; i < c->n; i++) {
    bool option = *c->argv[i] == '-' && c->argv[i][1] != '\0';
    if (option && strcmp(c->argv[i], "-u") != 0 && strcmp(c->argv[i], "--") != 0 && strcmp(c->argv[i], "-a") != 0)
      out->unknown = true;
    if (option || only_input) continue;
    const char *text = strcmp(c->argv[i], "-") == 0 ? c->input.text : shell_run_file(run, c->argv[i]);
    any = true;
    if (text == NULL)
      out->unknown = true, out->file = c->argv[i];
    else
      buf_puts(&out->text, text);
  }
  if (any) return;
  if (c->input.text != NULL)
    buf_puts(&out->text, c->input.text);
  else
    out->unknown = true;
}

static void tee(ShellRun *run, const ShellCommand *c, ShellOutput *out) {
  cat(run, c, true, out);
  for (size_t i = 1; i < c->n; i++)
    if (*c->argv[i] != '-') shell_write_file(run, c->argv[i], out);
}

/* cp, mv, ln and install FROM TO */
static void copy(ShellRun *run, const ShellCommand *c) {
  const char *text = c->n < 3 ? NULL : shell_run_file(run, c->argv[c->n - 2]);
  if (text == NULL) return;
  ShellOutput written = {0};
  buf_puts(&written.text, text);
  shell_write_file(run, c->argv[c->n - 1], &written);
  buf_release(&written.text);
}

static bool is_one(const char *name, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

void shell_print(ShellRun *run, const ShellCommand *c, ShellOutput *out) {
  static const char *const silent[] = {":",     "true",  "false", "cd",     "eval", "trap",  "alias",
                                       "read",  "unset", "set",   "shift",  "test", "[",     "sleep",
                                       "mkdir", "rm",    "touch", "export", "exit", "return"};
  /* What these print may be any code. */
  static const char *const makers[] = {"base64", "base32", "basenc", "xxd",      "openssl", "gpg", "gunzip", "zcat",
                                       "bzcat",  "xzcat",  "unzstd", "uudecode", "rev",     "tr",  "curl",   "wget"};
  const char *name = c->argv[0];
  if (strcmp(name, "echo") == 0)
    echo(c, &out->text);
  else if (strcmp(name, "printf") == 0 && c->n > 3 && strcmp(c->argv[1], "-v") == 0)
    print_into(run, c);
  else if (strcmp(name, "printf") == 0)
    print(c, &out->text);
  else if (strcmp(name, "cat") == 0)
    cat(run, c, false, out);
  else if (strcmp(name, "tee") == 0)
    tee(run, c, out);
  else if (strcmp(name, "cp") == 0 || strcmp(name, "mv") == 0 || strcmp(name, "ln") == 0 ||
           strcmp(name, "install") == 0)
    copy(run, c);
  else if ((strcmp(name, "which") == 0 && c->n == 2) ||
           (c->n == 3 && ((strcmp(name, "command") == 0 && strcmp(c->argv[1], "-v") == 0) ||
                          (strcmp(name, "type") == 0 && strcasecmp(c->argv[1], "-p") == 0))))
    buf_puts(&out->text, c->argv[c->n - 1]); /* its folder does not matter */
  else if (is_one(name, makers, sizeof makers / sizeof *makers))
    out->unknown = out->made = true;
  else {
    out->unknown |= !is_one(name, silent, sizeof silent / sizeof *silent);
  }
}
