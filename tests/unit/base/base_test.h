#ifndef TIDEGATE_TESTS_BASE_TEST_H
#define TIDEGATE_TESTS_BASE_TEST_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

/* The exit status of a child that runs `body` with standard error thrown away; 0 if it returns. */
static inline int exit_status_of(void (*body)(void)) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    body();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#endif
