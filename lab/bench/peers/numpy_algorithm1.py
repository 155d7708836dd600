"""Algorithm 1 of the paper in numpy: box projection by bisection, as a user of numpy would write it.

numpy_algorithm1.py FILE residual TOL SECONDS   from the cost to an L1 residual of TOL (or SECONDS of processor time)
numpy_algorithm1.py FILE steps N                N iterations, kernel ready beforehand
"""

import sys

import numpy as np

from wpmpeer import cpu, load, serve

inst = load(sys.argv[1])
rows = inst["mu"] > 0  # as for every peer
C, mu, lo, hi, reg = inst["C"][rows], inst["mu"][rows], inst["lo"], inst["hi"], inst["param"][0]


def project(s):
    """The KL projection clip(e^theta s, lo, hi) of mass 1: 60 halvings of theta."""
    with np.errstate(divide="ignore"):
        a, b = np.log(np.min(lo / s)), np.log(np.max(hi / s))
    for _ in range(60):
        theta = (a + b) / 2
        if np.minimum(np.maximum(np.exp(theta) * s, lo), hi).sum() < 1:
            a = theta
        else:
            b = theta
    return np.minimum(np.maximum(np.exp((a + b) / 2) * s, lo), hi)


def kernel():
    return np.exp(-(C - C.min(axis=1, keepdims=True)) / reg)  # a row's shift does not change q


def plain(tol, seconds):
    """The loop in the kernel domain; None if it leaves it."""
    start = cpu()
    K, v, q, steps = kernel(), np.ones(C.shape[1]), None, 0
    with np.errstate(all="ignore"):
        while True:
            s = K.T @ (mu / (K @ v))
            if q is not None:
                residual = np.abs(v * s - q).sum()
                if not np.isfinite(residual):
                    return None
                if residual <= tol or cpu() - start > seconds:
                    return {"value": residual, "steps": steps, "met": bool(residual <= tol)}
            q = project(s)
            v = q / s
            steps += 1


def absorbed(tol, seconds):
    """The same with the logs of the scalings absorbed into the kernel where they grow: for small reg."""
    start = cpu()
    f, g = C.min(axis=1), np.zeros(C.shape[1])
    K = np.exp((f[:, None] + g - C) / reg)
    v, q, steps = np.ones(C.shape[1]), None, 0
    with np.errstate(all="ignore"):
        while True:
            u = mu / (K @ v)
            s = K.T @ u
            if q is not None:
                residual = np.abs(v * s - q).sum()
                if residual <= tol or not np.isfinite(residual) or cpu() - start > seconds:
                    return {"value": residual, "steps": steps, "met": bool(residual <= tol)}
            log_s = np.log(s) - g / reg  # of the original kernel: the absorbed one converges to a wrong q
            q = project(np.exp(log_s - log_s.max()))
            v = q / s
            steps += 1
            if max(np.abs(np.log(u)).max(), np.abs(np.log(v)).max()) > 50:
                f, g = f + reg * np.log(u), g + reg * np.log(v)
                K = np.exp((f[:, None] + g - C) / reg)
                v = np.ones_like(v)


if sys.argv[2] == "residual":
    tolerance, limit = float(sys.argv[3]), float(sys.argv[4])
    serve(lambda: plain(tolerance, limit) or absorbed(tolerance, limit))
else:
    count, K = int(sys.argv[3]), kernel()

    def steps():
        v = np.ones(C.shape[1])
        for _ in range(count):
            s = K.T @ (mu / (K @ v))
            v = project(s) / s
        return {"value": float(v.sum())}

    serve(steps)
