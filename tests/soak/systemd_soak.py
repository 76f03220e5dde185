"""systemd against `systemd-analyze calendar` of this machine, asked with TZ set to the case's zone."""

import calendar
import concurrent.futures
import datetime
import os
import re
import subprocess

import common

DAYS = "Mon Tue Wed thu Friday Saturday SUN".split()
SHORT = """minutely hourly daily weekly monthly quarterly semiannually semi-annually biannually yearly annually anually
Hourly fortnightly""".split()
TIMES = ["*", "0", "{x}", "{x}", "{x}..{y}", "{z}/{n}", "{x}..{y}/{n}"]


def weekdays(rng):
    first, last = sorted((rng.randrange(7), rng.randrange(7)))
    return rng.choice([DAYS[first], f"{DAYS[first]}..{DAYS[last]}", f"{DAYS[last]},{DAYS[first]}", f"{DAYS[first]}-{DAYS[last]}",
                       f"{DAYS[last]}..{DAYS[first]}", f"{DAYS[first]},"])


def component(rng, low, high):
    if rng.random() < 0.3:
        return "*"
    made = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        first, last = sorted((rng.randint(low, high), rng.randint(low, high)))
        made.append(rng.choice(TIMES[1:]).format(x=first, y=last, z=rng.randint(low, max(low, high // 4)), n=rng.randint(1, 12)))
    return ",".join(made)


def generate(rng):
    zone, start = common.pick_zone_and_start(rng)
    parts = []
    if rng.random() < 0.3:
        parts.append(weekdays(rng))
    if rng.random() < 0.6:
        date = component(rng, 1, 12) + rng.choice("---~") + component(rng, 1, rng.choice([7, 28, 31]))
        if rng.random() < 0.7:
            date = rng.choice(["*", "*", "*", "1990/2", "1995..2030", "2005", "99", "3..12"]) + "-" + date
        parts.append(date)
    if rng.random() < 0.8 or not parts:
        time = component(rng, 0, 23) + ":" + component(rng, 0, 59)
        if rng.random() < 0.5:
            time += ":" + rng.choice(["0", "00", "*", "0/15", "30", "5..50/7", component(rng, 0, 59), "1.5"])
        parts.append(time)
    expression = " ".join(parts)
    if rng.random() < 0.08:
        expression = rng.choice(SHORT)
    if rng.random() < 0.15:
        expression += " " + rng.choice(["UTC", "utc"] + common.ZONES + ["Mars/Olympus"])
    if rng.random() < 0.1:
        expression = common.mutate(rng, expression)
    return common.Case(expression, zone, start, 6)


def ask_one(case):
    base = datetime.datetime.fromtimestamp(case.start, common.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    done = subprocess.run(["systemd-analyze", "calendar", f"--iterations={case.count}", f"--base-time={base}", "--", case.expression],
                          env=dict(os.environ, TZ=":" + case.zone, LC_ALL="C"), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return " ".join(done.stderr.split())
    # "Next elapse: Mon 2024-… CET" or "Iter. #2: …", and "(in UTC): …" under it, which is left out where TZ is UTC.
    shown = re.findall(r"(?:Next elapse|Iter\. #\d+): (?:\w+ )?(\S+ \S+) \S+\n(?:\s*\(in UTC\): (?:\w+ )?(\S+ \S+) UTC)?", done.stdout)
    return [int(datetime.datetime.fromisoformat((utc or local).split(".")[0] + "+00:00").timestamp()) for local, utc in shown]


def ask(cases):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(ask_one, cases))


def by_design(case, ours, real):
    if isinstance(ours, str):
        if "never fires" in ours and real == []:
            return "never fires: an error here, no fire there"
        if "not a whole second" in ours:
            return "fractions of a second are refused"
        return None
    if isinstance(real, str):
        if "Infinite loop" in real or "deadlock avoided" in real:
            return "the real one loops for ever"
        if re.search(r"~[^ ]*,", case.expression):
            return "the real one allows three days less for each further part of a list from the month's end"
        if any(start == stop for start, stop in re.findall(r":\d+:(?:[^ ]*,)?(\d+)\.\.(\d+)(?!/)", case.expression)):
            return "the real one refuses a range of one second"
        if case.expression != " ".join(case.expression.split()):
            return "blanks at the ends, and two in place of one, are taken"
        return None
    if common.in_first_pass(case.zone, case.start):
        return "asked within the first pass of a time that comes twice"
    zone = case.expression.split()[-1]
    if (zone if "/" in zone and zone[0].isalpha() else case.zone) != "UTC" and ours == definition(case):
        return "the real one loses its way at a change of the clock; the definition says as Tidegate"
    return None


def values(text, low, high, from_end=False):
    found = set()
    if text == "*":
        return set(range(low, high + 1))
    for part in text.split(","):
        bounds, _, repeat = part.partition("/")
        ends = [int(end.split(".")[0] if "." in end else end) for end in bounds.split("..")]
        if high > 1000:
            ends = [end + (2000 if end < 70 else 1900 if end < 100 else 0) for end in ends]
        step = int(repeat) if repeat else 1
        if from_end and len(ends) == 2:
            last = ends[1] - (ends[1] - ends[0]) % step
            found |= set(range(last, ends[0] - 1, -step))
        elif from_end:
            found |= set(range(ends[0], 0, -step)) if repeat else {ends[0]}
        else:
            found |= set(range(ends[0], (ends[-1] if len(ends) == 2 else high if repeat else ends[0]) + 1, step))
    return found


def definition(case):
    """What systemd.time(7) means by the expression, worked out with zoneinfo: a time that comes twice is the first."""
    words = case.expression.split()
    if len(words) > 1 and words[-1][0].isalpha():
        zone = words.pop()
        case = case._replace(zone="UTC" if zone.upper() == "UTC" else zone)
    short = {"minutely": "*:*", "hourly": "*:0", "daily": "0:0", "weekly": "Mon 0:0", "monthly": "*-1 0:0", "quarterly": "1,4,7,10-1",
             "yearly": "1-1", "annually": "1-1", "anually": "1-1"}
    words = short.get(words[0].lower(), "1,7-1" if "annually" in words[0].lower() else " ".join(words)).split()
    week = set(range(7))
    if words[0][0].isalpha():
        week = set()
        for part in filter(None, words.pop(0).split(",")):
            ends = [next(i for i, day in enumerate(DAYS) if day[:3].lower() == end[:3].lower()) for end in re.split(r"\.\.|-", part)]
            week |= set(range(ends[0], ends[-1] + 1))
    date = words.pop(0) if words and re.search("[-~]", words[0]) else "*-*"
    *year, month, day = re.split("[-~]", date)
    year, month = values(year[0], 1970, 2199) if year else None, values(month, 1, 12)
    from_end = "~" in date and day != "*"
    day = values(day, 1, 31, from_end)
    hour, minute, second = ((words.pop(0) if words else "0:0") + ":0").split(":")[:3]

    def matches(at):
        last = calendar.monthrange(at.year, at.month)[1]
        return ((year is None or at.year in year) and at.month in month and at.weekday() in week
                and (last - at.day + 1 if from_end else at.day) in day)
    return common.by_definition(case, matches, values(hour, 0, 23), values(minute, 0, 59), values(second, 0, 59), slice(0, 1))


if __name__ == "__main__":
    version = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    common.run("systemd", f"systemd-analyze {version}", generate, ask, by_design)
