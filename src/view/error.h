#ifndef TIDEGATE_VIEW_ERROR_H
#define TIDEGATE_VIEW_ERROR_H

#include "base/error.h"
#include "base/json.h"
#include "view/paint.h"

/*
 * `tidegate: error: WHERE: message`, the snippet, `HINT: …`. In the hint's commands PLAN and SPEC stand as `plan` and
 * `spec` when those are known (NULL: not known). A pause is told in one line: `tidegate: paused: message; hint`.
 */
void view_error(Paint *paint, const Error *err, const char *plan, const char *spec);

/* The same as {code, where, message, snippet, hint, exit} under the key "error" of an open object. */
void view_error_json(Json *json, const Error *err, const char *plan, const char *spec);

#endif
