#include "view/progress.h"

#include <inttypes.h>
#include <string.h>

enum { BAR_COLUMNS = 20, SMALL_TERMINAL = 60 };

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* Work done as a share; rows weigh, dates only where no rows are known. */
static double share(const RunProgress *now) {
  double share = now->rows > 0    ? (double)now->rows_done / (double)now->rows
                 : now->dates > 0 ? (double)now->dates_done / (double)now->dates
                                  : 0;
  return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Outside the window or beside a job; the rests of the duty cycle are part of the work. */
static bool stands_still(const RunProgress *now) {
  return now->waiting && now->doing != NULL && strcmp(now->doing, "resting") != 0;
}

void progress_line(Buf *out, const RunProgress *now, bool terminal, int width) {
  char left[32] = "";
  bool brief = terminal && stands_still(now); /* what it waits for is to be seen at 80 columns */
  if (terminal && !brief && width >= SMALL_TERMINAL) {
    int full = (int)(share(now) * BAR_COLUMNS);
    buf_putc(out, '[');
    for (int i = 0; i < BAR_COLUMNS; i++) buf_putc(out, i < full ? '#' : '.');
    buf_puts(out, "] ");
  }
  buf_printf(out, "%" PRId64 " of %" PRId64 " date%s", now->dates_done, now->dates, plural(now->dates));
  if (!terminal) buf_printf(out, ", %" PRId64 " of %" PRId64 " row%s", now->rows_done, now->rows, plural(now->rows));
  buf_printf(out, ", %" PRId64 " change%s", now->changes, plural(now->changes));
  if (!brief && now->remaining >= 0 && now->dates_done < now->dates) {
    duration_label(now->remaining, left);
    buf_printf(out, ", about %s to go", left);
  } else if (!brief && now->remaining < 0) {
    buf_puts(out, ", time to go not known yet");
  }
  if (now->doing != NULL) {
    buf_puts(out, ": ");
    paint_escape(out, now->doing);
  }
}

/* Cuts the line to the width, so that writing it over leaves nothing of it behind. */
static void show_terminal(Progress *progress, const RunProgress *now) {
  BUF_SCOPED line = {0};
  progress_line(&line, now, true, progress->width);
  while (progress->width > 1 && line.len > 0 && paint_columns(line.data) > (size_t)progress->width - 1) {
    do line.len--;
    while (line.len > 0 && ((unsigned char)line.data[line.len] & 0xC0) == 0x80);
    line.data[line.len] = '\0';
  }
  fprintf(progress->file, "\r%s\x1b[K", buf_text(&line));
  fflush(progress->file);
  progress->open = true;
}

void progress_show(void *context, const RunProgress *now) {
  Progress *progress = context;
  if (progress->terminal) {
    show_terminal(progress, now);
    return;
  }
  const char *doing = now->doing == NULL ? "" : now->doing;
  bool batch_done = progress->dates_shown >= 0 && now->dates_done != progress->dates_shown;
  bool waits =
      stands_still(now) && (!progress->waited || strncmp(progress->doing, doing, sizeof progress->doing - 1) != 0);
  progress->waited = now->waiting;
  progress->dates_shown = now->dates_done;
  snprintf(progress->doing, sizeof progress->doing, "%s", doing);
  if (!batch_done && !waits) return;
  BUF_SCOPED line = {0};
  progress_line(&line, now, false, 0);
  fprintf(progress->file, "%s\n", buf_text(&line));
  fflush(progress->file);
}

void progress_end(Progress *progress) {
  if (!progress->open) return;
  fputc('\n', progress->file);
  progress->open = false;
}
