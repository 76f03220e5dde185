"""The Nth allocation, write, sync, truncation, opening or removal fails, once or from then on: the program ends with a
documented exit status and says why, production is wholly old or wholly new, and the same command carries on."""

import errno
import os
import unittest
from concurrent.futures import ProcessPoolExecutor

import scenes
from scenes import PRODUCTION, WAY, harness

SHIM = os.environ["TIDEGATE_FAIL_SHIM"]
SOAK = os.environ.get("TIDEGATE_SOAK") == "1"
WORKERS = 2
# How many points of a kind are tried for a command: allocations are many, and most are one arena's.
MOST_POINTS = {"malloc": 10**9 if SOAK else 60}
MOST_FILE_POINTS = 10**9 if SOAK else 30
KINDS = [("malloc", 0), ("write", errno.EIO), ("write", errno.ENOSPC), ("sync", errno.EIO), ("truncate", errno.EIO),
         ("open", errno.EIO), ("open", errno.EMFILE), ("unlink", errno.EIO)]


class Point:
    def __init__(self, name, wal, verb, kind, number):
        self.scene = scenes.Scene.at(name, wal, WAY[verb])
        self.verb, self.kind, self.number = verb, kind, number
        self.before = self.scene.rows(PRODUCTION)
        count = self.scene.folder / "count"
        self.scene.go(verb, env=self.shim(TIDEGATE_FAIL_COUNT_FILE=count))
        self.calls = int(count.read_text())
        self.right = self.scene.picture()

    def shim(self, **settings):
        fixed = {"LD_PRELOAD": SHIM, "TIDEGATE_FAIL_FILE": self.scene.database, "TIDEGATE_FAIL_KIND": self.kind,
                 "TIDEGATE_FAIL_ERRNO": self.number}
        return {k: str(v) for k, v in (fixed | settings).items()}

    def fail(self, n, ever):
        """What is wrong when the Nth call fails; None when nothing is."""
        scene, words, right = self.scene, scenes.WORDS[self.verb], self.right
        scene.back()
        failed = scene.run_tidegate(*words, env=self.shim(TIDEGATE_FAIL_AT=n, TIDEGATE_FAIL_EVER=ever))
        if not (failed.code == harness.OK or harness.USAGE <= failed.code <= harness.FULL):
            return f"ended with {failed.code}: {failed!r}"
        if failed.code != harness.OK and "tidegate: " not in failed.err:
            return f"ended without a word: {failed!r}"
        if self.kind == "malloc" and failed.code not in (harness.OK, harness.MEMORY):
            return f"said something else than that memory is short: {failed!r}"
        rows = scene.look(PRODUCTION)
        state, _ = scene.newest(scene.look)
        if rows not in (self.before, right["production"]):
            return f"production is neither old nor new: {rows}"
        if self.before != right["production"] and (rows != self.before) != (state == right["state"]):
            return f"the ledger says {state}, production is {'old' if rows == self.before else 'new'}: {failed!r}"
        if strays := scene.strays(scene.look):
            return f"tables and ledger disagree on {strays}"
        if failed.code == harness.OK and state != right["state"]:
            return f"exit status 0 in the state {state}: {failed!r}"
        again = scene.run_tidegate(*words)
        done = state == right["state"] and state != "planned"
        if again.code != harness.OK and not (done and again.code == harness.STATE):
            return f"does not carry on from {state} after {failed!r}: {again!r}"
        picture = scene.picture()
        for part, value in right.items():
            if picture[part] != value:
                return f"carried on after {failed!r}, {part} is {picture[part]} instead of {value}"
        if strays := scene.strays():
            return f"carried on, tables and ledger disagree on {strays}"
        return None


def explore(wal, verb, kind, number):
    """Fails calls of one kind in one command; the number of tries, and what was wrong."""
    point = Point("keyed", wal, verb, kind, number)
    stride = max(1, -(-point.calls // MOST_POINTS.get(kind, MOST_FILE_POINTS)))
    tries = [(n, ever) for n in range(1, point.calls + 1, stride) for ever in (0, 1)]
    faults = [f"{'WAL' if wal else 'journal'}, {verb}: {kind} {n} of {point.calls} with {errno.errorcode.get(number, '')}, "
              f"{'from then on' if ever else 'once'}: {fault}"
              for n, ever in tries if (fault := point.fail(n, ever)) is not None]
    point.scene.tearDown()
    return len(tries), faults


class Fail(unittest.TestCase):
    def explore(self, wal, kinds):
        verbs = list(WAY) if SOAK or kinds[0][0] == "malloc" else ["plan", "run", "swap", "rollback", "finish", "restore"]
        if kinds[0][0] == "malloc" and not SOAK:
            verbs = ["plan", "run", "swap", "rollback", "snapshot"]
        tries, faults = 0, []
        with ProcessPoolExecutor(WORKERS) as pool:
            jobs = [pool.submit(explore, wal, verb, *kind) for verb in verbs for kind in kinds]
            for job in jobs:
                tried, found = job.result()
                tries += tried
                faults += found
        print(f"{'WAL' if wal else 'journal'}, {kinds[0][0]}: {tries} failures", flush=True)
        self.assertEqual(faults, [], f"{len(faults)} of {tries}\n" + "\n".join(faults[:20]))

    @scenes.known_fault("libfyaml 0.7.12, short of memory, says that it is no YAML, or dies of SIGSEGV")
    def test_allocations(self):
        self.explore(True, KINDS[:1])


for is_wal in (True, False):
    for which in dict.fromkeys(kind for kind, _ in KINDS[1:]):
        setattr(Fail, f"test_{which}_{'wal' if is_wal else 'journal'}",
                lambda self, is_wal=is_wal, which=which: self.explore(is_wal, [k for k in KINDS if k[0] == which]))

if __name__ == "__main__":
    harness.main()
