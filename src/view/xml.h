#ifndef TIDEGATE_VIEW_XML_H
#define TIDEGATE_VIEW_XML_H

#include "base/buf.h"

/* Nothing of the text means markup; what a terminal would obey stays as it is. */
void xml_escape(Buf *out, const char *text);
/* Text in an element or a quoted attribute of XML or HTML: as paint_escape shows it, with nothing that markup means. */
void xml_put(Buf *out, const char *text);
/* The same, at most so many columns of it. */
void xml_put_cut(Buf *out, const char *text, size_t columns);

#endif
