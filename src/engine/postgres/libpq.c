#define TIDEGATE_LIBPQ_LINKED
#include "engine/postgres/libpq.h"

#include <dlfcn.h>
#include <string.h>

Libpq libpq;

bool libpq_load(Error *err) {
  static void *library;
  static const struct {
    const char *name;
    size_t at;
  } wanted[] = {
#define FUNCTION(name) {#name, offsetof(Libpq, name)},
#include "engine/postgres/libpq.def"
  };
  Libpq found;
  if (library != NULL) return true;
  void *opened = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
  if (opened == NULL) {
    error_set(err, ERR_DATABASE, "PostgreSQL is reached by its library libpq, which is not on this machine");
    return error_hint(err, "install it (Debian: libpq5)");
  }
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *function = dlsym(opened, wanted[i].name);
    if (function == NULL) {
      dlclose(opened);
      error_set(err, ERR_DATABASE, "the libpq of this machine has no %s: it is too old", wanted[i].name);
      return error_hint(err, "install that of PostgreSQL 13 or newer");
    }
    memcpy((char *)&found + wanted[i].at, &function, sizeof function); /* a function in an object pointer: POSIX */
  }
  libpq = found;
  library = opened;
  return true;
}
