#ifndef TIDEGATE_CLI_STOP_H
#define TIDEGATE_CLI_STOP_H

#include <signal.h>

#include "engine/engine.h"

/*
 * SIGINT, SIGTERM and SIGHUP raise the stop flag: once = pause after this batch, twice = stop at once. SIGPIPE is
 * ignored, so that a reader that goes away cannot end a backfill.
 */
void stop_install(void);

/* The flag: 0, 1 or 2. The only mutable state of the program that is not passed along. */
const volatile sig_atomic_t *stop_flag(void);

/* For reading work: it goes on until the flag is raised. */
const Interrupt *stop_interrupt(void);

#endif
