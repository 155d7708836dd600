"""What the tests share."""

import fractions
import importlib
import os
import subprocess
import sys
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.dirname(HERE)


def need(name):
    """Import a module that is no dependency, or skip the test; with WPM_CLIENTS=1 it must be there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if os.environ.get("WPM_CLIENTS") == "1":
            raise
        raise unittest.SkipTest(f"no {name}") from None


def child(code, args=(), timeout=300, **settings):
    """Run code in another Python."""
    env = {**os.environ, "PYTHONPATH": PYTHON, "MPLBACKEND": "Agg", **settings}
    return subprocess.run([sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, timeout=timeout)


def exact(mass):
    """Return masses as exact shares of their sum."""
    mass = [fractions.Fraction(float(x)) for x in mass]
    return [x / sum(mass) for x in mass]


def instance(rng, k, kv):
    """Return a cost with ties, a distribution with zeros, and a box around a random point."""
    C = np.where(rng.random((k, kv)) < 0.3, rng.integers(0, 3, (k, kv)), rng.random((k, kv)) * 10)
    mu = rng.random(k) * (rng.random(k) < 0.6)
    mu[rng.integers(k)] = 1
    q = rng.dirichlet(np.ones(kv))
    return C, mu, q * rng.random(kv), q * (1 + rng.random(kv))


def proved(C, mu, lo, hi, r):
    """Return the bounds that a result's evidence proves, in rational arithmetic, or raise AssertionError.

    lower is the dual value of the potentials, upper the cost of the plan with what is missing or too much at the
    largest cost.
    """
    F = fractions.Fraction
    f, g = ([F(float(x)) for x in side] for side in r.potentials)
    for i, row in enumerate(C):
        for j, c in enumerate(row):
            assert f[i] + g[j] <= F(float(c)), (i, j)
    mu, lo, hi = exact(mu), [F(float(x)) for x in lo], [F(float(x)) for x in hi]
    lower = sum(m * x for m, x in zip(mu, f)) + sum(min(a * y, b * y) for a, b, y in zip(lo, hi, g))
    rows, cols, upper = list(mu), [F(0)] * len(g), F(0)
    for i, j, m in zip(*r.entries):
        m = F(float(m))
        assert m > 0, (i, j)
        rows[i], cols[j], upper = rows[i] - m, cols[j] + m, upper + m * F(float(C[i][j]))
    q = [F(float(x)) for x in r.q] if "q" in r else cols
    defect = sum(map(abs, rows)) + sum(abs(a - b) for a, b in zip(q, cols))
    return lower, upper + defect * F(float(np.max(C)))
