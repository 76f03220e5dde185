#include <string.h>

#include "base/doc_int.h"

/* What libfyaml 0.7.12 says (src/lib/fy-parse.c), by a part of its message, and how we say it. */
static const struct {
  const char *theirs, *ours, *hint;
} complaints[] = {
    {"invalid multiline plain key", "this value runs on into the next line, and a key follows in it",
     "give all keys of one level the same indentation, in spaces, and put a value with “: ” in it into quotes"},
    {"invalid nested block mapping on the same line", "a second “: ” stands in this line",
     "put the value into quotes when it holds a colon and a space"},
    {"block sequence on the same line", "a list cannot begin in the same line as its key",
     "begin the list in the next line, or write [a, b]"},
    {"plain scalar cannot start with", "a text cannot begin with this character unless it is in quotes",
     "put the text into quotes"},
    {"missing comma in flow", "a comma is missing here, or a closing bracket",
     "write a comma between the items, and close every [ and {"},
    {"invalid UTF8 escape", "this text holds an escape that is not a character",
     "take out halves of surrogate pairs (\\ud800 to \\udfff)"},
    {"invalid alias", "* begins an alias, which is not understood here", "put the text into quotes: \"*\""},
    {"invalid anchor", "& begins an anchor, which is not understood here", "put the text into quotes: \"&\""},
    {"trailing content after", "more text follows after the closing quote",
     "put the whole text into quotes, and inside them write \\\" (in \" \") or '' (in ' ') for a quote"},
    {"unsupport version", "this file asks for a version of YAML that is not known", "take the %YAML line out"},
    {"invalid tab", "a tab stands in the indentation", "indent with spaces"},
    {"without closing quote", "the quote that opens here is never closed", "close the quote"},
    {"without a closing b", "a bracket is opened and never closed", "close every [ and {"},
    {"mismatched flow", "this bracket closes another kind than the one that is open", "pair [ with ] and { with }"},
    {"invalid escape", "this escape is not known in a text in double quotes",
     "write \\\\ for a backslash, or use single quotes"},
    {"invalid value after mapping", "this line is neither “key: value” nor part of the value above",
     "write “key: value”, or indent the line so that it belongs to the value above"},
    {"did not find expected", "this line does not fit what stands above it",
     "check indentation, quotes and brackets here and in the line above"},
    {"wrongly indented", "this line is indented less than what it belongs to", "indent it further, in spaces"},
};

DocComplaint doc_explain(const char *message) {
  for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
    if (strstr(message, complaints[i].theirs) != NULL)
      return (DocComplaint){"", complaints[i].ours, complaints[i].hint};
  return (DocComplaint){"this is not YAML: ", message,
                        "check indentation, quotes and brackets here and in the line above"};
}
