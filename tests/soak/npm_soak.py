"""cron-parser and node-cron against the packages of npm, through tests/soak/npm/answers.mjs: $NPM_ANSWERS is the folder in which
that file stands beside its node_modules. --node-cron asks the second; without it, the first."""

import os
import re
import sys

import common

MONTHS = dict(enumerate("x jan FEB Mar apr may jun jul aug sep oct nov dec".split()))
WEEKDAYS = dict(enumerate("sun MON Tue wed thu fri sat".split()))
PARTS = ["*", "{a}", "{a}", "{a}-{b}", "{a}-{b}", "*/{n}", "{x}-{y}/{n}", "{x}/{n}", "{b}-{a}"]
NODE = "--node-cron" in sys.argv
DAY_PARTS = PARTS + (["L", "L-{x}", "{x}W", "LW", "?"] if NODE else ["L", "?"])
WEEKDAY_PARTS = PARTS + ["{a}#2", "{a}#5", "{x}L", "{a}L", "7", "?"]
PRESETS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@Daily", "@reboot", "@weekdays",
           "@minutely", "@secondly", "@weekends"]


def pick_list(rng, *arguments):
    """Mostly one part: cron-parser refuses a value that stands twice."""
    made = common.pick_list(rng, *arguments)
    return made if rng.random() < 0.3 else made.split(",")[0]


def generate(rng):
    zone, start = common.pick_zone_and_start(rng)
    fields = [pick_list(rng, 0, 59, ["0", "{a}", "*/{n}", "{a}-{b}"]), pick_list(rng, 0, 23, ["*", "*"] + PARTS),
              pick_list(rng, 1, 31, ["*"] if rng.random() < 0.5 else DAY_PARTS),
              pick_list(rng, 1, 12, ["*", "*", "*"] + PARTS, MONTHS),
              pick_list(rng, 0, 6, ["*"] if rng.random() < 0.5 else WEEKDAY_PARTS, WEEKDAYS)]
    if rng.random() < 0.3:
        fields.insert(0, pick_list(rng, 0, 59, ["0", "{a}", "*/{n}"]))
    expression = " ".join(fields) if rng.random() < 0.97 else rng.choice(PRESETS)
    if rng.random() < 0.15:
        expression = common.mutate(rng, expression)
    return common.Case(expression, zone, start, 6)


def by_design(case, ours, real):
    if isinstance(ours, str) and NODE:
        if re.search(r"(\d\*|\*\d|\*\*)", case.expression):
            return "the real one puts a range into the text where a star stands"
        if " is not from " in ours and "-" in case.expression:
            return "the real one takes a range whose bounds are not of the field"
    if isinstance(ours, str) and not NODE and "5 or 6 fields" in ours and len(case.expression.split()) < 5:
        return "the real one fills in fields that are left out"
    if isinstance(ours, str):
        return None
    if isinstance(real, str):
        return "the real one loops in a change of half an hour" if "loop limit" in real and near_half_hour(case) else None
    at = min(set(ours) ^ set(real))
    if at >= common.LAST or (case.zone in ("Asia/Tehran", "Europe/Lisbon") and at < 600000000):
        return "node brings zone data of its own age"
    if not NODE and case.zone == "Antarctica/Troll" and common.near_change(case.zone, at, 14400):
        return "the real one moves a time of a gap of two hours to the hour after it"
    if not NODE and common.near_change(case.zone, at, 14400) and {at, at + 3600} == set(ours) ^ set(real):
        return "the real one runs a doubled time of the day's first hour in the second pass"
    if not common.near_change(case.zone, at, 14400) or not {fire for fire in real if fire <= ours[-1]} <= set(ours):
        return None
    return ("the real one runs a doubled time once, in a pass that depends on the zone" if NODE else
            "the real one loses times of a gap that begins or ends at midnight, or is not of one hour")


def near_half_hour(case):
    return any(abs(case.start - change) < 40 * 86400 and
               (common.offset(case.zone, change) - common.offset(case.zone, change - 1)) % 3600 for change in
               common.changes(case.zone))


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--node-cron"]
    name = "node-cron" if NODE else "cron-parser"
    answers = os.path.join(os.environ["NPM_ANSWERS"], "answers.mjs")
    common.run(name, name + (" 4.6.0" if NODE else " 5.10.6"), generate,
               lambda cases: common.ask_program(["node", answers, name], cases), by_design)
