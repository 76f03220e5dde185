#include "cli/stop.h"

static volatile sig_atomic_t flag;

static void raise_flag(int signal_number) {
  (void)signal_number;
  if (flag < 2) flag = flag + 1;
}

void stop_install(void) {
  struct sigaction stop = {.sa_handler = raise_flag}, ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&stop.sa_mask);
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGINT, &stop, NULL);
  sigaction(SIGTERM, &stop, NULL);
  sigaction(SIGHUP, &stop, NULL);
  sigaction(SIGPIPE, &ignore, NULL);
  sigaction(SIGXFSZ, &ignore, NULL); /* a file that may not grow is then an error like a full disk */
}

const volatile sig_atomic_t *stop_flag(void) { return &flag; }

static bool not_stopped(void *context) {
  (void)context;
  return flag == 0;
}

const Interrupt *stop_interrupt(void) {
  static const Interrupt interrupt = {.go_on = not_stopped, .context = NULL};
  return &interrupt;
}
