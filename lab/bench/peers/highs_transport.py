"""The linear program of plain transport by HiGHS (through scipy): dual simplex, default tolerances."""

import sys

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from wpmpeer import load, serve

inst = load(sys.argv[1])
cost, a, b = inst["C"], inst["mu"], inst["target"]
k, kv = cost.shape


def solve():
    i, j = (x.ravel() for x in np.indices((k, kv)))
    column = np.arange(k * kv)
    # The last constraint follows from the others.
    keep = j < kv - 1
    A = coo_matrix((np.ones(k * kv + keep.sum()), (np.r_[i, k + j[keep]], np.r_[column, column[keep]])), (k + kv - 1, k * kv))
    res = linprog(cost.ravel(), A_eq=A.tocsr(), b_eq=np.r_[a, b[:-1] * (a.sum() / b.sum())], bounds=(0, None), method="highs-ds")
    return {"value": float(res.fun), "met": bool(res.status == 0)}


serve(solve, once=True)
