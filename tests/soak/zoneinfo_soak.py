"""vixie, the zone arithmetic and the policies for missing and doubled times against crontab(5) worked out with Python's
zoneinfo: in every zone of this machine, around changes of the clock and, by the rule at the end of a zone's file, to 2100."""

import datetime
import itertools
import zoneinfo

import common

EVERY_ZONE = sorted(zone for zone in zoneinfo.available_timezones() if "/" in zone or zone == "UTC")
POLICIES = list(itertools.product(["skip", "shift", "gap_end"], ["first", "second", "both"]))


MONTHS = dict(enumerate("x jan FEB Mar apr may jun jul aug sep oct nov dec".split()))
WEEKDAYS = dict(enumerate("sun MON Tue wed thu fri sat".split()))
PARTS = ["*", "*/{n}", "{a}", "{a}-{b}", "{x}-{y}/{n}"]
LIMITS = [(0, 59, None), (0, 23, None), (1, 31, None), (1, 12, MONTHS), (0, 7, WEEKDAYS)]


def generate(rng):
    zone = rng.choice(rng.choice([common.ZONES, EVERY_ZONE]))
    start = rng.randrange(common.FIRST, 4102444800)
    if common.changes(zone) and rng.random() < 0.7:
        start = rng.choice(common.changes(zone)) - rng.randrange(200000)
    fields = [rng.choice(["0", "30", "*/15", "59", "17"]), rng.choice(["*", "0", "1", "2", "3", "23", "0,1,2,3", "*/2"]),
              rng.choice(["*", "*", "*", "*/3", "30,31,1"]), "*", "*"]
    for i, (low, high, names) in enumerate(LIMITS):
        if rng.random() < 0.25:
            fields[i] = common.pick_list(rng, low, min(high, 6) if names is WEEKDAYS else high, PARTS + ["7", "{x}-7"] * (i == 4), names)
    return common.Case(" ".join(fields), zone, start, 5)


def policies(case):
    return POLICIES[case.start % len(POLICIES)]


def change_before(zone, at):
    """The last change of the zone's offset at or before the instant, which is at most a day and a bit away."""
    low, high, after = at - 26 * 3600, at, common.offset(zone, at)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if common.offset(zone, middle) == after else (middle, high)
    return high


def values(field, low, high, names):
    found = set()
    for part in field.split(","):
        bounds, _, step = part.partition("/")
        ends = [low, high] if bounds == "*" else [names.index(end.lower()) if end.isalpha() else int(end) for end in bounds.split("-")]
        found.update(range(ends[0], ends[-1] + 1, int(step or 1)))
    return sorted(found)


def definition(case):
    """What crontab(5) means by the expression, worked out with zoneinfo; "never" where no such day comes."""
    fields = case.expression.split()
    minutes, hours, days, months, weekdays = [
        values(field, low, high, names and [name.lower() for name in names.values()]) for field, (low, high, names) in
        zip(fields, LIMITS)]
    joined = "*" in (fields[2][0], fields[4][0])
    gap, overlap = policies(case)
    late, fires, today = [], set(), datetime.datetime.fromtimestamp(case.start, common.UTC).replace(hour=0, minute=0, second=0, tzinfo=None)
    for day in (today + datetime.timedelta(i) for i in range(-2, 366 * 150)):
        sides = day.day in days, day.isoweekday() % 7 in [at % 7 for at in weekdays]
        if day.month not in months or not (all(sides) if joined else any(sides)):
            continue
        if len(late) >= case.count and day > today + datetime.timedelta(4) and late[case.count - 1] + 3 * 86400 < day.timestamp():
            break
        for hour, minute in itertools.product(hours, minutes):
            wall = day.replace(hour=hour, minute=minute)
            passes = common.readings(case.zone, wall)
            if passes:
                fires |= set({"first": passes[:1], "second": passes[-1:], "both": passes}[overlap])
            elif gap != "skip":
                # For a missing time fold=0 takes the offset before the gap.
                shifted = int(wall.replace(tzinfo=zoneinfo.ZoneInfo(case.zone), fold=0).timestamp())
                fires.add(shifted if gap == "shift" else change_before(case.zone, shifted))
        late = sorted(at for at in fires if at > case.start)
    return late[:case.count] or "never"


def by_design(case, ours, real):
    return None


if __name__ == "__main__":
    common.run("vixie", "Python's zoneinfo", generate, lambda cases: [definition(case) for case in cases], by_design,
               lambda case: ["--gap", policies(case)[0], "--overlap", policies(case)[1]])
