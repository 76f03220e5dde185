#include "time/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { DATE_BYTES = 10, MINUTES_BYTES = 16, FRACTION_MAX = 9 };

bool text_date(const char *text, Civil *ret) {
  int year = text_digits(text, 4), month = text_digits(text + 5, 2), day = text_digits(text + 8, 2);
  if (text[4] != '-' || text[7] != '-' || year < CIVIL_YEAR_MIN || month < 1 || month > 12 || day < 1 ||
      day > civil_month_days(year, month))
    return false;
  *ret = (Civil){.year = year, .month = month, .day = day};
  return true;
}

/* "Z" or "±HH:MM", all of the rest. */
static bool parse_offset(const char *text, size_t n, int *ret_offset) {
  if (n == 1 && text[0] == 'Z') {
    *ret_offset = 0;
    return true;
  }
  if (n != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
  int hours = text_digits(text + 1, 2), minutes = text_digits(text + 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
  int offset = hours * 3600 + minutes * 60;
  *ret_offset = text[0] == '-' ? -offset : offset;
  return true;
}

bool text_stamp(const char *text, size_t n, TextStamp *ret) {
  TextStamp stamp = {0};
  if (n < MINUTES_BYTES || !text_date(text, &stamp.civil) || text[13] != ':') return false;
  stamp.separator = text[DATE_BYTES];
  stamp.civil.hour = text_digits(text + 11, 2);
  stamp.civil.minute = text_digits(text + 14, 2);
  size_t at = MINUTES_BYTES;
  if (n >= at + 3 && text[at] == ':') {
    stamp.civil.second = text_digits(text + at + 1, 2);
    stamp.has_seconds = true;
    at += 3;
    if (at < n && text[at] == '.') {
      size_t fraction = ++at;
      while (at < n && at - fraction < FRACTION_MAX && text_digits(text + at, 1) >= 0) at++;
      if (at == fraction) return false;
    }
  }
  if (!civil_valid(&stamp.civil)) return false;
  stamp.has_offset = at < n;
  if (stamp.has_offset && !parse_offset(text + at, n - at, &stamp.offset)) return false;
  *ret = stamp;
  return true;
}

void text_put_offset(char text[12], int offset) {
  unsigned size = (unsigned)abs(offset);
  char sign = offset < 0 ? '-' : '+';
  if (size % 60 == 0)
    snprintf(text, 12, "%c%02u:%02u", sign, size / 3600 % 100, size / 60 % 60);
  else
    snprintf(text, 12, "%c%02u:%02u:%02u", sign, size / 3600 % 100, size / 60 % 60, size % 60);
}

void text_put_date(char text[12], const Civil *civil) {
  if (civil->year > CIVIL_YEAR_MAX)
    snprintf(text, 12, "9999-12-32");
  else
    snprintf(text, 12, "%04u-%02u-%02u", (unsigned)civil->year % 10000u, (unsigned)civil->month % 100u,
             (unsigned)civil->day % 100u);
}
