#include "cli/docs.h"

int docs_print(const char *directory) { return directory == NULL; }
