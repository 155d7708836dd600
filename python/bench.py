#!/usr/bin/env python3
"""The processor time of a projection in Python, beside Go's and that of ot.emd in the same process.

k = 1000 places, 1000 outputs, users with 20 atoms, one thread each; medians. "go" is mincostflow.Projector in a program
of Go on the same numbers. POT's problem has a further source that fills what lo leaves open, and every column twice.

"bench.py pot" compares emd and emd2 with those of ot between n points of a plane: 12 instances of equal and of Dirichlet
masses, of distances and of their squares, from three seeds. The two libraries take turns; of every instance the medians
of 15 rounds are compared, and of all instances there is the geometric mean.
"""

import os

os.environ["GOMAXPROCS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before the libraries are loaded

import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import sparse

import wpm

K, ATOMS, USERS, ROUNDS = 1000, 20, 200, 9
LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def clock(f, times=1, users=USERS):
    """Return the processor time of so many calls of f, in microseconds a call and user."""
    before = time.process_time()
    for _ in range(times):
        f()
    return (time.process_time() - before) / times / users * 1e6


def each(f, inputs):
    """Call f for every input and drop what it returns, as Go's program does."""
    for x in inputs:
        f(x)


class Go:
    """The same projections in a program of Go."""

    def __init__(self, folder, **numbers):
        for name, x in numbers.items():
            np.asarray(x, "<f8").tofile(os.path.join(folder, name))
        self.program = os.path.join(folder, "bench")
        subprocess.run(["go", "test", "-c", "-o", self.program, "."], cwd=LIB, check=True)
        self.env = {**os.environ, "WPM_BENCH": folder}

    def time(self):
        run = [self.program, "-test.run", "^$", "-test.bench", "Projector", "-test.benchtime", "2x"]
        text = subprocess.run(run, cwd=LIB, env=self.env, check=True, capture_output=True, text=True).stdout
        return float(re.search(r"([0-9.]+) cpu-us/projection", text).group(1))


def transport(emd2, C, lo, hi, mass, support, want):
    """Project as a transport problem for emd2."""
    target = np.hstack([lo, hi - lo])  # what must be filled, and what may be
    a = np.append(mass, target.sum() - 1)
    M = np.vstack([np.hstack([C[support]] * 2), np.hstack([np.full(K, 10 * C.max()), np.zeros(K)])])
    value = emd2(a, target / target.sum() * a.sum(), M, numItermax=10**7)
    assert abs(value - want) <= 1e-9, (value, want)


def instances(n):
    """Return the instances of "bench.py pot"."""
    for seed in range(3):
        for masses in (lambda rng: np.full(n, 1 / n), lambda rng: rng.dirichlet(np.ones(n))):
            for p in (1, 2):
                rng = np.random.default_rng(seed)
                x, y = (rng.random((n, 2)), rng.random((n, 2))) if seed == 2 else (
                    rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) * 0.8 + 1)
                yield masses(rng), masses(rng), ((x[:, None] - y) ** 2).sum(-1) ** (p / 2)


def pot():
    import ot

    print(f"processor time of wpm in parts of that of ot {ot.__version__}")
    for n in (20, 50, 100, 128, 200, 500):
        said = f"{n:5}"
        for name in ("emd", "emd2"):
            own, other = getattr(wpm, name), getattr(ot, name)
            ratios, times = [], max(4000 // n**2, 2)
            for args in instances(n):
                value = wpm.emd2(*args)
                assert abs(value - ot.emd2(*args)) <= 1e-9 * max(value, 1)
                took = [[clock(lambda: f(*args), times, 1) for f in (own, other)] for _ in range(15)]
                us = [statistics.median(x) for x in zip(*took)]
                ratios.append(us[0] / us[1])
            said += f"   {name} {statistics.geometric_mean(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}"
        print(said, flush=True)


def main():
    rng = np.random.default_rng(1)
    x = rng.random((K, 2))
    C = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    eps = 4.0
    m = wpm.base_measure(C, eps, method="uniform").m
    lo, hi = np.exp(-eps / 2) * m, np.exp(eps / 2) * m
    support = np.sort(np.stack([rng.choice(K, ATOMS, replace=False) for _ in range(USERS)]))
    mass = rng.dirichlet(np.ones(ATOMS), USERS)
    users = sparse.csr_matrix((mass.ravel(), support.ravel(), np.arange(0, USERS * ATOMS + 1, ATOMS)), (USERS, K))
    rows, dense = [users[u] for u in range(USERS)], users.toarray()

    projector = wpm.Projector(C, lo, hi)
    want = projector.many(users).value
    few = range(0, USERS, 20)

    def by(emd2):
        return lambda: [transport(emd2, C, lo, hi, mass[u], support[u], want[u]) for u in few for _ in range(2)]

    jobs = {
        "many": lambda: projector.many(users),
        "project, arrays": lambda: each(projector.project, dense),
        "project, sparse": lambda: each(projector.project, rows),
        "wpm.emd2, as a transport": by(wpm.emd2),
    }
    try:
        import ot

        jobs["ot.emd2, as a transport"] = by(ot.emd2)
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        go = Go(folder, C=C, lo=lo, hi=hi, mass=mass, support=support)
        took = {name: [] for name in ("go", *jobs)}
        for _ in range(ROUNDS):  # all in turn, so that what else the machine does is the same for all
            took["go"].append(go.time())
            for name, f in jobs.items():
                scale = USERS / (2 * len(few)) if "transport" in name else 1
                took[name].append(clock(f) * scale)
    for name, us in took.items():
        ratio = statistics.median(x / y for x, y in zip(us, took["go"]))
        print(f"{name:28} {statistics.median(us):9.0f} us a projection, {ratio:6.2f} of go")


if __name__ == "__main__":
    pot() if sys.argv[1:] == ["pot"] else main()
