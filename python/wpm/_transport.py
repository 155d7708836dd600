"""Transport and projections."""

import json
import math
import numbers
import re
import warnings

import numpy as np

from . import _lib
from ._errors import InfeasibleError, InputError, MassError
from ._input import Cost, aligned, array, index_of, numbers_of, series, whole
from ._result import Plan, Result

_INTEGERS = (
    "Input histogram consists of integer. The transport plan will be casted accordingly, possibly resulting in a loss "
    "of precision. If this behaviour is unwanted, please make sure your input histogram consists of floating point "
    "elements.")
_PROCESSES = "The 'processes' parameter has been deprecated. Multiprocessing should be done outside of POT."
_FLOAT64 = np.dtype(np.float64)
_SUM = 1.5e-7  # by how much POT lets the masses differ: 7 decimals, as numpy.testing counts them


def _ask(op, cost, shape, atoms, names=None, **arrays):
    """Perform an operation that ends in a plan.

    Parameters
    ----------
    op : str
    cost : str
        Its arguments, as JSON.
    shape : tuple of int, or None
        (k, kv), if they are known.
    atoms : int
        How many sources have mass.
    names : dict, optional
        As of _lib.call.
    **arrays : ndarray

    Returns
    -------
    Plan
    """
    if shape is None:
        size, out = _lib.call(op, json.loads(cost), names=names, **arrays)
        shape = size["k"], size["kv"]
    else:
        k, kv = shape
        direct = op == "transport" and arrays["a"] is not None and arrays["b"] is not None
        x = _lib.transport(arrays["a"], arrays["b"], arrays["C"], True) if direct else None
        most = 4 + k + 2 * kv + 3 * (atoms + kv)  # a plan is a forest: it has less entries than rows and columns
        if x is None:
            x = _lib.call_bare(op, cost, atoms * kv, most, names, **arrays)
        f, g, i, j, mass = _parts(x, k, kv)
        out = {"numbers": x[:4], "q": x[4:4 + kv], "f": f, "g": g, "i": i, "j": j, "mass": mass}
    value, lower, upper, pivots = out["numbers"].tolist()
    return Plan(value=value, lower=lower, upper=upper, potentials=(out["f"], out["g"]), pivots=int(pivots),
                entries=(out["i"], out["j"], out["mass"]), shape=shape, q=out["q"])


def _parts(x, k, kv):
    """Return the potentials and the plan (i, j, mass) of an answer to transport, which has four numbers and q first."""
    f, g, plan = 4 + kv, 4 + kv + k, 4 + 2 * kv + k  # where they begin
    i, j, mass = x[plan:].reshape(3, -1)
    return x[f:g], x[g:plan], i.view(np.int64), j.view(np.int64), mass


# ---- POT's functions


def _plain(a, b, M):
    """Report whether these are arrays as the library takes them, whose shapes fit. Their entries may be anything."""
    for x in (a, b, M):
        if type(x) is not np.ndarray or x.dtype is not _FLOAT64 or not x.flags.c_contiguous:
            return False
    return a.ndim == b.ndim == 1 and M.shape == (a.size, b.size) and M.size > 0


def _histograms(a, b, M):
    """Read the arguments of emd and emd2: a, b, M, the type that POT gives its answers, and forbidden, of a sparse M.

    Entries of plain arrays are left to _solve and _same_mass.
    """
    if _plain(a, b, M):
        return a, b, M, a.dtype, None
    a, b = ([] if x is None else x for x in (a, b))
    forbidden = None
    if hasattr(M, "tocoo"):
        M, forbidden = _allowed(M)
    c = Cost(M, "M", signed=True)
    if c.array is None:
        raise InputError("M is an array here; transport takes objects and tables of places, too")
    a, b = aligned(a, c.rows, "a"), aligned(b, c.cols, "b")
    given = numbers_of(a, "a"), numbers_of(b, "b"), numbers_of(M, "M")
    dtype, M = next(x.dtype for x in given if x.shape[:1] != (0,)), c.array
    a = np.full(len(M), 1 / len(M)) if given[0].shape[:1] == (0,) else array(a, "a")
    if given[1].shape[:1] == (0,):
        b = np.full(M.shape[1], 1 / M.shape[1])
    else:
        b = array(b, "b", ndim=2 if given[1].ndim == 2 else 1)
    if (len(a), len(b)) != M.shape:
        raise MassError(
            f"Dimension mismatch, check dimensions of M with a and b: a has {len(a)} entries, b {len(b)}, M {M.shape}")
    return a, b, M, dtype, forbidden


def _allowed(M):
    """Return a sparse cost as an array, and where it has no entry: there goes no mass.

    What has no entry costs so much that no cycle of allowed entries, which has at most two for each row or column, is
    worth one: an optimal plan uses it only where no plan does without.
    """
    M = M.tocoo()
    if M.shape[0] == 0 or M.shape[1] == 0:
        raise InputError(f"M has shape {M.shape}: it is empty")
    given = array(M.data, "M's data")
    forbidden = np.ones(M.shape, bool)
    forbidden[M.row, M.col] = False
    dense = np.zeros(M.shape)
    np.add.at(dense, (M.row, M.col), given)
    if given.size == 0:
        raise InfeasibleError("M has no entry: no mass can go anywhere")
    low, high = float(dense[~forbidden].min()), float(dense[~forbidden].max())
    dense[forbidden] = far = high + 2 * (min(M.shape) + 1) * (high - low or 1.0)
    if not np.isfinite(far):
        raise InputError(f"M has entries from {low} to {high}, which are too large where others are missing")
    return dense, forbidden


def _threads(n):
    if n is None or (isinstance(n, str) and n.lower() == "max"):
        return
    if not isinstance(n, (int, numbers.Integral)) or n < 1:
        raise InputError('numThreads should either be "max" or a strictly positive integer')


def number(x, name):
    if not isinstance(x, (int, float, numbers.Real)):
        raise InputError(f"{name} is {x!r:.40}, not a number")
    return x


def _potentials(init, a, b):
    """Check potentials to start from. They are not used: an answer does not depend on them."""
    if init is None:
        return
    try:
        u, v = init
    except (TypeError, ValueError):
        raise InputError("potentials_init is no pair (alpha, beta)") from None
    array(u, "potentials_init[0]", size=len(a))
    array(v, "potentials_init[1]", size=len(b))


def _solve(a, b, M, forbidden, center_dual, plan, dual):
    """Return what POT's solver does: plan, cost and potentials, with the mass of a, and the pivots it took.

    Without plan or dual these are None. The library checks all entries, if it can: after each call of it the caches are
    cold, and numpy's checks would take a tenth of its time between 100 points.
    """
    total = float(a.sum())
    if math.isinf(total):
        array(a, "a")  # which names an infinite entry
        raise InputError(f"a sums to {total}")
    x = _lib.transport(a, b, M, plan or dual) if forbidden is None else None
    if x is not None:
        value, pivots = x.item(0), int(x.item(3))
        if plan or dual:
            u, v, i, j, mass = _parts(x, *M.shape)
    else:
        a, b, M = array(a, "a"), array(b, "b"), array(M, "M", ndim=2)
        low, high = min(float(M.min()), 0.0), float(M.max())
        if math.isinf(high - low):
            raise InputError(f"M has entries from {low} to {high}, which are too far apart")
        r = _ask("transport", "{}", M.shape, len(a), NAMES, C=M if low == 0 else M - low, a=a, b=b)
        (u, v), value, (i, j, mass), pivots = r.potentials, r.value, r.entries, r.pivots
        if low < 0:  # the solver's costs are not negative
            u, value = u + low, float(mass @ M[i, j])
    if forbidden is not None:
        i, j, mass, value = _without(i, j, mass, M, forbidden)
    G = None
    if plan and forbidden is not None:
        from scipy import sparse

        G = sparse.coo_array((mass * total, (i, j)), shape=M.shape)
    elif plan:
        G = np.zeros(M.shape)
        G[i, j] = mass * total
    if not dual:
        u = v = None
    elif center_dual or not (a.all() and b.all()):
        c = (mass.dot(v[j]) - mass.dot(u[i])) / 2  # of masses 1, which cannot overflow
        u, v = u + c, v - c
    return G, value * total, u, v, pivots


def _without(i, j, mass, M, forbidden):
    """Return a plan without forbidden entries; more than the rounding of marginals on them is an InfeasibleError."""
    bad = forbidden[i, j]
    if mass[bad].sum() > 2.0**-50 * sum(M.shape):  # of masses 1 whose sums have a rounding for each row and column
        at = bad.nonzero()[0][mass[bad].argmax()]
        raise InfeasibleError(f"no plan keeps to the entries of M: it lacks M[{i[at]}, {j[at]}]")
    i, j, mass = i[~bad], j[~bad], mass[~bad]
    return i, j, mass, float(mass @ M[i, j])


NAMES = {"Source": "a", "Target": "b", "Cost": "M"}  # of the arguments, by those of Go
_BOX = {"Source": "mu", "Lo": "lo", "Hi": "hi", "Cost": "C"}


def _same_mass(a, b, column=None):
    if not abs(float(a.sum()) - float(b.sum())) <= _SUM:
        a, b = array(a, "a"), array(b, "b")  # or there is no sum
        of = "" if column is None else f" in column {column}"
        raise MassError(f"a and b vector must have the same sum: {a.sum()} and {b.sum()}{of}")


def _warn(dtype, pivots, most, level=3):
    """Give POT's warnings to the caller of emd or emd2."""
    if dtype.kind != "f":
        warnings.warn(_INTEGERS, stacklevel=level)
    if pivots > most:
        warnings.warn(f"numItermax is {most}, and the solver took {pivots} pivots: it goes on to the optimum",
                      stacklevel=level)


def emd(a, b, M, numItermax=100000, log=False, center_dual=True, numThreads=1, check_marginals=True,
        potentials_init=None):
    """Return the optimal transport plan, as ``ot.emd`` of POT does.

    Parameters
    ----------
    a : (ns,) array_like
        Masses of the sources; uniform if it is empty or None.
    b : (nt,) array_like
        Masses of the targets, with the same sum to 7 decimals; uniform if it is empty or None. They are scaled to the
        sum of a.
    M : (ns, nt) array_like, or sparse matrix
        The cost of a unit of mass, finite. It may be negative here. No mass goes where a sparse matrix has no entry,
        but it takes the memory of a full one.
    numItermax : int, optional
        More pivots than this are worth a warning. The solver ends at the optimum all the same.
    log : bool, optional
        Return a dictionary, too.
    center_dual : bool, optional
        Shift the potentials so that both sides have the same share of the cost.
    numThreads : int or "max", optional
        Not used: the environment variable GOMAXPROCS bounds the threads.
    check_marginals : bool, optional
        Refuse a and b whose sums differ. Without it b is scaled whatever it sums to.
    potentials_init : tuple of (ns,) and (nt,) array_like, optional
        Checked, and not used.

    Returns
    -------
    G : (ns, nt) ndarray, or scipy.sparse.coo_array of a sparse M
        The plan, in the type of a, or of b if a is empty, or of M if both are.
    log : dict, optional
        cost, u, v (potentials), warning (None, as the plan is optimal) and result_code (1).

    Raises
    ------
    InputError
        Entries that are not finite, negative masses, and masses that sum to 0 or overflow. Lengths and sums that do not
        fit are a MassError, which is an AssertionError, too, as in POT.
    InfeasibleError
        No plan keeps to the entries of a sparse M.

    See Also
    --------
    transport : with proved bounds and a sparse plan.

    Examples
    --------
    >>> import wpm
    >>> wpm.emd([0.5, 0.5], [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    _threads(numThreads)
    number(numItermax, "numItermax")
    a, b, M, dtype, forbidden = _histograms(a, b, M)
    if b.ndim != 1:
        raise InputError(f"b has {b.ndim} dimensions, want 1")
    if check_marginals:
        _same_mass(a, b)
    _potentials(potentials_init, a, b)
    G, cost, u, v, pivots = _solve(a, b, M, forbidden, center_dual, True, log)
    _warn(dtype, pivots, numItermax)
    G = G.astype(dtype, copy=False)
    if not log:
        return G
    return G, {"cost": cost, "u": u.astype(dtype), "v": v.astype(dtype), "warning": None, "result_code": 1}


def emd2(a, b, M, processes=1, numItermax=100000, log=False, return_matrix=False, center_dual=True, numThreads=1,
         check_marginals=True, potentials_init=None):
    """Return the optimal transport cost, as ``ot.emd2`` of POT does.

    Parameters
    ----------
    a, b, M
        As in emd. b may also be (nt, n), one target a column.
    processes : int, optional
        Not used.
    numItermax, log
        As in emd.
    return_matrix : bool, optional
        Return the plan in the dictionary.
    center_dual, numThreads, check_marginals, potentials_init
        As in emd.

    Returns
    -------
    W : float, or list of float
        The cost, or that of every column of b.
    log : dict, optional
        With log or return_matrix: u, v, warning, result_code, and the plan G with return_matrix. The result is then the
        list [W, log], or a list of such lists.

    Raises
    ------
    InputError, InfeasibleError
        As in emd. Sums of a and b that differ by more than 1.5e-7 are a MassError with both sums, and the column if b
        has several. POT 0.8.2 answered 0 with a warning; from 0.9 on it raises an AssertionError, too.

    Examples
    --------
    >>> import wpm
    >>> wpm.emd2([0.5, 0.5], [1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    0.5
    """
    _threads(numThreads)
    number(numItermax, "numItermax")
    a, b, M, dtype, forbidden = _histograms(a, b, M)
    _potentials(potentials_init, a, b)

    def one(b):
        G, cost, u, v, pivots = _solve(a, b, M, forbidden, center_dual, return_matrix, log or return_matrix)
        _warn(dtype, pivots, numItermax, 4)
        if not (log or return_matrix):
            return cost
        out = {"G": G.astype(dtype, copy=False)} if return_matrix else {}
        out.update(u=u.astype(dtype), v=v.astype(dtype), warning=None, result_code=1)
        return [cost, out]

    if b.ndim == 1:
        if check_marginals:
            _same_mass(a, b)
        return one(b)
    for i in range(b.shape[1] if check_marginals else 0):  # before any is solved
        _same_mass(a, b[:, i], i)
    if number(processes, "processes") > 1:
        warnings.warn(_PROCESSES, stacklevel=2)
    return [one(np.ascontiguousarray(b[:, i])) for i in range(b.shape[1])]


# ---- with proofs


def transport(a, b, M):
    """Return the distance between two distributions, with a proof.

    Parameters
    ----------
    a : (k,) array_like or None
        Masses of the sources in any unit, not negative, not all zero. None is uniform.
    b : (kv,) array_like or None
        Masses of the targets, likewise, each in a unit of its own.
    M : (k, kv) array_like, or dict
        The cost of a unit of mass, finite and not negative: an array, or an object as ``wpm solve`` states it, such as
        ``{"kind": "grid", "rows": 20, "cols": 20, "p": 1}``.

    Returns
    -------
    Plan
        value : float
            The cost of the plan for distributions of mass 1.
        lower, upper : float
            ``lower <= optimum <= upper``, rounding included.
        plan : scipy.sparse.csr_matrix
            Who sends how much to whom; ``dense()`` is the same as an array, and entries are its (i, j, mass).
        potentials : tuple of ndarray
            (f, g) with f[i] + g[j] <= M[i, j] for all i, j: they prove lower.

    Raises
    ------
    InputError
        Arguments that do not fit, NaN and negative numbers included.

    Notes
    -----
    The solver is a network simplex in exact arithmetic: package mincostflow. Its time is some passes over M and some
    pivots for each row and column.

    Examples
    --------
    >>> import wpm
    >>> r = wpm.transport([1, 1], [3, 1], [[0.0, 1.0], [1.0, 0.0]])
    >>> r.value, r.dense().tolist()
    (0.25, [[0.5, 0.0], [0.25, 0.25]])
    """
    c = Cost(M, "M")
    k, kv = c.shape or (None, None)
    if a is not None:
        a = array(aligned(a, c.rows, "a"), "a", size=k)
    if b is not None:
        b = array(aligned(b, c.cols, "b"), "b", size=kv)
    r = _ask("transport", c.args, c.shape, k, NAMES, C=c.array, a=a, b=b)
    del r["q"]
    return _labelled(r, c.rows, c.cols)


def _labelled(r, rows, cols):
    if rows is None and cols is None:
        return r
    f, g = r.potentials
    r.potentials = series(f, rows), series(g, cols)
    if "q" in r:
        r.q = series(r.q, cols)
    return r


def _source(mu, k, labels):
    """Return the masses, and their rows if mu is a sparse matrix."""
    if hasattr(mu, "tocsr"):
        m = _csr(mu, "mu")
        if m.shape[0] != 1 or (k is not None and m.shape[1] != k):
            raise InputError(f"mu has shape {m.shape}, want (1, {k})")
        return array(m.data[:m.indptr[-1]], "mu"), m.indices[:m.indptr[-1]].astype(np.int64)
    return array(aligned(mu, labels, "mu"), "mu", size=k), None


def _box(lo, hi, kv, labels):
    return array(aligned(lo, labels, "lo"), "lo", size=kv), array(aligned(hi, labels, "hi"), "hi", size=kv)


def _columns(c, lo):
    """Return the labels of the outputs: those of the cost, or of the box."""
    if c.cols is not None or index_of(lo) is None:
        return c.cols
    return index_of(lo)[0]


def project(C, mu, lo, hi):
    """Move a distribution into a box at least cost, with a proof.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost of a unit of mass, as in transport.
    mu : (k,) array_like, or sparse matrix of shape (1, k)
        Masses in any unit, not negative, not all zero.
    lo, hi : (kv,) array_like
        The bounds of the columns, 0 <= lo <= hi, with sum lo <= 1 <= sum hi.

    Returns
    -------
    Plan
        q : ndarray
            The distribution in the box, lo <= q <= hi to the last bit. It need not be the only nearest one.
        value, lower, upper, plan, potentials
            As of transport: lower <= optimum <= cost of moving mu to q <= upper.

    Raises
    ------
    InfeasibleError
        No distribution lies in the box.
    InputError
        Arguments that do not fit.

    Notes
    -----
    q is as private as mu. To release a point, use the program ``wpm-device`` with a policy: it keeps a ledger.

    Examples
    --------
    >>> import wpm
    >>> r = wpm.project([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [1, 0, 0], [0.2, 0.2, 0.2], [0.5, 0.5, 0.5])
    >>> r.q.round(12).tolist(), round(r.value, 12)
    ([0.5, 0.3, 0.2], 0.7)
    """
    c = Cost(C)
    k, kv = c.shape or (None, None)
    columns = _columns(c, lo)
    mass, support = _source(mu, k, c.rows)
    lo, hi = _box(lo, hi, kv, columns)
    r = _ask("project", c.args, c.shape, np.count_nonzero(mass), _BOX, C=c.array, mu=mass, support=support, lo=lo, hi=hi)
    return _labelled(r, c.rows, columns)


def _csr(m, name):
    """Return a sparse matrix with sorted rows without duplicates; the caller's is not changed."""
    m = m.tocsr()
    ptr, most = m.indptr, min(m.indices.size, m.data.size)
    if ptr.shape != (m.shape[0] + 1,) or ptr[0] != 0 or ptr[-1] > most or (ptr[1:] < ptr[:-1]).any():
        raise InputError(
            f"{name} is no sparse matrix: its {m.shape[0]} rows do not follow each other in {most} entries")
    if m.data.dtype.kind not in "biuf":
        raise InputError(f"{name} is an array of {m.data.dtype}, not of real numbers")
    if not m.has_canonical_format:
        m = m.copy()
        m.sum_duplicates()
    return m


def _entry(text, row, support):
    """Return the error of a row of users with the name of its argument."""
    text = re.sub(r"\bSource\[(\d+)\]", lambda m: f"users[{row}, {support[int(m.group(1))]}]", text)
    return re.sub(r"\bSource\b", f"users[{row}]", text)


class Projector:
    """Projections of many distributions with one cost into one box.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost, as in project. It is copied.
    lo, hi : (kv,) array_like
        The box, as in project.

    Attributes
    ----------
    shape : tuple of int
        (k, kv).

    Raises
    ------
    InfeasibleError, InputError
        As project.

    Notes
    -----
    What depends on the cost and the box alone is done once. Results are those of project, bit for bit. An object may be
    used by several threads at a time.
    """

    def __init__(self, C, lo, hi):
        c = Cost(C)
        columns = _columns(c, lo)
        lo, hi = _box(lo, hi, c.shape and c.shape[1], columns)
        self._make(c, lo, hi, columns)

    def _make(self, c, lo, hi, columns):
        self._rows, self._columns, self._spec, self._lo, self._hi = c.rows, columns, c.spec, lo.copy(), hi.copy()
        value, _ = _lib.call("projector", json.loads(c.args), names=_BOX, C=c.array, lo=lo, hi=hi)
        self._handle = _lib.Handle(value["handle"])
        self.shape = value["k"], value["kv"]
        self._args = '{"handle":%d}' % self._handle.number

    def __repr__(self):
        return f"Projector(shape={self.shape})"

    def __getstate__(self):
        return {"cost": self._spec or _lib.cost(self._handle, self.shape), "lo": self._lo, "hi": self._hi,
                "rows": self._rows, "columns": self._columns}

    def __setstate__(self, state):
        c = Cost(state["cost"])
        c.rows, c.cols = state["rows"], state["columns"]
        self._make(c, state["lo"], state["hi"], state["columns"])

    def project(self, mu):
        """Project one distribution.

        Parameters
        ----------
        mu : (k,) array_like, or sparse matrix of shape (1, k)
            As in project.

        Returns
        -------
        Plan
            As of project.
        """
        mass, support = _source(mu, self.shape[0], self._rows)
        if support is None:  # most entries are zero
            support = mass.nonzero()[0]
            mass = mass[support]
            if (mass < 0).any():
                at = support[(mass < 0).argmax()]
                raise InputError(f"mu[{at}] is {mass[mass < 0][0]}, negative")
        if len(mass) == 0:
            raise InputError(f"mu has no mass: its {self.shape[0]} entries are 0")
        r = _ask("project-one", self._args, self.shape, len(mass), None, mu=mass, support=support)
        return _labelled(r, self._rows, self._columns)

    def many(self, users):
        """Project many distributions, on all processors.

        Parameters
        ----------
        users : (n, k) sparse matrix or array_like
            One distribution a row. A scipy.sparse.csr_matrix is used as it is.

        Returns
        -------
        Result
            q : (n, kv) ndarray
                The distributions in the box; a row of NaN where there is none.
            value, lower, upper : (n,) ndarray
                As of project; NaN where there is none.
            status : (n,) ndarray of int
                0 where all went well, 1 where a row is no distribution.
            errors : dict
                Row and reason of the first hundred that failed.

        Notes
        -----
        A bad row does not stop the others. Ctrl-C does. Other threads of Python run meanwhile.
        """
        k, kv = self.shape
        labels = index_of(users)
        if hasattr(users, "tocsr"):
            m = _csr(users, "users")
            shape, ptr = m.shape, m.indptr
            support, mass = m.indices[:ptr[-1]], m.data[:ptr[-1]]
        else:
            a = numbers_of(aligned(users, self._rows, "users", axis=1), "users")
            if a.ndim != 2:
                raise InputError(f"users has {a.ndim} dimensions, want 2")
            shape = a.shape
            row, support = np.nonzero(a)
            ptr, mass = np.searchsorted(row, np.arange(len(a) + 1)), a[row, support]
        if shape[1] != k:
            raise InputError(f"users has shape {shape}, want {k} columns")
        if mass.dtype.kind not in "biuf":
            raise InputError(f"users is an array of {mass.dtype}, not of real numbers")
        n = shape[0]
        r = Result({name: np.empty(n) for name in ("value", "lower", "upper")}, q=np.empty((n, kv)),
                   status=np.empty(n, np.int64))
        value, _ = _lib.call(
            "project-many", {"handle": self._handle.number}, indptr=whole(ptr, "users"),
            support=whole(support, "users"), mass=np.ascontiguousarray(mass, np.float64), **r)
        r.errors = {int(i): _entry(text, int(i), support[ptr[int(i)]:]) for i, text in value["errors"].items()}
        if labels is not None or self._columns is not None:
            import pandas

            r.q = pandas.DataFrame(r.q, index=labels and labels[0], columns=self._columns)
        return r
