#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cmd_hook.h"
#include "gate/hook/install.h"

/* Agents give a hook some ten seconds and let the call through when it takes longer: it must have answered before. */
enum { MOST_SECONDS = 8, POLL_MS = 50 };

/* As shells have it. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t some = write(fd, bytes, n);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    bytes += some;
    n -= (size_t)some;
  }
  return true;
}

/* All of standard input, up to one byte more than is allowed. */
static bool read_input(Buf *ret) {
  while (ret->len <= HOOK_MAX_BYTES) {
    buf_reserve(ret, 65536);
    ssize_t some = read(STDIN_FILENO, ret->data + ret->len, 65536);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return false;
    if (some == 0) return true;
    ret->len += (size_t)some;
    ret->data[ret->len] = '\0';
  }
  return true;
}

/* ---- who judges is another process, so that a crash, a lack of memory or a delay is an answer too ---------------- */

typedef struct Header {
  int status;
  size_t out, err;
} Header;

static _Noreturn void judge(int to, const HookPlace *place, const Buf *input) {
  Arena arena = {0};
  HookReply reply = {0};
  setpgid(0, 0);
  hook_answer(&arena, place, buf_text(input), input->len, &reply);
  Header header = {reply.status, reply.out.len, reply.err.len};
  bool ok = write_all(to, (const char *)&header, sizeof header) && write_all(to, buf_text(&reply.out), reply.out.len) &&
            write_all(to, buf_text(&reply.err), reply.err.len);
  _exit(ok ? 0 : 1);
}

/* Reads until the other end is closed; false after MOST_SECONDS. */
static bool read_answer(int from, Buf *answer) {
  double until = clock_seconds() + MOST_SECONDS;
  for (;;) {
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    if (clock_seconds() > until) return false;
    if (poll(&waiting, 1, POLL_MS) <= 0) continue;
    buf_reserve(answer, 65536);
    ssize_t some = read(from, answer->data + answer->len, 65536);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return true;
    answer->len += (size_t)some;
  }
}

static void take_answer(const HookPlace *place, const Buf *answer, bool in_time, HookReply *ret) {
  Header header;
  if (!in_time) {
    hook_close(place, "it took too long", ret);
    return;
  }
  if (answer->len < sizeof header) {
    hook_close(place, "the program that judges ended without an answer", ret);
    return;
  }
  memcpy(&header, answer->data, sizeof header);
  if (answer->len != sizeof header + header.out + header.err) {
    hook_close(place, "the program that judges ended in the middle of its answer", ret);
    return;
  }
  ret->status = header.status;
  buf_append(&ret->out, answer->data + sizeof header, header.out);
  buf_append(&ret->err, answer->data + sizeof header + header.out, header.err);
}

/* Judges in another process, so that a crash, a lack of memory or a delay is an answer too. */
static void judge_apart(const HookPlace *place, const Buf *input, HookReply *ret) {
  int ends[2];
  BUF_SCOPED answer = {0};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    hook_close(place, "no pipe is to be had", ret);
    return;
  }
  pid_t child = fork();
  if (child == 0) judge(ends[1], place, input);
  close(ends[1]);
  if (child > 0) setpgid(child, child);
  bool in_time = child > 0 && read_answer(ends[0], &answer);
  close(ends[0]);
  if (child > 0) {
    if (!in_time) kill(-child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  take_answer(place, &answer, in_time, ret);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Writes the reply; gives its exit status, or that of a closed place when nobody could hear it. */
static int send(const HookPlace *place, HookReply *reply) {
  int status = reply->status;
  bool ok = write_all(STDERR_FILENO, buf_text(&reply->err), reply->err.len);
  /* Who cannot hear a question or a document has not been answered. */
  ok = write_all(STDOUT_FILENO, buf_text(&reply->out), reply->out.len) && ok;
  hook_reply_release(reply);
  return ok || status != 0 ? status : place->closed;
}

/* `hook run shim NAME -- ARG…`: asks, then becomes the real program, with this one's streams and its exit status. */
static int run_shim(Session *session) {
  Error err;
  BUF_SCOPED input = {0};
  HookReply answer = {0};
  const HookPlace *place = hook_place("shim");
  const char *const *words = session->args->words + 2;
  size_t n = session->args->n_words - 2;
  if (n == 0) {
    error_set(&err, ERR_USAGE, "hook run shim: for which program?");
    return session_fail(session, &err);
  }
  buf_puts(&input, hook_quote_all(&session->arena, words, n));
  judge_apart(place, &input, &answer);
  int status = send(place, &answer);
  if (status != 0) return status;
  const char *real = shim_real(&session->arena, words[0]);
  if (real == NULL) {
    fprintf(stderr, "tidegate: %s: there is no such program further down PATH\n", words[0]);
    return NOT_FOUND;
  }
  char **argv = arena_array(&session->arena, n + 1, sizeof *argv);
  for (size_t i = 0; i < n; i++) argv[i] = arena_strdup(&session->arena, words[i]);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  execv(real, argv);
  fprintf(stderr, "tidegate: %s cannot be run: %s\n", real, strerror(errno));
  return CANNOT_RUN;
}

int hook_run(Session *session) {
  Error err;
  BUF_SCOPED input = {0};
  HookReply answer = {0};
  const char *name = session_word(session, 1);
  const HookPlace *place = name == NULL ? NULL : hook_place(name);
  if (name != NULL && strcmp(name, "shim") == 0) return run_shim(session);
  if (name != NULL && strcmp(name, "git") == 0) return hook_run_git(session);
  if (name != NULL && strcmp(name, "ci") == 0) return hook_run_ci(session);
  if (place == NULL) {
    error_set(&err, ERR_USAGE, "hook run: %s", name == NULL ? "for which place?" : "there is no such place");
    error_hint(&err, "see: tidegate hook --help");
    return session_fail(session, &err);
  }
  if (!read_input(&input))
    hook_close(place, "standard input cannot be read", &answer);
  else if (input.len > HOOK_MAX_BYTES)
    hook_close(place, "more was sent than is read", &answer);
  else
    judge_apart(place, &input, &answer);
  return send(place, &answer);
}
