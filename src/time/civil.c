#include "time/civil.h"

enum { DAY_SECONDS = 86400, ERA_DAYS = 146097, DAYS_TO_1970 = 719468 };
/* The day numbers whose year still fits an int, with room to spare. */
static const int64_t days_limit = INT64_C(700000000000);

int64_t civil_to_days(int year, int month, int day) {
  int64_t y = (int64_t)year - (month <= 2);
  int64_t era = (y >= 0 ? y : y - 399) / 400;
  int64_t year_of_era = y - era * 400;
  int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * ERA_DAYS + day_of_era - DAYS_TO_1970;
}

Civil civil_from_days(int64_t days) {
  if (days > days_limit) days = days_limit;
  if (days < -days_limit) days = -days_limit;
  int64_t z = days + DAYS_TO_1970;
  int64_t era = (z >= 0 ? z : z - (ERA_DAYS - 1)) / ERA_DAYS;
  int day_of_era = (int)(z - era * ERA_DAYS);
  int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int shifted_month = (5 * day_of_year + 2) / 153;
  Civil civil = {.day = day_of_year - (153 * shifted_month + 2) / 5 + 1,
                 .month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9};
  civil.year = (int)(year_of_era + era * 400 + (civil.month <= 2));
  return civil;
}

int64_t civil_to_seconds(const Civil *civil) {
  return civil_to_days(civil->year, civil->month, civil->day) * DAY_SECONDS + civil->hour * INT64_C(3600) +
         civil->minute * INT64_C(60) + civil->second;
}

Civil civil_from_seconds(int64_t seconds) {
  int64_t days = seconds / DAY_SECONDS;
  int rest = (int)(seconds % DAY_SECONDS);
  if (rest < 0) {
    rest += DAY_SECONDS;
    days--;
  }
  Civil civil = civil_from_days(days);
  civil.hour = rest / 3600;
  civil.minute = rest / 60 % 60;
  civil.second = rest % 60;
  return civil;
}

static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int civil_month_days(int year, int month) {
  static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

int civil_weekday(int64_t days) {
  int weekday = (int)(days % 7) + 4; /* 1970-01-01 was a Thursday */
  return weekday < 0 ? weekday + 7 : weekday % 7;
}

bool civil_valid(const Civil *civil) {
  return civil->year >= CIVIL_YEAR_MIN && civil->year <= CIVIL_YEAR_MAX && civil->month >= 1 && civil->month <= 12 &&
         civil->day >= 1 && civil->day <= civil_month_days(civil->year, civil->month) && civil->hour >= 0 &&
         civil->hour <= 23 && civil->minute >= 0 && civil->minute <= 59 && civil->second >= 0 && civil->second <= 59;
}
