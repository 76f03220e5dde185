#include "time/cron_field.h"

/* The first set bit at or after `from`, -1 if there is none. */
static int next_bit(uint64_t bits, int from) {
  bits = from > 63 ? 0 : bits >> from << from;
  return bits == 0 ? -1 : __builtin_ctzll(bits);
}

static int next_year(const CronYears *years, int from) {
  if (from > CIVIL_YEAR_MAX) return -1;
  if (from < CIVIL_YEAR_MIN) from = CIVIL_YEAR_MIN;
  if (years == NULL) return from;
  const int n = (int)(sizeof years->bits / sizeof *years->bits);
  int bit = next_bit(years->bits[from / 64], from % 64), word = from / 64;
  while (bit < 0 && ++word < n) bit = next_bit(years->bits[word], 0);
  return bit < 0 || word * 64 + bit > CIVIL_YEAR_MAX ? -1 : word * 64 + bit;
}

/* Monday to Friday nearest to the day, within the month; `first` is the weekday of the 1st. */
static int nearest_workday(int day, int last, int first) {
  int weekday = (first + day - 1) % 7;
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < last ? day + 1 : day - 2;
  return day;
}

static uint32_t month_side(const CronDays *days, int last, int first) {
  uint32_t set = days->of_month;
  for (uint32_t rest = days->from_end; rest != 0; rest &= rest - 1)
    if (__builtin_ctz(rest) < last) set |= UINT32_C(1) << (last - __builtin_ctz(rest));
  for (uint32_t rest = days->workdays; rest != 0; rest &= rest - 1) {
    int day = __builtin_ctz(rest);
    bool spills = days->spill_workdays && day == last + 1 && (first + day - 1) % 7 == 6;
    if (day > last && !days->clamp_workdays && !spills) continue;
    set |= UINT32_C(1) << nearest_workday(day > last ? last : day, last, first);
  }
  for (uint32_t rest = days->workdays_from_end; rest != 0; rest &= rest - 1)
    if (__builtin_ctz(rest) < last) set |= UINT32_C(1) << nearest_workday(last - __builtin_ctz(rest), last, first);
  return set;
}

/* Bits 1–31 of the days that are one of the weekdays, of the seven that begin with day `from`. */
static uint32_t week_of(uint8_t weekdays, int from, int first) {
  uint32_t set = 0;
  for (int day = from; day < from + 7; day++)
    if (weekdays >> (first + day + 34) % 7 & 1 && day >= 1 && day <= 31) set |= UINT32_C(1) << day;
  return set;
}

static uint32_t week_side(const CronDays *days, int last, int first) {
  uint32_t set = 0;
  if (days->weekdays == CRON_ALL_WEEKDAYS) return CRON_ALL_DAYS;
  for (int i = 0; i < 7; i++)
    if (days->weekdays >> (first + i) % 7 & 1) set |= UINT32_C(0x20408102) << i; /* every seventh day */
  for (int n = 1; n <= 5; n++)
    if (days->nth[n] != 0) set |= week_of(days->nth[n], 7 * n - 6, first);
  if (days->nth[0] != 0) set |= week_of(days->nth[0], last - 6, first);
  return set;
}

/* The days of the month that match, as bits 1–31. */
static uint32_t month_days(const CronDays *days, int year, int month) {
  int first = civil_weekday(civil_to_days(year, month, 1)), last = civil_month_days(year, month);
  uint32_t of_month = month_side(days, last, first), of_week = week_side(days, last, first);
  uint32_t set = days->both_sides ? of_month & of_week : of_month | of_week;
  return set & (uint32_t)((UINT64_C(2) << last) - 2);
}

/* The first matching time of a day at or after the one given. */
static bool next_time(const CronRule *rule, int hour, int minute, int second, Civil *ret) {
  int h = next_bit(rule->hours, hour), m = -1, s = -1;
  if (h == hour) m = next_bit(rule->minutes, minute);
  if (h == hour && m == minute) s = next_bit(rule->seconds, second);
  if (h == hour && m == minute && s < 0) m = next_bit(rule->minutes, minute + 1);
  if (h == hour && m < 0) h = next_bit(rule->hours, hour + 1);
  if (h < 0) return false;
  ret->hour = h;
  ret->minute = m >= 0 ? m : next_bit(rule->minutes, 0);
  ret->second = s >= 0 ? s : next_bit(rule->seconds, 0);
  return true;
}

bool cron_next(const void *opaque, const Civil *from, Civil *ret) {
  const CronRule *rule = opaque;
  int month = from->month, day = from->day;
  for (int year = from->year, begun = year; (year = next_year(rule->years, year)) >= 0; year++) {
    if (year != begun) month = day = 1;
    for (int next; (next = next_bit(rule->months, month)) > 0; month = next + 1, day = 1) {
      if (next != month) day = 1;
      uint32_t days = month_days(&rule->days, year, next);
      for (day = next_bit(days, day); day > 0; day = next_bit(days, day + 1)) {
        Civil fire = {.year = year, .month = next, .day = day};
        bool today = year == from->year && next == from->month && day == from->day;
        bool found =
            today ? next_time(rule, from->hour, from->minute, from->second, &fire) : next_time(rule, 0, 0, 0, &fire);
        if (!found) continue;
        *ret = fire;
        return true;
      }
    }
  }
  return false;
}

bool cron_check_fires(const CronRule *rule, Error *err) {
  const Civil any = {.year = CIVIL_YEAR_MIN, .month = 1, .day = 1};
  Civil fire;
  if (cron_next(rule, &any, &fire)) return true;
  const char *year = rule->years == NULL ? "" : " of the years named";
  error_set(err, ERR_SPEC, "the schedule never fires: no month named%s has such a day", year);
  return error_hint(err, "correct the day or the month%s, or leave the schedule out if nothing is scheduled",
                    rule->years == NULL ? "" : ", or the year");
}
