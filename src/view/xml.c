#include "view/xml.h"

#include "view/paint.h"

void xml_escape(Buf *out, const char *text) {
  for (; *text != '\0'; text++) {
    const char *name = *text == '&'    ? "&amp;"
                       : *text == '<'  ? "&lt;"
                       : *text == '>'  ? "&gt;"
                       : *text == '"'  ? "&quot;"
                       : *text == '\'' ? "&#39;"
                                       : NULL;
    if (name != NULL)
      buf_puts(out, name);
    else
      buf_putc(out, *text);
  }
}

void xml_put(Buf *out, const char *text) {
  BUF_SCOPED safe = {0};
  paint_escape(&safe, text);
  xml_escape(out, buf_text(&safe));
}

void xml_put_cut(Buf *out, const char *text, size_t columns) {
  BUF_SCOPED safe = {0};
  paint_cut(&safe, text, columns);
  xml_escape(out, buf_text(&safe));
}
