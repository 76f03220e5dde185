"""robfig against robfig/cron v3.0.1, through tests/soak/robfig/main.go: $ROBFIG_ANSWERS is the program built from it."""

import os
import re

import common

MONTHS = dict(enumerate("x jan FEB Mar apr may jun jul aug sep oct nov dec".split()))
WEEKDAYS = dict(enumerate("sun MON Tue wed thu fri sat".split()))
PARTS = ["*", "?", "{a}", "{a}", "{a}-{b}", "*/{n}", "{x}/{n}", "{x}-{y}/{n}"]
PRESETS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot", "@Daily",
           "@every 1h30m", "@every 90s", "@every 1.5h", "@every 500ms", "@every 2h45m30s", "@every 1d", "@every x"]


def generate(rng):
    zone, start = common.pick_zone_and_start(rng)
    often = ["*"] if rng.random() < 0.5 else PARTS
    fields = [common.pick_list(rng, 0, 59, ["0", "{a}", "*/{n}", "{a}-{b}"]), common.pick_list(rng, 0, 23, PARTS),
              common.pick_list(rng, 1, 31, often), common.pick_list(rng, 1, 12, ["*", "*"] + PARTS, MONTHS),
              common.pick_list(rng, 0, 6, often if rng.random() < 0.5 else ["*"], WEEKDAYS)]
    if rng.random() < 0.4:
        fields.insert(0, common.pick_list(rng, 0, 59, ["0", "0", "{a}", "*/{n}"]))
    expression = " ".join(fields) if rng.random() < 0.95 else rng.choice(PRESETS)
    if rng.random() < 0.1:
        expression = rng.choice(["TZ=", "CRON_TZ="]) + rng.choice(common.ZONES) + " " + expression
    if rng.random() < 0.15:
        expression = common.mutate(rng, expression)
    return common.Case(expression, zone, start, 8)


def by_design(case, ours, real):
    if isinstance(ours, str):
        if "never fires" in ours and real == []:
            return "never fires: an error here, no fire there"
        if re.search(r"(^|[ ,])[*?]-|(^|[ ,/-])\+|[*?][^ ,/]", case.expression):
            return "the real one does not look at what follows a *, and takes signs"
        if re.search(r"(^| ),|,,|,( |$)", case.expression):
            return "the real one takes empty parts of a list"
        return None
    if real == common.LOOPS:
        return "the real one loops for ever"
    if isinstance(real, str):
        return None
    if real == ours[:len(real)]:
        last = real[-1] if real else case.start
        if ours[len(real)] - last > 4.9 * 365 * 86400:
            return "the real one gives up after five years"
    if ours == definition(case):
        return "the real one steps by hours and loses its way at a change of the clock; the definition says as Tidegate"
    return None


def values(field, low, high, names):
    """The values of a field, and whether it restricts nothing."""
    found, star = set(), False
    for part in field.split(","):
        (bounds, _, step), step_of = part.partition("/"), 1
        step_of = int(step) if step else 1
        if bounds in "*?":
            first, last, star = low, high, star or step_of == 1
        else:
            ends = [names.index(end.lower()[:3]) if names and end.lower() in names else int(end) for end in bounds.split("-")]
            first, last = ends[0], high if step and len(ends) == 1 else ends[-1]
        found |= set(range(first, last + 1, step_of))
    return found, star


def definition(case):
    """What robfig/cron means by the expression, worked out with zoneinfo."""
    fields = case.expression.split()
    if "=" in fields[0]:
        case = case._replace(zone=fields.pop(0).partition("=")[2])
    if fields[0].startswith("@"):
        fields = {"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
                  "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}[fields[0]].split()
    if len(fields) == 5:
        fields.insert(0, "0")
    limits = [(0, 59, None), (0, 59, None), (0, 23, None), (1, 31, None), (1, 12, list(MONTHS.values())), (0, 6, list(WEEKDAYS.values()))]
    (second, _), (minute, _), (hour, _), (day, any_day), (month, _), (weekday, any_weekday) = [
        values(field, low, high, names and [name.lower() for name in names]) for field, (low, high, names) in zip(fields, limits)]

    def matches(date):
        sides = date.day in day, date.isoweekday() % 7 in weekday
        return date.month in month and (all(sides) if any_day or any_weekday else any(sides))
    return common.by_definition(case, matches, hour, minute, second)


if __name__ == "__main__":
    common.run("robfig", "robfig/cron v3.0.1", generate,
               lambda cases: common.ask_program([os.environ["ROBFIG_ANSWERS"]], cases), by_design)
