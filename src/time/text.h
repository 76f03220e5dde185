#ifndef TIDEGATE_TIME_TEXT_H
#define TIDEGATE_TIME_TEXT_H

#include <stddef.h>

#include "time/civil.h"

/* Dates and times as text, the digits of ISO 8601. Private to this room. None of these needs a NUL at the end. */

/* The value of n ASCII digits, -1 if one of them is none. */
static inline int text_digits(const char *text, int n) {
  int value = 0;
  for (int i = 0; i < n; i++) {
    unsigned digit = (unsigned char)text[i] - (unsigned)'0';
    if (digit > 9) return -1;
    value = value * 10 + (int)digit;
  }
  return value;
}

/* The 10 bytes "YYYY-MM-DD" of a day that exists, at midnight. */
bool text_date(const char *text, Civil *ret);

/* What a time stamp says. */
typedef struct TextStamp {
  Civil civil;
  char separator; /* between date and time, as written */
  bool has_seconds, has_offset;
  int offset; /* seconds east of UTC; "Z" is 0 */
} TextStamp;

/* "YYYY-MM-DD?HH:MM[:SS[.f…]]", optional "Z" or "±HH:MM", where ? is any byte. A fraction is cut off. */
bool text_stamp(const char *text, size_t n, TextStamp *ret);

/* "±HH:MM" and, where an offset has seconds, "±HH:MM:SS". */
void text_put_offset(char text[12], int offset);

/* "2013-02-01"; "9999-12-32", which sorts after every date, for what comes after the year 9999. */
void text_put_date(char text[12], const Civil *civil);

#endif
