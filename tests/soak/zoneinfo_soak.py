"""The zone arithmetic and the policies for missing and doubled times against Python's zoneinfo: daily and hourly lines of
vixie in every zone of this machine, around changes of the clock and, by the rule at the end of a zone's file, to 2100."""

import datetime
import itertools
import zoneinfo

import common

EVERY_ZONE = sorted(zone for zone in zoneinfo.available_timezones() if "/" in zone or zone == "UTC")
POLICIES = list(itertools.product(["skip", "shift", "gap_end"], ["first", "second", "both"]))


def generate(rng):
    zone = rng.choice(rng.choice([common.ZONES, EVERY_ZONE]))
    start = rng.randrange(common.FIRST, 4102444800)
    if common.changes(zone) and rng.random() < 0.7:
        start = rng.choice(common.changes(zone)) - rng.randrange(200000)
    hours = rng.choice(["*", "0", "1", "2", "3", "23", "0,1,2,3", "*/2"])
    minutes = rng.choice(["0", "30", "*/15", "59", "17"])
    day = rng.choice(["*", "*", "*", "*/3", "30,31,1"])
    return common.Case(f"{minutes} {hours} {day} * *", zone, start, 8)


def policies(case):
    return POLICIES[case.start % len(POLICIES)]


def change_before(zone, at):
    """The last change of the zone's offset at or before the instant, which is at most a day and a bit away."""
    low, high, after = at - 26 * 3600, at, common.offset(zone, at)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if common.offset(zone, middle) == after else (middle, high)
    return high


def values(field, low, high):
    if field.startswith("*"):
        return range(low, high + 1, int(field[2:] or 1))
    return [int(value) for value in field.split(",")]


def definition(case):
    minutes, hours, days = case.expression.split()[:3]
    gap, overlap = policies(case)
    fires, today = set(), datetime.datetime.fromtimestamp(case.start, common.UTC).replace(hour=0, minute=0, second=0, tzinfo=None)
    for day in (today + datetime.timedelta(i) for i in range(-2, 400)):
        if day.day not in values(days, 1, 31):
            continue
        for hour, minute in itertools.product(values(hours, 0, 23), values(minutes, 0, 59)):
            wall = day.replace(hour=hour, minute=minute)
            passes = common.readings(case.zone, wall)
            if passes:
                fires |= set({"first": passes[:1], "second": passes[-1:], "both": passes}[overlap])
            elif gap != "skip":
                # For a missing time fold=0 takes the offset before the gap.
                shifted = int(wall.replace(tzinfo=zoneinfo.ZoneInfo(case.zone), fold=0).timestamp())
                fires.add(shifted if gap == "shift" else change_before(case.zone, shifted))
        late = sorted(at for at in fires if at > case.start)
        if len(late) >= case.count and day > today + datetime.timedelta(4) and late[case.count - 1] + 3 * 86400 < day.timestamp():
            break
    return late[:case.count]


def by_design(case, ours, real):
    return None


if __name__ == "__main__":
    common.run("vixie", "Python's zoneinfo", generate, lambda cases: [definition(case) for case in cases], by_design,
               lambda case: ["--gap", policies(case)[0], "--overlap", policies(case)[1]])
