"""The linear program of the optimal base measure, whole, by HiGHS (through scipy).

min z over x >= 0 (x = alpha m), q_i = x + r_i, 0 <= r_ij <= (E-1) x_j, sum_j q_ij = 1, sum_j C_ij q_ij <= z.
"""

import sys

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from wpmpeer import load, serve

inst = load(sys.argv[1])
C, E = inst["C"], np.exp(inst["param"][1])
k, kv = C.shape


def solve():
    # unknowns: x (kv), r (k kv, row-major), z
    n = kv + k * kv + 1
    i, j = (a.ravel() for a in np.indices((k, kv)))
    r = kv + i * kv + j
    box = coo_matrix(
        (np.r_[np.ones(k * kv), np.full(k * kv, -(E - 1))], (np.r_[i * kv + j, i * kv + j], np.r_[r, j])),
        (k * kv, n))
    worst = coo_matrix(
        (np.r_[C.ravel(), C.ravel(), -np.ones(k)], (np.r_[i, i, np.arange(k)], np.r_[j, r, np.full(k, n - 1)])), (k, n))
    from scipy.sparse import vstack
    A_ub = vstack([box, worst]).tocsr()
    A_eq = coo_matrix((np.ones(2 * k * kv), (np.r_[i, i], np.r_[j, r])), (k, n)).tocsr()
    c = np.zeros(n)
    c[-1] = 1
    res = linprog(c, A_ub, np.zeros(A_ub.shape[0]), A_eq, np.ones(k), bounds=(0, None), method="highs-ds")
    return {"value": float(res.fun), "met": bool(res.status == 0)}


serve(solve, once=True)
