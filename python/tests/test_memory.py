"""Memory: calls that are repeated keep none."""

import os
import unittest

from tests.support import child, need

# Every public function, with arguments that are right and wrong at random; RSS in kB after a tenth and at the end.
PROGRAM = '''
import gc, random, sys, warnings
import numpy as np
import wpm
warnings.simplefilter("ignore")
try:
    from scipy import sparse
except ImportError:
    sparse = None
rng = np.random.default_rng(1)
policy = wpm.design({"kind": "ring", "n": 5, "p": 1}, 2).publish()
design = wpm.design({"kind": "ring", "n": 5, "p": 1}, 2)
texts = ["77706d31" + policy.id + f"{j:02x}000000" for j in range(5)]

def rss():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4

def masses(n):
    x = rng.random(n)
    if rng.random() < 0.2:
        x[rng.integers(n)] = rng.choice([-1, np.nan, np.inf, 1e308])
    return x

def once():
    k, kv = rng.integers(1, 9, 2)
    C, a, b = rng.random((k, kv)), masses(k), masses(kv)
    lo, hi = np.full(kv, 0.5 / kv), np.full(kv, 2 / kv)
    ring = {"kind": "ring", "n": int(k), "p": 1}
    eps = float(rng.choice([0.5, 2, -1]))
    S = sparse.random(k, kv, 0.8, random_state=rng) if sparse else C
    return {
        "emd": lambda: wpm.emd(a / a.sum(), b / b.sum(), C, log=True), "emd2": lambda: wpm.emd2(a / a.sum(), b / b.sum(), C),
        "sparse": lambda: wpm.emd2(a / a.sum(), b / b.sum(), S), "solve": lambda: wpm.solve(C, a / a.sum(), b / b.sum()).plan,
        "solve_sample": lambda: wpm.solve_sample(C, C + 1), "transport": lambda: wpm.transport(a, b, C).dense(),
        "project": lambda: wpm.project(C, a, lo, hi), "Projector": lambda: wpm.Projector(C, lo, hi).many(np.eye(k)),
        "flow": lambda: wpm.flow([0, 1], [1, 2], [int(k), -1], [3, 0, -3], capacity=int(kv)),
        "entropic": lambda: wpm.entropic(C, a, lo, hi, reg=0.5, iterations=20), "phi": lambda: wpm.phi(C, lo, hi),
        "base_measure": lambda: wpm.base_measure(C, eps), "design": lambda: wpm.design(ring, eps).publish().verify(),
        "rows": lambda: design.rows, "Policy": lambda: wpm.Policy(policy.text[:int(rng.choice([-1, 40, 10**6]))]),
        "count": lambda: policy.count(rng.choice(texts, 9).tolist() + ["x"]).text,
        "Counts": lambda: wpm.Counts(policy.count(texts).text), "simulate": lambda: wpm.simulate(policy, devices=int(k)),
        "estimate": lambda: wpm.estimate(rng.integers(0, 9, 5 if eps > 0 else 4), policy),
        "plan": lambda: wpm.plan({"kind": "ring", "n": 3, "p": 1}, eps, int(k)),
    }

names = list(once())
weights = [1 if name in ("plan", "estimate", "simulate", "base_measure") else 40 for name in names]
picked = random.Random(1)
calls, refused, done, tenth = int(sys.argv[1]), 0, {}, 0
for n in range(calls):
    if n == calls // 10:
        tenth = rss()
    name = picked.choices(names, weights)[0]
    done[name] = done.get(name, 0) + 1
    try:
        once()[name]()
    except wpm.Error:
        refused += 1
print(len(done) == len(names), refused > calls // 50, rss() - tenth)
'''


class TestMemory(unittest.TestCase):
    def test_memory(self):
        """10^4 calls at random grow by less than 5 MB after the first tenth."""
        if os.environ.get("WPM_CLIENTS") != "1":
            self.skipTest("takes a minute: WPM_CLIENTS=1 runs it")
        if not os.path.exists("/proc/self/statm"):
            self.skipTest("there is no /proc/self/statm")
        need("scipy")
        r = child(PROGRAM.replace("sys.argv[1]", "10000"), GOMAXPROCS="2")
        self.assertEqual(r.returncode, 0, r.stderr)
        every, some, grown = r.stdout.split()
        self.assertEqual((every, some), ("True", "True"), r.stdout)
        print(f"\n10^4 calls: memory grew by {int(grown)} kB after the first tenth")
        self.assertLess(int(grown), 5000, r.stdout)
