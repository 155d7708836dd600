"""Problems in POT's later form, and flows in networks."""

import numpy as np

from . import _lib
from ._errors import InputError
from ._input import array, named, numbers_of, whole, word
from ._result import Result
from ._transport import emd, number

_METRICS = ("sqeuclidean", "euclidean", "cityblock")  # without scipy


class OTResult:
    """What solve and solve_sample answer: the attributes of the OTResult of POT.

    Attributes
    ----------
    value, value_linear : float
        The cost of the plan.
    value_quad, lazy_plan : None
        Of other problems.
    plan : (ns, nt) ndarray
    sparse_plan : scipy.sparse.csr_matrix
    potentials, potential_a, potential_b : tuple of ndarray, and its parts
    marginals, marginal_a, marginal_b : tuple of ndarray, and its parts
        The sums of the plan.
    status : str
        "Converged": the plan is optimal.
    log : dict
        As of emd.
    """

    value_quad = None
    lazy_plan = None
    status = "Converged"

    def __init__(self, plan, log):
        self._plan, self.log = plan, log
        self.value = self.value_linear = log["cost"]
        self.potentials = log["u"], log["v"]
        self.potential_a, self.potential_b = self.potentials

    @property
    def plan(self):
        return self._plan.toarray() if hasattr(self._plan, "toarray") else self._plan

    @property
    def sparse_plan(self):
        from scipy import sparse

        return sparse.csr_matrix(self._plan)

    @property
    def marginals(self):
        return self.marginal_a, self.marginal_b

    @property
    def marginal_a(self):
        return self.plan.sum(1)

    @property
    def marginal_b(self):
        return self.plan.sum(0)

    @property
    def a_to_b(self):
        raise NotImplementedError

    @property
    def b_to_a(self):
        raise NotImplementedError

    @property
    def citation(self):
        return "wpm: https://github.com/wpm-go/wpm"

    def __repr__(self):
        return f"OTResult(value={self.value},plan={type(self._plan).__name__}(shape={self._plan.shape}))"


def _only(name, **given):
    """Raise NotImplementedError for what is asked and is not here."""
    for what, (value, instead) in given.items():
        if value:
            raise NotImplementedError(f"{name} solves the balanced problem without regularisation: there is no {what} "
                                      f"here; {instead}")


def solve(M, a=None, b=None, reg=None, c=None, reg_type="KL", unbalanced=None, unbalanced_type="KL", method=None,
          n_threads=1, max_iter=None, plan_init=None, potentials_init=None, tol=None, verbose=False, grad="autodiff"):
    """Solve a transport problem, as ``ot.solve`` of POT does where there is neither a regularisation nor an imbalance.

    Parameters
    ----------
    M : (ns, nt) array_like, or sparse matrix
        The cost, as in emd.
    a, b : (ns,) and (nt,) array_like, optional
        Masses with the same sum; uniform if they are not given.
    reg, unbalanced, method : None
        The problems of others: NotImplementedError.
    potentials_init, n_threads
        As in emd.
    max_iter
        More pivots than this, by default 10**6, are worth a warning.
    c, reg_type, unbalanced_type, plan_init, tol, verbose, grad
        Not used.

    Returns
    -------
    OTResult

    Raises
    ------
    InputError, NotImplementedError

    Examples
    --------
    >>> import wpm
    >>> wpm.solve([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5], [1.0, 0.0]).value
    0.5
    """
    reg = reg is not None and array(reg, "reg", ndim=0) != 0
    _only("solve", reg=(reg, "entropic has the projection with one, ot.solve the transport"),
          unbalanced=(unbalanced is not None, "ot.solve has it"), method=(method is not None, "ot.solve has it"))
    most = 10**6 if max_iter is None else number(max_iter, "max_iter")
    if not (isinstance(M, dict) or hasattr(M, "tocoo")):
        M = _floating(M, "M")
    return OTResult(*emd(_floating(a, "a"), _floating(b, "b"), M, numItermax=most, log=True, numThreads=n_threads,
                         potentials_init=potentials_init))


def _floating(x, name):
    """Return numbers as they are, but integers as floats: a plan of integers is of little use."""
    if x is None or numbers_of(x, name).dtype.kind == "f":
        return x
    return (x if hasattr(x, "iloc") else np.asarray(x)).astype(np.float64)


def solve_sample(X_a, X_b, a=None, b=None, metric="sqeuclidean", reg=None, c=None, reg_type="KL", unbalanced=None,
                 unbalanced_type="KL", lazy=False, batch_size=None, method=None, n_threads=1, max_iter=None,
                 plan_init=None, rank=100, scaling=0.95, potentials_init=None, X_init=None, tol=None, verbose=False,
                 grad="autodiff", random_state=None):
    """Solve a transport problem between samples, as ``ot.solve_sample`` of POT does: see solve.

    Parameters
    ----------
    X_a, X_b : (ns, d) and (nt, d) array_like
        The samples.
    a, b : (ns,) and (nt,) array_like, optional
        As in solve.
    metric : str, optional
        "sqeuclidean", "euclidean" or "cityblock"; with scipy any of scipy.spatial.distance.cdist.
    reg, unbalanced, method, lazy, X_init
        The problems of others: NotImplementedError.
    potentials_init, n_threads, max_iter
        As in solve.
    c, reg_type, unbalanced_type, batch_size, plan_init, rank, scaling, tol, verbose, grad, random_state
        Not used.

    Returns
    -------
    OTResult

    Raises
    ------
    InputError, NotImplementedError

    Examples
    --------
    >>> import wpm
    >>> wpm.solve_sample([[0.0], [1.0]], [[0.0], [3.0]]).value
    2.0
    """
    reg = reg is not None and array(reg, "reg", ndim=0) != 0
    _only("solve_sample", reg=(reg, "ot.solve_sample has it"), unbalanced=(unbalanced is not None, "ot.solve_sample has it"),
          method=(method is not None, "ot.solve_sample has it"), lazy=(lazy, "solve_sample needs the whole cost"),
          X_init=(X_init is not None, "ot.solve_sample has it"))
    metric = word(metric, "metric")
    x, y = array(X_a, "X_a", ndim=2), array(X_b, "X_b", ndim=2)
    if x.shape[1] != y.shape[1]:
        raise InputError(f"X_a has {x.shape[1]} columns, X_b {y.shape[1]}")
    return solve(_distances(x, y, metric), a, b, max_iter=max_iter, n_threads=n_threads, potentials_init=potentials_init)


def _distances(x, y, metric):
    try:
        from scipy.spatial.distance import cdist
    except ImportError:
        cdist = None
    if cdist is not None:
        try:
            return cdist(x, y, metric)
        except ValueError as e:
            raise InputError(f"metric is {metric!r}: {e}") from None
    if metric not in _METRICS:
        raise InputError(f"metric is {metric!r}, not {', '.join(_METRICS)}: scipy has others")
    M = np.zeros((len(x), len(y)))
    for one, other in zip(x.T, y.T):
        d = np.abs(one[:, None] - other)
        M += d if metric == "cityblock" else d * d
    return np.sqrt(M) if metric == "euclidean" else M


def flow(tail, head, cost, supply, *, lower=0, capacity=None):
    """Find a flow of least cost in a directed graph, in integers, with a proof.

    Parameters
    ----------
    tail, head : (m,) array_like of int
        Where each arc begins and ends: nodes count from 0.
    cost : (m,) array_like of int
        Of a unit of flow.
    supply : (n,) array_like of int
        What each node has to send; negative where it needs. It sums to 0.
    lower, capacity : int or (m,) array_like of int, optional
        The bounds of the flow of each arc, at least 0 and without limit. -inf and inf are no bound.

    Returns
    -------
    Result
        status : str
            "optimal", "infeasible" or "unbounded".
        objective : int
            The cost of flow, exact; it may exceed 64 bits. An infeasible problem has neither.
        flow : (m,) ndarray of int
            The cheapest. Where the status is unbounded, one that cycle makes ever cheaper.
        potentials : (n,) ndarray of int
            Prove the optimum: an arc whose reduced cost, cost + potentials[tail] - potentials[head], is above 0 has its
            lower bound, and one below 0 its capacity.
        cut : (c,) ndarray of int
            Nodes that cannot send what they have: the proof of infeasible.
        cycle : (c, 2) ndarray of int
            Arcs, each with 1, or -1 for backwards, around which every unit of flow earns: the proof of unbounded.
        pivots : int

    Raises
    ------
    InputError

    Notes
    -----
    A network simplex in integers: package mincostflow/network. The answer is checked before it is returned.

    Examples
    --------
    >>> import wpm
    >>> r = wpm.flow([0, 0, 1], [1, 2, 2], [1, 5, 1], [4, 0, -4], capacity=3)
    >>> r.status, r.objective, r.flow.tolist()
    ('optimal', 11, [3, 1, 3])
    """
    tail, head = whole(tail, "tail"), whole(head, "head")
    m = len(tail)
    columns = [tail.tolist(), head.tolist(), _bounds(lower, "lower", m, "-inf"),
               _bounds(np.inf if capacity is None else capacity, "capacity", m, "inf"), whole(cost, "cost").tolist()]
    for name, column in zip(("head", "lower", "capacity", "cost"), columns[1:]):
        if len(column) != m:
            raise InputError(f"{name} has {len(column)} entries, want {m}")
    supply = whole(supply, "supply")
    _arcs(columns, len(supply))
    line = {"nodes": len(supply), "arcs": [list(row) for row in zip(*columns)], "supply": supply.tolist()}
    r, _ = _lib.call("solve", {"kind": "flow", "line": line})
    out = Result(status=r["status"], pivots=r["pivots"])
    if "objective" in r:
        out.objective = int(r["objective"])
        out.flow = np.zeros(0, np.int64)  # where there are no arcs
        if r["status"] == "optimal":
            out.potentials = np.zeros(0, np.int64)  # where there are no nodes
    for name in ("flow", "potentials", "cut", "cycle"):
        if name in r:
            out[name] = np.asarray(r[name], np.int64)
    return out


def _arcs(columns, n):
    """Check the arcs, which the library's errors name by fields of Go."""
    for name, column in zip(("tail", "head"), columns):
        for i, v in enumerate(column):
            if not 0 <= v < n:
                raise InputError(f"{name}[{i}] is {v}, and there are {n} nodes")
    for i, (low, high) in enumerate(zip(columns[2], columns[3])):
        if low != "-inf" and high != "inf" and low > high:
            raise InputError(f"lower[{i}] is {low}, above capacity[{i}], which is {high}")


def _bounds(x, name, m, none):
    """Return the bounds of m arcs as JSON: whole numbers, or the word for none."""
    a = np.broadcast_to(x, (m,)) if np.ndim(x) == 0 else np.asarray(x)
    if a.ndim != 1:
        raise InputError(f"{name} has {a.ndim} dimensions, want 1")
    if a.dtype.kind == "f":
        free, wrong = np.isinf(a) & ((a > 0) == (none == "inf")), np.isinf(a) & ((a > 0) != (none == "inf"))
        if wrong.any():
            raise InputError(f"{named(name, (int(wrong.argmax()),) if np.ndim(x) else ())} is {a[wrong.argmax()]}: "
                             f"no flow keeps to it, and {none} is no bound")
        numbers = whole(np.where(free, 0, a), name).tolist()
        return [none if f else n for f, n in zip(free, numbers)]
    return whole(a, name).tolist()
