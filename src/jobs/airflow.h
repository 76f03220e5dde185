#ifndef TIDEGATE_JOBS_AIRFLOW_H
#define TIDEGATE_JOBS_AIRFLOW_H

#include "base/doc.h"
#include "spec/spec.h"

/*
 * Airflow's REST interface: v2 of Airflow 3 with a token that user and password are traded for, v1 of Airflow 2 with
 * basic authentication. Whatever asks for something reads only. Passwords and tokens come from the environment or a
 * file and stand in no message.
 */
typedef struct Airflow Airflow; /* for one thread at a time; keeps its connection and its token */

/*
 * Reads the secrets; asks nothing yet. `spec` must outlive it. `timeout`: seconds for one request. Errors: ERR_USAGE
 * for an address or a secret that cannot be used, and in a build without the feature `http`.
 */
bool airflow_open(const SpecAirflow *spec, double timeout, Airflow **ret, Error *err);
/* Closes; NULL is fine. */
void airflow_close(Airflow **airflow);
#define AIRFLOW_SCOPED __attribute__((cleanup(airflow_close))) Airflow *

/* From now on all requests together may take so many seconds; 0: each has its own timeout. */
void airflow_within(Airflow *airflow, double seconds);

/* 2 or 3: as the spec says, else as the server answers. Errors: ERR_DATABASE. */
bool airflow_version(Airflow *airflow, int *ret, Error *err);

/*
 * GET below /api/v1 or /api/v2: `path` begins with a slash and may hold a query; names in it are escaped by
 * airflow_name. The document lives in the arena. Errors: ERR_NOT_FOUND for 404, ERR_USAGE for 401 and 403, ERR_DATABASE
 * for everything else, a server that does not answer in time included.
 */
bool airflow_get(Airflow *airflow, Arena *arena, const char *path, const DocNode **ret, Error *err);

/* A name or a time as one part of a path or a query. */
const char *airflow_name(Arena *arena, const char *name);

/* The time under a key of an answer; false when there is none or it is null. */
bool airflow_time(const DocNode *node, const char *key, Instant *ret);

#endif
