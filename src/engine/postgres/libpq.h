#ifndef TIDEGATE_ENGINE_POSTGRES_LIBPQ_H
#define TIDEGATE_ENGINE_POSTGRES_LIBPQ_H

#include <libpq-fe.h>

#include "base/error.h"

/*
 * libpq is loaded with the first PostgreSQL database that is opened, and not with the program: linked, it and what it
 * brings along took half of the time in which a hook has to answer (docs/decisions/0021). Its headers say the types.
 */
typedef struct Libpq {
#define FUNCTION(name) __typeof__(name) *name;
#include "engine/postgres/libpq.def"
} Libpq;

/* Filled by the first libpq_load, then only read. */
extern Libpq libpq;

/* ERR_DATABASE when it is not on this machine. Before any thread is begun. */
bool libpq_load(Error *err);

#ifndef TIDEGATE_LIBPQ_LINKED
#define PQbackendPID (*libpq.PQbackendPID)
#define PQcancel (*libpq.PQcancel)
#define PQclear (*libpq.PQclear)
#define PQcmdStatus (*libpq.PQcmdStatus)
#define PQcmdTuples (*libpq.PQcmdTuples)
#define PQconnectdbParams (*libpq.PQconnectdbParams)
#define PQconninfoFree (*libpq.PQconninfoFree)
#define PQconninfoParse (*libpq.PQconninfoParse)
#define PQconsumeInput (*libpq.PQconsumeInput)
#define PQdb (*libpq.PQdb)
#define PQerrorMessage (*libpq.PQerrorMessage)
#define PQexec (*libpq.PQexec)
#define PQfinish (*libpq.PQfinish)
#define PQfname (*libpq.PQfname)
#define PQfnumber (*libpq.PQfnumber)
#define PQfreeCancel (*libpq.PQfreeCancel)
#define PQftype (*libpq.PQftype)
#define PQgetCancel (*libpq.PQgetCancel)
#define PQgetResult (*libpq.PQgetResult)
#define PQgetisnull (*libpq.PQgetisnull)
#define PQgetlength (*libpq.PQgetlength)
#define PQgetvalue (*libpq.PQgetvalue)
#define PQisBusy (*libpq.PQisBusy)
#define PQnfields (*libpq.PQnfields)
#define PQntuples (*libpq.PQntuples)
#define PQresultErrorField (*libpq.PQresultErrorField)
#define PQresultStatus (*libpq.PQresultStatus)
#define PQsendDescribePrepared (*libpq.PQsendDescribePrepared)
#define PQsendPrepare (*libpq.PQsendPrepare)
#define PQsendQuery (*libpq.PQsendQuery)
#define PQsendQueryParams (*libpq.PQsendQueryParams)
#define PQserverVersion (*libpq.PQserverVersion)
#define PQsetNoticeProcessor (*libpq.PQsetNoticeProcessor)
#define PQsetNoticeReceiver (*libpq.PQsetNoticeReceiver)
#define PQsocket (*libpq.PQsocket)
#define PQsslAttribute (*libpq.PQsslAttribute)
#define PQsslInUse (*libpq.PQsslInUse)
#define PQstatus (*libpq.PQstatus)
#define PQtransactionStatus (*libpq.PQtransactionStatus)
#define PQuser (*libpq.PQuser)
#endif

#endif
