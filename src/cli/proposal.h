#ifndef TIDEGATE_CLI_PROPOSAL_H
#define TIDEGATE_CLI_PROPOSAL_H

#include "base/buf.h"
#include "jobs/history.h"

/*
 * Histories as the `jobs` of a tidegate.yaml, for a person to confirm: what is doubtful has a comment, and what nobody
 * can know but a person (the tables of a job, a zone that its source does not tell) is left so that the file is refused
 * until somebody has looked at it. access: how Airflow was asked, for `live`.
 */
void proposal_jobs(Buf *out, const JobHistory *items, size_t n, const SpecAirflow *access);

/* The idle hours that all the runs together show, with the evidence, as comments: a person knows who else needs the
 * database. By the clock of the first zone that a history tells, else UTC. */
void proposal_idle(Buf *out, Arena *arena, const JobHistory *items, size_t n);

/* A YAML scalar in double quotes. */
void proposal_scalar(Buf *out, const char *text);

#endif
