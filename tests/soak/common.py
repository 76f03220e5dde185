"""What the differential tests of schedules share: zones and instants worth asking about, the question put to Tidegate, and
the comparison with the real thing. Each test has its generator of expressions and its list of what differs by design."""

import argparse
import bisect
import collections
import concurrent.futures
import datetime
import functools
import itertools
import os
import random
import subprocess
import sys
import zoneinfo

LOOPS = "loops for ever"
UTC = datetime.timezone.utc
Case = collections.namedtuple("Case", "expression zone start count")

# Half-hour and two-hour changes, days that were skipped, midnights in a gap, negative summer time, a fasting month.
ZONES = """UTC Europe/Berlin Europe/London Europe/Dublin Europe/Athens Europe/Lisbon Europe/Istanbul Europe/Moscow
America/New_York America/Chicago America/Los_Angeles America/St_Johns America/Sao_Paulo America/Santiago America/Havana
America/Asuncion America/Nuuk America/Scoresbysund America/Caracas Asia/Kolkata Asia/Kathmandu
Asia/Tehran Asia/Amman Asia/Beirut Asia/Hebron Asia/Gaza Asia/Pyongyang Asia/Tokyo Asia/Manila Australia/Sydney
Australia/Lord_Howe Australia/Adelaide Antarctica/Troll Africa/Casablanca Africa/El_Aaiun Africa/Cairo
Africa/Juba Pacific/Apia Pacific/Fakaofo Pacific/Chatham Pacific/Norfolk Pacific/Easter
Pacific/Kiritimati Pacific/Auckland""".split()
# The real things bring time zone data of their own, of different age: nothing is asked about the years after this.
FIRST, LAST = int(datetime.datetime(1972, 1, 1, tzinfo=UTC).timestamp()), int(
    datetime.datetime(2024, 1, 1, tzinfo=UTC).timestamp())


def offset(zone, at):
    return int(datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo(zone)).utcoffset().total_seconds())


@functools.cache
def changes(zone):
    """The instants from FIRST to LAST at which the zone's offset changes, found by looking at every tenth hour."""
    found, step, before = [], 36000, offset(zone, FIRST)
    for at in range(FIRST + step, LAST, step):
        after = offset(zone, at)
        if after != before:
            low, high = at - step, at
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            found.append(high)
        before = after
    return found


def near_change(zone, at, reach):
    """Is there a change of the zone's offset within so many seconds of the instant?"""
    all_changes = changes(zone)
    place = bisect.bisect_left(all_changes, at - reach)
    return place < len(all_changes) and all_changes[place] <= at + reach


def pick_zone_and_start(rng):
    zone = rng.choice(ZONES)
    if changes(zone) and rng.random() < 0.7:
        return zone, max(FIRST, rng.choice(changes(zone)) - rng.choice([600, 7200, 90000, 260000]) + rng.randrange(600))
    return zone, rng.randrange(FIRST, LAST)


def pick_list(rng, low, high, parts, names=None):
    """A list of a cron field whose values lie from low to high; `parts` are the forms that a part may have."""
    def value(at):
        return names[at] if names and rng.random() < 0.3 else str(at)
    made = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        first, last = sorted((rng.randint(low, high), rng.randint(low, high)))
        made.append(rng.choice(parts).format(a=value(first), b=value(last), x=first, y=last, n=rng.randint(1, 12)))
    return ",".join(made)


def mutate(rng, text):
    """The expression with a slip of the pen."""
    at = rng.randrange(len(text) + 1)
    return rng.choice([text[:at] + text[at + 1:], text[:at] + rng.choice("0123456789*/-,?LW# @~:.") + text[at:],
                       text[:at] + text[at:at + 2] * 2 + text[at + 2:]])


def readings(zone, wall):
    """The instants at which the zone's clock shows the naive datetime, by Python's zoneinfo."""
    found = set()
    for fold in (0, 1):
        at = wall.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold).astimezone(UTC)
        if at.astimezone(zoneinfo.ZoneInfo(zone)).replace(tzinfo=None) == wall:
            found.add(int(at.timestamp()))
    return sorted(found)


def in_first_pass(zone, at):
    """Does the zone's clock show the time of the instant again later?"""
    wall = datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo(zone)).replace(tzinfo=None)
    return readings(zone, wall)[-1:] > [at]


def by_definition(case, day_matches, hours, minutes, seconds, passes=slice(None), years=12):
    """The fires that the definition gives: every second of every matching day that the clock really shows. `passes` cuts
    what is taken of a time that comes twice."""
    fires = []
    begin = datetime.datetime.fromtimestamp(case.start, UTC).date() - datetime.timedelta(2)
    days_over = 0
    for day in (begin + datetime.timedelta(i) for i in range(366 * years)):
        days_over += len(fires) >= case.count
        if days_over > 3:
            break
        if not day_matches(day):
            continue
        times = itertools.product(sorted(hours), sorted(minutes), sorted(seconds))
        walls = (datetime.datetime(day.year, day.month, day.day, *time) for time in times)
        # Enough of one day for the count, and two hours more, in which a second pass may come before.
        last = None
        for wall in walls:
            if last and len(fires) >= case.count and wall > last + datetime.timedelta(hours=3):
                break
            new = [at for at in readings(case.zone, wall)[passes] if at > case.start]
            fires += new
            last = wall if last is None and len(fires) >= case.count else last
    return sorted(set(fires))[:case.count]


def rfc3339(at):
    return datetime.datetime.fromtimestamp(at, UTC).isoformat()


def tidegate(*arguments):
    """The exit status, 0, 2 or 3, and what it said."""
    done = subprocess.run([os.environ.get("TIDEGATE", "build/src/tidegate"), "schedule", *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 2, 3):
        sys.exit(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode, done.stdout, done.stderr


def ask_tidegate(dialect, case, *options):
    """The fires in seconds since 1970, or the reason in words."""
    status, fires, reason = tidegate("next", "--dialect", dialect, "--zone", case.zone, "--from", rfc3339(case.start), "--count",
                                     str(case.count), *options, "--", case.expression)
    if status == 0:
        return [int(datetime.datetime.fromisoformat(line).timestamp()) for line in fires.split()]
    return " ".join(reason.split())


def overlooked(dialect, case, real, *options):
    """Those fires of the real thing beside which, from the minute before on, work would be allowed."""
    def allows(at):
        return tidegate("check", "--dialect", dialect, "--zone", case.zone, "--guard", "0", "--start", rfc3339(at - 59), "--end",
                        rfc3339(at + 1), *options, "--", case.expression)[0] == 0
    return [at for at in real if at < LAST and allows(at)]


def ask_program(command, cases):
    """Puts all cases to a program that answers line by line, as robfig/main.go and quartz/Soak.java do. Where the real
    thing goes round for ever the program says so and ends; the rest is asked of a new one."""
    answers = []
    while len(answers) < len(cases):
        lines = "".join(f"{case.expression}\t{case.zone}\t{case.start}\t{case.count}\n" for case in cases[len(answers):])
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        new = done.stdout.splitlines()
        answers += [line[1:] if line.startswith("!") else [int(at) for at in line.split()] for line in new]
        if done.returncode != 0 or not new or (len(answers) < len(cases) and answers[-1] != LOOPS):
            sys.exit(f"{command}: exit {done.returncode}, {len(answers)} answers to {len(cases)} questions\n{done.stderr}")
    return answers


def words(answer):
    return answer if isinstance(answer, str) else ";".join(rfc3339(at) for at in answer)


def run(dialect, source, generate, ask, by_design, options=lambda case: ()):
    """generate(rng) makes a Case, ask(cases) the real answers; by_design(case, ours, real) names the reason why two
    answers may differ, or None. Exit status 1 if any differ without one, or if work would be allowed beside a real fire."""
    parser = argparse.ArgumentParser(description=f"{dialect} against {source}")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=int, default=0, help="print so many rows for tests/cases/schedule-real.tsv")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases = [generate(rng) for _ in range(arguments.cases)]
    real = ask(cases)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ours = list(pool.map(lambda case: ask_tidegate(dialect, case, *options(case)), cases))
    reasons, wrong, recorded = collections.Counter(), 0, 0
    for case, mine, theirs in zip(cases, ours, real):
        same = mine == theirs or (isinstance(mine, str) and isinstance(theirs, str))
        if same:
            reasons["both refuse" if isinstance(mine, str) else "the same fires"] += 1
            if recorded < arguments.record and (not isinstance(mine, str) or recorded % 10 == 0):
                recorded += 1
                print(dialect, case.expression, case.zone, rfc3339(case.start),
                      "refused" if isinstance(mine, str) else words(mine), source, sep="\t")
            continue
        reason = by_design(case, mine, theirs)
        missed = [] if isinstance(mine, str) or isinstance(theirs, str) else overlooked(dialect, case, theirs, *options(case))
        if missed:
            reason = None
            print("work would be allowed at " + words(missed), file=sys.stderr)
        reasons[reason or "DIFFERENT"] += 1
        if reason is None:
            wrong += 1
            if wrong <= 40:
                print(f"{case}\n  tidegate {words(mine)}\n  real     {words(theirs)}", file=sys.stderr)
    for reason, n in reasons.most_common():
        print(f"{dialect}: {n:6} {reason}", file=sys.stderr)
    sys.exit(wrong > 0)
