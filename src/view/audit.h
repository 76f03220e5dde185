#ifndef TIDEGATE_VIEW_AUDIT_H
#define TIDEGATE_VIEW_AUDIT_H

#include "base/json.h"
#include "engine/records.h"
#include "view/paint.h"

/* The gate's verdicts on other tools' commands, newest first. */
void view_audit(Paint *paint, Arena *arena, const AuditRecord *records, size_t n);
/* Their fields, inside an open object. */
void view_audit_json(Json *json, const AuditRecord *records, size_t n);

#endif
