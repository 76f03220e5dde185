#ifndef TIDEGATE_LEDGER_OWNER_H
#define TIDEGATE_LEDGER_OWNER_H

#include <stdbool.h>

/*
 * Is the process of an owner ("user@host/place:pid:start") gone for certain: it ran in this boot and pid namespace of
 * this host, and its pid is free or belongs to a process that started at another time? False for any other place, for a
 * text that is not of that form, and where /proc does not say. Private to this room.
 */
bool owner_is_dead(const char *owner);

#endif
