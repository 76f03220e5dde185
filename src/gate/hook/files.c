#include "gate/hook/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 4 * 1024 * 1024, FOLDER_MODE = 0755 };

static bool fail(Error *err, const char *path, const char *what) {
  error_set(err, ERR_INTERNAL, "%s %s: %s", path, what, strerror(errno));
  return error_hint(err, "nothing was changed: look at the file's and its folder's rights");
}

static bool refuse(Error *err, const char *path, const char *why) {
  error_set(err, ERR_INTERNAL, "%s %s, so it is left as it is", path, why);
  return error_hint(err, "see docs/how-to-hooks.md for what to write there by hand");
}

/* The target of a chain of links, also where it does not exist. */
static const char *follow(Arena *arena, const char *path) {
  char *real = realpath(path, NULL);
  const char *ret = arena_strdup(arena, real == NULL ? path : real);
  free(real);
  return ret;
}

bool file_read(Arena *arena, const char *path, TextFile *ret, Error *err) {
  TextFile file = {.path = follow(arena, path), .text = ""};
  int fd = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) {
    struct stat link;
    if (lstat(path, &link) == 0) return refuse(err, path, "is a symbolic link to what is not there");
    *ret = file;
    return true;
  }
  if (fd < 0) return fail(err, path, "cannot be read");
  bool ok = fstat(fd, &file.facts) == 0;
  bool fits = ok && S_ISREG(file.facts.st_mode) && file.facts.st_size <= MOST_BYTES;
  char *text = arena_alloc(arena, fits ? (size_t)file.facts.st_size + 1 : 1);
  size_t n = 0;
  for (ssize_t some = 1; fits && some > 0 && n<(size_t)file.facts.st_size; n += some> 0 ? (size_t)some : 0) {
    some = read(fd, text + n, (size_t)file.facts.st_size - n);
    ok = ok && some >= 0;
  }
  close(fd);
  if (!ok) return fail(err, path, "cannot be read");
  if (!fits) return refuse(err, path, "is no regular file of up to 4 MiB");
  if (strlen(text) != (size_t)file.facts.st_size) return refuse(err, path, "holds NUL bytes");
  file.exists = true;
  file.text = text;
  *ret = file;
  return true;
}

static bool make_folders(const char *path, Error *err) {
  char folder[4096];
  if (strlen(path) >= sizeof folder) return refuse(err, path, "has too long a name");
  memcpy(folder, path, strlen(path) + 1);
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST) return fail(err, folder, "cannot be made");
    *slash = '/';
  }
  return true;
}

static bool fill(int fd, const char *text, const TextFile *like, mode_t mode) {
  size_t n = strlen(text), done = 0;
  while (done < n) {
    ssize_t some = write(fd, text + done, n - done);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return false;
    done += (size_t)some;
  }
  if (like != NULL && like->exists) {
    bool own = like->facts.st_uid == geteuid() && like->facts.st_gid == getegid();
    if (!own && fchown(fd, like->facts.st_uid, like->facts.st_gid) != 0) return false;
    mode = like->facts.st_mode & 07777;
  }
  return fchmod(fd, mode) == 0 && fsync(fd) == 0;
}

bool file_write(const char *path, const char *text, const TextFile *like, mode_t mode, Error *err) {
  char beside[4200];
  if (!make_folders(path, err)) return false;
  snprintf(beside, sizeof beside, "%s.tidegate-XXXXXX", path);
  int fd = mkostemp(beside, O_CLOEXEC);
  if (fd < 0) return fail(err, path, "cannot be written beside");
  bool ok = fill(fd, text, like, mode);
  ok = close(fd) == 0 && ok;
  ok = ok && rename(beside, path) == 0;
  if (ok) return true;
  int cause = errno;
  unlink(beside);
  errno = cause;
  return fail(err, path, "cannot be written");
}

bool file_move(const char *from, const char *to, Error *err) {
  return rename(from, to) == 0 || fail(err, from, "cannot be renamed");
}

bool file_delete(const char *path, Error *err) {
  return unlink(path) == 0 || errno == ENOENT || fail(err, path, "cannot be deleted");
}

bool file_is_there(const char *path) {
  struct stat facts;
  return lstat(path, &facts) == 0;
}
