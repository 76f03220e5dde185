"""croniter, and what Airflow and Dagster make of it, against the croniter of PyPI: run it by a Python that has croniter.

With --and-days, croniter with day_or=False. With --airflow or --dagster, what their sources do with a croniter that knows
no zone (timetables/_cron.py; _utils/schedules.py)."""

import datetime
import re
import sys
import zoneinfo

import croniter

import common

MONTHS = dict(enumerate("x jan FEB Mar apr may jun jul aug sep oct nov dec".split()))
WEEKDAYS = dict(enumerate("sun MON Tue wed thu fri sat".split()))
PARTS = ["*", "{a}", "{a}", "{a}-{b}", "{b}-{a}", "*/{n}", "{x}/{n}", "{x}-{y}/{n}", "{y}-{x}/{n}", "{x}-{x}"]
DAY_PARTS = PARTS + ["l", "{x}W", "W{x}", "{x}-l"]
WEEKDAY_PARTS = PARTS + ["{a}#2", "{a}#1", "{a}#5", "L{x}", "{a}-{b}#3", "7"]
PRESETS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@Daily", "@reboot", "?"]
MODES = {"--and-days": "croniter", "--airflow": "airflow", "--dagster": "dagster"}
MODE = next((word for word in sys.argv if word in MODES), None)
HOUR = datetime.timedelta(hours=1)


def generate(rng):
    zone, start = common.pick_zone_and_start(rng)
    often = rng.random() < 0.5
    fields = [common.pick_list(rng, 0, 59, ["0", "{a}", "*/{n}", "{a}-{b}"]),
              common.pick_list(rng, 0, 23, ["*", "*"] + PARTS),
              common.pick_list(rng, 1, 31, ["*"] if often else DAY_PARTS),
              common.pick_list(rng, 1, 12, ["*", "*", "*"] + PARTS, MONTHS),
              common.pick_list(rng, 0, 6, ["*"] if rng.random() < 0.5 else WEEKDAY_PARTS, WEEKDAYS)]
    if rng.random() < 0.3:
        fields.append(common.pick_list(rng, 0, 59, ["0", "{a}", "*/{n}", "{b}-{a}/{n}"]))
        if rng.random() < 0.4:
            fields.append(common.pick_list(rng, 1972, 2090, ["*", "{x}-{y}", "{x}/{n}", "{x}-2099", "*/{n}"]))
    expression = " ".join(fields) if rng.random() < 0.97 else rng.choice(PRESETS)
    if rng.random() < 0.15:
        expression = common.mutate(rng, expression)
    return common.Case(expression, zone, start, 8)


def readings(wall, zone):
    """The instants at which the zone shows the time, the first pass first: none in a gap."""
    passes = [wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    return sorted({at for at in passes if datetime.datetime.fromtimestamp(at, zone).replace(tzinfo=None, fold=0) == wall})


def airflow_fires(case, zone):
    at, fires = case.start, []
    while len(fires) < case.count:
        naive = datetime.datetime.fromtimestamp(at, zone).replace(tzinfo=None, fold=0)
        real = croniter.croniter(case.expression, naive, datetime.datetime)
        fire = real.get_next()
        if real.expanded[1] == ["*"]:
            at += (fire - naive).total_seconds()
        else:
            at = (readings(fire, zone) or [fire.replace(tzinfo=zone, fold=0).timestamp()])[-1]
        fires.append(int(at))
    return fires


def dagster_fires(case, zone):
    naive = datetime.datetime.fromtimestamp(case.start, zone).replace(tzinfo=None, fold=0) - 3 * HOUR
    real, found = croniter.croniter(case.expression, naive, datetime.datetime), set()
    hourly = real.expanded[1] == ["*"]
    while len([at for at in found if at > case.start]) < 400 + case.count:
        fire = real.get_next()
        at = readings(fire, zone)
        if not at and not hourly:
            gap_end = fire
            while not readings(gap_end, zone):
                gap_end += datetime.timedelta(minutes=1) - datetime.timedelta(seconds=gap_end.second)
            at = readings(gap_end, zone)
        found.update(at if hourly else at[-1:])
        if fire.year > naive.year + 60:
            break
    return [int(at) for at in sorted(found) if at > case.start][:case.count]


def croniter_fires(case, zone):
    real = croniter.croniter(case.expression, datetime.datetime.fromtimestamp(case.start, zone), datetime.datetime,
                             day_or=MODE != "--and-days")
    fires = []
    while len(fires) < case.count:
        try:
            fires.append(int(real.get_next().timestamp()))
        except croniter.CroniterBadDateError:
            break
    return fires


def answer(case):
    zone = zoneinfo.ZoneInfo(case.zone)
    ask = {"--airflow": airflow_fires, "--dagster": dagster_fires}.get(MODE, croniter_fires)
    try:
        if MODE == "--dagster" and len(croniter.croniter.expand(case.expression)[0]) != 5:
            return "five fields"
        return ask(case, zone) or "no date"
    except (ValueError, AssertionError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


def by_design(case, ours, real):
    if isinstance(real, str):
        if "date" in real and not isinstance(ours, str) and ours[-1] - case.start > 49 * 365 * 86400:
            return "the real one gives up after fifty years"
        if case.expression.startswith("@") and case.expression != case.expression.strip():
            return "the real one knows no shorthand with a blank beside it"
        return None
    if isinstance(ours, str) and re.search(r"-(0+|\d{3})([/, ]|$)", case.expression):
        return "the real one does not look whether the upper bound of a range is too low"
    at = None if isinstance(ours, str) else min(set(ours) ^ set(real), default=None)
    if at is None:
        return None
    before = max([fire for fire in ours if fire < at] + [case.start])
    if MODE == "--airflow":
        if at - before > 12 * 3600 and any(before < change <= at + 7200 for change in common.changes(case.zone)):
            return "the real one, when the hour is a star, adds the time to the next day as if the clock did not change"
        if common.near_change(case.zone, case.start, 7200) and case.start in (ours[0] - 3600, before):
            return "the real one forgets in which pass it is asked"
    if not common.near_change(case.zone, at, 86400):
        return None
    if MODE == "--airflow" and [fire for fire in real if fire <= ours[-1]] == [fire for fire in ours if fire in real]:
        return "of several times that are missing in one night the real one runs the first alone"
    if all(fire in ours or fire - fire % 60 in ours for fire in real):
        return "the real one goes out of a gap by minutes, and keeps the seconds of the missing time"
    if any(common.offset(case.zone, change) - common.offset(case.zone, change - 1) not in (3600, -3600)
           for change in common.changes(case.zone) if abs(change - at) < 86400):
        return "the real one loses times in a change that is not of one hour"
    return None


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word not in MODES]
    common.run(MODES.get(MODE, "croniter"), "croniter 7.0.0", generate, lambda cases: [answer(case) for case in cases],
               by_design, lambda case: ["--day-and"] if MODE == "--and-days" else [])
