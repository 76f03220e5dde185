"""Law 5 on PostgreSQL: whatever happens at any exchange with the server, production is wholly old or wholly new, and the
same command carries on to what it would have come to undisturbed.

At the Nth exchange of a command the connection is cut, the program killed or frozen, its session terminated, or the
whole server crashes and comes up again; before the server has the message, or after it has done it and before the
program hears. The ordinary run tries a seeded spread of all that, and every COMMIT; TIDEGATE_SOAK=1 everything."""

import os
import random
import re
import signal
import traceback
import unittest
from concurrent.futures import ProcessPoolExecutor

import postgres_scenes as scenes
from postgres_proxy import CRASH, CUT, FAULTS, HANG_UP, KILL, ORPHAN, STOP, TERMINATE
from postgres_scenes import PRODUCTION, SCENES, WAY, harness
from harness import OK, STATE

SOAK = os.environ.get("TIDEGATE_SOAK") == "1"
SEED = 20240104
WORKERS = 4  # on two processors: some of them wait, and every one has a server of its own
# How often a fault is tried at one command in the ordinary run, beside those at a COMMIT.
SPREAD = {(CUT, "before"): 2, (CUT, "after"): 2, (KILL, "before"): 2, (KILL, "after"): 2, (TERMINATE, "before"): 1,
          (TERMINATE, "after"): 1, (ORPHAN, "before"): 1, (CRASH, "before"): 1, (CRASH, "after"): 1, (STOP, "before"): 1,
          (HANG_UP, "after"): 2}
AT_COMMIT = [(CUT, "before"), (CUT, "after"), (KILL, "after"), (TERMINATE, "before")]
CONNECTING = 5  # exchanges: the first connection is not tried again


class Point:
    """One scene led to one command, and what the command comes to undisturbed."""

    def __init__(self, name, verb):
        self.scene = scenes.Scene.at(name, WAY[verb])
        self.verb, self.words = verb, self.scene.words(verb)
        self.before, self.catalogue = self.scene.rows(PRODUCTION), self.scene.catalogue()
        self.swaps = self.scene.swaps()
        self.scene.back()  # so that the count is of a database like the one it is tried on
        self.scene.proxy.arm()
        self.scene.go(verb)
        self.said = self.scene.proxy.said
        self.right = self.scene.picture()
        self.swaps_right = self.scene.swaps()

    def points(self):
        """(exchange, fault, when) to try."""
        every = range(1, len(self.said) + 1)
        if SOAK:
            return [(n, what, when) for n in every for what, when in FAULTS]
        chance = random.Random(f"{SEED} {self.scene.scene} {self.verb}")
        tries = [(n, what, when) for (what, when), k in SPREAD.items() for n in chance.sample(every, k)]
        commits = [n for n in every if self.said[n - 1].startswith("COMMIT")]
        # The last gives the lease back; what is done is done in the one before it.
        tries += [(n, *fault) for n in commits[-2:-1] for fault in AT_COMMIT]
        tries += [(n, *chance.choice(AT_COMMIT)) for n in commits]
        return sorted(set(tries))

    def disturbed(self, n, what, when):
        """The command with its Nth exchange disturbed."""
        scene = self.scene
        scene.proxy.arm(n, what, when, scene.writers_get_in)
        process = scene.start(*self.words)
        out, err = process.communicate(timeout=120)
        scene.proxy.settled()
        process.stdout, process.stderr = out, err
        return harness.Result(self.words, process)

    def told_truly(self, result, rows, state):
        """What is wrong with what a disturbed command says of itself."""
        if result.code == -signal.SIGKILL:
            return None
        proxy = self.scene.proxy
        if proxy.idle and proxy.what == HANG_UP and proxy.at > CONNECTING and result.code != OK:
            return "a connection that was lost while idle is not made again"
        if not (result.code == OK or harness.USAGE <= result.code <= harness.FULL):
            return f"ended with {result.code}"
        if result.code != OK and "tidegate: " not in result.err:
            return "ended without a word"
        if result.code == OK and state != self.right["state"]:
            return f"exit status 0 in the state {state}"
        if re.search("roduction is untouched", result.err) and rows != self.before:
            return "says that production is untouched, and it is not"
        if "nothing of it was committed" in result.err and state == self.right["state"]:
            return f"says that nothing was committed, in the state {state}"
        return None

    def old_or_new(self, rows, state):
        right = self.right
        if rows not in (self.before, right["production"]):
            return f"production is neither old nor new: {rows}"
        if self.verb != "snapshot" and self.before != right["production"] and (rows != self.before) != (state == right["state"]):
            return f"the ledger says {state}, production is {'old' if rows == self.before else 'new'}"
        if self.scene.catalogue() != self.catalogue:
            return f"the catalogue is another: {self.scene.catalogue()}"
        if strays := self.scene.strays():
            return f"tables and ledger disagree on {strays}"
        return None

    def at_its_end(self):
        picture = self.scene.picture()
        for part in sorted(self.right.keys() | picture.keys()):
            if picture.get(part) != self.right.get(part):
                return f"carried on, {part} is {picture.get(part)} instead of {self.right.get(part)}"
        if self.scene.swaps() != self.swaps_right:
            return f"swapped {self.scene.swaps()} times"
        if strays := self.scene.strays():
            return f"carried on, tables and ledger disagree on {strays}"
        if left := self.scene.sessions():
            return f"sessions are left behind: {left}"
        return None

    def fault(self, n, what, when):
        """What is wrong after a disturbance and after carrying on; None when nothing is."""
        scene, right = self.scene, self.right
        scene.back(crash=what == CRASH)
        result = self.disturbed(n, what, when)
        if not scene.proxy.fired:
            return None if result.code == OK and n > 0.9 * len(self.said) else f"was not disturbed: {result!r}"
        if scene.proxy.trouble:
            return f"{scene.proxy.trouble}: {result!r}"
        orphaned = what in (ORPHAN, KILL)
        rows, (state, _) = scene.rows(PRODUCTION), scene.newest()
        fault = self.told_truly(result, rows, state) or (None if orphaned else self.old_or_new(rows, state))
        if fault:
            return f"{fault}: {result!r}"
        written = scene.rows("SELECT xmin::text, ctid::text, * FROM sales ORDER BY 1, 2")
        if self.verb == "snapshot":
            return self.after_snapshot(state, result)
        again = scene.until_free(self.words)
        if orphaned and (fault := self.old_or_new(scene.rows(PRODUCTION), scene.newest()[0])):
            return f"{fault}: {result!r}, then {again!r}"
        scene.proxy.arm()  # lets go of an orphan's connection
        done = state == right["state"]
        if again.code != OK and not (done and again.code == STATE):
            return f"does not carry on from {state} after {result!r}: {again!r}"
        if done and scene.rows("SELECT xmin::text, ctid::text, * FROM sales ORDER BY 1, 2") != written:
            return f"was done already, and wrote production a second time: {again!r}"
        fault = self.at_its_end()
        return fault and f"{fault}: after {result!r}, then {again!r}"

    def after_snapshot(self, state, result):
        """What a tool that has begun may have written is put back; then the way is gone from its beginning."""
        scene, again = self.scene, None
        if state in ("opened", "checked"):
            again = scene.until_free(["restore", "backfill.yaml"])
            if again.code != OK or scene.rows(PRODUCTION) != self.before:
                return f"cannot be put back from {state} after {result!r}: {again!r}"
        if state != self.right["state"]:
            again = scene.until_free(self.words)
            if again.code != OK or scene.rows(PRODUCTION) != self.right["production"]:
                return f"does not carry on from {state} after {result!r}: {again!r}"
        return None


def explore(name, verb, part, parts):
    """Disturbs one command; the number of tries, and what was wrong."""
    point = Point(name, verb)
    tries = point.points()[part::parts]
    faults = []
    for n, what, when in tries:
        try:
            fault = point.fault(n, what, when)
        except Exception:  # noqa: BLE001  told with the point at which it was
            fault = traceback.format_exc()
        if fault is not None:
            faults.append(f"{name}, {verb}: {what} {when} exchange {n} of {len(point.said)} "
                          f"({' '.join(point.said[n - 1].split())[:100]}): {fault}")
    point.scene.tearDown()
    return len(tries), faults


class Disturbed(unittest.TestCase):
    def explore(self, name):
        verbs = [verb for verb in WAY if name == "keyed" or verb not in ("snapshot", "restore")]
        if not SOAK:
            verbs = [verb for verb in verbs if verb in ("run", "swap", "rollback") or name == "keyed" and verb != "swap again" or name == "exchange"]
        parts = 4 if SOAK else 1
        count, faults = 0, []
        with ProcessPoolExecutor(WORKERS) as pool:
            jobs = [pool.submit(explore, name, verb, part, parts) for verb in verbs for part in range(parts)]
            for job in jobs:
                tries, found = job.result()
                count += tries
                faults += found
        print(f"{name}: disturbed {count} times", flush=True)
        self.assertEqual(faults, [], f"{len(faults)} of {count}\n" + "\n".join(faults[:10]))


for scene_name in SCENES:
    setattr(Disturbed, f"test_{scene_name}", lambda self, scene_name=scene_name: self.explore(scene_name))

if __name__ == "__main__":
    harness.main()
