"""POT's exact solver (ot.emd) on the projection.

POT knows equality constraints only, so every column is split into a part that must be filled (lo_j) and one that may be (hi_j - lo_j), and
a dummy source of mass sum hi - 1 fills what is left of the latter at no cost; it reaches the former at 2 max C. Rows without mass are dropped.
A run starts from the arrays in memory and ends with q.
"""

import sys

import numpy as np
import ot

from wpmpeer import load, serve

inst = load(sys.argv[1])
rows = np.flatnonzero(inst["mu"])
cost, mu, lo, hi = inst["C"], inst["mu"][rows], inst["lo"], inst["hi"]


def solve():
    k, n = len(rows), len(lo)
    c = cost[rows] if k < len(cost) else cost
    a = np.empty(k + 1)
    a[:k] = mu / mu.sum()
    b = np.empty(2 * n)
    b[:n] = lo
    b[n:] = np.maximum(hi - lo, 0)
    a[k] = max(b.sum() - 1, 0)
    b *= a.sum() / b.sum()
    m = np.empty((k + 1, 2 * n))
    m[:k, :n] = c
    m[:k, n:] = c
    m[k, :n] = 2 * c.max()
    m[k, n:] = 0
    plan, log = ot.emd(a, b, m, numItermax=10**9, log=True)
    both = plan[:k, :n] + plan[:k, n:]
    q = both.sum(axis=0)
    return {"value": float((both * c).sum()), "met": not log["warning"] and bool(abs(q.sum() - 1) < 1e-9)}


serve(solve)
