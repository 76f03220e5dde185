#ifndef TIDEGATE_BASE_MARKED_H
#define TIDEGATE_BASE_MARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * The processes of this machine that have a variable in their environment, "NAME=value": whatever a command has started
 * inherits it, in whatever group or session it is put. A process whose environment cannot be seen is not one of them,
 * nor is this one.
 */
bool marked_is(int pid, const char *variable);
/* Sends each of them the signal (0: none); their number. *ret_pid: one of them, if there is one. */
size_t marked_each(const char *variable, int signal_number, int *ret_pid);
/* Does one of them hold a lock on the file: flock, fcntl, an open file description's? */
bool marked_locks(const char *variable, const struct stat *file);

/* Does a line of /proc/locks, or what stands behind "lock:" in a /proc/PID/fdinfo/FD, name the file? */
bool marked_lock_names(const char *line, const struct stat *file);

#endif
