"""quartz against Quartz 2.3.2, through tests/soak/quartz/Soak.java: $QUARTZ_ANSWERS is the command that runs it."""

import calendar
import os
import re
import shlex

import common

MONTHS = dict(enumerate("x JAN feb Mar APR MAY JUN JUL AUG SEP OCT NOV DEC".split()))
WEEKDAYS = dict(enumerate("x SUN MON TUE wed Thu FRI SAT".split()))
PARTS = ["*", "{a}", "{a}", "{a}-{b}", "{b}-{a}", "*/{n}", "{x}/{n}", "{x}-{y}/{n}", "{y}-{x}/{n}"]
TIMES = ["0", "{x}", "{x}-{y}", "*/{n}", "{x}/{n}"]
DAYS = ["L", "LW", "L-{n}", "L-{n}W", "{d}W", "{d}W", "{d}W", "l"]
WEEKS = ["{w}L", "{w}#{k}", "{w}#{k}", "L"]


def generate(rng):
    zone, start = common.pick_zone_and_start(rng)
    if rng.random() < 0.5:
        day, week = common.pick_list(rng, 1, 31, PARTS), "?"
        if rng.random() < 0.5:
            day = rng.choice(DAYS).format(n=rng.randint(0, 31), d=rng.randint(1, 31))
    else:
        day, week = "?", common.pick_list(rng, 1, 7, [part for part in PARTS if "/" not in part] + ["{x}/{n}"], WEEKDAYS)
        if rng.random() < 0.5:
            week = rng.choice(WEEKS).format(w=rng.choice([str(rng.randint(1, 7)), WEEKDAYS[rng.randint(1, 7)]]), k=rng.randint(1, 5))
    fields = [common.pick_list(rng, 0, 59, ["0", "0", "0"] + TIMES), common.pick_list(rng, 0, 59, TIMES),
              common.pick_list(rng, 0, 23, TIMES + PARTS), day,
              rng.choice(["*", "*", common.pick_list(rng, 1, 12, PARTS[:6], MONTHS)]), week]
    if rng.random() < 0.2:
        fields.append(rng.choice(["*", "2020-2030", "1990/2", "2000-2010,2015/3", "2005", "2010-2005"]))
    expression = " ".join(fields)
    if rng.random() < 0.15:
        expression = common.mutate(rng, expression)
    return common.Case(expression, zone, start, 6)


def by_design(case, ours, real):
    if real == common.LOOPS:
        return "the real one loops for ever"
    fields = case.expression.split()
    if isinstance(ours, str):
        if real == []:
            return "never fires: an error here, no fire there"
        if len(fields) > 7:
            return "the real one does not look at what follows the year"
        if re.search(r"is not understood|has no place there|a step after|a step of 0", ours) or re.search(r" \?[^ ]|[^ ]\?", case.expression):
            return "the real one does not look at what follows a value"
        if "~" in case.expression and "at random" in ours:
            return "the real one does not look at what follows a value"
        if "no place in a list" in ours:
            return "the real one takes one of a list with W or #, which its documentation rules out"
        if re.search(r" is not from ", ours) and re.search(r"\d-\d+-", case.expression):
            return "the real one does not look at what follows a value"
        if len(fields) == 7 and "the year field" in ours:
            return "the real one takes every number as a year"
        return None
    if real == ours[:len(real)] and ours[len(real)] > 4102444800:
        return "the real one gives up a hundred years from now"
    if not isinstance(real, str) and case.zone == "Asia/Tehran" and min(set(ours) ^ set(real)) < 315532800:
        return "Java brings zone data of its own age"
    if isinstance(real, str) or definition(case) != ours:
        return None
    # Whoever asks from within the first pass hears of what is left of the second: the real one takes the clock for granted.
    if common.in_first_pass(case.zone, case.start):
        return "asked within the first pass of a time that comes twice; the definition says as Tidegate"
    at = min(set(ours) ^ set(real))
    if common.near_change(case.zone, at, 48 * 3600):
        return "the real one loses its way at a change of the clock; the definition says as Tidegate"
    return None


def values(field, low, high, names):
    found = set()
    for part in field.upper().split(","):
        bounds, _, step = part.partition("/")
        step = int(step) if step else 0
        if bounds in ("*", ""):
            first, last = low, high
        else:
            ends = [names.index(end) if names and end in names else int(end) for end in bounds.split("-")]
            first, last = ends[0], high if step and len(ends) == 1 else ends[-1]
        span = high - low + 1
        found |= {(at - low) % span + low for at in range(first, last + 1 if last >= first else last + span + 1, step or 1)}
    return found


def near(year, month, day):
    """Monday to Friday nearest to the day, within the month; a Saturday after its end gives its last day."""
    last = calendar.monthrange(year, month)[1]
    if day > last:
        return last if day == last + 1 and calendar.weekday(year, month, last) == 4 else 0
    weekday = calendar.weekday(year, month, day)
    return day + {5: -1 if day > 1 else 2, 6: 1 if day < last else -2}.get(weekday, 0)


def day_matches(date, day, week):
    last = calendar.monthrange(date.year, date.month)[1]
    if week == "?":
        match = re.fullmatch(r"L(?:-(\d+))?(W?)", day)
        if match:
            wanted = last - int(match.group(1) or 0)
            return wanted >= 1 and date.day == (near(date.year, date.month, wanted) if match.group(2) else wanted)
        if day.endswith("W"):
            return date.day == near(date.year, date.month, int(day[:-1]))
        return date.day in values(day, 1, 31, None)
    names = [name.upper() for name in WEEKDAYS.values()]
    weekday = date.isoweekday() % 7 + 1
    if week == "L":
        return weekday == 7
    if week.endswith("L"):
        return weekday in values(week[:-1], 1, 7, names) and date.day + 7 > last
    if "#" in week:
        wanted, n = week.split("#")
        return weekday in values(wanted, 1, 7, names) and (date.day + 6) // 7 == int(n)
    return weekday in values(week, 1, 7, names)


def definition(case):
    """What Quartz means by the expression, worked out with zoneinfo: a time that comes twice is the second."""
    second, minute, hour, day, month, week, *year = case.expression.upper().split()
    months = values(month, 1, 12, [name.upper() for name in MONTHS.values()])
    years = values(year[0], 1970, 9999, None) if year else None
    return common.by_definition(
        case, lambda date: date.month in months and (years is None or date.year in years) and day_matches(date, day, week),
        values(hour, 0, 23, None), values(minute, 0, 59, None), values(second, 0, 59, None), slice(-1, None))


if __name__ == "__main__":
    common.run("quartz", "Quartz 2.3.2", generate,
               lambda cases: common.ask_program(shlex.split(os.environ["QUARTZ_ANSWERS"]), cases), by_design)
