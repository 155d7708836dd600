#!/usr/bin/env python3
"""The processor time of a projection in Python, beside Go's and that of ot.emd in the same process.

k = 1000 places, 1000 outputs, users with 20 atoms, one thread each; medians. "go" is mincostflow.Projector in a program
of Go on the same numbers. POT's problem has a further source that fills what lo leaves open, and every column twice.
"""

import os

os.environ["GOMAXPROCS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before the libraries are loaded

import re
import statistics
import subprocess
import tempfile
import time

import numpy as np
from scipy import sparse

import wpm

K, ATOMS, USERS, ROUNDS = 1000, 20, 200, 9
LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def clock(f, times=ROUNDS):
    """Return the median processor time of a call of f, in microseconds a user."""
    took = []
    for _ in range(times):
        before = time.process_time()
        f()
        took.append((time.process_time() - before) / USERS * 1e6)
    return statistics.median(took)


def go(C, lo, hi, mass, support):
    """Return Go's time on the same numbers, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        for name, x in (("C", C), ("lo", lo), ("hi", hi), ("mass", mass), ("support", support)):
            np.asarray(x, "<f8").tofile(os.path.join(folder, name))
        run = ["go", "test", "-run", "^$", "-bench", "Projector", "-benchtime", "2x", "-count", str(ROUNDS)]
        text = subprocess.run(run, cwd=LIB, env={**os.environ, "WPM_BENCH": folder},
                              check=True, capture_output=True, text=True).stdout
    return statistics.median(float(x) for x in re.findall(r"([0-9.]+) cpu-us/projection", text))


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
    answers = projector.many(users)
    took = {
        "go": go(C, lo, hi, mass, support),
        "many": clock(lambda: projector.many(users)),
        "project, arrays": clock(lambda: [projector.project(u) for u in dense]),
        "project, sparse": clock(lambda: [projector.project(u) for u in rows]),
    }
    try:
        import ot
    except ImportError:
        ot = None
    few = 10
    for name, emd2 in (("ot.emd2", ot and ot.emd2), ("wpm.emd2", wpm.emd2)):
        if emd2 is None:
            continue
        target = np.hstack([lo, hi - lo])  # what must be filled, and what may be
        worst = 10 * C.max()

        def run():
            for u in range(few):
                a = np.append(mass[u], target.sum() - 1)
                M = np.vstack([np.hstack([C[support[u]]] * 2), np.hstack([np.full(K, worst), np.zeros(K)])])
                value = emd2(a, target / target.sum() * a.sum(), M, numItermax=10**7)
                assert abs(value - answers.value[u]) <= 1e-9, (value, answers.value[u])

        took[f"{name}, as a transport"] = clock(run, 3) * USERS / few
    for name, us in took.items():
        print(f"{name:28} {us:9.0f} us a projection, {us / took['go']:6.2f} of go")


if __name__ == "__main__":
    main()
