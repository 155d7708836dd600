"""Mechanisms: what they cost, how they are designed and published, and what their releases say."""

import fractions
import json
import warnings

import numpy as np

from . import _lib, _reports
from ._errors import InputError
from ._input import Cost, aligned, array, counted, epsilon, in_order, index_of, label, series, whole, word
from ._places import is_geo
from ._reports import Counts
from ._result import Result
from ._transport import _box, _columns, _source


def _floats(x):
    """Return numbers of an answer, whose infinities are strings."""
    if isinstance(x, list):
        return np.array([float(v) for v in x])
    return float(x)


def _solve(kind, c, line, progress=None):
    """Answer a line of wpm solve, with a cost unless c is None."""
    line = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in line.items() if v is not None}
    if c is not None:
        line["cost"] = "C" if c.spec is None else c.spec
    value, _ = _lib.call("solve", {"kind": kind, "line": line}, progress=progress, C=c and c.array)
    return value


def _level(eps):
    """Return eps as a number, for what is not about a published mechanism."""
    if isinstance(eps, str):
        try:
            return float(fractions.Fraction(eps))
        except (ValueError, ZeroDivisionError, OverflowError):
            raise InputError(f"eps is {eps!r}, not a number") from None
    return float(array(eps, "eps", ndim=0))


def _positive(x, name):
    """Return a number above 0: 0 would stand for the default."""
    x = float(array(x, name, ndim=0))
    if not x > 0:
        raise InputError(f"{name} is {x}, not above 0")
    return x


def _count(n, name):
    """Return a whole number above 0."""
    n = int(whole(n, name, ndim=0))
    if n < 1:
        raise InputError(f"{name} is {n}, not above 0")
    return n


def _bounds(c, lo, hi, m, eps):
    """Return the box of a line, by lo and hi or by m and eps, and the labels of the outputs."""
    kv = c.shape and c.shape[1]
    if (lo is None) != (hi is None) or (m is None) != (eps is None) or (lo is None) == (m is None):
        raise InputError("give either lo and hi, or m and eps")
    if lo is not None:
        columns = _columns(c, lo)
        lo, hi = _box(lo, hi, kv, columns)
        return {"lo": lo, "hi": hi}, columns
    columns = _columns(c, m)
    return {"m": array(aligned(m, columns, "m"), "m", size=kv), "eps": _level(eps)}, columns


def entropic(C, mu, lo=None, hi=None, reg=None, *, m=None, eps=None, method="fast", tol=1e-12, iterations=None):
    """Move a distribution into a box at least cost with an entropic term, with bounds on the problem without it.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost, as in project.
    mu : (k,) array_like, or sparse matrix of shape (1, k)
        Masses in any unit.
    lo, hi : (kv,) array_like
        The box; or m and eps for the box from exp(-eps/2) m to exp(eps/2) m.
    reg : float
        The weight of the entropy, in units of C, at least 1e-9 of its range.
    m : (kv,) array_like, optional
    eps : float, optional
    method : {"fast", "paper"}, optional
        "paper" is Algorithm 1 of the paper, step for step.
    tol : float, optional
        Where to stop: the L1 distance of q to the column sums of the plan.
    iterations : int, optional
        The most there may be.

    Returns
    -------
    Result
        q, transport (<C, P>), objective (with the entropy), lower and upper (on the problem without entropy),
        iterations, status ("converged", or "iterations": q and the bounds hold all the same), residual, bound,
        potentials, log_v.

    Raises
    ------
    InfeasibleError, InputError

    Examples
    --------
    >>> import wpm
    >>> r = wpm.entropic([[0, 1], [1, 0]], [1, 0], [0.2, 0.2], [0.7, 0.7], reg=0.1)
    >>> r.status, r.q.round(9).tolist()
    ('converged', [0.7, 0.3])
    """
    if reg is None:
        raise InputError("reg is missing")
    c = Cost(C)
    k = c.shape and c.shape[0]
    mass, support = _source(mu, k, c.rows)
    box, columns = _bounds(c, lo, hi, m, eps)
    mass = mass if support is None else {"index": support.tolist(), "weight": mass.tolist()}
    steps = None if iterations is None else _count(iterations, "iterations")
    line = {"mu": mass, **box, "reg": _positive(reg, "reg"), "method": method, "tol": _positive(tol, "tol"),
            "iterations": steps}
    r = _solve("entropic", c, line)
    f, g = (_floats(r["potentials"][name]) for name in "fg")
    out = Result({name: _floats(r[name]) for name in ("transport", "objective", "lower", "upper", "residual", "bound")})
    out.update(q=series(_floats(r["q"]), columns), iterations=r["iterations"], status=r["status"],
               potentials=(series(f, c.rows), series(g, columns)), log_v=series(_floats(r["log_v"]), columns))
    return out


def phi(C, lo=None, hi=None, *, m=None, eps=None):
    """Return what every point mass costs, and the worst.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost, as in project.
    lo, hi : (kv,) array_like
        The box; or m and eps, as in entropic.
    m : (kv,) array_like, optional
    eps : float, optional

    Returns
    -------
    Result
        phi : (k,) ndarray
            The least cost of moving a unit of mass from each input into the box.
        tau : (k,) ndarray
            The thresholds: cheaper outputs are full.
        f : float
            The largest phi, and argmax, the first input that has it.
        subgradient : (kv,) ndarray
            Of f with respect to m, if m and eps are given.

    Raises
    ------
    InfeasibleError, InputError

    Examples
    --------
    >>> import wpm
    >>> wpm.phi([[0, 1], [3, 0]], [0.25, 0.25], [1, 1]).phi.tolist()
    [0.25, 0.75]
    """
    c = Cost(C)
    box, columns = _bounds(c, lo, hi, m, eps)
    r = _solve("phi", c, box)
    out = Result(phi=series(_floats(r["phi"]), c.rows), tau=series(_floats(r["tau"]), c.rows), f=float(r["f"]),
                 argmax=r["argmax"])
    if "subgradient" in r:
        out.subgradient = series(_floats(r["subgradient"]), columns)
    return out


def base_measure(C, eps, *, method="solve", objective="worst", t=None, input_weights=None, exclude=None, gap=None,
                 steps=None, rule=None):
    """Find a base measure, with proved bounds on its worst case.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost, as in project.
    eps : float
        From 0 to 700.
    method : {"solve", "uniform", "mirror"}, optional
        The best of all measures, the best scale of the uniform one, or the paper's descent.
    objective : {"worst", "average", "mixed"}, optional
        What is made small: the largest cost of a point mass, the mean, or t of the one and 1 - t of the other.
    t : float, optional
    input_weights : (k,) array_like, optional
        The weights of the mean, public.
    exclude : sequence of int, optional
        Inputs that do not count for the worst case.
    gap : float, optional
        The relative gap that "solve" goes to; 1e-9 if it is not given.
    steps : int, optional
        Of "mirror".
    rule : {"paper", "repaired", "sharp", "adaptive"}, optional
        The steps of "mirror".

    Returns
    -------
    Result
        m, f (the objective), lower (of every eps-LDP mechanism), upper (at m), weights and thresholds (which prove
        lower), status; worst_case, mean, mass, nonzeros, pivots, or of "mirror" steps, f_average, f_best, average,
        bound and paper_bound.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import wpm
    >>> r = wpm.base_measure({"kind": "ring", "n": 5, "p": 1}, 1.0)
    >>> r.lower <= r.f <= r.upper and r.upper - r.lower <= 1e-9 * r.upper
    True
    """
    c = Cost(C)
    line = {"eps": _level(eps), "method": word(method, "method"), "gap": gap if gap is None else _positive(gap, "gap")}
    if method == "mirror":
        line.update(T=None if steps is None else _count(steps, "steps"), rule=rule)
        if objective != "worst" or t is not None or input_weights is not None or exclude is not None:
            raise InputError("mirror knows the objective worst alone")
        if gap is not None:
            raise InputError("gap goes with the method solve")
    else:
        if steps is not None or rule is not None:
            raise InputError("steps and rule go with the method mirror")
        line.update(objective=objective, t=t if t is None else _level(t),
                    exclude=None if exclude is None else whole(exclude, "exclude"))
        if input_weights is not None:
            line["input_weights"] = array(aligned(input_weights, c.rows, "input_weights"), "input_weights")
    r = _solve("basemeasure", c, line)
    plain = ("nonzeros", "pivots", "steps", "status")
    out = Result({name: v if name in plain else _floats(v) for name, v in r.items() if name != "seconds"})
    out.m = series(out.m, c.cols)
    return out


class Design:
    """A mechanism with all that its publisher states of it. Made by design.

    Attributes
    ----------
    codes, discs : int
        How many there are in a list of block codes and discs, whose outputs are sets of places; both 0 of other designs.
    m : (kv,) ndarray
        The base measure; None of a list.
    lo, hi : (kv,) ndarray
        The box, to the nearest float64: every row, and every projection, is in it.
    risk, person : float, Result
        Of a list, else None: the predicted error of the map over that of the best disc; and what a release says of its
        owner, with share, own, far and even as on the card of ``wpm design``.
    worst_case, worst_input : float, int
        A proved upper bound on the cost of the worst private distribution, and the point mass that attains it.
    lower : float
        A proved lower bound on the worst case of every eps-LDP mechanism.
    gap : float
        How far the objective may be from the best of all measures, relative; 0 for uniform and a single disc; of a list,
        how much smaller, relative, the square of the error can be by other weights.
    epsilon, bits, shape, disc, displacement, certificate
        As of the Go package.

    A list has no worst_case, worst_input, lower and disc, which are None, and its certificate is empty.
    """

    def __init__(self, value, out, c, how):
        self._spec, self._how = c.spec, how
        self._handle = _lib.Handle(value.pop("handle"))
        self.shape = value.pop("k"), value.pop("kv")
        self.__dict__.update(value)
        self.person = value["person"] and Result(value["person"])
        self._rows, self._columns = c.rows, None if self.codes + self.discs else c.cols
        self.m, self.lo, self.hi = (series(out.get(name), self._columns) for name in ("m", "lo", "hi"))

    def __repr__(self):
        if self.codes + self.discs:
            return (f"Design(eps={self.epsilon}, shape={self.shape}, codes={self.codes}, discs={self.discs}, "
                    f"risk={self.risk:.6g})")
        return (f"Design(eps={self.epsilon}, shape={self.shape}, worst_case={self.worst_case:.6g}, "
                f"lower={self.lower:.6g})")

    def __reduce__(self):  # a design is a function of its arguments
        return _again, (self._spec or _lib.cost(self._handle, self.shape), self._rows, self._columns, *self._how)

    @property
    def rows(self):
        """The rows of the mixture mode, (k, kv): row i is the law of a release of a client at input i.

        Of a list the outputs are the sets of places of all codes and discs, one after the other.
        """
        rows = np.empty(self.shape)
        _lib.call("rows", {"handle": self._handle.number}, rows=rows)
        if self._rows is None and self._columns is None:
            return rows
        import pandas

        return pandas.DataFrame(rows, index=self._rows, columns=self._columns)

    def publish(self, mode="mixture", *, labels=None, output_labels=None, geometry="", base="", note="", metadata=None,
                epochs=None, first=None, last=None, period=None):
        """Make the policy, the file that every client gets.

        Parameters
        ----------
        mode : {"mixture", "projection"}, optional
            What clients do.
        labels, output_labels : sequence of str, optional
            Names of the inputs and outputs; by default those of the cost, if it was a DataFrame. The outputs of a list have
            no names.
        geometry : str, optional
            Where the places come from: "public", or "derived-dp:EPS" if private data gave them under differential
            privacy. No program can check it. Empty says that nothing is stated, of which clients are warned.
        base : str, optional
            Where the base measure comes from: "data-independent", or "derived-dp:EPS".
        note : str, optional
        metadata : dict of str, optional
        epochs : {"year", "month", "week", "day"}, optional
            The form of the epochs, in UTC, such as 2026-03 for a month. Without it any word is an epoch.
        first, last : str, optional
            The first and the last epoch of the policy. Devices refuse it before and after.
        period : int, optional
            A device reports once in so many epochs, in a slot that it draws. Any so many epochs in a row cost eps
            together.

        Returns
        -------
        Policy

        Raises
        ------
        InputError

        Examples
        --------
        >>> import wpm
        >>> p = wpm.design({"kind": "ring", "n": 8, "p": 1}, 4).publish(epochs="month", period=12, first="2026-01")
        >>> p.version, p.schedule["period"]
        (3, 12)
        """
        form = self._how[0]["pairs"]
        if form and not (labels is None and output_labels is None):
            raise InputError("labels: those of pairs are the labels of their places")
        labels = self._rows if labels is None else labels
        output_labels = self._columns if output_labels is None else output_labels
        if self.codes + self.discs and output_labels is not None:
            raise InputError("output_labels: the outputs of a list are sets of places, and have no labels")
        args = {"handle": self._handle.number, "mode": mode, "geometry": geometry, "base": base, "note": note,
                "metadata": {} if metadata is None else metadata}
        if form:
            args["metadata"] = {**args["metadata"], "pairs": form}
        schedule = {"epochs": epochs, "first": first, "last": last}
        args["schedule"] = {name: label(x) for name, x in schedule.items() if x is not None}
        if period is not None:
            args["schedule"]["period"] = _count(period, "period")
        for name, given in (("inputs", labels), ("outputs", output_labels)):
            if given is None:
                continue
            try:
                args[name] = [label(x) for x in given]
            except TypeError as e:
                raise InputError(f"{name} are no labels: {e}") from None
        value, _ = _lib.call("publish", args)
        return Policy(value["policy"])


def design(
    C, eps, objective=None, *, weights=None, mix=None, gap=None, devices=None, bits=None, seed=None, outputs_at_most=None
):
    """Design a mechanism, from public data alone.

    Parameters
    ----------
    C : (k, kv) array_like, DataFrame, Pairs, or dict
        The cost. Labels of a DataFrame become those of the policy.
    eps : str, int, float or Fraction
        The privacy level. Text such as "0.1" or "1/3" is exact, and a float stands for its shortest decimal.
    objective : {"uniform", "minimax", "average", "mixed", "map"}, optional
        What is made small: the worst case among uniform base measures or among all, the mean, a mix of both, or the
        error of a map from many devices. It is map if devices are given, else uniform. For a map the design is a list of
        block codes and discs, or a single disc where no list is better, and of pairs.
    weights : (k,) array_like, optional
        Of the mean, or with map a guess at the map; public.
    mix : float, optional
        The share of the worst case with mixed.
    gap : float, optional
        The relative gap that minimax, average and mixed go to; 1e-3 if it is not given.
    devices : int, optional
        How many releases the map is made of.
    bits : int, optional
        Weights are integers that sum to 2**bits; 62 if it is not given.
    seed : int, optional
        With map: of the random codes, from 1 on; 1 if it is not given. It is in the policy.
    outputs_at_most : int, optional
        With map: the most outputs that a list of codes may have, for shares of reports under secret sharing. A single
        disc, the answer where no such list is better, may have more.

    Returns
    -------
    Design

    Raises
    ------
    InputError, NotConvergedError

    Examples
    --------
    >>> import wpm
    >>> d = wpm.design({"kind": "ring", "n": 8, "p": 1}, "1.5")
    >>> bool(d.lower <= d.worst_case), wpm.Policy(d.publish().text).verify().verified
    (True, True)
    >>> d = wpm.design({"kind": "grid", "rows": 6, "cols": 6, "p": 1}, 2, devices=500000)
    >>> d.codes > 0, d.shape[0] < d.shape[1], d.publish().version
    (True, True, 3)
    """
    c = Cost(C)
    if objective is None:
        objective = "uniform" if devices is None else "map"
    args = {**json.loads(c.args), "eps": epsilon(eps), "objective": objective, "pairs": c.pairs or ""}
    given = (("mix", mix, _positive), ("gap", gap, _positive), ("devices", devices, _count), ("bits", bits, _count),
             ("seed", seed, _count), ("outputs_at_most", outputs_at_most, _count))
    if objective != "map" and (seed is not None or outputs_at_most is not None):
        raise InputError(f"{'outputs_at_most' if seed is None else 'seed'} goes with devices, and the objective map")
    for name, x, read in given:
        if x is not None:
            args[name] = read(x, name)
    if weights is not None:
        weights = array(aligned(weights, c.rows, "weights"), "weights", size=c.shape and c.shape[0])
    return _design(c, args, weights)


def _design(c, args, weights):
    value, out = _lib.call("design", args, C=c.array, weights=weights)
    return Design(value, out, c, (args, weights))


def _again(C, rows, cols, args, weights):
    """Make a design once more, of what __reduce__ has kept."""
    c = Cost(C)
    c.rows, c.cols = rows, cols
    return _design(c, args, weights)


class Policy:
    """A published mechanism.

    Parameters
    ----------
    text : str or bytes
        The policy file.

    Attributes
    ----------
    text : str
        The file.
    id : str
        Its SHA-256, by which clients and reports name it.
    epsilon, bits, mode, version, shape, labels, output_labels, geometry, base, note, metadata, cost
        What it states. labels and output_labels are None where it has none.
    codes, discs : int
        How many there are of a policy with codes, whose outputs are sets of places; both 0 of others.
    schedule : dict or None
        Of a policy that states its epochs: their form, and where stated first, last and period.
    lo, hi : (kv,) ndarray
        Its box, to the nearest float64.

    Raises
    ------
    RefusedError
        The text is no policy, or its box or a row does not hold.
    """

    def __init__(self, text):
        if isinstance(text, (bytes, bytearray)):
            try:
                text = bytes(text).decode()
            except UnicodeDecodeError as e:
                raise InputError(f"a policy is UTF-8: {e}") from None
        if not isinstance(text, str):
            raise InputError(f"a policy is text, not {type(text).__name__}")
        self.text = text
        value, out = _lib.call("policy", {"policy": text, "verify": False})
        for name in ("id", "epsilon", "bits", "mode", "version", "geometry", "base", "note", "metadata", "cost", "codes",
                     "discs"):
            setattr(self, name, value[name])
        self.shape = value["k"], value["kv"]
        self.labels, self.output_labels = value["inputs"], value["outputs"]
        self.schedule = {name: x for name, x in value["schedule"].items() if x} or None
        self.lo, self.hi = out["lo"], out["hi"]

    @classmethod
    def read(cls, path):
        """Read a policy file."""
        with open(path, "rb") as f:
            return cls(f.read())

    def write(self, path):
        """Write the policy file. An existing file is an error."""
        with open(path, "xb") as f:
            f.write(self.text.encode())

    def __repr__(self):
        return f"Policy(id={self.id[:12]}..., eps={self.epsilon}, mode={self.mode}, shape={self.shape})"

    def count(self, *reports, epoch="", strict=False):
        """Count the reports of clients.

        Parameters
        ----------
        *reports : Series, sequence, bytes, str or path
            Columns of reports, as text of 80 characters or as 40 bytes each; or the names of files of them, one a line
            or binary, also gzipped; or the bytes of such a file. A missing value is as a blank line: it does not count.
        epoch : str, optional
            The period that the counts are of.
        strict : bool, optional
            Refuse all for one bad report.

        Returns
        -------
        Counts
            How many of each output; and how many lines are none, by reason.

        Raises
        ------
        InputError
            A file that cannot be read to its end, equal files, simulated reports beside others; a bad report, if strict.

        Notes
        -----
        Two clients who draw the same output send the same bytes: a report that is sent twice cannot be told here.

        Examples
        --------
        >>> import wpm
        >>> p = wpm.design({"kind": "ring", "n": 4, "p": 1}, 2).publish()
        >>> report = "77706d31" + p.id + "02000000"
        >>> c = p.count([report, report, "none"])
        >>> c.reports.tolist(), c.refused["malformed"]
        ([0, 0, 2, 0], 1)
        """
        return _reports.count(self, reports, epoch, strict)

    def report(self, report):
        """Say what one report stands for.

        Parameters
        ----------
        report : str or bytes
            As text of 80 characters, or as 40 bytes.

        Returns
        -------
        Result
            index, of the output; and its label. Of a policy with codes instead the places that it favours, by their labels
            or their numbers; odds, by how much each of them is likelier than another place; the component of the list, and
            the output of the component.

        Raises
        ------
        InputError
            It is no report, or none of this policy.

        Examples
        --------
        >>> import wpm
        >>> p = wpm.design({"kind": "ring", "n": 4, "p": 1}, 2).publish(labels=["n", "e", "s", "w"])
        >>> p.report("77706d31" + p.id + "02000000").label
        's'
        """
        if isinstance(report, (bytes, bytearray)):
            report = bytes(report).hex()
        if not isinstance(report, str):
            raise InputError(f"a report is text or bytes, not {type(report).__name__}")
        value, _ = _lib.call("report", {"policy": self.text, "report": report})
        if "label" in value and self._output_names is not None:
            value["label"] = self._output_names[value["index"]]
        if "places" in value and self.labels is None:
            value["places"] = [int(x) for x in value["places"]]
        return Result(value)

    @property
    def _output_names(self):
        """The labels of the outputs; where they are the inputs, those of these."""
        same = self.shape[0] == self.shape[1] and not self.codes + self.discs
        return self.labels if self.output_labels is None and same else self.output_labels

    def verify(self):
        """Check the policy again from the beginning: box, rows, thresholds, and its certificate.

        Returns
        -------
        Result
            verified (True); and what its certificate proves, else None: lower, a bound on the worst case of every
            eps-LDP mechanism, worst_case, that of this policy in mixture mode, and worst_input.

        Raises
        ------
        RefusedError
            The text says which claim does not hold. Privacy rests on the box and the rows alone.
        """
        value, _ = _lib.call("policy", {"policy": self.text, "verify": True})
        return Result({name: value[name] for name in ("verified", "lower", "worst_case", "worst_input")})


def estimate(counts, policy=None, *, C=None, m=None, eps=None, bits=None, prior=None, estimator=None, places=None,
             regions=None, level=None, progress=None):
    """Make a map of a population from counts of releases.

    Parameters
    ----------
    counts : Counts, (kv,) array_like of int, or Series
        How many releases there are of each output. A Series goes by its index: the policy's output labels, or the numbers
        of the outputs if it has none. What is not in it counts 0, so value_counts() will do.
    policy : Policy, optional
        The mechanism, of mixture mode; or C, m and eps (and bits) in its place.
    C : (k, kv) array_like, table of places, or dict, optional
        The cost, as in design.
    m : (kv,) array_like, optional
    eps : str, int, float or Fraction, optional
    bits : int, optional
    prior : (k,) array_like, optional
        A public guess at the map, in any unit; all the same if it is not given.
    estimator : {"map", "em", "mle", "raw"}, optional
        "map" is the default, or "em" where inputs have no distances.
    places : DataFrame, GeoDataFrame or GeoSeries, optional
        A row for each place, by the labels of the policy's inputs, or in their order where it has none. It makes frame.
    regions : dict of str to sequence of str, Series, dict or (k,) array_like, optional
        Of what there are shares with intervals: the labels of the places of a region; or weights from 0 to 1 by label, or of
        all places in their order. Of a policy of pairs the labels are those of places at either end.
    level : float, optional
        Of the intervals of regions; 0.9 if it is not given.
    progress : bool or callable, optional
        Called with the steps done and all steps; True writes them to standard error. Ctrl-C ends the call.

    Returns
    -------
    Result
        map : (k,) ndarray or None
            The shares of the population; None with a reason where releases do not identify it.
        raw : (kv,) ndarray, None of a policy with codes
            The counts as shares.
        frame : DataFrame or GeoDataFrame
            With places: these, with the columns share, group, low and high. A group is a part of the map that the counts
            tell from the rest, and low and high are the interval of its share, as of estimate.Interval in Go.
        estimator, reason, models, signal, gap
            Where there is one. signal says whether the map is better than the guess: "none", "weak" or "ok".
        map_error
            Where the cost has distances between inputs: {"expected", "within90", "guess", "before"}, the mean
            distance of the truth from the map, the distance that it is within in nine of ten cases, and its mean distance
            from the guess by the counts and, as before, without them. The distances are W_p, in the unit of the places,
            by draws of the posterior of the estimator "map".
        unexplained : bool
            No map explains the counts: honest ones are that far from every map once in a million times, at most. Some
            are made up, changed or of another policy, and map_error does not hold. It comes with a warning.
        information, verdict
            With map_error: what the counts know ("much" if the best map of them has expected below half of before,
            "little" below 0.9 of it, or "none"), and what they say of the guess ("confirm" or "change").
        regions : list of Result
            With regions: region, the share of the map, lower, upper, likeliest and guess; of pairs the flows between
            regions, such as "north>port", and what is from and to each, such as "north>anywhere".
        ends : list of Result
            Of pairs the marginals: the end, which is from, to or the category; its labels; and the guess and the map of them.
        patch
            Only where rows are alike: the patch of each place. No number of reports tells places of a patch apart.

        What else ``wpm solve estimate`` answers is here by the same name.

    Raises
    ------
    InputError

    Notes
    -----
    It sees releases and public data alone, and costs no privacy. Of 1,000 places and more it takes some seconds.

    Examples
    --------
    >>> import wpm
    >>> r = wpm.estimate([60, 30, 10], C={"kind": "grid", "rows": 1, "cols": 3, "p": 1}, m=[0.4, 0.4, 0.4], eps="2")
    >>> bool(r.map.argmax() == 0), r.signal
    (True, 'ok')
    """
    line = {"estimator": estimator, "groups": True if places is not None else None}
    if policy is not None:
        if any(x is not None for x in (C, m, eps, bits)):
            raise InputError("give either a policy, or C, m and eps")
        if not isinstance(policy, Policy):
            policy = Policy(policy)
        c = None
        line["policy"] = policy.text
        (k, kv), inputs, outputs = policy.shape, policy.labels, policy._output_names
    else:
        if C is None or m is None or eps is None:
            raise InputError("give a policy, or C, m and eps")
        c = Cost(C)
        k, kv = c.shape or (None, None)
        inputs, outputs = c.rows, c.cols
        line.update(m=array(aligned(m, outputs, "m"), "m", size=kv), eps=epsilon(eps),
                    bits=None if bits is None else _count(bits, "bits"))
    if isinstance(counts, Counts):
        if policy is not None and counts.policy != policy.id:
            raise InputError(f"the counts are of the policy {counts.policy[:12]}, not of {policy.id[:12]}")
        counts = counts.reports
    counts_index, prior_index = index_of(counts), index_of(prior)
    n = whole(counted(counts, outputs, kv, "counts"), "counts")
    if kv is not None and len(n) != kv:
        raise InputError(f"counts has {len(n)} entries, want {kv}")
    line["counts"] = n
    if counts_index is not None or prior_index is not None or places is not None:
        import pandas

        inputs, outputs = (None if x is None else pandas.Index(x) for x in (inputs, outputs))
        prior = aligned(prior, inputs, "prior")
        if outputs is None and counts_index is not None and len(counts_index[0]) == len(n):
            outputs = counts_index[0]
        if inputs is None and prior_index is not None:
            inputs = prior_index[0]
    else:
        inputs = outputs = None
    if prior is not None:
        line["prior"] = array(prior, "prior", size=k)
    table = None if places is None else in_order(places, inputs, k)
    if regions is not None:
        line["regions"] = _regions(regions, None if policy is None else policy.labels, k)
    line["level"] = level if level is None else _level(level)
    r = _solve("estimate", c, line, progress)
    out = Result({name: _entries(v) for name, v in r.items() if name not in ("seconds", "groups")})
    out.raw = series(_floats(r["raw"]), outputs) if r["raw"] else None
    out.map = r["map"] and series(_floats(r["map"]), inputs)
    if table is not None and r["map"]:
        out.frame = _framed(table, np.asarray(out.map), r.get("groups"))
    if out.unexplained:
        warnings.warn(_UNEXPLAINED.format("the counts"), stacklevel=2)
    return out


def _regions(regions, labels, k):
    """Return regions as a line has them: the weights above 0 by label, or by number where places have no labels."""
    if not isinstance(regions, dict):
        raise InputError(f"regions is {type(regions).__name__}, not a dict of places by name")
    out = []
    for name, of in regions.items():
        what = f"regions[{name!r}]"
        if isinstance(of, dict) or index_of(of) is not None and len(index_of(of)) == 1:
            names, of = [label(x) for x in of.keys()], list(of.values()) if isinstance(of, dict) else of
        elif not isinstance(of, str) and np.ndim(of) == 1 and len(of) and all(isinstance(x, str) for x in of):
            names, of = [label(x) for x in of], np.ones(len(of))
        else:
            names = labels
        weights = array(of, what, size=k if names is None else len(names))
        if names is None:
            names = [str(n) for n in range(len(weights))]
        if len(set(names)) < len(names):
            raise InputError(f"{what} has a label twice")
        out.append({"region": str(name), "weights": {x: float(v) for x, v in zip(names, weights) if v}})
    return out


_UNEXPLAINED = ("no map explains {}: some are made up, changed or of another policy, and how far the map is from the truth "
                "is not known")


def estimate_epochs(epochs, policy, *, prior=None, regions=None, level=None, places=None, progress=None):
    """Make a map of every epoch, each of its reports and of those before it.

    Parameters
    ----------
    epochs : list of Counts, or dict
        In the order of time: Counts, which state their epochs, or counts as of estimate by the name of their epoch.
        Names such as "2026-01" also say how much time is between them.
    policy : Policy
        The mechanism, of mixture mode, of all epochs.
    prior : (k,) array_like, optional
        A public guess at the maps, in any unit; all the same if it is not given.
    regions : dict of str to (k,) array_like, optional
        Weights from 0 to 1 of the places of a region: how has its share changed from the first epoch to the last?
    level : float, optional
        Of the intervals of changes; 0.9 if it is not given.
    places : DataFrame, GeoDataFrame or GeoSeries, optional
        As of estimate. It makes frame, with a column for each epoch.
    progress : bool or callable, optional
        Called with the epochs done and all epochs; True writes them to standard error. Ctrl-C ends the call.

    Returns
    -------
    Result
        epochs : list of Result
            For each epoch: epoch, map, map_error, information, verdict and unexplained as of estimate; rate, what a report counts
            for that is one epoch older; worth, how many reports of this epoch would say as much; drift, the part of the
            error that is due to older reports.
        maps : (epochs, k) ndarray, or DataFrame
            Their maps; a DataFrame with a column for each epoch if places, or counts of an epoch, have labels.
        changes : dict of str to Result
            With regions: lower and upper of the change, by the reports of both epochs alone, and known, whether it is one.
        frame : DataFrame or GeoDataFrame
            With places.

    Raises
    ------
    InputError

    Notes
    -----
    It sees releases and public data alone, and costs no privacy. How much older reports count is the rate that has best
    predicted the reports of later epochs. Maps of the past do not change when an epoch is added.

    Examples
    --------
    >>> import wpm
    >>> p = wpm.design({"kind": "grid", "rows": 1, "cols": 3, "p": 1}, 2).publish()
    >>> r = wpm.estimate_epochs({"2026-01": [60, 30, 10], "2026-02": [20, 30, 50]}, p, regions={"west": [1, 0, 0]})
    >>> [int(x.map.argmax()) for x in r.epochs], r.changes["west"].known
    ([0, 2], True)
    """
    if not isinstance(policy, Policy):
        policy = Policy(policy)
    if isinstance(epochs, dict):
        named = list(epochs.items())
    else:
        named = []
        for c in epochs if isinstance(epochs, (list, tuple)) else [None]:
            if not isinstance(c, Counts) or not c.epoch:
                raise InputError("epochs is a list of Counts that state their epochs, or a dict of counts by epoch")
            named.append((c.epoch, c))
    if regions is not None and not isinstance(regions, dict):
        raise InputError(f"regions is {type(regions).__name__}, not a dict of weights by name")
    (k, kv), inputs, outputs = policy.shape, policy.labels, policy._output_names
    lines, labelled = [], places is not None
    for name, counts in named:
        if isinstance(counts, Counts):
            if counts.policy != policy.id:
                raise InputError(f"the counts of {name} are of the policy {counts.policy[:12]}, not of {policy.id[:12]}")
            counts = counts.reports
        labelled = labelled or index_of(counts) is not None
        n = whole(counted(counts, outputs, kv, f"counts of {name}"), f"counts of {name}")
        if len(n) != kv:
            raise InputError(f"counts of {name} has {len(n)} entries, want {kv}")
        lines.append({"epoch": str(name), "counts": n.tolist()})
    line = {"policy": policy.text, "epochs": lines, "level": level}
    if labelled or any(index_of(x) is not None for x in [prior, *(regions or {}).values()]):
        import pandas

        inputs = None if inputs is None else pandas.Index(inputs)
    if prior is not None:
        line["prior"] = array(aligned(prior, inputs, "prior"), "prior", size=k)
    if regions is not None:
        line["regions"] = [array(aligned(w, inputs, f"regions[{name!r}]"), f"regions[{name!r}]", size=k).tolist()
                           for name, w in regions.items()]
    r = _solve("estimate", None, line, progress)
    out = Result(epochs=[])
    for e in r["epochs"]:
        one = _entries(e)
        one.map = _floats(e["map"])
        out.epochs.append(one)
        if one.unexplained:
            warnings.warn(_UNEXPLAINED.format(f"the counts of {one.epoch}"), stacklevel=2)
    names, maps = [e.epoch for e in out.epochs], np.array([e.map for e in out.epochs])
    out.maps = maps
    if labelled:
        import pandas

        out.maps = pandas.DataFrame(maps.T, inputs, names)
    if regions is not None:
        out.changes = {name: Result(c) for name, c in zip(regions, r.get("changes", []))}
    if places is not None:
        out.frame = in_order(places, inputs, k).copy()
        for name, m in zip(names, maps):
            out.frame[name] = m
    return out


def _entries(x):
    """Return a part of an answer with its objects as Results."""
    if isinstance(x, dict):
        return Result({name: _entries(v) for name, v in x.items()})
    if isinstance(x, list) and x and isinstance(x[0], dict):
        return [_entries(v) for v in x]
    return x


def _framed(table, shares, groups):
    """Return the table with the map in further columns."""
    if hasattr(table, "columns"):
        frame = table.copy()
    elif hasattr(table, "crs"):
        frame = table.to_frame("geometry")
    else:
        frame = table.to_frame()
    if is_geo(frame) and frame.geometry.name in ("share", "group", "low", "high"):
        raise InputError(f"places has its geometry in a column {frame.geometry.name}, which is for the map: rename_geometry")
    if len(frame) != len(shares):
        raise InputError(f"places has {len(frame)} rows, the map {len(shares)}")
    frame["share"] = shares
    if groups and groups["of"]:
        of = np.asarray(groups["of"])
        frame["group"] = of
        for name in ("low", "high"):
            frame[name] = _floats(groups[name])[of]
    return frame


def plan(C, eps, devices, *, p=1, prior=None, objective="uniform"):
    """Say before any release how good the map of a population will be.

    Parameters
    ----------
    C : (k, kv) array_like, or dict
        The cost, with distances between inputs: points, a grid, a ring, or a symmetric matrix.
    eps : str or number, or a sequence of them
        Privacy levels.
    devices : int, or a sequence of them
        Numbers of devices, one release each.
    p : float, optional
        The power of the distance that the entries of an array are. An object knows its own.
    prior : (k,) array_like, optional
        A public guess at the map. Without it the worlds are maps of all kinds.
    objective : {"uniform", "map"}, optional
        What each mechanism is designed for.

    Returns
    -------
    list of Result
        For every eps and number of devices: epsilon, devices, guess, raw, map, map_to_guess (each with mean, low and
        high, over thirty simulated worlds: W_p to the truth, in the unit of the places), disc, half_width, signal,
        alike (places that no number of devices tells apart), floor (what such rows cost at any number of devices).

    Raises
    ------
    InputError

    Notes
    -----
    Seconds for each pair. The simulation has a fixed seed: the same arguments give the same answer.
    """
    c = Cost(C)
    levels = [eps] if isinstance(eps, (str, bytes)) or np.ndim(eps) == 0 else list(eps)
    numbers = np.atleast_1d(np.asarray(devices))
    args = {**json.loads(c.args), "eps": [epsilon(e) for e in levels], "devices": whole(numbers, "devices").tolist(),
            "p": _positive(p, "p"), "objective": objective, "pairs": c.pairs or ""}
    if prior is not None:
        prior = array(aligned(prior, c.rows, "prior"), "prior")
    value, _ = _lib.call("plan", args, C=c.array, prior=prior)
    return [Result({name: Result(x) if isinstance(x, dict) else x for name, x in row.items()}) for row in value]
