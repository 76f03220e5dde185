"""Law 5: killed at any act on the database's files, production is wholly old or wholly new, and the same command carries
on to what it would have come to undisturbed.

In the ordinary run every act of every command is killed before it happens, and some in the middle of a write. With
TIDEGATE_SOAK=1 each is killed before, after and in the middle, in every scene."""

import os
import signal
import unittest
from concurrent.futures import ProcessPoolExecutor

import scenes
from scenes import PRODUCTION, SCENES, WAY, harness

SHIM = os.environ["TIDEGATE_KILL_SHIM"]
SOAK = os.environ.get("TIDEGATE_SOAK") == "1"
TORN_EVERY = 1 if SOAK else 4
WORKERS = 2


class Point:
    """One scene led to one command, and what the command comes to undisturbed."""

    def __init__(self, name, wal, verb):
        self.scene = scenes.Scene.at(name, wal, WAY[verb])
        self.verb = verb
        self.before = self.scene.rows(PRODUCTION)
        count = self.scene.folder / "count"
        self.scene.go(verb, env=self.shim(TIDEGATE_KILL_COUNT_FILE=count))
        self.acts = int(count.read_text())
        self.right = self.scene.picture()

    def shim(self, **settings):
        return {"LD_PRELOAD": SHIM, "TIDEGATE_KILL_FILE": str(self.scene.database), **{k: str(v) for k, v in settings.items()}}

    def kill(self, n, moment):
        """What is wrong after a kill at the Nth act and after carrying on; None when nothing is."""
        scene, words, right = self.scene, scenes.WORDS[self.verb], self.right
        scene.back()
        killed = scene.run_tidegate(*words, env=self.shim(TIDEGATE_KILL_AT=n, TIDEGATE_KILL_WHEN=moment))
        if killed.code == 0 and n > self.acts * 0.9:
            return None  # batches follow the clock, so that the acts are not always as many
        if killed.code != -signal.SIGKILL:
            return f"was not killed: {killed!r}"
        rows = scene.look(PRODUCTION)
        state, _ = scene.newest(scene.look)
        if rows not in (self.before, right["production"]):
            return f"production is neither old nor new: {rows}"
        if self.before != right["production"] and (rows != self.before) != (state == right["state"]):
            return f"the ledger says {state}, production is {'old' if rows == self.before else 'new'}"
        if strays := scene.strays(scene.look):
            return f"tables and ledger disagree on {strays}"
        again = scene.run_tidegate(*words)
        # It was killed after its last commit: the state does not allow the command a second time.
        done = state == right["state"] and state != "planned"
        if again.code != harness.OK and not (done and again.code == harness.STATE):
            return f"does not carry on from {state}: {again!r}"
        picture = scene.picture()
        for part, value in right.items():
            if picture[part] != value:
                return f"carried on, {part} is {picture[part]} instead of {value}"
        if strays := scene.strays():
            return f"carried on, tables and ledger disagree on {strays}"
        return None


def explore(name, wal, verb):
    """Kills at every act; the number of kills, and what was wrong."""
    point = Point(name, wal, verb)
    most = point.acts if SOAK else 150 if name == "keyed" else 60
    stride = -(-point.acts // most)
    tries = [(n, "before") for n in range(1, point.acts + 1, stride)]
    tries += [(n, "torn") for n in range(2, point.acts + 1, stride * TORN_EVERY)]
    tries += [(n, "after") for n in (range(1, point.acts + 1) if SOAK else [point.acts])]
    faults = [f"{name}, {'WAL' if wal else 'journal'}, {verb}: {moment} act {n} of {point.acts}: {fault}"
              for n, moment in tries if (fault := point.kill(n, moment)) is not None]
    point.scene.tearDown()
    return len(tries), faults


class Kill(unittest.TestCase):
    def explore(self, name, wal):
        verbs = [verb for verb in WAY if name == "keyed" or verb not in ("snapshot", "restore")]
        if name != "keyed" and not SOAK:
            verbs = ["run", "swap", "rollback", "finish"]
        kills, faults = 0, []
        with ProcessPoolExecutor(WORKERS) as pool:
            for tries, found in pool.map(explore, [name] * len(verbs), [wal] * len(verbs), verbs):
                kills += tries
                faults += found
        print(f"{name}, {'WAL' if wal else 'journal'}: killed {kills} times", flush=True)
        self.assertEqual(faults, [], "\n".join(faults[:10]))


for scene in SCENES:
    for is_wal in (True, False):
        setattr(Kill, f"test_{scene}_{'wal' if is_wal else 'journal'}",
                lambda self, scene=scene, is_wal=is_wal: self.explore(scene, is_wal))

if __name__ == "__main__":
    harness.main()
